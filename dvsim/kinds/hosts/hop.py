"""Hops: each takes what is there, up to a limit, works on it, passes it on.

A batch takes as long as its host lets it: threads hinder each other there. Some hops share turns.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, Protocol

import simpy

from dvsim.core.observer import Observer
from dvsim.core.stage import Call, Clock
from dvsim.core.streams import Streams
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law

Arrive = Callable[[int], None]
"""Called with a number of bytes that have arrived."""


Granted = Callable[[simpy.Event], object]
"""Called when there is a turn."""


class Worked(Protocol):
    """Anything that counts how long it was at work."""

    @property
    def busy_ps(self) -> int:
        """Picoseconds at work."""


class Batch(NamedTuple):
    """What a hop takes at once: bytes, and the messages whose last byte is among them."""

    bytes: int
    messages: int


class Shared(NamedTuple):
    """Hops that share so many threads or ports, under the name of their stage."""

    stage: str
    hops: Sequence[Worked]
    ports: int = 1

    def utilisation(self, total_ps: int) -> float:
        """Return the share of the time for which they were at work."""
        return sum(hop.busy_ps for hop in self.hops) / (self.ports * total_ps)


class Cost:
    """Time of a batch: ``call + messages * message + bytes * byte``, in picoseconds.

    Args:
        call: Paid once for each batch.
        laws: Paid for each message, and for each byte of the batch.
        message_factor, byte_factor: How much longer messages (and calls) and bytes take than they
            would alone on the host.
    """

    def __init__(
        self, call: float, *laws: Law, message_factor: float = 1.0, byte_factor: float = 1.0
    ) -> None:
        self.call_ps = call * message_factor
        self.message_ps = sum(law.fixed_ps for law in laws) * message_factor
        self.byte_ps = sum(law.per_byte_fs for law in laws) / 1000 * byte_factor

    def ps(self, batch: Batch) -> float:
        """Return the time of a batch."""
        return self.call_ps + batch.messages * self.message_ps + batch.bytes * self.byte_ps


class Hop:
    """A process that works on batches of a byte stream of equal messages.

    Args:
        frame: Bytes of a message in this stream.
        limit: Bytes that it takes at most.
        cost: Gives the picoseconds that a batch takes.
        onward: Called with the bytes of a batch when it is done.
        whole: Pass messages on when their last byte is done, not byte by byte.
        shared, priority: What it needs while it works and shares with other hops: a port, a thread.
            Of those that wait for it, the lowest priority comes first.
        wake_ps: Time to wake up when something arrives after there was nothing to do.
        kind: What it is called in tables: hops of one kind are alike.
        into: Of a link: the hop at its other end, to which arrows lead.

    Attributes:
        messages, busy_ps: Messages done, and picoseconds at work.
    """

    def __init__(
        self,
        clock: Clock,
        kind: str,
        frame: int,
        limit: int,
        cost: Callable[[Batch], float],
        onward: Arrive,
        *,
        whole: bool = False,
        shared: Turns | None = None,
        priority: int = 1,
        wake_ps: int = 0,
        into: Hop | None = None,
    ) -> None:
        self.clock, self.kind, self.frame = clock, kind, frame
        self.messages = self.busy_ps = 0
        self._limit, self._cost, self._onward = max(1, limit), cost, onward
        self._whole, self._wake_ps = whole, wake_ps
        self._shared, self._priority = shared, priority
        self._given = self._taken = 0
        self._into = into
        self._sent: deque[tuple[int, int]] = deque()  # for an observer, see `expect`
        self._asleep = False
        self._batch, self._work_ps = Batch(0, 0), 0
        self._woken = Call(clock, self._wake)
        self._ready = Call(clock, self._turn)
        self._end = Call(clock, self._ended)
        clock.soon(self._next)

    def arrive(self, count: int) -> None:
        """Take bytes in; a sleeping hop wakes."""
        self._given += count
        if self._asleep and count:
            self._asleep = False
            self._woken.after(0)

    @property
    def waiting(self) -> int:
        """Bytes that have arrived and not been taken."""
        return self._given - self._taken

    def expect(self, last: int, arrow: int) -> None:
        """Let an arrow end in the batch that takes byte number `last`, counted from 1."""
        self._sent.append((last, arrow))

    def _next(self, _: simpy.Event | None = None) -> None:
        if self._given == self._taken:
            self._asleep = True
        else:
            self._turn()

    def _wake(self, _: simpy.Event) -> None:
        if self._wake_ps:
            self._ready.after(self._wake_ps)
        else:
            self._turn()

    def _turn(self, _: simpy.Event | None = None) -> None:
        if self._shared is None:
            self._work()
        else:
            self._shared.ask(self._priority, self._work)

    def _work(self, _: simpy.Event | None = None) -> None:
        before, frame = self._taken, self.frame
        took = min(self._limit, self._given - before)
        self._taken = before + took
        self._batch = batch = Batch(took, (before + took) // frame - before // frame)
        self._work_ps = work = round(self._cost(batch))
        if self.clock.observer is not None:
            self._show(self.clock.observer, work, batch.messages)
        self._end.after(work)

    def _ended(self, _: simpy.Event) -> None:
        took, messages = self._batch
        self.busy_ps += self._work_ps
        self.messages += messages
        done = messages * self.frame if self._whole else took
        if done:
            self._onward(done)
        if self._shared is not None:
            self._shared.leave()
        self._next()

    def _show(self, observer: Observer, work_ps: int, messages: int) -> None:
        now, sends, gets = self.clock.ps, 0, 0
        if self._into is not None:
            sends = observer.arrow()
            self._into.expect(self._taken, sends)
        while self._sent and self._sent[0][0] <= self._taken:
            _, gets = self._sent.popleft()  # of several that end here the last is shown
        observer.worked(self, self.kind, now, now + work_ps, messages, sends, gets)
        observer.level(self, self.kind, "bytes waiting", now, self.waiting)


class Turns:
    """What several hops share: a port, the threads of a broker.

    So many turns are taken at a time; of those that wait the lowest priority comes first, then the
    first. It schedules the events that a `simpy.PriorityResource` schedules, in their order and in
    half of the time: a turn is there one event after it was asked for, and who waits gets it two
    events after another has left.
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


class Machine:
    """One host with `streams` independent streams of messages and so many threads at work.

    Each further stream lengthens the work on a message by `message_contention` of itself and that
    on a byte by `byte_contention`: threads share a bus and the caches, and no stream has them for
    itself. With more threads than cores they take turns.

    Args:
        card: A card of kind "machine".
        streams, threads: That are at work all the time.
    """

    def __init__(self, card: Card, name: str, streams: int, threads: int, draws: Streams) -> None:
        turns = max(1.0, threads / card["cores"])
        spread = math.exp(card["run_spread"] * next(draws.normal(f"{name}/run")))
        self.message_factor = (1 + card["message_contention"] * (streams - 1)) * turns * spread
        self.byte_factor = (1 + card["byte_contention"] * (streams - 1)) * turns * spread
        self._scatter: float = card["scatter"]
        self._draws = draws
        self._name = name
        self._made = 0

    def thread(self, kind: str, call: float, *laws: Law) -> Callable[[Batch], float]:
        """Return what a batch costs a thread of this host, scattered from batch to batch."""
        cost = Cost(call, *laws, message_factor=self.message_factor, byte_factor=self.byte_factor)
        if not self._scatter:
            return cost.ps
        self._made += 1
        draws = self._draws.normal(f"{self._name}/{kind}/{self._made}")
        scatter = self._scatter
        return lambda batch: cost.ps(batch) * math.exp(scatter * next(draws))
