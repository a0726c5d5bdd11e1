"""One queue with several consumers: who gets the next messages, and for how long it takes."""

from __future__ import annotations

from collections.abc import Callable

import simpy

from dvsim.kinds.hosts.hop import Arrive, Batch
from dvsim.system.stage import Clock, Process

DELIVER = "broker: deliver"
DELIVER_FIRST = 0  # a thread that has other work too delivers before it takes more
CHUNK = 20  # messages that a consumer gets in one go: each in turn, so many at a time


class Queue:
    """A queue that consumers share; each may hold `prefetch` messages unacknowledged.

    Attributes
    ----------
    held
        Messages that each consumer holds.
    waiting
        Messages in the queue.
    """

    def __init__(
        self,
        clock: Clock,
        model: str,
        prefetch: int,
        frame: int,
        cost: Callable[[Batch], float],
        targets: list[Arrive],
        shared: simpy.PriorityResource,
    ) -> None:
        self.kind, self.messages, self.busy_ps, self.waiting = DELIVER, 0, 0, 0
        self.held = [0] * len(targets)
        self._clock, self._model, self._prefetch = clock, model, prefetch
        self._frame, self._cost, self._targets, self._shared = frame, cost, targets, shared
        self._next = 0
        self._idle: simpy.Event | None = None
        clock.process(self._run())

    def arrive(self, messages: int) -> None:
        """Take messages into the queue."""
        self.waiting += messages
        self._look()

    def acknowledged(self, consumer: int, messages: int) -> None:
        """Take acknowledgements of a consumer."""
        self.held[consumer] -= messages
        self._look()

    def choose(self) -> int | None:
        """Return who gets the next messages; None if nobody has room."""
        room = [held < self._prefetch for held in self.held]
        if not any(room):
            return None
        if self._model == "fast":
            return room.index(True)
        if self._model == "proportional":
            return min(range(len(room)), key=self._fullest_last)
        return min((n for n, free in enumerate(room) if free), key=self._turn)

    def _fullest_last(self, number: int) -> tuple[int, int]:
        """Return a sort key: how much a consumer holds, in chunks, then whose turn it is."""
        return self.held[number] // CHUNK, self._turn(number)

    def _turn(self, number: int) -> int:
        """Return how many come before a consumer in turn."""
        return (number - self._next) % len(self.held)

    def _look(self) -> None:
        if self._idle is not None and self.waiting and self.choose() is not None:
            idle, self._idle = self._idle, None
            idle.succeed()

    def _run(self) -> Process:
        clock = self._clock
        while True:
            chosen = self.choose() if self.waiting else None
            if chosen is None:
                self._idle = simpy.Event(clock)
                yield self._idle
                continue
            with self._shared.request(DELIVER_FIRST) as turn:
                yield turn
                messages = min(CHUNK, self.waiting, self._prefetch - self.held[chosen])
                self._next = (chosen + 1) % len(self.held)
                self.held[chosen] += messages
                self.waiting -= messages
                work = round(self._cost(Batch(messages * self._frame, messages)))
                if clock.observer is not None:
                    clock.observer.worked(self, self.kind, clock.ps, clock.ps + work, messages)
                    waiting = self.waiting
                    clock.observer.level(self, self.kind, "messages waiting", clock.ps, waiting)
                yield clock.timeout(work)
            self.busy_ps += work
            self.messages += messages
            self._targets[chosen](messages * self._frame)
