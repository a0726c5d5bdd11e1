"""What a file about a RabbitMQ system holds: messages over the Data Vortex or TCP into brokers.

Times are integer picoseconds, sizes integer bytes, rates bytes per second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dvsim.scenario.card_kinds import REPLICAS
from dvsim.scenario.fields import CardField, Receivers
from dvsim.scenario.sampled import Carrier, Column, Path, Probe, Sampled
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

PATHS = {
    "data-vortex": Path(
        "Data Vortex", "the Data Vortex", "dv", ("pieces", "messages"), waits="waiting for credits"
    ),
    "tcp": Path("TCP", "TCP", "tcp", ("messages",), base=True),
}
"""By the name of the transport, in the order of reports."""


@dataclass(frozen=True, kw_only=True)
class System(Carrier):
    """What carries it; `fidelity` is never None over the Data Vortex, and always over TCP.

    `senders` share the receivers out among them, one each if None; `order` is ``fabric`` where its
    ports deliver in order, None where receivers reassemble.
    """

    transport: Literal["data-vortex", "tcp"]
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
    def over_cards(self) -> bool:
        """Whether it goes over cards, whose senders wait for credits, and not over links."""
        return self.transport == "data-vortex"

    @property
    def label(self) -> str:
        """The transport, with its link where that is not part of the name."""
        return self.path.label if self.over_cards else f"{self.path.label} ({self.card.name})"

    @property
    def cards(self) -> dict[str, Card]:
        """The cards in use, by role."""
        named = ("card", "bridge", "publisher", "broker", *CLUSTER)
        roles = {role: getattr(self, role) for role in named}
        return {role: card for role, card in roles.items() if card is not None}


@dataclass(frozen=True, kw_only=True)
class Scenario(Sampled):
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

    system: System

    def settled(self) -> Scenario:
        """Return the scenario with what follows where a file leaves it open."""
        system, probe = self.system, self.probe
        every = tuple(range(1, self.workload.iterations + 1))
        columns = {"all": Column(0, every)}
        if system.over_cards:
            columns = {f"r{n}": Column(n, every) for n in range(1, system.receivers + 1)}
        fidelity = system.fidelity or "auto" if system.over_cards else None
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
