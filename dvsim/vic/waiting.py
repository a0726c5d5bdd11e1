"""Waits that signals and closing can interrupt, and descriptors of events."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Self

from dvsim.vic.binding import FOREVER, Status, VicError, libvic


class Closing:
    """Closes at the end of a ``with`` block."""

    def close(self) -> None:
        """Close; a second time does nothing."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Close after a block that raised nothing.

        After an exception it stays open, so that the death of the program reaches the other cards;
        see `Card.__exit__`.
        """
        if kind is None:
            self.close()


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


def is_alone(loop: asyncio.AbstractEventLoop | None = None) -> bool:
    """Return whether there is only one task in a loop; None: in the one that runs here."""
    return len(asyncio.all_tasks(loop)) == 1


@contextmanager
def part_of_a_wait(since_ns: int) -> Iterator[None]:
    """Tell the launcher that waits of this thread are parts of one without end; 0: they are not."""
    lib = libvic().lib
    lib.vic_wait_slices(since_ns)
    try:
        yield
    finally:
        lib.vic_wait_slices(0)


KEPT = 16
"""Descriptors that stay for the next task that waits for the same; others are given back."""


class Events:
    """The descriptors of a card. Each task that waits has one to itself, and gives it back.

    They are duplicates: vic_close makes them readable and closes its own, these are closed here.
    """

    def __init__(self, make: Callable[[int, int], int], close: Callable[[int], None]) -> None:
        self._make, self._close = make, close
        self._free: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._closed = False

    async def may_be_ready(self, counters: int, fifo_min: int, seconds: float | None) -> None:
        """Return when the loop finds the descriptor readable, or the time is over."""
        loop = asyncio.get_running_loop()
        key = counters, fifo_min
        made, fd = self._free[key].pop() if self._free.get(key) else self._new(counters, fifo_min)
        woken = loop.create_future()

        def wake() -> None:
            with contextlib.suppress(BlockingIOError):
                os.read(fd, 8)
            if not woken.done():
                woken.set_result(None)

        loop.add_reader(fd, wake)
        try:
            await asyncio.wait_for(woken, seconds)
        except TimeoutError:
            return
        finally:
            loop.remove_reader(fd)
            if self._closed or sum(map(len, self._free.values())) >= KEPT:
                self._end(made, fd)
            else:
                self._free.setdefault(key, []).append((made, fd))

    def close(self) -> None:
        """Close what nobody waits with; who does closes its own."""
        self._closed = True
        for free in self._free.values():
            while free:
                self._end(*free.pop())

    def _new(self, counters: int, fifo_min: int) -> tuple[int, int]:
        made = self._make(counters, fifo_min)
        return made, os.dup(made)

    def _end(self, made: int, fd: int) -> None:
        os.close(fd)
        with contextlib.suppress(VicError):  # the card is closed, and so is its descriptor
            self._close(made)
