"""One queue with several consumers: who gets the next messages, and for how long it takes."""

from __future__ import annotations

from collections.abc import Callable

import simpy

from dvsim.core.stage import Call, Clock
from dvsim.kinds.hosts.hop import Arrive, Batch, Turns

DELIVER = "broker: deliver"
DELIVER_FIRST = 0  # a thread that has other work too delivers before it takes more
CHUNK = 20  # messages that a consumer gets in one go: each in turn, so many at a time


class Queue:
    """A queue that consumers share; each may hold `prefetch` messages unacknowledged.

    Attributes:
        held: Messages that each consumer holds.
        waiting: Messages in the queue.
    """

    def __init__(
        self,
        clock: Clock,
        model: str,
        prefetch: int,
        frame: int,
        cost: Callable[[Batch], float],
        targets: list[Arrive],
        shared: Turns,
    ) -> None:
        self.kind, self.messages, self.busy_ps, self.waiting = DELIVER, 0, 0, 0
        self.held = [0] * len(targets)
        self._clock, self._model, self._prefetch = clock, model, prefetch
        self._frame, self._cost, self._targets, self._shared = frame, cost, targets, shared
        self._next = 0
        self._asleep = False
        self._chosen = self._batch = self._work_ps = 0
        self._woken = Call(clock, self._give)
        self._end = Call(clock, self._ended)
        clock.soon(self._give)

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
        free = [held < self._prefetch for held in self.held]
        if not any(free):
            return None
        if self._model == "fast":
            return free.index(True)
        if self._model == "proportional":
            return min(range(len(free)), key=self._fullest_last)
        return min((n for n, is_free in enumerate(free) if is_free), key=self._turn)

    def _fullest_last(self, number: int) -> tuple[int, int]:
        return self.held[number] // CHUNK, self._turn(number)

    def _turn(self, number: int) -> int:
        return (number - self._next) % len(self.held)

    def _look(self) -> None:
        if self._asleep and self.waiting and self.choose() is not None:
            self._asleep = False
            self._woken.after(0)

    def _give(self, _: simpy.Event | None = None) -> None:
        chosen = self.choose() if self.waiting else None
        if chosen is None:
            self._asleep = True
        else:
            self._chosen = chosen
            self._shared.ask(DELIVER_FIRST, self._work)

    def _work(self, _: simpy.Event) -> None:
        clock, chosen = self._clock, self._chosen
        messages = min(CHUNK, self.waiting, self._prefetch - self.held[chosen])
        self._next = (chosen + 1) % len(self.held)
        self.held[chosen] += messages
        self.waiting -= messages
        self._batch = messages
        self._work_ps = work = round(self._cost(Batch(messages * self._frame, messages)))
        if clock.observer is not None:
            clock.observer.worked(self, self.kind, clock.ps, clock.ps + work, messages)
            clock.observer.level(self, self.kind, "messages waiting", clock.ps, self.waiting)
        self._end.after(work)

    def _ended(self, _: simpy.Event) -> None:
        self._shared.leave()
        self.busy_ps += self._work_ps
        self.messages += self._batch
        self._targets[self._chosen](self._batch * self._frame)
        self._give()
