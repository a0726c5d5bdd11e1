"""Do all C files of the fuzzers compile with the sources as they are, without a warning?

`make fuzz` is seldom run; a signature that changes shows here, in a second for each file.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulator"))
from fuzz_build import HELP, TARGETS, syntax_of  # noqa: E402

FILES = {path.stem: path for path in [*HERE.glob("*.c"), *HERE.glob("targets/*.c")]}
if "frames" not in TARGETS:  # no libfabric
    del FILES["frames"]


def test_each_file_of_targets_is_a_target():
    targets = {path.stem for path in HERE.glob("targets/*.c")} & set(FILES)
    assert targets == set(TARGETS)
    assert set(FILES) == targets | {*HELP, "replay"}


@pytest.mark.parametrize("name", sorted(FILES))
def test_it_compiles(name):
    done = subprocess.run(syntax_of(FILES[name]), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
