"""Waits of messages and clients: in slices, so that Python sees Ctrl-C between them."""

from __future__ import annotations

import time
from collections.abc import Callable

from dvsim.vic.constants import FOREVER, Status

SLICE_NS = 50_000_000  # of a wait in functional mode: between slices Python sees signals


def nanoseconds(timeout: float | None) -> int:
    """Return a timeout of Python, in seconds or None for ever, as vic.h has it."""
    return FOREVER if timeout is None else min(FOREVER - 1, max(0, round(timeout * 1e9)))


def in_slices(call: Callable[[int], int], timeout: float | None, timed: bool) -> int:
    """Call with a timeout in ns until the status is another than ETIMEDOUT, or time is over.

    In timed mode time is the model's: there is one call.
    """
    timeout_ns = nanoseconds(timeout)
    if timed:
        return call(timeout_ns)
    remaining, started = timeout_ns, time.monotonic_ns()
    while True:
        status = call(min(remaining, SLICE_NS))
        if timeout_ns != FOREVER:
            remaining = max(0, timeout_ns - (time.monotonic_ns() - started))
        if status != Status.ETIMEDOUT or remaining == 0:
            return status
