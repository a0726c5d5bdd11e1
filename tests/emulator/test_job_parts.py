"""What do cards do with peers that are gone, FIFOs that are full, memory that was written over?

The programs see the memory of their job: `parts` has three cards of one in a process, functional
mode; `timed_hostile` writes into its own part of a timed one, as a peer could.
"""

import pytest
from emulator_build import PROGRAMS, ROOT, SMALL, build

SOURCES = [ROOT / "emulator" / "src" / name for name in ("job.c", "config.c")]


@pytest.fixture(scope="module", params=["emulator", "sanitized"])
def seeing(request):
    """A build of the emulator with the two programs."""
    made = request.getfixturevalue(request.param)
    lib = made.prefix / "lib"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", *build.INCLUDES, "-pthread"]
    flags += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic", *made.flags]
    for name in ("parts", "timed_hostile"):
        made.made[name] = made.prefix / name
        build.compile_c([PROGRAMS / f"{name}.c", *SOURCES], made.made[name], flags)
    return made


@pytest.mark.parametrize("name", ["parts", "timed_hostile"])
def test_calls_end_well_or_with_a_status(seeing, name):
    options = [*SMALL, "--mode", "timed"] if name == "timed_hostile" else SMALL
    done = seeing.run(1, name, options=options)
    assert (done.returncode, done.stderr) == (0, "")
