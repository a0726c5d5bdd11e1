"""A stage of the pipeline: a server that works through batches in order, one at a time."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import simpy

if TYPE_CHECKING:
    from dvsim.core.observer import Observer

PS_PER_S = 10**12
Item = TypeVar("Item")
Process = Generator[simpy.Event, Any, None]
YOUNG = 100_000
"""New objects after which Python looks for cycles while a clock runs: events hardly make any."""


class Clock(simpy.Environment):
    """Simulated time in integer picoseconds, with a count of the events scheduled.

    Args:
        observer: Who looks on, if anybody does.
    """

    def __init__(self, observer: Observer | None = None) -> None:
        super().__init__(initial_time=0)
        self.events = 0
        self.observer = observer
        # bound once: SimPy does so for the class that it brings, not for one that extends it
        self.timeout, self.event = self.timeout, self.event  # type: ignore[method-assign]
        self.process = self.process  # type: ignore[method-assign]

    def schedule(
        self,
        event: simpy.Event,
        priority: Any = simpy.events.NORMAL,  # noqa: ANN401 - as in SimPy
        delay: float = 0,
    ) -> None:
        """Schedule an event and count it; events at one time keep the order of the calls."""
        self.events += 1
        heappush(self._queue, (self._now + delay, priority, self.events, event))

    def run(self, until: simpy.Event | None = None) -> Any:  # type: ignore[override]  # noqa: ANN401
        """Go on until an event, or to the last one, and return its value.

        It does what SimPy does, without a call for each event, which took a third of the time.
        """
        if until is not None:
            if until.callbacks is None:  # it is over
                return until.value
            until.callbacks.append(simpy.core.StopSimulation.callback)
        before = gc.get_threshold()
        gc.set_threshold(YOUNG, *before[1:])
        try:
            return self._run(until)
        finally:
            gc.set_threshold(*before)

    def _run(self, until: simpy.Event | None) -> Any:  # noqa: ANN401 - as in SimPy
        queue = self._queue
        while queue:
            self._now, _, _, event = heappop(queue)
            callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
            try:
                for callback in callbacks:
                    callback(event)
            except simpy.core.StopSimulation as stop:
                event.callbacks = callbacks[callbacks.index(callback) + 1 :]
                self.schedule(event, -1)  # what else waited for it comes first in the next run
                return stop.args[0]
            if not event._ok and not event.defused:
                raise event._value
        if until is not None:
            raise RuntimeError(f"nothing is left to happen, but {until} has not")
        return None

    def soon(self, call: Callable[[simpy.Event], object]) -> None:
        """Call a function before anything else happens, as a new process of SimPy begins."""
        Call(self, call).after(0, simpy.events.URGENT)

    def all_of(self, events: Iterable[simpy.Event]) -> simpy.Event:  # type: ignore[override]
        """Return the event of the last of some events."""
        return All(self, events)

    @property
    def ps(self) -> int:
        """Simulated time in picoseconds."""
        return self._now  # type: ignore[return-value]  # all delays are whole


class Call(simpy.Event):
    """An event that calls one function, and can be scheduled anew when it is over.

    A process that has one step after another costs half as much as calls than as a generator.
    """

    def __init__(self, clock: Clock, call: Callable[[simpy.Event], object]) -> None:
        self.env = clock
        self._ok, self._value = True, None
        self._calls: list[Callable[[Any], Any]] = [call]

    def after(
        self,
        delay: int,
        priority: Any = simpy.events.NORMAL,  # noqa: ANN401 - as in SimPy
    ) -> None:
        """Let the call come so many picoseconds later; one that is still to come must be over."""
        self.callbacks = self._calls
        self.env.schedule(self, priority, delay)


class All(simpy.Event):
    """The end of the last of some events: a `simpy.AllOf` without their values, in half the time.

    If one of them fails, it fails with the same error.
    """

    def __init__(self, clock: Clock, events: Iterable[simpy.Event]) -> None:
        super().__init__(clock)
        self._missing = 0
        for event in events:
            if event.callbacks is not None:  # else it is over
                event.callbacks.append(self._over)
                self._missing += 1
        if not self._missing:
            self.succeed()

    def _over(self, event: simpy.Event) -> None:
        self._missing -= 1
        if self.triggered:
            return
        if not event.ok:
            event.defused = True
            self.trigger(event)
        elif not self._missing:
            self.succeed()


class Inbox(Generic[Item]):
    """What waits for one process, first come, first served.

    It schedules the events that a `simpy.Store` schedules, in their order and in half of the time:
    an item is there at once, and who waits for it goes on two events later.
    """

    def __init__(self, clock: Clock) -> None:
        self.items: deque[Item] = deque()
        self._clock = clock
        self._taker: simpy.Event | None = None

    def put(self, item: Item) -> None:
        """Add an item."""
        self.items.append(item)
        there = self._clock.timeout(0)
        there.callbacks.append(self._give)

    def get(self) -> simpy.Event:
        """Return the event of the next item, which is its value."""
        taken = simpy.Event(self._clock)
        if self.items:
            taken.succeed(self.items.popleft())
        else:
            self._taker = taken
        return taken

    def _give(self, _: simpy.Event) -> None:
        if self._taker is not None and self.items:
            taker, self._taker = self._taker, None
            taker.succeed(self.items.popleft())


class Stage:
    """A process that serves batches of messages first come, first served.

    A stage says how long a batch takes (`work_ps`). A batch that passes several overlapping stages
    is handed to all of them at once, and is through when the slowest is:
    ``yield clock.all_of([a.serve(n), b.serve(n)])``. Errors name it by what it does, `DOES`.
    """

    DOES: ClassVar[str] = "served"

    def __init__(self, clock: Clock, name: str) -> None:
        self.clock = clock
        self.name = name
        self.messages = 0
        self.busy_ps = 0
        self._free_at = 0
        self._inbox: Inbox[tuple[int, simpy.Event]] = Inbox(clock)
        self._batch = (0, simpy.Event(clock))
        self._work_ps = 0
        self._end = Call(clock, self._ended)
        clock.soon(self._next)

    def work_ps(self, messages: int) -> int:
        """Return how long a batch of `messages` takes, in picoseconds."""
        raise NotImplementedError

    def serve(self, messages: int) -> simpy.Event:
        """Queue a batch and return the event of its end."""
        done = simpy.Event(self.clock)
        self._inbox.put((messages, done))
        if self.clock.observer is not None:
            self._show(self.clock.observer)
        return done

    def backlog_ps(self, per_message_ps: float) -> int:
        """Return how long until the stage has worked off what it has, at a pace for what waits."""
        waiting: int = sum(messages for messages, _ in self._inbox.items)
        return max(0, self._free_at - self.clock.ps) + round(waiting * per_message_ps)

    def utilisation(self, total_ps: int) -> float:
        """Return the share of `total_ps` for which the stage was at work."""
        return self.busy_ps / total_ps if total_ps else 0.0

    def levels(self) -> dict[str, float]:
        """Return how much there is of what waits here, for an observer."""
        return {"messages waiting": sum(messages for messages, _ in self._inbox.items)}

    def _show(self, observer: Observer) -> None:
        for what, value in self.levels().items():
            observer.level(self, self.name, what, self.clock.ps, value)

    def _show_work(self, observer: Observer, end_ps: int, messages: int) -> None:
        observer.worked(self, self.name, self.clock.ps, end_ps, messages)

    def _next(self, _: simpy.Event | None = None) -> None:
        taken = self._inbox.get()
        assert taken.callbacks is not None  # it has just been made
        taken.callbacks.append(self._begin)

    def _begin(self, taken: simpy.Event) -> None:
        assert taken.value is not None  # what was put into the inbox
        self._batch = taken.value
        messages, _ = self._batch
        self._work_ps = self.work_ps(messages)
        self._free_at = self.clock.ps + self._work_ps
        if self.clock.observer is not None:
            self._show_work(self.clock.observer, self._free_at, messages)
        self._end.after(self._work_ps)

    def _ended(self, _: simpy.Event) -> None:
        messages, done = self._batch
        self.busy_ps += self._work_ps
        self.messages += messages
        if self.clock.observer is not None:
            self._show(self.clock.observer)
        done.succeed()
        self._next()
