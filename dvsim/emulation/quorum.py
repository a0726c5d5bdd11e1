"""A queue of real RabbitMQ nodes under a sender that waits for confirms and a receiver that acks.

Both are on pika in this process. The syncs are the batches that each node's log counts.
"""

from __future__ import annotations

import re
import struct
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from dvsim.emulation.amqp import PORT, Target, connect, spoken
from dvsim.errors import RunFailed

if TYPE_CHECKING:
    from dvsim.broker import Brokers

HEAD = struct.Struct("<Qd")  # number of the message, and when it was to be sent
PATIENCE_S = 60.0  # without a confirm or a message
PERSISTENT = 2
ACK_EVERY = 10  # messages that one acknowledgement is for
_COUNTED = re.compile(r"batches => (\d+).*?writes => (\d+)", re.DOTALL)


class Asked(NamedTuple):
    """What is sent.

    Attributes
    ----------
    size, messages
        Bytes of each, at least 16; how many.
    window
        That the sender may have unconfirmed.
    rate
        Messages a second, each at its intended time; None for as many as the window allows.
    prefetch
        That the receiver may have unacknowledged; 0 for any number.
    queue
        Its type.
    """

    size: int
    messages: int
    window: int
    rate: float | None = None
    prefetch: int = 1000
    queue: str = "quorum"


@dataclass
class Seen:
    """What became of the messages.

    Attributes
    ----------
    published, confirmed, refused
        By the sender: confirmed and refused ones were so once each.
    delivered, again
        Messages that the receiver had, and those that it had more than once.
    queued
        That are in the queue at the end.
    seconds
        From the first publish to the last confirm.
    latencies
        Seconds from the intended time to the receiver.
    syncs, entries
        Of the log of each node, in the run; empty of a queue without one.
    """

    published: int = 0
    confirmed: int = 0
    refused: int = 0
    delivered: int = 0
    again: int = 0
    queued: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    syncs: list[int] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)


def measured(brokers: Brokers, asked: Asked) -> Seen:
    """Send messages to a new queue on the first node, and receive all of them.

    Raises
    ------
    RunFailed
        If a message is confirmed twice, is nowhere at the end, or nothing happens for a minute.
    """
    node = brokers.nodes[0]
    target = Target(node.url, brokers.user, brokers.password)
    name = f"dvsim-{asked.queue}-{asked.size}-{time.monotonic_ns()}"
    keeper = connect(target, "harness")
    try:
        with spoken(target):
            channel = keeper.channel()
            how = {"durable": True, "arguments": {"x-queue-type": asked.queue}}
            channel.queue_declare(name, **how)
            nodes = brokers.nodes if asked.queue == "quorum" else ()
            before = [counted(brokers, one.name) for one in nodes]
            seen = _Loop(target, name, asked).run()
            after = [counted(brokers, one.name) for one in nodes]
            found = channel.queue_declare(name, passive=True, **how)
            seen.queued = found.method.message_count
            channel.queue_delete(name)
    finally:
        keeper.close()
    seen.syncs, seen.entries = (
        [new[at] - old[at] for old, new in zip(before, after, strict=True)]
        for at in ("batches", "writes")
    )
    kept = 0 if asked.queue == "stream" else seen.queued  # a stream keeps what was consumed
    there = seen.delivered + kept + seen.refused
    if not seen.published == seen.confirmed + seen.refused == there:
        raise RunFailed(
            f"{seen.published} published, {seen.confirmed} confirmed, {seen.refused} refused, "
            f"{seen.delivered} delivered, {seen.queued} queued"
        )
    return seen


def counted(brokers: Brokers, node: str) -> Mapping[str, int]:
    """Return how many batches and entries the log of a node has written.

    Raises
    ------
    RunFailed
        If the node does not count them, as other versions than 3.8 to 3.11 may not.
    """
    said = brokers.control.run(node, "eval", "catch maps:get(ra_log_wal, ra_counters:overview()).")
    found = _COUNTED.search(said)
    if found is None:
        raise RunFailed(f"node {node} does not count the batches of its log: {said.strip()[:80]}")
    return {"batches": int(found[1]), "writes": int(found[2])}


class _Loop:
    """A sender and a receiver on connections of their own, in one loop of events."""

    def __init__(self, target: Target, queue: str, asked: Asked) -> None:
        import pika

        self.queue, self.asked, self.seen = queue, asked, Seen()
        self.waiting: OrderedDict[int, None] = OrderedDict()  # unconfirmed, in order
        self.had: set[int] = set()
        self.failure: str | None = None
        self.begun = self.last = time.monotonic()
        self.unacknowledged = 0
        self.due_set = False
        self.properties = pika.BasicProperties(delivery_mode=PERSISTENT)
        self.padding = bytes(max(0, asked.size - HEAD.size))
        parts = urlsplit(target.url)
        parameters = pika.ConnectionParameters(
            host=parts.hostname or "",
            port=parts.port or PORT,
            virtual_host=unquote(parts.path[1:]) or "/",
            credentials=pika.PlainCredentials(target.user, target.password),
            heartbeat=0,
        )

        def opened(then: Any) -> Any:  # noqa: ANN401 - pika has no types
            return lambda connection: connection.channel(on_open_callback=then)

        def failed(_: object, error: BaseException) -> None:
            self.fail(str(error))

        self.receiver = pika.SelectConnection(parameters, opened(self.receive), failed)
        self.loop = self.receiver.ioloop
        self.parameters, self.opened, self.failed = parameters, opened, failed
        self.sender: Any = None

    def run(self) -> Seen:
        """Run until every message is confirmed and delivered."""
        self.loop.call_later(PATIENCE_S, self.look)
        self.loop.start()
        for one in (self.receiver, self.sender):
            if one is not None and one.is_open:
                one.close()
        self.loop.call_later(0.2, self.loop.stop)  # until both have said goodbye
        self.loop.start()
        self.loop.close()
        if self.failure is not None:
            raise RunFailed(self.failure)
        return self.seen

    def fail(self, why: str) -> None:
        """End the run with an error."""
        self.failure = self.failure or why
        self.loop.stop()

    def look(self) -> None:
        """End the run if nothing has happened for long."""
        if time.monotonic() - self.last > PATIENCE_S:
            self.fail(f"nothing was confirmed or delivered for {PATIENCE_S:g} s")
        self.loop.call_later(PATIENCE_S, self.look)

    def receive(self, channel: Any) -> None:  # noqa: ANN401
        """Take messages, and let the sender begin."""
        import pika

        channel.basic_qos(prefetch_count=self.asked.prefetch)
        channel.basic_consume(self.queue, self.came)
        self.sender = pika.SelectConnection(
            self.parameters, self.opened(self.send), self.failed, custom_ioloop=self.loop
        )

    def send(self, channel: Any) -> None:  # noqa: ANN401
        """Begin to publish."""
        self.channel = channel
        channel.confirm_delivery(self.answered)
        self.begun = self.last = time.monotonic()
        self.more()

    def more(self) -> None:
        """Publish what is due and has room in the window."""
        asked, seen = self.asked, self.seen
        while seen.published < asked.messages and len(self.waiting) < asked.window:
            now = time.monotonic()
            due = self.begun + seen.published / asked.rate if asked.rate else now
            if due > now:
                if not self.due_set:
                    self.due_set = True
                    self.loop.call_later(due - now, self.on_time)
                return
            body = HEAD.pack(seen.published, due) + self.padding
            self.channel.basic_publish("", self.queue, body, self.properties)
            seen.published += 1
            self.waiting[seen.published] = None

    def on_time(self) -> None:
        """Publish what has become due."""
        self.due_set = False
        self.more()

    def answered(self, frame: Any) -> None:  # noqa: ANN401
        """Note a confirm, or that the broker refused."""
        import pika

        tag, method = frame.method.delivery_tag, frame.method
        tags = [one for one in self.waiting if one <= tag] if method.multiple else [tag]
        for one in tags:
            if one not in self.waiting:
                self.fail(f"message {one} was confirmed twice")
                return
            del self.waiting[one]
        if isinstance(method, pika.spec.Basic.Ack):
            self.seen.confirmed += len(tags)
        else:
            self.seen.refused += len(tags)
        self.last = time.monotonic()
        if self.seen.confirmed + self.seen.refused == self.asked.messages:
            self.seen.seconds = self.last - self.begun
        self.end()
        self.more()

    def came(self, channel: Any, method: Any, _: object, body: bytes) -> None:  # noqa: ANN401
        """Note a message, and acknowledge several at once."""
        self.last = time.monotonic()
        number, due = HEAD.unpack_from(body)
        if number in self.had:
            self.seen.again += 1
        else:
            self.had.add(number)
            self.seen.delivered += 1
            self.seen.latencies.append(self.last - due)
        self.unacknowledged += 1
        every = min(ACK_EVERY, self.asked.prefetch or ACK_EVERY)
        if self.unacknowledged >= every or self.seen.delivered == self.asked.messages:
            channel.basic_ack(method.delivery_tag, multiple=True)
            self.unacknowledged = 0
        self.end()

    def end(self) -> None:
        """Stop when every message is confirmed and delivered."""
        seen, all_of_them = self.seen, self.asked.messages
        if seen.seconds and seen.delivered + seen.refused >= all_of_them:
            self.loop.call_later(0.05, self.loop.stop)  # the last acknowledgement is on the way
