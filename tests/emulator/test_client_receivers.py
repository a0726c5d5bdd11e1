"""A full inbox: does a send wait for who will receive, and say so if nobody will?"""

import pytest
from emulator_build import SMALL


@pytest.mark.parametrize("mode", ["functional", "timed"])
def test_nobody_waits_for_a_receiver_that_has_ended(emulator, mode):
    done = emulator.run(1, "client_receivers", options=[*SMALL, "--mode", mode])
    assert done.returncode == 0, done.stderr


def test_the_same_with_sanitizers(sanitized):
    done = sanitized.run(1, "client_receivers")
    assert (done.returncode, done.stderr) == (0, "")


def test_who_waits_for_another_thread_to_receive_notices_a_death(emulator):
    done = emulator.run(2, "client_inbox_death")
    assert (done.returncode, "FAILED" in done.stderr) == (137, False), done.stderr
