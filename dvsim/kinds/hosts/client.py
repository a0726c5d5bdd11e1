"""Clients: the threads of an application and of its messaging library, at both ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dvsim.core.stage import PS_PER_S, Clock, Process
from dvsim.kinds.hosts.course import Course
from dvsim.kinds.hosts.hop import Arrive, Hop, Machine
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law

PUBLISHER, SENDER = "publisher", "sending thread"
RECEIVER, CONSUMER = "receiving thread", "consumer"
GRAINS = 400  # batches into which the messages of a flow are cut, where nothing else cuts them


@dataclass(frozen=True)
class Traffic:
    """What is sent over all hops: size of a message with its frame, and how finely it is cut.

    Attributes:
        frame: Bytes of a message with its frame.
        grain: Messages that an application hands over in one event at most.
        buffer: Bytes in one call of the socket at most.
    """

    frame: int
    grain: int
    buffer: int

    @property
    def whole(self) -> int:
        """Bytes of the messages that are handed over at once between threads of one host."""
        return self.grain * self.frame


def delayed(clock: Clock, delay_ps: int, call: Callable[[], None]) -> None:
    """Call a function later."""
    event = clock.timeout(delay_ps)
    assert event.callbacks is not None  # it has just been made
    event.callbacks.append(lambda _: call())


def sent_by(law: Law) -> Law:
    """Return the part of a law of socket calls that goes with the bytes."""
    return Law(0, law.per_byte_fs)


class Publisher:
    """An application that publishes, with the sending thread of its library if it has one.

    It begins a message for each credit that it has, see `allow`.

    Attributes:
        begun, passed: Courses of the messages that it was allowed to begin, and has passed to its
            socket.
        hops: Of this client.
    """

    def __init__(
        self,
        clock: Clock,
        engine: Card,
        port: Card,
        host: Machine,
        traffic: Traffic,
        onward: Arrive,
    ) -> None:
        self.begun, self.passed = Course(clock), Course(clock)
        self._clock, self._onward = clock, onward
        send, frame = port["send"], traffic.frame
        if engine["threads"] == 1:
            laws = [engine["publish"], engine["encode"], sent_by(send)]
            # a call for each message, or for each buffer of a long one
            short = frame <= traffic.buffer
            laws += [Law(send.fixed_ps, 0)] * short
            cost = host.thread(SENDER, 0 if short else send.fixed_ps, *laws)
            limit = traffic.whole if short else traffic.buffer
            self.hops = [Hop(clock, PUBLISHER, frame, limit, cost, self._pass)]
        else:
            cost = host.thread(SENDER, send.fixed_ps, engine["encode"], sent_by(send))
            sender = Hop(
                clock, SENDER, frame, traffic.buffer, cost, self._pass, wake_ps=engine["wake"]
            )
            cost = host.thread(PUBLISHER, 0, engine["publish"])
            first = Hop(clock, PUBLISHER, frame, traffic.whole, cost, sender.arrive, whole=True)
            self.hops = [first, sender]
        self._frame = frame
        self._left = 0

    def publish(self, messages: int, window: int | None) -> None:
        """Begin to publish so many messages, no more than `window` of them on the way."""
        now = messages if window is None else min(window, messages)
        self._left = messages - now
        self._begin(now)

    def publish_at(self, messages: int, rate: float, offset: float) -> None:
        """Begin a message every ``1 / rate`` seconds, the first after a share of that time."""
        gap = PS_PER_S / rate

        def due() -> Process:
            for number in range(messages):
                yield self._clock.timeout(round((number + offset) * gap) - self._clock.ps)
                self._begin(1)

        self._clock.process(due())

    def allow(self, messages: int) -> None:
        """Take the credit of messages that have come through."""
        now = min(messages, self._left)
        self._left -= now
        self._begin(now)

    def _pass(self, count: int) -> None:
        self.passed.add(self.hops[-1].messages - self.passed.messages)
        self._onward(count)

    def _begin(self, messages: int) -> None:
        self.begun.add(messages)
        self.hops[0].arrive(messages * self._frame)


class Consumer:
    """An application that consumes, with the receiving thread of its library if it has one.

    Args:
        slowdown: How much longer it takes for a message than the card says.
        on_consumed: Called with the number of messages that the application has just taken.
        acknowledge: Messages that it acknowledges at once, None for none; then `on_acknowledged` is
            called.

    Attributes:
        hops: Of this client; the first takes the bytes from the socket.
    """

    def __init__(
        self,
        clock: Clock,
        engine: Card,
        port: Card,
        host: Machine,
        traffic: Traffic,
        on_consumed: Callable[[int], None],
        *,
        slowdown: float = 1.0,
        acknowledge: int | None = None,
        on_acknowledged: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.consumed = Course(clock)
        self._on_consumed, self._on_acknowledged = on_consumed, on_acknowledged
        self._acknowledge, self._owed = acknowledge, 0
        receive, wake, frame = port["receive"], engine["wake"], traffic.frame
        consume = engine["consume"]
        if slowdown != 1:
            consume = Law(round(consume.fixed_ps * slowdown), consume.per_byte_fs)
        laws = (engine["decode"], sent_by(receive))
        if engine["threads"] == 1:
            cost = host.thread(RECEIVER, receive.fixed_ps, *laws, consume)
            self.hops = [
                Hop(
                    clock, CONSUMER, frame, traffic.buffer, cost, self._took, whole=True,
                    wake_ps=wake,
                )
            ]  # fmt: skip
        else:
            cost = host.thread(CONSUMER, 0, consume)
            last = Hop(clock, CONSUMER, frame, traffic.whole, cost, self._took, wake_ps=wake)
            cost = host.thread(RECEIVER, receive.fixed_ps, *laws)
            first = Hop(
                clock, RECEIVER, frame, traffic.buffer, cost, last.arrive, whole=True, wake_ps=wake
            )
            self.hops = [first, last]
        self._frame = frame

    def _took(self, count: int) -> None:
        messages = count // self._frame
        self.consumed.add(messages)
        self._on_consumed(messages)
        if self._acknowledge:
            self._owed += messages
            batches, self._owed = divmod(self._owed, self._acknowledge)
            if batches:
                self._on_acknowledged(batches * self._acknowledge)
