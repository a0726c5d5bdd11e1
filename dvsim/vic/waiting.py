"""Waits of messages and clients: in slices, so that Python sees Ctrl-C between them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dvsim.vic.binding import libvic
from dvsim.vic.constants import FOREVER, Status

SLICE_NS = 50_000_000  # of a wait in functional mode: between slices Python sees signals


def nanoseconds(timeout: float | None) -> int:
    """Return a timeout of Python, in seconds or None for ever, as vic.h has it."""
    return FOREVER if timeout is None else min(FOREVER - 1, max(0, round(timeout * 1e9)))


def in_slices(call: Callable[[int], int], timeout: float | None, timed: bool) -> int:
    """Call with a timeout in ns until the status is another than ETIMEDOUT, or time is over.

    In timed mode time is the model's: there is one call.
    """
    return in_slices_of(call, nanoseconds(timeout), timed)


def in_slices_of(call: Callable[[int], int], timeout_ns: int, timed: bool) -> int:
    """Do as `in_slices`, with a timeout in ns."""
    if timed:
        return call(timeout_ns)
    started = time.monotonic_ns()
    status = call(min(timeout_ns, SLICE_NS))
    if status != Status.ETIMEDOUT or timeout_ns <= SLICE_NS:
        return status
    with part_of_a_wait(started if timeout_ns == FOREVER else 0):
        remaining = timeout_ns
        while status == Status.ETIMEDOUT and remaining > 0:
            if timeout_ns != FOREVER:
                remaining = max(0, timeout_ns - (time.monotonic_ns() - started))
            status = call(min(remaining, SLICE_NS))
    return status


def is_alone() -> bool:
    """Return whether the present task is the only one of its loop."""
    return len(asyncio.all_tasks()) == 1


@contextmanager
def part_of_a_wait(since_ns: int) -> Iterator[None]:
    """Tell the launcher that waits of this thread are parts of one without end; 0: they are not."""
    lib = libvic().lib
    lib.vic_wait_slices(since_ns)
    try:
        yield
    finally:
        lib.vic_wait_slices(0)
