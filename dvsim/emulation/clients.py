"""Senders with a window of confirms and receivers that acknowledge, all in one loop of events.

Each has a connection of its own, on pika, in this process.
"""

from __future__ import annotations

import struct
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from typing import Any

from dvsim.emulation.amqp import Target, parameters
from dvsim.emulation.queues import Asked, Seen
from dvsim.errors import RunFailed

HEAD = struct.Struct("<Qd")  # number of the message, and when it was to be sent
PATIENCE_S = 60.0  # without a confirm or a message
PERSISTENT = 2
ACK_EVERY = 10  # messages that one acknowledgement is for
LAST_S = 0.05  # in which the last acknowledgements are on the way


class Loop:
    """Senders and receivers of one run.

    Args:
        targets: The nodes: clients are spread over them evenly.
        queues: Their names; sender and receiver n use queue n, and begin again behind the last.
        asked: What is sent.
    """

    def __init__(self, targets: Sequence[Target], queues: Sequence[str], asked: Asked) -> None:
        import pika

        self.asked, self.seen = asked, Seen()
        self.loop = pika.adapters.select_connection.IOLoop()
        self.had: set[int] = set()
        self.failure: str | None = None
        self.begun = self.last = time.monotonic()
        self.over = asked.messages == 0
        self.due = asked.due
        self.connections: list[Any] = []
        self.targets = targets
        self.senders = [
            _Sender(self, number, queues[number % len(queues)])
            for number in range(asked.publishers)
        ]
        self.receivers = [
            _Receiver(self, queues[number % len(queues)]) for number in range(asked.consumers)
        ]
        self.missing = 0  # clients that are not ready

    def run(self) -> Seen:
        """Run until every message is confirmed and delivered."""
        self.loop.call_later(PATIENCE_S, self._look)
        self._open([one.ready for one in self.receivers])
        self.loop.start()
        for one in self.connections:
            if one.is_open:
                one.close()
        self.loop.call_later(0.2, self.loop.stop)  # until all have said goodbye
        self.loop.start()
        self.loop.close()
        if self.failure is not None:
            raise RunFailed(self.failure)
        return self.seen

    def fail(self, why: str) -> None:
        """End the run with an error."""
        self.failure = self.failure or why
        self.loop.stop()

    def ready(self) -> None:
        """Count a client that is ready: receivers first, then senders, and then it begins."""
        self.missing -= 1
        if self.missing:
            return
        if len(self.connections) == len(self.receivers):
            self._open([one.ready for one in self.senders])
            return
        self.begun = self.last = time.monotonic()
        for sender in self.senders:
            sender.more()

    def intended(self, number: int, now: float) -> float:
        """Return when a message is to be sent: now, where nothing says it."""
        return now if self.due is None else self.begun + self.due[number]

    def ended(self, now: float) -> bool:
        """Return whether no message begins any more."""
        self.over = (
            self.over
            or self.seen.published >= self.asked.messages
            or (self.due is None and now >= self.begun + self.asked.seconds)
        )
        return self.over

    def end(self) -> None:
        """Stop when every message is confirmed and delivered."""
        seen = self.seen
        answered = seen.confirmed + seen.refused == seen.published
        received = seen.delivered + seen.refused >= seen.published
        if self.over and answered and received and not any(one.held for one in self.receivers):
            for one in self.receivers:
                one.acknowledge()
            self.loop.call_later(LAST_S, self.loop.stop)

    def _look(self) -> None:
        """End the run if nothing has happened for long."""
        if time.monotonic() - self.last > PATIENCE_S:
            self.fail(f"nothing was confirmed or delivered for {PATIENCE_S:g} s")
        self.loop.call_later(PATIENCE_S, self._look)

    def _open(self, clients: Sequence[Callable[[Any], None]]) -> None:
        """Open a connection and a channel for each client."""
        import pika

        self.missing = len(clients)
        for number, client in enumerate(clients):
            target = self.targets[number % len(self.targets)]
            one = pika.SelectConnection(
                parameters(target, f"client {len(self.connections) + 1}"),
                lambda connection, client=client: connection.channel(on_open_callback=client),
                lambda _, error: self.fail(str(error)),
                custom_ioloop=self.loop,
            )
            self.connections.append(one)


class _Sender:
    """Publishes every n-th message, as its window and their times allow."""

    def __init__(self, loop: Loop, number: int, queue: str) -> None:
        import pika

        self.loop, self.queue, self.next = loop, queue, number
        self.sent = 0
        self.waiting: OrderedDict[int, None] = OrderedDict()  # unconfirmed, in order
        self.timed = False
        self.properties = pika.BasicProperties(delivery_mode=PERSISTENT)
        self.padding = bytes(max(0, loop.asked.size - HEAD.size))

    def ready(self, channel: Any) -> None:  # noqa: ANN401 - pika has no types
        """Have a channel."""
        self.channel = channel
        channel.confirm_delivery(self.answered)
        self.loop.ready()

    def more(self) -> None:
        """Publish what is due and has room in the window."""
        loop, asked = self.loop, self.loop.asked
        while len(self.waiting) < asked.window and self.next < asked.messages:
            now = time.monotonic()
            if loop.ended(now):
                return
            due = loop.intended(self.next, now)
            if due > now:
                if not self.timed:
                    self.timed = True
                    loop.loop.call_later(due - now, self.on_time)
                return
            body = HEAD.pack(self.next, due) + self.padding
            self.channel.basic_publish("", self.queue, body, self.properties)
            self.next += asked.publishers
            self.sent += 1
            self.waiting[self.sent] = None
            loop.seen.published += 1

    def on_time(self) -> None:
        """Publish what has become due."""
        self.timed = False
        self.more()

    def answered(self, frame: Any) -> None:  # noqa: ANN401
        """Note a confirm, or that the broker refused."""
        import pika

        loop, seen = self.loop, self.loop.seen
        tag, method = frame.method.delivery_tag, frame.method
        tags = [one for one in self.waiting if one <= tag] if method.multiple else [tag]
        for one in tags:
            if one not in self.waiting:
                loop.fail(f"message {one} was confirmed twice")
                return
            del self.waiting[one]
        if isinstance(method, pika.spec.Basic.Ack):
            seen.confirmed += len(tags)
        else:
            seen.refused += len(tags)
        loop.last = time.monotonic()
        seen.seconds = loop.last - loop.begun
        self.more()
        loop.ended(loop.last)
        loop.end()


class _Receiver:
    """Takes messages one after the other, each for as long as it is processed."""

    def __init__(self, loop: Loop, queue: str) -> None:
        self.loop, self.queue = loop, queue
        self.held: deque[int] = deque()  # tags of messages that wait to be processed
        self.done, self.tag = 0, 0
        prefetch = loop.asked.prefetch
        self.every = min(ACK_EVERY, prefetch or ACK_EVERY)

    def ready(self, channel: Any) -> None:  # noqa: ANN401
        """Take messages from now on."""
        self.channel = channel
        channel.basic_qos(prefetch_count=self.loop.asked.prefetch)
        channel.basic_consume(self.queue, self.came, callback=lambda _: self.loop.ready())

    def came(self, _channel: Any, method: Any, _: object, body: bytes) -> None:  # noqa: ANN401
        """Note a message, and process it when those before are done."""
        loop, seen = self.loop, self.loop.seen
        loop.last = time.monotonic()
        number, due = HEAD.unpack_from(body)
        if number in loop.had:
            seen.again += 1
        else:
            loop.had.add(number)
            seen.delivered += 1
            seen.latencies.append(loop.last - due)
            seen.received_s = loop.last - loop.begun
        self.held.append(method.delivery_tag)
        if len(self.held) == 1:
            self.begin()

    def begin(self) -> None:
        """Process messages: at once, or one when its time is over."""
        processing = self.loop.asked.processing
        while self.held:
            takes = processing(time.monotonic() - self.loop.begun) if processing else 0.0
            if takes > 0:
                self.loop.loop.call_later(takes, self.finish)
                return
            self.take()
        self.loop.end()

    def finish(self) -> None:
        """Be done with a message, and begin the next."""
        self.take()
        self.begin()

    def take(self) -> None:
        """Count a message that is processed, and acknowledge several at once."""
        self.tag = self.held.popleft()
        self.done += 1
        if self.done >= self.every:
            self.acknowledge()

    def acknowledge(self) -> None:
        """Acknowledge what is processed."""
        if self.done:
            self.channel.basic_ack(self.tag, multiple=True)
            self.done = 0
