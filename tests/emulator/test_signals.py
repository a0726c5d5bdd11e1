"""Timed mode: does a semaphore that a signal handler posts wake who waits for it?"""

import pytest
from emulator_build import SMALL

TIMED = [*SMALL, "--mode", "timed"]


@pytest.mark.parametrize("victim", ["busy", "asleep"])
def test_a_post_by_a_handler_counts_wherever_its_thread_was(emulator, victim):
    """Also in the midst of a call, and while the thread waits there for another one."""
    done = emulator.run(1, "timed_signals", victim, options=TIMED)
    assert done.returncode == 0, done.stdout + done.stderr
