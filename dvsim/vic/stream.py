"""Iteration over what is received, in loops and in asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import Generic, TypeVar

from dvsim.vic.errors import Closed, TimedOut, VicError
from dvsim.vic.waiting import SLICE_NS, is_alone, part_of_a_wait

Item = TypeVar("Item")

BREATH = 32
"""Items after which other tasks of the loop get a turn though more items are there."""


class Stream(Generic[Item]):
    """Something with `_receive(timeout)`; a loop over it ends when it is closed, or the job is."""

    def __init__(self, timed: bool) -> None:
        self._timed = timed
        self._ready: deque[Item] = deque()

    def _receive(self, timeout: float | None) -> Item:
        raise NotImplementedError

    def _next(self, timeout: float | None) -> Item:
        with contextlib.suppress(IndexError):
            return self._ready.popleft()  # received for a task that was cancelled
        return self._receive(timeout)

    def _fetch(self, since_ns: int) -> None:
        with contextlib.suppress(TimedOut), part_of_a_wait(since_ns):
            self._ready.append(self._receive(SLICE_NS / 1e9))

    def __iter__(self) -> Iterator[Item]:
        """Return an iterator that waits for each item."""
        while True:
            try:
                item = self._next(None)
            except Closed:
                return
            yield item

    async def __aiter__(self) -> AsyncIterator[Item]:
        """Return an asynchronous iterator: threads wait, the loop goes on. Can be cancelled."""
        loop, count, since_ns = asyncio.get_running_loop(), 0, 0
        while True:
            item = None
            try:
                item = self._next(None if self._timed and is_alone() else 0)
            except Closed:
                return
            except TimedOut:
                since_ns = since_ns or time.monotonic_ns()
            if item is None:
                try:  # other tasks may end the wait
                    await loop.run_in_executor(None, self._fetch, since_ns if is_alone() else 0)
                except Closed:
                    return
                except VicError as error:  # without the frames of the thread and of its pool
                    raise error.with_traceback(None) from None
                continue
            since_ns = 0
            count += 1
            if count % BREATH == 0:
                try:
                    await asyncio.sleep(0)
                except asyncio.CancelledError:
                    self._ready.appendleft(item)
                    raise
            yield item
