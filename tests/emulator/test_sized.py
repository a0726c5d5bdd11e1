"""Can structs grow, and are peers told that have opened with different ones?"""

import pytest
from emulator_build import SMALL


@pytest.mark.parametrize(
    "options",
    [[], ["--mode", "timed"], ["--reorder", "3"]],
    ids=["functional", "timed", "reordered"],
)
def test_programs_of_other_headers(emulator, options):
    done = emulator.run(2, "sized", options=[*SMALL, *options])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
