"""What several hops share: a port, the threads of a broker. They take turns."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import simpy

from dvsim.core.stage import Call, Clock

Granted = Callable[[simpy.Event], object]


class Turns:
    """So many turns at a time; of those that wait the lowest priority comes first, then the first.

    It schedules the events that a `simpy.PriorityResource` schedules, in their order and in half of
    the time: a turn is there one event after it was asked for, and who waits gets it two events
    after another has left.
    """

    def __init__(self, clock: Clock, count: int = 1) -> None:
        self._clock, self._free = clock, count
        self._asked = 0
        self._waiting: list[tuple[int, int, Granted]] = []

    def ask(self, priority: int, granted: Granted) -> None:
        """Call a function when there is a turn; it has to `leave` later."""
        self._asked += 1
        heappush(self._waiting, (priority, self._asked, granted))
        self._grant()

    def leave(self) -> None:
        """Give a turn back."""
        self._free += 1
        Call(self._clock, self._grant).after(0)

    def _grant(self, _: simpy.Event | None = None) -> None:
        if self._free and self._waiting:
            self._free -= 1
            granted = heappop(self._waiting)[-1]
            Call(self._clock, granted).after(0)
