"""Does a thread that is cancelled in a call leave nothing behind that others wait for?"""

from __future__ import annotations

import pytest
from emulator_build import SMALL


@pytest.mark.parametrize(
    ("mode", "how"),
    [("functional", "waits"), ("functional", "message"), ("functional", "often"),
     ("functional", "team"), ("timed", "message"), ("timed", "often"), ("timed", "team")],
)  # fmt: skip
def test_a_cancelled_thread_leaves_nothing_locked(emulator, mode, how):
    """In model time a wait ends first, and then the thread; functional ones act on it."""
    done = emulator.run(2, "cancelled", how, options=[*SMALL, "--mode", mode])
    assert (done.returncode, done.stderr) == (0, "")


def test_it_leads_to_no_bad_access(sanitized):
    done = sanitized.run(2, "cancelled", "waits")
    assert (done.returncode, done.stderr) == (0, "")
