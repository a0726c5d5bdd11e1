"""Waiting for a card in an event loop: by descriptors that the loop polls beside its sockets."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

from dvsim.vic.errors import VicError

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
