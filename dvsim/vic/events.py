"""Waiting for a card in an event loop: by descriptors that the loop polls beside its sockets."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable


class Events:
    """The descriptors of a card. Each task that waits has one to itself, and gives it back.

    They are duplicates: vic_close makes them readable and closes its own, these are closed here.
    """

    def __init__(self, make: Callable[[int, int], int]) -> None:
        self._make = make
        self._free: dict[tuple[int, int], list[int]] = {}
        self._closed = False

    async def may_be_ready(self, counters: int, fifo_min: int, seconds: float | None) -> None:
        """Return when the loop finds the descriptor readable, or the time is over."""
        loop = asyncio.get_running_loop()
        free = self._free.setdefault((counters, fifo_min), [])
        fd = free.pop() if free else os.dup(self._make(counters, fifo_min))
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
            if self._closed:
                os.close(fd)
            else:
                free.append(fd)

    def close(self) -> None:
        """Close what nobody waits with; who does closes its own."""
        self._closed = True
        for free in self._free.values():
            while free:
                os.close(free.pop())
