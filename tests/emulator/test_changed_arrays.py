"""Arrays that another thread changes during a call: is what was checked what is sent?"""

import subprocess

import pytest
from emulator_build import SMALL


@pytest.mark.parametrize(("step", "options"), [("19", ()), ("61", ("--reorder", "3"))])
def test_a_header_that_changes_during_a_send_breaks_nothing(emulator, step, options):
    """Single-stepped: the change comes after each so-manieth instruction of the call."""
    done = emulator.run(1, "changed_headers", step, options=[*SMALL, *options])
    if done.returncode == 77:
        pytest.skip("nobody may be traced here")
    assert done.returncode == 0, done.stderr


def test_bytes_that_change_while_they_are_sent_stop_no_messages(emulator):
    done = subprocess.run(
        [emulator.program("message_changed")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
