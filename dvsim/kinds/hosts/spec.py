"""What a file about messaging over hosts holds: clients, links, brokers and storage.

Two patterns. ``peer``: streams of messages from one host to another with nothing between, as ØMQ
and raw TCP. ``broker``: publishers, a broker host (or several, federated) and consumers. Cards can
be varied, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from dvsim.scenario import bounds
from dvsim.scenario.card_kinds import Limits
from dvsim.scenario.fields import (
    CardField,
    Load,
    MessageSize,
    Number,
    Quantity,
    Tolerances,
    Varied,
    Vary,
    Whole,
)
from dvsim.scenario.spec import Spec, Table

MOST_CLIENTS = 64
MOST_MESSAGES = 10**6
MOST_BROKERS = 16
MOST_SLOWDOWN = 1000

ROLES: Mapping[str, str] = {
    "client": "engine",
    "link": "port",
    "host": "machine",
    "broker": "queue-server",
    "storage": "storage",
}
"""The cards of a messaging system and their kinds; the last two only with a broker."""

PEER_ROLES = ("client", "link", "host")

Clients = Annotated[Whole, Field(ge=1, le=MOST_CLIENTS)]
Held = Annotated[Whole, Field(ge=1, le=MOST_MESSAGES)]
Buffer = Annotated[int, Quantity(Limits("size", above=True, most=bounds.SIZE), "8 KiB")]


@dataclass(frozen=True)
class FlowTable(Table):
    """What is sent.

    Attributes:
        mode: ``ping``: one message at a time, its time from the application that sends it to the
            one that receives it. ``flow``: as fast as it goes.
        message_bytes, messages: Size, and how many messages (of a flow: published in all; of a
            ping: one after the other).
        streams: Of pattern ``peer``: independent pairs of a sender and a receiver.
        publishers, consumers: Of pattern ``broker``.
        window: Messages that a publisher may have on the way to the broker's acknowledgement, or to
            the peer; None for no limit.
        rate: Of a flow: messages per second that all publishers together begin, evenly and whatever
            became of the others; None for as fast as it goes.
        connection: Of a ping: messages for which a connection is used before the next is set up;
            None for a connection that was there before.
    """

    VARIED: ClassVar[bool] = True

    mode: Literal["ping", "flow"]
    message_bytes: Annotated[MessageSize, Field(ge=1)]
    messages: Annotated[Whole, Field(ge=1, le=MOST_MESSAGES)]
    streams: Clients = 1
    publishers: Clients = 1
    consumers: Clients = 1
    window: Annotated[Held | None, Field(description="messages on the way, of each publisher")] = (
        None
    )
    rate: Annotated[Load | None, Field(description="of a flow: messages per second, in all")] = None
    connection: Annotated[Held | None, Field(description="of a ping: messages on a connection")] = (
        None
    )


@dataclass(frozen=True, kw_only=True)
class SystemTable(Table):
    """What carries it, and its cards."""

    VARIED: ClassVar[bool] = True

    pattern: Literal["peer", "broker"]  # ``peer`` or ``broker``
    # Bytes that an engine passes to or from the socket in one call at most.
    buffer: Annotated[Buffer, Field(description="bytes in one call of the socket")]
    # ``queue``: one queue, from which consumers take what the others do not. ``direct``: a queue
    # of its own for each consumer, addressed by the key. ``topic``: as direct, found by matching
    # every binding. ``fanout``: a copy for every consumer.
    exchange: Literal["queue", "direct", "topic", "fanout"] = "direct"
    # Of exchange ``queue``: who gets the next message, ``fast`` (the first that has room),
    # ``round-robin`` (each in turn) or ``proportional`` (who has most room).
    delivery: Literal["fast", "round-robin", "proportional"] = "round-robin"
    # ``none``; ``log-first``: in the log before it is delivered and acknowledged; ``batched``:
    # delivered at once, acknowledged when the log is synced, at intervals.
    durability: Literal["none", "log-first", "batched"] = "none"
    # Federated nodes: the first takes what is published and hands on what others deliver.
    brokers: Annotated[Whole, Field(ge=1, le=MOST_BROKERS)] = 1
    # Messages that a consumer may hold unacknowledged, and how many it acknowledges at once. None
    # for no acknowledgements.
    prefetch: Held | None = None
    acknowledge: Held | None = None
    # How much longer the slowest consumer takes for a message than the fastest; the others lie
    # evenly between.
    slowdown: Annotated[Number, Field(ge=1, le=MOST_SLOWDOWN)] = 1.0
    client: Annotated[CardField | None, Field(description="kind engine")] = None
    link: Annotated[CardField | None, Field(description="kind port")] = None
    host: Annotated[CardField | None, Field(description="kind machine")] = None
    broker: Annotated[CardField | None, Field(description="kind queue-server")] = None
    storage: Annotated[CardField | None, Field(description="kind storage")] = None


@dataclass(frozen=True, kw_only=True)
class MessagingScenario(Spec):
    """One question about messaging over hosts."""

    KIND: ClassVar[str] = "messaging"
    LENGTH: ClassVar[str] = "messages"
    FOREMOST: ClassVar[str] = "broker"  # before its client and settings

    workload: FlowTable
    system: SystemTable
    vary: Annotated[Varied, Vary(FlowTable, SystemTable)] = ()
    tolerance: Tolerances = field(default_factory=dict)

    @property
    def least(self) -> int:
        """The least number of messages: in a flow two of each publisher or stream."""
        work = self.workload
        return 2 * (work.streams if self.peer else work.publishers) if work.mode == "flow" else 1

    def scaled(self, scale: float) -> Self:
        """Return the scenario with fewer or more messages, but at all points with enough."""
        scaled = super().scaled(scale)
        points = [scaled.at(number) for number in range(len(scaled.points))]
        if all(point.workload.messages >= point.least for point in points):
            return scaled
        least = max(point.least for point in points)
        if self.LENGTH not in self.keys:
            return scaled.put(self.LENGTH, max(scaled.workload.messages, least))
        vary = tuple(
            {
                key: tuple(max(least, number) for number in values)
                if key == self.LENGTH
                else values
                for key, values in table.items()
            }
            for table in scaled.vary
        )
        return scaled.varied(vary)

    @property
    def peer(self) -> bool:
        """Whether nothing is between sender and receiver."""
        return self.system.pattern == "peer"
