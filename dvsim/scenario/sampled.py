"""Scenarios whose messages are sampled as they arrive: what is sent, over what, how it is counted.

Times are integer picoseconds, sizes integer bytes, rates bytes per second. A kind whose scenarios
are such adds its system; its results have samples (`dvsim.table.samples`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from dvsim.scenario.fields import (
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


class Path(NamedTuple):
    """How messages get to the brokers."""

    # For people, alone and in a sentence; `short` in the names of figures.
    label: str
    phrase: str
    short: str
    readings: tuple[str, ...]  # what its samples count, that which its source prints first
    # For what a closed loop waits in which no stage is saturated; empty where several stages wait
    # for each other.
    waits: str = ""
    base: bool = False  # whether the rates over other paths are set against those over this one


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
class Carrier(Table):
    """What carries the messages to the receivers."""

    transport: str
    receivers: Annotated[Receivers, Field(description="broker nodes that own a queue")]
    fidelity: str | None = None

    @property
    def path(self) -> Path:
        """What is to be said of the transport."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """The transport, with its link where that is not part of the name."""
        raise NotImplementedError

    @property
    def cards(self) -> dict[str, Card]:
        """The cards in use, by role."""
        raise NotImplementedError


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
    """How far a result may lie from the reference; declared before any comparison."""

    # Relative: ``abs(log(simulated / published)) <= log(1 + tolerance)``.
    mean: Share = 0.15
    empty_share: Share = 0.05  # absolute distance to the range that the published quantiles allow
    quantile: Share = 0.30
    std: Share = 0.30
    extreme: Share = 0.50

    @classmethod
    def describe(cls, schema: dict[str, object]) -> None:
        """Make the JSON Schema that of a file, which declares all of them or none."""
        schema["required"] = ["mean", "empty_share", "quantile", "std", "extreme"]


@dataclass(frozen=True, kw_only=True)
class Sampled(Spec):
    """One question about a system that carries messages, sampled as they arrive."""

    loop: Literal["open", "closed"]
    workload: Workload
    system: Carrier
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
