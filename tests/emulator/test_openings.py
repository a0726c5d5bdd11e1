"""Does anything of one opening of a card, of messages or of a client befall another?"""

import subprocess

import pytest
from emulator_build import PROGRAMS, build


def alone(emulator):
    command = [*emulator.before, str(emulator.program("openings"))]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)


@pytest.mark.parametrize("build_of", ["emulator", "sanitized"])
def test_an_opening_has_nothing_of_another(build_of, request):
    done = alone(request.getfixturevalue(build_of))
    assert (done.returncode, done.stderr) == (0, "")


def test_it_is_the_same_in_timed_mode(emulator):
    done = emulator.run(1, "openings", options=("--mode", "timed"))
    assert done.returncode == 0, done.stderr


def test_the_memory_of_closed_handles_is_given_back(tmp_path):
    flags = ["-std=c11", "-O1", "-pthread", *build.WARNINGS, "-Werror", *build.INCLUDES]
    build.compile_c([PROGRAMS / "slab_memory.c"], tmp_path / "slab", flags)
    done = subprocess.run([tmp_path / "slab"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "checks passed\n"), done.stderr
