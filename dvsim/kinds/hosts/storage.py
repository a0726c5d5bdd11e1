"""The log of a broker on a storage device: written in order, at once or at intervals."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import simpy

from dvsim.core.stage import PS_PER_S, Clock, Process
from dvsim.kinds.hosts.hop import Batch, Hop
from dvsim.scenario.types import Card

LOG = "storage"
LARGEST_WRITE = 2**20  # bytes of one write

Logged = Callable[[], None]


class WriteLog:
    """A log that is written as soon as the device is free; what is written is safe.

    A write takes what is there, up to 1 MiB: ``write + bytes / bandwidth``. So a busy device writes
    large batches and an idle one single messages.

    Args:
        frame: Bytes of a message in the log.
    """

    def __init__(self, clock: Clock, card: Card, frame: int) -> None:
        self._frame = frame
        write, byte = card["write"], PS_PER_S / card["bandwidth"]

        def cost(batch: Batch) -> float:
            return float(write + batch.bytes * byte)

        limit = max(frame, LARGEST_WRITE // frame * frame)
        self._hop = Hop(clock, LOG, frame, limit, cost, self._written)
        self._groups: deque[tuple[int, Logged]] = deque()
        self._over = 0  # bytes written beyond the last group that is safe

    @property
    def busy_ps(self) -> int:
        """Picoseconds at work."""
        return self._hop.busy_ps

    def append(self, messages: int, then: Logged) -> None:
        """Write a group of messages, and call `then` when all of them are safe."""
        self._groups.append((messages * self._frame, then))
        self._hop.arrive(messages * self._frame)

    def _written(self, count: int) -> None:
        self._over += count
        while self._groups and self._groups[0][0] <= self._over:
            group, then = self._groups.popleft()
            self._over -= group
            then()


class SyncedLog:
    """A log that is kept in memory and synced when something has waited for an interval.

    A sync takes all that is there: ``write + bytes / bandwidth + sync``. The interval begins with
    the first message that is not safe, or with the end of the sync before.
    """

    def __init__(self, clock: Clock, card: Card, frame: int, interval_ps: int) -> None:
        self._clock, self._frame, self._interval_ps = clock, frame, interval_ps
        self._fixed: int = card["write"] + card["sync"]
        self._byte = PS_PER_S / card["bandwidth"]
        self.busy_ps = 0
        self._waiting: list[Logged] = []
        self._bytes = 0
        self._wake = simpy.Event(clock)
        clock.process(self._run())

    def append(self, messages: int, then: Logged) -> None:
        """Take a group of messages, and call `then` when all of them are safe."""
        self._waiting.append(then)
        self._bytes += messages * self._frame
        if not self._wake.triggered:
            self._wake.succeed()

    def _run(self) -> Process:
        while True:
            if not self._waiting:
                self._wake = simpy.Event(self._clock)
                yield self._wake
            yield self._clock.timeout(self._interval_ps)
            safe, self._waiting = self._waiting, []
            work = self._fixed + round(self._bytes * self._byte)
            if self._clock.observer is not None:
                now, messages = self._clock.ps, self._bytes // self._frame
                self._clock.observer.worked(self, LOG, now, now + work, messages)
            self._bytes = 0
            yield self._clock.timeout(work)
            self.busy_ps += work
            for then in safe:
                then()
