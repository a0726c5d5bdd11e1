"""Does a call that fails say what was wrong with it?"""

import pytest
from emulator_build import SMALL

from dvsim import vic


@pytest.mark.parametrize("options", [[], ["--mode", "timed"]], ids=["functional", "timed"])
def test_every_failure_has_its_numbers(emulator, options):
    done = emulator.run(2, "detail", options=[*SMALL, *options])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


def test_what_python_raises_says_it_too(card):
    card.alloc(10)
    with pytest.raises(vic.NoSpace, match=r"\(VIC_ENOSPC\); 4194304 words side by side are not"):
        card.alloc(4194304)
    assert vic.error_detail().endswith("at most 4194288 are")
    with pytest.raises(vic.InvalidArgument, match=r"\(VIC_EINVAL\); addr 5 is not what"):
        card.free(5)
