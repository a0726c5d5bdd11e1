"""What makes calls fail, and the emulator with sanitizers: made once for all tests of a run."""

from __future__ import annotations

import pytest
from fault import SANITIZE, shim
from harness.once import once
from subjects import Bench, compiled_talk


@pytest.fixture(scope="session")
def library():
    """fail.c, as a library."""
    return once("fail.c", shim) / "fail.so"


@pytest.fixture(scope="session")
def sanitized(library, tmp_path_factory) -> Bench:
    import builds  # which needs the folder of emulator_build on the path

    emulator = builds.sanitized()

    def make(folder):
        made = Bench(
            emulator.prefix, compiled_talk(folder, emulator.prefix, SANITIZE), library, folder,
            flags=SANITIZE,
        )  # fmt: skip
        made.made("served")
        made.made("vicbridge")

    talk = once("talk under sanitizers", make) / "talk"
    folder = tmp_path_factory.mktemp("sanitized") / "run"
    return Bench(emulator.prefix, talk, library, folder, emulator.before, SANITIZE)
