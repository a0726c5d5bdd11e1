"""The shape of scenario, campaign and card files, checked by pydantic at the boundary.

The models also give the JSON Schema that editors use to complete and check such files. They say
what a file may contain; what holds between its sections is in `dvsim.scenario.checks`.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationInfo,
    WithJsonSchema,
    create_model,
    field_validator,
    model_validator,
)

from dvsim.scenario import bounds, find
from dvsim.scenario.kinds import KINDS, Spec
from dvsim.scenario.quantity import show
from dvsim.scenario.types import CONFIDENCES
from dvsim.scenario.units import Law, UnitError, format_value, parse


class Table(BaseModel):
    """A TOML table: no unknown keys, and 1 is not "1"."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ManyTable(Table):
    """Keys that take several values: the first of each list together, then the second."""

    @model_validator(mode="after")
    def _of_one_length(self) -> ManyTable:
        lengths = {key: len(values) for key, values in self.given().items()}
        if not lengths:
            raise ValueError("names no key to vary")
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            raise ValueError(f"lists of one table go together and must be of one length: {said}")
        return self

    def given(self) -> dict[str, tuple[Any, ...]]:
        """Return the values by key in the order of the file; a table as it is."""
        found = {key: getattr(self, key) for key in type(self).model_fields}
        return {key: tuple(values) for key, values in found.items() if values is not None}


def _size_or_count(value: object) -> int:
    """Read a message size: TOML's plain numbers are bytes here, as in the published tables."""
    return parse(value, "size" if isinstance(value, str) else "count")


def _interval(value: object) -> int:
    """Read how long a sample takes."""
    return cast("int", bounded(value, Spec("time", bounds.SHORTEST, most=bounds.TIME)))


def _name(name: str) -> str:
    """Check a name: it becomes a folder of results."""
    fault = find.name_fault(name)
    if fault:
        raise ValueError(fault)
    return name


def _card(value: object) -> object:
    """Read a card's name as the table that only names it."""
    if not isinstance(value, str | dict):
        raise ValueError(f"must be the name of a card or a table, not {show(value)}")
    return {"name": value} if isinstance(value, str) else value


_TEXT_OR_TABLE = {"anyOf": [{"type": "string"}, {"type": "object"}]}
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[Text, AfterValidator(_name)]
Messages = Annotated[int, Field(ge=1, le=bounds.MESSAGES)]
Receivers = Annotated[int, Field(ge=1, le=bounds.RECEIVERS)]
Iterations = Annotated[int, Field(ge=1, le=bounds.ITERATIONS)]
MessageSize = Annotated[int, BeforeValidator(_size_or_count), Field(le=bounds.MESSAGE)]
Interval = Annotated[
    int,
    BeforeValidator(_interval),
    WithJsonSchema({"type": "string", "examples": ["5.001 ms"]}),
]
Share = Annotated[FiniteFloat, Field(ge=0)]
Load = Annotated[FiniteFloat, Field(ge=bounds.LOAD[0], le=bounds.LOAD[1])]
Measure = Literal[
    "overruns",
    "empty",
    "sram",
    "paged",
    "blocked",
    "port",
    "latency",
    "together",
    "late",
    "resequencing",
    "holding",
]
CardTable = Annotated[dict[str, Any], BeforeValidator(_card), WithJsonSchema(_TEXT_OR_TABLE)]


class WorkloadTable(Table):
    """What is sent."""

    message_bytes: MessageSize
    messages: Messages = Field(description="per iteration, over all receivers")
    iterations: Iterations
    messages_per_second: Load | None = Field(None, description="offered load of an open loop")


class SystemTable(Table):
    """What carries it."""

    transport: Literal["data-vortex", "tcp"]
    receivers: Receivers = Field(description="broker nodes that own a queue")
    card: CardTable = Field(description="interconnect: kind vortex or link")
    broker: CardTable
    bridge: CardTable | None = Field(None, description="only for data-vortex")
    publisher: CardTable | None = Field(None, description="only for tcp")
    fidelity: Literal["cycle", "flow", "auto"] | None = Field(
        None,
        description="of the fabric, only for data-vortex: words slot by slot, or bursts",
    )
    senders: Receivers | None = Field(
        None, description="cards that share the receivers out, only for data-vortex; one each"
    )
    order: Literal["fabric"] | None = Field(
        None, description="if its ports deliver words in order, only for data-vortex"
    )


class ColumnTable(Table):
    """Which record a published column is."""

    receiver: int = Field(ge=0, description="1 .. receivers; 0 is the whole system")
    iterations: list[Iterations] = Field(min_length=1, description="one after the other")


class ProbeTable(Table):
    """How the run is sampled."""

    kind: Literal["interval", "batch"]
    interval: Interval | None = Field(None, description="of kind interval")
    batch: Messages | None = Field(None, description="messages; of kind batch")
    columns: dict[str, ColumnTable] = Field(default_factory=dict)


class ReferenceTable(Table):
    """Published data that answer the same question."""

    file: Text = Field(description="in the folder of published data")
    transport: Text = Field(description="value of that column in the file")
    fitted: list[str] = Field(default_factory=list, description="columns used for calibration")


class ToleranceTable(Table):
    """How far a result may lie from the reference."""

    mean: Share
    empty_share: Share
    quantile: Share
    std: Share
    extreme: Share


class WhatIfTable(Table):
    """What a scenario is in an open question, see `dvsim.scenario.whatif`."""

    name: Name
    title: Text
    question: Text
    member: Name
    says: Text
    place: int = Field(ge=0)
    rate: Literal["all", "each"]
    also: list[Measure]
    assumed: list[Text]


class ScenarioFile(Table):
    """A scenario of dvsim."""

    name: Name | None = Field(None, description="by default the file's own")
    extends: Text | None = Field(
        None, description="a file beside this one, or a scenario, to build on"
    )
    abstract: bool = Field(False, description="true for a part that other files extend")
    title: Text
    question: Text = Field(description="what the run answers")
    source: Text = Field(description="where the system is described")
    loop: Literal["open", "closed"]
    workload: WorkloadTable
    system: SystemTable
    probe: ProbeTable
    reference: ReferenceTable | None = None
    tolerance: ToleranceTable | None = None
    whatif: WhatIfTable | None = Field(None, description="written by dvsim, of a [[variant]]")


class CampaignFile(Table):
    """Several scenarios under one name."""

    title: Text
    question: Text
    campaign: list[Text] = Field(min_length=1, description="names, relative to this folder")


class ParameterTable(Table):
    """One parameter of a card; `value` is set by the kind of the card."""

    value: Any
    confidence: Literal["published", "calibrated", "measured-here", "unverified", "assumed"]
    source: Text
    fitted: Text | None = Field(None, validate_default=True)

    @field_validator("fitted")
    @classmethod
    def _calibrated(cls, fitted: str | None, info: ValidationInfo) -> str | None:
        confidence = info.data.get("confidence")
        if confidence == "calibrated" and fitted is None:
            raise ValueError("missing; a calibrated value names what it was fitted to")
        if confidence in CONFIDENCES and confidence != "calibrated" and fitted is not None:
            raise ValueError(f"only a calibrated value is fitted, this one is {confidence}")
        return fitted


@cache
def card_model(kind: str) -> type[Table]:
    """Return the model of a card of one kind: all its parameters, nothing else."""
    fields: dict[str, Any] = {"name": Text, "kind": Literal[kind], "title": Text}
    fields["notes"] = (str, "")
    for name, spec in KINDS[kind].items():
        value = Annotated[Any, BeforeValidator(partial(bounded, spec=spec))]
        fields[name] = create_model(f"{kind}_{name}", __base__=ParameterTable, value=value)
    return cast("type[Table]", create_model(f"{kind}_card", __base__=Table, **fields))


def bounded(given: object, spec: Spec) -> int | float | Law:
    """Read the value of a parameter.

    Raises
    ------
    UnitError
        If it is no value of the dimension, or out of the bounds of the parameter.
    """
    value = parse(given, spec.dimension)
    if isinstance(value, Law):
        most = Law(bounds.TIME, bounds.SLOPE)
        if value.fixed_ps > most.fixed_ps or value.per_byte_fs > most.per_byte_fs:
            limit = format_value(most, "law")
            raise UnitError(f"must be at most {limit}, is {format_value(value, 'law')}")
        return value
    if value < spec.least or (spec.above and value == spec.least):
        relation, bound = "more than" if spec.above else "at least", spec.least
    elif value > spec.most:
        relation, bound = "at most", spec.most
    else:
        return value
    limit, given = (format_value(number, spec.dimension) for number in (bound, value))
    raise UnitError(f"must be {relation} {limit}, is {given}")
