"""What do cards do with peers that are gone, FIFOs that are full, memory that was written over?

The programs see the memory of their job: `parts` has three cards of one in a process, functional
mode; `timed_hostile` writes into its own part of a timed one, as a peer could.
"""

import pytest
from emulator_build import PROGRAMS, ROOT, SMALL, build

SOURCES = [ROOT / "emulator" / "src" / name for name in ("job.c", "config.c")]


@pytest.mark.parametrize("built", ["emulator", "sanitized"])
@pytest.mark.parametrize("name", ["parts", "timed_hostile"])
def test_calls_end_well_or_with_a_status(request, built, name):
    emulator = request.getfixturevalue(built)
    program = emulator.linked(name, [PROGRAMS / f"{name}.c", *SOURCES], build.INCLUDES)
    options = [*SMALL, "--mode", "timed"] if name == "timed_hostile" else SMALL
    done = emulator.run(1, program, options=options)
    assert (done.returncode, done.stderr) == (0, "")
