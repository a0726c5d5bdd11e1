"""A scenario of messaging over hosts: clients, links, brokers and storage; frozen and resolved.

Two patterns. ``peer``: streams of messages from one host to another with nothing between, as ØMQ
and raw TCP. ``broker``: publishers, a broker host (or several, federated) and consumers. Keys of
`MessagingScenario.vary` take several values, cards among them; each combination is a *point*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dvsim.scenario.types import Card
from dvsim.scenario.varied import Varied, names_of, plain

ROLES: Mapping[str, str] = {
    "client": "engine",
    "link": "port",
    "host": "machine",
    "broker": "queue-server",
    "storage": "storage",
}
"""The cards of a messaging system and their kinds; the last two only with a broker."""

PEER_ROLES = ("client", "link", "host")


@dataclass(frozen=True)
class FlowTable:
    """What is sent.

    Attributes
    ----------
    mode
        ``ping``: one message at a time, its time from the application that sends it to the one
        that receives it. ``flow``: as fast as it goes.
    message_bytes, messages
        Size, and how many messages (of a flow: published in all; of a ping: one after the other).
    streams
        Of pattern ``peer``: independent pairs of a sender and a receiver.
    publishers, consumers
        Of pattern ``broker``.
    window
        Messages that a publisher may have on the way to the broker's acknowledgement, or to the
        peer; None for no limit.
    rate
        Of a flow: messages per second that all publishers together begin, evenly and whatever
        became of the others; None for as fast as it goes.
    connection
        Of a ping: messages for which a connection is used before the next is set up; None for a
        connection that was there before.
    """

    mode: str
    message_bytes: int
    messages: int
    streams: int = 1
    publishers: int = 1
    consumers: int = 1
    window: int | None = None
    rate: float | None = None
    connection: int | None = None


@dataclass(frozen=True)
class SystemTable:
    """What carries it.

    Attributes
    ----------
    pattern
        ``peer`` or ``broker``.
    buffer
        Bytes that an engine passes to or from the socket in one call at most.
    exchange
        ``queue``: one queue, from which consumers take what the others do not. ``direct``: a queue
        of its own for each consumer, addressed by the key. ``topic``: as direct, found by matching
        every binding. ``fanout``: a copy for every consumer.
    delivery
        Of exchange ``queue``: who gets the next message, ``fast`` (the first that has room),
        ``round-robin`` (each in turn) or ``proportional`` (who has most room).
    durability
        ``none``; ``log-first``: in the log before it is delivered and acknowledged; ``batched``:
        delivered at once, acknowledged when the log is synced, at intervals.
    brokers
        Federated nodes: the first takes what is published and hands on what others deliver.
    prefetch, acknowledge
        Messages that a consumer may hold unacknowledged, and how many it acknowledges at once.
        None for no acknowledgements.
    slowdown
        How much longer the slowest consumer takes for a message than the fastest; the others lie
        evenly between.
    """

    pattern: str
    buffer: int
    exchange: str = "direct"
    delivery: str = "round-robin"
    durability: str = "none"
    brokers: int = 1
    prefetch: int | None = None
    acknowledge: int | None = None
    slowdown: float = 1.0


@dataclass(frozen=True)
class Setting:
    """The tables and cards of one point."""

    flow: FlowTable
    system: SystemTable
    cards: Mapping[str, Card]

    def get(self, key: str) -> Any:  # noqa: ANN401 - any value of a table
        """Return the value of a key by its short name, of a card its name; None if it has none."""
        for table in (self.flow, self.system):
            if key in names_of(type(table)):
                return getattr(table, key)
        return plain(self.cards.get(key))

    def put(self, key: str, value: Any) -> Setting:  # noqa: ANN401 - any value of a table
        """Return the setting with another value of a key, by the short name that `vary` uses."""
        if key in ROLES:
            return replace(self, cards={**self.cards, key: value})
        if key in names_of(FlowTable):
            return replace(self, flow=replace(self.flow, **{key: value}))
        return replace(self, system=replace(self.system, **{key: value}))

    @property
    def peer(self) -> bool:
        """Whether nothing is between sender and receiver."""
        return self.system.pattern == "peer"


@dataclass(frozen=True)
class MessagingScenario(Varied[Setting]):
    """One question about messaging over hosts, with everything that its answer depends on.

    Attributes
    ----------
    name, path, title, question, source
        For people.
    setting
        The tables before anything is varied.
    vary
        Tables of varied keys: the values of one table go together, the tables are crossed.
    tolerance
        Numbers by which sentences of the source are decided, declared before any run.
    """

    name: str
    path: str = field(compare=False)
    title: str
    question: str
    source: str
    setting: Setting
    vary: tuple[Mapping[str, tuple[Any, ...]], ...] = ()
    tolerance: Mapping[str, float] = field(default_factory=dict)

    @property
    def cards(self) -> list[tuple[str, Card]]:
        """Every card that a point uses, with its role, each once."""
        used: dict[tuple[str, str], Card] = {}
        for point in range(len(self.points)):
            for role, card in self.at(point).cards.items():
                used.setdefault((role, card.name), card)
        return [(role, card) for (role, _), card in used.items()]
