"""Does a program work with a launcher that differs by a patch, and refuse others?"""

import pytest
from test_job_memory import ENOJOB, VERSION_AT, attach, good, memory

__all__ = ["good"]  # a fixture

MAJOR, MINOR, PATCH = 0, 2, 4
"""Where the digits are."""


def with_version(content, at, digit):
    changed = bytearray(content)
    assert changed[VERSION_AT + at] != ord(digit) and changed[VERSION_AT + 5] == 0
    changed[VERSION_AT + at] = ord(digit)
    return changed


def test_a_patch_is_no_reason_to_refuse(emulator, good):
    content, nonce = good
    assert attach(emulator, memory(with_version(content, PATCH, "9")), nonce) == (0, "")


@pytest.mark.parametrize("at", [MAJOR, MINOR])
def test_another_minor_or_major_version_is(emulator, good, at):
    content, nonce = good
    status, reason = attach(emulator, memory(with_version(content, at, "9")), nonce)
    assert (status, "different versions" in reason) == (ENOJOB, True)
