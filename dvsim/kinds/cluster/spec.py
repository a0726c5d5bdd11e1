"""What a file about a modelled RabbitMQ cluster holds: clients, the cluster and what happens to it.

Lengths of time of an event are shares of the run, so that a scale shortens everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dvsim.scenario import bounds
from dvsim.scenario.card_kinds import ACKNOWLEDGED, REPLICAS, Limits
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

ROLES: Mapping[str, str] = {"host": "instance", "storage": "volume", "broker": "rabbit"}
MOST_NODES = bounds.CLUSTER
MOST_SECONDS = 86_400
MOST_CLIENTS = 10**6

Clients = Annotated[Whole, Field(ge=1, le=MOST_CLIENTS)]
Part = Annotated[Number, Field(ge=0, le=1)]
Processing = Annotated[int, Quantity(Limits("time", most=bounds.TIME), "10 ms")]


@dataclass(frozen=True)
class ClientTable(Table):
    """Who publishes and who consumes."""

    VARIED: ClassVar[bool] = True

    # Messages per second of all publishers, at intended times; None: one sender and one receiver
    # as fast as `credit` lets them.
    rate: Annotated[Load | None, Field(description="messages per second, in all")] = None
    # Simulated.
    seconds: Annotated[Whole, Field(ge=1, le=MOST_SECONDS, description="simulated")] = 1800
    # Messages are spread evenly over publishers and queues.
    message_bytes: Annotated[MessageSize, Field(ge=1)] = 1024
    publishers: Clients = 200
    queues: Clients = 100
    # None for as many as `rate` needs, at least two for each queue.
    consumers: Clients | None = None
    # What a consumer takes for a message, before it takes the next.
    processing: Annotated[Processing, Field(description="of a consumer, for a message")] = 0
    # Messages that a publisher may have unconfirmed, and a consumer unacknowledged; a prefetch of
    # 0 is any number.
    window: Clients = 1000
    prefetch: Annotated[Whole, Field(ge=0, le=MOST_CLIENTS)] = 1000
    # Messages that one acknowledgement is for; None for ten, or for all of `prefetch` if that is
    # less.
    acknowledge: Clients | None = None
    credit: Clients | None = None  # without `rate`: messages that the sender may have on the way

    @property
    def acknowledged(self) -> int:
        """Messages that one acknowledgement is for."""
        return self.acknowledge or min(ACKNOWLEDGED, self.prefetch or ACKNOWLEDGED)


@dataclass(frozen=True, kw_only=True)
class ClusterTable(Table):
    """The cluster and its cards."""

    VARIED: ClassVar[bool] = True

    # ``classic``: on one node. ``mirrored``: a master, and mirrors that confirm before it does.
    # ``quorum``: Raft, every message in the log of each replica. ``stream``: a log that keeps what
    # was consumed.
    queue: Literal["classic", "mirrored", "quorum", "stream"]
    nodes: Annotated[Whole, Field(ge=1, le=MOST_NODES)]  # of the cluster
    # Of each queue, its leader included; None for those of `dvsim.scenario.card_kinds.REPLICAS`.
    replicas: Annotated[Whole | None, Field(ge=1, description="of a queue, with its leader")] = None
    # ``balanced``: every node leads as many queues. ``client-local``: the first node leads all, as
    # where one client declares the queues; named as in RabbitMQ.
    leaders: Literal["balanced", "client-local"] = "balanced"
    # What becomes of a mirror whose node dies. ``anew``: another node gets one, which has what
    # comes from then on. ``away``: there is none until the node is back.
    mirrors: Literal["anew", "away"] = "anew"
    host: Annotated[CardField | None, Field(description="kind instance")] = None
    storage: Annotated[CardField | None, Field(description="kind volume")] = None
    broker: Annotated[CardField | None, Field(description="kind rabbit")] = None


@dataclass(frozen=True, kw_only=True)
class EventTable(Table):
    """What happens in the run."""

    VARIED: ClassVar[bool] = True

    # ``kill``: nodes die, and come back at the end. ``slow``: consumers take `factor` times as
    # long. ``peak``: `factor` times as much is published. ``alarm``: publishers are stopped, and
    # consumers go on. ``fill``: something else takes `factor` of the volumes of nodes, 1 or more
    # for all that is there.
    what: Literal["nothing", "kill", "slow", "peak", "alarm", "fill"] = "nothing"
    # Shares of the run; `begin` is less than 1.
    begin: Annotated[Number, Field(ge=0, lt=1)] = 0.3
    lasts: Part = 0.3
    factor: Annotated[Number, Field(gt=0, le=1000)] = 2.0
    # Nodes that die: the first ones, in a second event those behind them. The first ones whose
    # volumes are filled.
    victims: Annotated[Whole, Field(ge=1, le=MOST_NODES)] = 1

    def during(self, seconds: int) -> range:
        """Return the seconds of a run in which it is, one at least."""
        begin = min(round(self.begin * seconds), seconds - 1)
        return range(begin, begin + max(1, round(self.lasts * seconds)))


@dataclass(frozen=True, kw_only=True)
class ClusterScenario(Spec):
    """One question about a cluster."""

    KIND: ClassVar[str] = "cluster"
    LENGTH: ClassVar[str] = "seconds"
    LENGTHS: ClassVar[tuple[str, ...]] = ()  # within which an event has its time, too

    workload: ClientTable
    system: ClusterTable
    # What happens, and what happens besides; at the same time, or at another.
    event: EventTable = field(default_factory=EventTable)
    then: EventTable = field(default_factory=EventTable)
    vary: Annotated[Varied, Vary(ClientTable, ClusterTable, EventTable)] = ()
    tolerance: Tolerances = field(default_factory=dict)

    @property
    def happening(self) -> tuple[EventTable, ...]:
        """The events in which anything happens."""
        return tuple(event for event in (self.event, self.then) if event.what != "nothing")

    def events(self, what: str, second: int | None = None) -> list[EventTable]:
        """Return the events of a sort, in any second or in one."""
        return [
            event
            for event in self.happening
            if event.what == what
            and (second is None or second in event.during(self.workload.seconds))
        ]

    @property
    def copies(self) -> int:
        """Copies of a queue, its leader included."""
        return self.system.replicas or REPLICAS[self.system.queue]
