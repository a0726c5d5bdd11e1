"""What a file about a RabbitMQ system holds: messages over the Data Vortex or TCP into brokers.

Times are integer picoseconds, sizes integer bytes, rates bytes per second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

from dvsim.scenario.card_kinds import REPLICAS
from dvsim.scenario.fields import (
    CardField,
    Interval,
    Iterations,
    Load,
    Messages,
    MessageSize,
    Receivers,
    Share,
    Some,
    Text,
    Whole,
)
from dvsim.scenario.spec import Spec, Table
from dvsim.scenario.types import Card

ROLES: dict[str, dict[str, str]] = {
    "data-vortex": {"card": "vortex", "bridge": "bridge", "broker": "broker"},
    "tcp": {"card": "link", "publisher": "publisher", "broker": "broker"},
}
"""For each transport the cards that its system has, with their kinds."""

CLUSTER: dict[str, str] = {"host": "instance", "storage": "volume", "rabbit": "rabbit"}
"""The cards that a system has besides if its brokers are a cluster, with their kinds."""

USUAL: dict[str, str] = {"host": "h3-node", "storage": "gp2-1000", "rabbit": "rabbitmq-3-8"}
"""The cards of a cluster where a file names none."""


class Path(NamedTuple):
    """How messages get to the brokers.

    Attributes:
        label, phrase: For people, alone and in a sentence; `short` in the names of figures.
        readings: What its samples count, that which its source prints first.
        over_cards: Whether it goes over cards, whose senders wait for credits, and not over links.
    """

    label: str
    phrase: str
    short: str
    readings: tuple[str, ...]
    over_cards: bool


PATHS = {
    "data-vortex": Path("Data Vortex", "the Data Vortex", "dv", ("pieces", "messages"), True),
    "tcp": Path("TCP", "TCP", "tcp", ("messages",), False),
}
"""By the name of the transport, in the order of reports."""


@dataclass(frozen=True)
class Workload(Table):
    """What is sent: `messages` of `message_bytes` in each of `iterations`, over all receivers."""

    message_bytes: MessageSize
    messages: Annotated[Messages, Field(description="per iteration, over all receivers")]
    iterations: Iterations
    messages_per_second: Annotated[
        Load | None, Field(description="offered load of an open loop")
    ] = None


@dataclass(frozen=True, kw_only=True)
class System(Table):
    """What carries it; `fidelity` is never None over the Data Vortex, and always over TCP.

    `senders` share the receivers out among them, one each if None; `order` is ``fabric`` where its
    ports deliver in order, None where receivers reassemble.
    """

    transport: Literal["data-vortex", "tcp"]
    receivers: Annotated[Receivers, Field(description="broker nodes that own a queue")]
    fidelity: Annotated[
        Literal["cycle", "flow", "auto"] | None,
        Field(description="of the fabric, only for data-vortex: words slot by slot, or bursts"),
    ] = None
    senders: Annotated[
        Receivers | None,
        Field(description="cards that share the receivers out, only for data-vortex; one each"),
    ] = None
    order: Annotated[
        Literal["fabric"] | None,
        Field(description="if its ports deliver words in order, only for data-vortex"),
    ] = None
    card: Annotated[CardField, Field(description="interconnect: kind vortex or link")]
    bridge: Annotated[CardField | None, Field(description="only for data-vortex")] = None
    publisher: Annotated[CardField | None, Field(description="only for tcp")] = None
    broker: CardField
    host: Annotated[CardField | None, Field(description="only of a cluster: kind instance")] = None
    storage: Annotated[CardField | None, Field(description="only of a cluster: kind volume")] = None
    rabbit: Annotated[CardField | None, Field(description="only of a cluster: kind rabbit")] = None

    @property
    def clustered(self) -> bool:
        """Whether its brokers are nodes of one cluster, with queues of the type that they name."""
        return self.broker.get("queue") is not None

    @property
    def copies(self) -> int:
        """Copies of a queue of a cluster, its leader included."""
        return self.broker.get("replicas") or REPLICAS[self.broker["queue"]]

    @property
    def nodes(self) -> int:
        """Nodes of a cluster: where nothing is said, one for each queue and for each copy."""
        return self.broker.get("nodes") or max(self.receivers, self.copies)

    @property
    def path(self) -> Path:
        """What is to be said of the transport."""
        return PATHS[self.transport]

    @property
    def cards(self) -> dict[str, Card]:
        """The cards in use, by role."""
        named = ("card", "bridge", "publisher", "broker", *CLUSTER)
        roles = {role: getattr(self, role) for role in named}
        return {role: card for role, card in roles.items() if card is not None}


@dataclass(frozen=True)
class Column(Table):
    """A record: one receiver (0 = the whole system), its iterations one after the other."""

    receiver: Annotated[Whole, Field(ge=0, description="1 .. receivers; 0 is the whole system")]
    iterations: Annotated[tuple[Iterations, ...], Some, Field(description="one after the other")]


@dataclass(frozen=True)
class Probe(Table):
    """How the run is sampled: every `interval_ps`, or every `batch` messages."""

    kind: Literal["interval", "batch"]
    interval_ps: Annotated[
        Interval | None, Field(validation_alias="interval", description="of kind interval")
    ] = None
    batch: Annotated[Messages | None, Field(description="messages; of kind batch")] = None
    columns: Mapping[str, Column] = field(default_factory=dict)


@dataclass(frozen=True)
class Reference(Table):
    """Published data of the same question; `fitted` columns were used to choose parameters."""

    file: Annotated[Text, Field(description="in the folder of published data")]
    transport: Annotated[Text, Field(description="value of that column in the file")]
    fitted: Annotated[
        tuple[Annotated[str, Field(strict=True)], ...],
        Field(description="columns used for calibration"),
    ] = field(default_factory=tuple)


@dataclass(frozen=True)
class Tolerance(Table):
    """How far a result may lie from the reference; declared before any comparison.

    Args:
        mean, quantile, std, extreme: Relative: ``abs(log(simulated / published)) <= log(1 +
            tolerance)``.
        empty_share: Absolute distance to the range that the published quantiles allow.
    """

    mean: Share = 0.15
    empty_share: Share = 0.05
    quantile: Share = 0.30
    std: Share = 0.30
    extreme: Share = 0.50

    @classmethod
    def describe(cls, schema: dict[str, object]) -> None:
        """Make the JSON Schema that of a file, which declares all of them or none."""
        schema["required"] = ["mean", "empty_share", "quantile", "std", "extreme"]


@dataclass(frozen=True, kw_only=True)
class Scenario(Spec):
    """One question about a system with RabbitMQ brokers."""

    KIND: ClassVar[str] = "rabbitmq"
    NAMED: ClassVar[bool] = False
    LENGTH: ClassVar[str] = "messages"
    TASKS: ClassVar[str] = "iterations"
    MULTIPLIED: ClassVar[tuple[str, ...]] = (
        "workload.messages",
        "workload.messages_per_second",
        "system.receivers",
        "probe.batch",
    )

    loop: Literal["open", "closed"]
    workload: Workload
    system: System
    probe: Probe
    reference: Reference | None = None
    tolerance: Tolerance = Tolerance()

    @property
    def tasks(self) -> int:
        """How many iterations a replication consists of."""
        return self.workload.iterations

    @property
    def readings(self) -> tuple[str, ...]:
        """What its samples count, that which its source prints first."""
        return self.system.path.readings

    def settled(self) -> Scenario:
        """Return the scenario with what follows where a file leaves it open."""
        system, probe = self.system, self.probe
        every = tuple(range(1, self.workload.iterations + 1))
        columns = {"all": Column(0, every)}
        if system.path.over_cards:
            columns = {f"r{n}": Column(n, every) for n in range(1, system.receivers + 1)}
        fidelity = system.fidelity or "auto" if system.path.over_cards else None
        return replace(
            self,
            system=replace(system, fidelity=fidelity),
            probe=Probe(
                probe.kind,
                probe.interval_ps if probe.kind == "interval" else None,
                probe.batch if probe.kind == "batch" else None,
                probe.columns or columns,
            ),
        )
