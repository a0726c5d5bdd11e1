"""Do the C sources do what they must with every input that once mattered?

The inputs go through the same targets as in `make fuzz`, built by the C compiler of the tests, with
the sanitizers for addresses, undefined behaviour and leaks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "emulator"))
import builds  # noqa: E402
import kept  # noqa: E402
from emulator_build import in_place  # noqa: E402
from fuzz_build import TARGETS, build  # noqa: E402
from harness.once import once  # noqa: E402


@pytest.fixture(scope="module")
def programs():
    objects = builds.built_with_sanitizers() / "objects"
    folder = once("targets that replay", lambda folder: build(folder, TARGETS, replay=objects))
    return {name: folder / name for name in TARGETS}


@pytest.mark.parametrize("target", TARGETS)
def test_inputs_that_once_mattered(programs, tmp_path, target):
    inputs = kept.unpack(target, tmp_path)
    assert inputs, "a target without inputs proves nothing"
    done = replay(programs[target], inputs)
    assert done.returncode == 0, done.stderr[-5000:]


def test_a_target_that_fails_says_at_which_input(programs, tmp_path):
    missing = tmp_path / "not-there"
    assert replay(programs["envelope"], [missing]).returncode != 0


def replay(program, inputs):
    options = {"ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    return subprocess.run(
        [*in_place(), str(program), *map(str, inputs)],
        capture_output=True, text=True, errors="replace", check=False, timeout=300,
        env={**os.environ, **options},
    )  # fmt: skip
