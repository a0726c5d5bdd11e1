"""The constants of vic.h; tests compare them with what the library says."""

from __future__ import annotations

from enum import IntEnum

FOREVER = 2**64 - 1
"""A timeout that never comes, in nanoseconds."""

NO_COUNTER = 63
"""The scratch counter: counted, never waited for."""


class Op(IntEnum):
    """What a packet does where it arrives."""

    WRITE = 0
    FIFO = 1
    QUERY = 2
    COUNTER_SET = 3
    COUNTER_ADD = 4


class Status(IntEnum):
    """What a call of vic.h returns."""

    OK = 0
    EINVAL = -1
    ETIMEDOUT = -2
    EBUSY = -3
    ENOSPC = -4
    EPEER = -5
    ECLOSED = -6
    ENOJOB = -7
    ESYS = -8
    ERANGE = -9
