"""The constants of vic.h and what stands on it; tests compare them with what the library says."""

from __future__ import annotations

from enum import IntEnum, IntFlag

FOREVER = 2**64 - 1
"""A timeout that never comes, in nanoseconds."""

NO_COUNTER = 63
"""The scratch counter: nobody waits for it, and what it reads says nothing."""


READY_FIFO = 63
"""The bit of what `Card.wait` returns that stands for the FIFO."""


class Op(IntEnum):
    """What a packet does where it arrives."""

    WRITE = 0
    FIFO = 1
    QUERY = 2
    COUNTER_SET = 3
    COUNTER_ADD = 4


class Reduction(IntEnum):
    """How words of many cards become one. Sums are modulo 2**64."""

    SUM = 0
    MIN = 1
    MAX = 2
    AND = 3
    OR = 4
    XOR = 5


class Kind(IntEnum):
    """What a delivery of a client is: those of vic_envelope.h that a program receives."""

    PUBLISH = 1
    CONFIRM = 2
    REFUSAL = 5
    DELIVER = 6
    TOPIC = 10


class Flag(IntFlag):
    """Flags of deliveries: those of vic_envelope.h."""

    CONFIRM_WANTED = 1
    PERSISTENT = 2
    RETURNED = 4
    REFUSED = 8
    REDELIVERED = 16


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
    EAGAIN = -10
