"""A stage of the pipeline: a server that works through batches in order, one at a time."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import simpy

if TYPE_CHECKING:
    from dvsim.core.observer import Observer

PS_PER_S = 10**12
Item = TypeVar("Item")
Process = Generator[simpy.Event, Any, None]
YOUNG = 100_000
"""New objects after which Python looks for cycles while a clock runs: events hardly make any."""


class Clock(simpy.Environment):
    """Simulated time in integer picoseconds, with a count of the events that were scheduled.

    Args:
        observer: Who looks on, if anybody does.
    """

    def __init__(self, observer: Observer | None = None) -> None:
        super().__init__(initial_time=0)
        self.events = 0
        self.observer = observer
        self._at_once = Happening(self)  # for all who wait for no time at all
        self._at_once._ok, self._at_once._value = True, None
        self._at_once.callbacks = None  # type: ignore[assignment]
        # bound once: SimPy does so for the class that it brings, not for one that extends it
        self.timeout, self.event = self.timeout, self.event  # type: ignore[method-assign]

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
            until.callbacks.append(self._stop)
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
            if event.__class__ is Stop:
                return event.value
            callbacks, event.callbacks = event.callbacks, None  # type: ignore[assignment]
            for callback in callbacks:
                callback(event)
            if not event._ok and not event.defused:
                raise event._value
        if until is not None:
            raise RuntimeError(f"nothing is left to happen, but {until} has not")
        return None

    def _stop(self, event: simpy.Event) -> None:
        if not event.ok:
            event.defused = True
            raise cast("BaseException", event.value)
        self.schedule(Stop(self, event.value), -1)

    def wait(self, ps: int) -> simpy.Event:
        """Return the event of so many picoseconds later; it is over if there are none to wait."""
        if not ps:
            return self._at_once
        self.events += 1
        event = Happening(self)
        event._ok, event._value = True, None
        heappush(self._queue, (self._now + ps, simpy.events.NORMAL, self.events, event))
        return event

    def process(self, generator: Process) -> simpy.Event:  # type: ignore[override]
        """Start a process before anything else happens, and return the event of its end."""
        return Steps(self, generator)

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


class Stop(simpy.Event):
    """The end of a run."""

    def __init__(self, clock: Clock, value: object) -> None:
        super().__init__(clock)
        self._ok, self._value = True, value


class Happening(simpy.Event):
    """An event that is over as soon as it happens: who waits for it goes on within the call.

    SimPy would schedule it for the same time, after all that is to happen then.
    """

    def __init__(self, clock: Clock) -> None:
        self.env = clock
        self.callbacks: list[Callable[[Any], Any]] = []
        self._value = simpy.events.PENDING

    def happen(self, value: object = None, ok: bool = True) -> Happening:
        """Let it happen, with a value for who waits, or the error with which it fails."""
        self._ok, self._value = ok, value
        callbacks, self.callbacks = self.callbacks, None  # type: ignore[assignment]
        for callback in callbacks:
            callback(self)
        return self


class Steps(Happening):
    """A process: a generator that yields the events for which it waits, and the event of its end.

    It does what `simpy.Process` does, but for interrupts, in half of the time.
    """

    def __init__(self, clock: Clock, generator: Process) -> None:
        super().__init__(clock)
        self._generator, self._send = generator, generator.send
        self._bound = self._go
        clock.soon(self._go)

    def _go(self, event: simpy.Event) -> None:
        try:
            while True:
                if event._ok:
                    event = self._send(event._value)
                else:
                    event.defused = True
                    event = self._generator.throw(event._value)
                if event.callbacks is not None:
                    event.callbacks.append(self._bound)
                    return
        except StopIteration as end:
            ok, value = True, end.value
        except Exception as error:
            if not self.callbacks:  # nobody waits for this process
                raise
            ok, value = False, error
        self.happen(value, ok)
        if not ok and not self.defused:
            raise value


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
        self.callbacks, clock = self._calls, self.env
        clock.events += 1  # type: ignore[attr-defined]  # of a Clock
        at = clock._now + delay
        heappush(clock._queue, (at, priority, clock.events, self))  # type: ignore[attr-defined]


class All(Happening):
    """The end of the last of some events: a `simpy.AllOf` without their values.

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
            self.happen()

    def _over(self, event: simpy.Event) -> None:
        self._missing -= 1
        if self.callbacks is None:  # it is over, as one has failed
            return
        if not event._ok:
            event.defused = True
            self.happen(event._value, ok=False)
            if not self.defused:
                raise event._value
        elif not self._missing:
            self.happen()


class Through(Happening):
    """A batch that is through when all of so many parts are, and what is done then."""

    def __init__(self, clock: Clock, parts: int, then: Callable[[], object]) -> None:
        super().__init__(clock)
        self._missing, self._then = parts, then

    def part(self) -> None:
        """Let one of the parts be over."""
        self._missing -= 1
        if not self._missing:
            self._then()
            self.happen()


class Inbox(Generic[Item]):
    """A queue of one process, first come, first served: who waits for an item has it at once."""

    def __init__(self, clock: Clock) -> None:
        self.items: deque[Item] = deque()
        self._clock = clock
        self._taker: Happening | None = None

    def put(self, item: Item) -> None:
        """Add an item."""
        if self._taker is None:
            self.items.append(item)
        else:
            taker, self._taker = self._taker, None
            taker.happen(item)

    def get(self) -> simpy.Event:
        """Return the event of the next item, which is its value."""
        taken = Happening(self._clock)
        if self.items:
            return taken.happen(self.items.popleft())
        self._taker = taken
        return taken


class Stage:
    """A process that serves batches of messages first come, first served.

    A stage says how long a batch takes (`work_ps`). A batch that passes several overlapping stages
    is handed to all of them at once, and is through when the slowest is, see `Through`. Errors name
    it by what it does, `DOES`.
    """

    DOES: ClassVar[str] = "served"

    def __init__(self, clock: Clock, name: str) -> None:
        self.clock = clock
        self.name = name
        self.messages = 0
        self.busy_ps = 0
        self._free_at = 0
        self._waiting: deque[tuple[int, Callable[[], object]]] = deque()
        self._batch: tuple[int, Callable[[], object]] | None = None  # at work
        self._work_ps = 0
        self._end = Call(clock, self._ended)

    def work_ps(self, messages: int) -> int:
        """Return how long a batch of `messages` takes, in picoseconds."""
        raise NotImplementedError

    def serve(self, messages: int) -> simpy.Event:
        """Queue a batch and return the event of its end."""
        done = Happening(self.clock)
        self.take(messages, done.happen)
        return done

    def take(self, messages: int, done: Callable[[], object]) -> None:
        """Queue a batch, and call a function at its end."""
        clock = self.clock
        self._waiting.append((messages, done))
        if clock.observer is not None:
            self._show(clock.observer)
        if self._batch is None:
            self._begin()

    def backlog_ps(self, per_message_ps: float) -> int:
        """Return how long until the stage has worked off what it has, at a pace for what waits."""
        busy = max(0, self._free_at - self.clock.ps)
        return busy + round(self._messages_waiting() * per_message_ps)

    def utilisation(self, total_ps: int) -> float:
        """Return the share of `total_ps` for which the stage was at work."""
        return self.busy_ps / total_ps if total_ps else 0.0

    def levels(self) -> dict[str, float]:
        """Return how much there is of what waits here, for an observer."""
        return {"messages waiting": self._messages_waiting()}

    def _messages_waiting(self) -> int:
        return sum([messages for messages, _ in self._waiting])

    def _show(self, observer: Observer) -> None:
        for name, value in self.levels().items():
            observer.level(self, self.name, name, self.clock.ps, value)

    def _show_work(self, observer: Observer, end_ps: int, messages: int) -> None:
        observer.worked(self, self.name, self.clock.ps, end_ps, messages)

    def _begin(self) -> None:
        clock = self.clock
        self._batch = batch = self._waiting.popleft()
        messages = batch[0]
        self._work_ps = work = self.work_ps(messages)
        self._free_at = clock.ps + work
        if clock.observer is not None:
            self._show_work(clock.observer, self._free_at, messages)
        self._end.after(work)

    def _ended(self, _: simpy.Event) -> None:
        assert self._batch is not None  # it has just ended
        messages, done = self._batch
        self.busy_ps += self._work_ps
        self.messages += messages
        self._batch = None
        if self.clock.observer is not None:
            self._show(self.clock.observer)
        if self._waiting:
            self._begin()
        done()
