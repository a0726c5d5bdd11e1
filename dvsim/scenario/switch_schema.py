"""The shape of scenario files of a switch or network alone: ``kind = "switch"``.

What one key may be is said here; what the keys together may be is asked of `dvsim.Switch` and
`dvsim.Network` themselves, at every point, in `dvsim.scenario.switch_points`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    FiniteFloat,
    WithJsonSchema,
)

from dvsim.scenario import bounds
from dvsim.scenario.kinds import Spec
from dvsim.scenario.quantity import show
from dvsim.scenario.schema import ManyTable, Name, Table, Text, bounded
from dvsim.scenario.switch_types import (
    MOST_RECORDED,
    Hot,
    NetworkTable,
    Record,
    SwitchTable,
    TrafficTable,
)

FaultTuple = tuple[str, int, int, int]


def _height(value: int) -> int:
    """Check a number of heights; the switch says what is wrong and what is nearest."""
    from dvsim.scenario.switch_points import check_height

    check_height(value)
    return value


def _wholes(value: object, what: str) -> tuple[int, ...]:
    """Read a list of whole numbers."""
    if not isinstance(value, list) or any(type(item) is not int for item in value):
        raise ValueError(f"must be {what}, not {_shown(value)}")
    return tuple(value)


def _injecting(value: object) -> int | tuple[int, ...]:
    if type(value) is int:
        return value
    return _wholes(value, "a number of angles, or a list of angles")


def _faults(value: object) -> tuple[FaultTuple, ...]:
    if not isinstance(value, list):
        raise ValueError(f"must be a list of [kind, cylinder, angle, height], not {show(value)}")
    return tuple(_fault(item) for item in value)


def _fault(value: object) -> FaultTuple:
    if not (
        isinstance(value, list)
        and [type(item) for item in value] == [str, int, int, int]  # True is no whole number
    ):
        raise ValueError(f"a fault is [kind, cylinder, angle, height], not {_shown(value)}")
    return (value[0], value[1], value[2], value[3])


def _slot(value: object) -> int:
    """Read how long a slot takes."""
    slot = bounded(value, Spec("time", above=True, most=bounds.TIME))
    assert isinstance(slot, int)  # a time
    return slot


def _trace(value: object) -> str | tuple[tuple[int, ...], ...]:
    """Read a file name, or the packets themselves; the file is read when the place is known."""
    if isinstance(value, str) and value:
        return value
    if not isinstance(value, list):
        what = "a file of packets, or a list of [slot, input, output]"
        raise ValueError(f"must be {what}, not {show(value)}")
    packets = tuple(_wholes(item, "a packet [slot, input, output]") for item in value)
    if any(len(packet) != 3 for packet in packets):
        raise ValueError("a packet is [slot, input, output]")
    return packets


def _shown(value: object) -> str:
    """Return a value for a message; a short list as it was written."""
    return str(value) if isinstance(value, list) and len(str(value)) <= 40 else show(value)


def _schema(kind: str, **more: Any) -> WithJsonSchema:  # noqa: ANN401 - JSON
    return WithJsonSchema({"type": kind} | more)


Height = Annotated[int, AfterValidator(_height)]
Angles = Annotated[int, Field(ge=1, le=bounds.ANGLES)]
Injecting = Annotated[
    int | tuple[int, ...],
    BeforeValidator(_injecting),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array"}]}),
]
Crossing = Literal["brc", "xor", "random"]
Exit = Literal["angle", "any"]
Faults = Annotated[tuple[FaultTuple, ...], BeforeValidator(_faults), _schema("array")]
Slot = Annotated[int, BeforeValidator(_slot), _schema("string", examples=["22 ns"])]
Whole = Annotated[int, Field(ge=1, le=bounds.COUNT)]
Link = Annotated[int, Field(ge=0, le=bounds.COUNT)]
Fidelity = Literal["cycle", "flow", "auto"]
Share = Annotated[FiniteFloat, Field(ge=0, le=1)]
Pattern = Literal[
    "uniform",
    "bit-complement",
    "transpose",
    "shuffle",
    "permutation",
    "hot-spot",
    "bursty",
    "trace",
]
Injection = Literal["drop", "queue", "saturate"]
Slots = Annotated[int, Field(ge=1, le=bounds.SLOTS)]
Warmup = Annotated[int, Field(ge=0, le=bounds.SLOTS)]
Trace = Annotated[
    str | tuple[tuple[int, ...], ...],
    BeforeValidator(_trace),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array"}]}),
]
Theory = Literal["mean-field", "zero-load", "butterfly"]


def _heights(value: object) -> tuple[int, ...]:
    return _wholes(value, "a list of heights")


Permutation = Annotated[tuple[int, ...], BeforeValidator(_heights), _schema("array")]


class HotTable(Table):
    """A share of the packets that goes to a few outputs."""

    fraction: Share
    outputs: list[int] = Field(min_length=1)


class SwitchFileTable(Table):
    """One switch: the arguments of `dvsim.Switch`."""

    height: Height | None = Field(None, description="a power of two")
    angles: Angles | None = None
    injecting: Injecting | None = Field(None, description="a number of angles or the angles")
    crossing: Crossing = "brc"
    exit: Exit = "angle"
    faults: Faults = Field((), description="[kind, cylinder, angle, height], …")
    slot: Slot | None = Field(None, description="how long a slot takes; for times beside slots")


class NetworkFileTable(Table):
    """A network of switches: the arguments of `dvsim.Network`."""

    preset: Text | None = Field(None, description="dv202 to dv216")
    switch: SwitchFileTable | None = Field(None, description="instead of a preset")
    levels: Whole | None = None
    ports: Whole | None = None
    planes: Whole | None = Field(None, description="by default those of the card")
    link: Link | None = Field(None, description="slots; by default those of the card")
    fidelity: Fidelity = "cycle"


class TrafficFileTable(Table):
    """What is offered, and for how long."""

    load: Share | None = Field(None, description="packets per slot and input")
    pattern: Pattern = "uniform"
    injection: Injection = "drop"
    slots: Slots | None = Field(None, description="that are counted")
    warmup: Warmup = Field(0, description="slots before them")
    hot: HotTable | None = Field(None, description="of pattern hot-spot")
    burst: Whole | None = Field(None, description="slots; of pattern bursty")
    duty: Share | None = Field(None, description="of pattern bursty")
    permutation: Permutation | None = Field(None, description="height of each height")
    trace: Trace | None = Field(None, description="a CSV file with slot,input,output")


class VaryTable(ManyTable):
    """What may be varied of a switch or network."""

    height: list[Height] | None = Field(None, min_length=1)
    angles: list[Angles] | None = Field(None, min_length=1)
    injecting: list[Injecting] | None = Field(None, min_length=1)
    crossing: list[Crossing] | None = Field(None, min_length=1)
    exit: list[Exit] | None = Field(None, min_length=1)
    faults: list[Faults] | None = Field(None, min_length=1)
    preset: list[Text] | None = Field(None, min_length=1)
    levels: list[Whole] | None = Field(None, min_length=1)
    ports: list[Whole] | None = Field(None, min_length=1)
    planes: list[Whole] | None = Field(None, min_length=1)
    link: list[Link] | None = Field(None, min_length=1)
    fidelity: list[Fidelity] | None = Field(None, min_length=1)
    load: list[Share] | None = Field(None, min_length=1)
    pattern: list[Pattern] | None = Field(None, min_length=1)
    injection: list[Injection] | None = Field(None, min_length=1)
    slots: list[Slots] | None = Field(None, min_length=1)
    warmup: list[Warmup] | None = Field(None, min_length=1)
    hot: list[HotTable] | None = Field(None, min_length=1)
    burst: list[Whole] | None = Field(None, min_length=1)
    duty: list[Share] | None = Field(None, min_length=1)
    permutation: list[Permutation] | None = Field(None, min_length=1)

    def given(self) -> dict[str, tuple[Any, ...]]:
        """Return the values by key, frozen, in the order of the file."""
        found = super().given()
        return found | {"hot": tuple(map(frozen_hot, found["hot"]))} if "hot" in found else found


class CompareTable(Table):
    """Theory or a baseline beside the simulated values."""

    with_: list[Theory] = Field(alias="with", min_length=1)


class RecordTable(Table):
    """A short run of the first point, kept slot by slot."""

    packets: Annotated[int, Field(ge=1, le=MOST_RECORDED)]
    slots: Annotated[int, Field(ge=1, le=MOST_RECORDED)]


class SwitchFile(Table):
    """A scenario of a switch or network alone."""

    kind: Literal["switch"]
    name: Name | None = Field(None, description="by default the file's own")
    extends: Text | None = Field(
        None, description="a file beside this one, or a scenario, to build on"
    )
    abstract: bool = Field(False, description="true for a part that other files extend")
    title: Text
    question: Text = Field(description="what the run answers")
    source: Text = Field(description="where the question or its figures come from")
    switch: SwitchFileTable | None = None
    network: NetworkFileTable | None = Field(None, description="instead of a switch")
    traffic: TrafficFileTable
    vary: list[VaryTable] = Field(default_factory=list)
    compare: CompareTable | None = None
    record: RecordTable | None = None


def frozen_hot(table: HotTable | None) -> Hot | None:
    """Return the frozen form of a hot spot."""
    return None if table is None else Hot(table.fraction, tuple(table.outputs))


def frozen_switch(table: SwitchFileTable, first: dict[str, Any]) -> SwitchTable:
    """Return the frozen form of a switch; `first` has the first value of what is varied."""
    values = table.model_dump() | _own(SwitchFileTable, first)
    return SwitchTable(slot_ps=values.pop("slot"), **values)


def frozen_network(table: NetworkFileTable, first: dict[str, Any]) -> NetworkTable:
    """Return the frozen form of a network."""
    values = table.model_dump(exclude={"switch"}) | _own(NetworkFileTable, first)
    switch = None if table.switch is None else frozen_switch(table.switch, first)
    return NetworkTable(switch=switch, **values)


def frozen_traffic(table: TrafficFileTable, first: dict[str, Any]) -> TrafficTable:
    """Return the frozen form of the traffic."""
    values = table.model_dump(exclude={"hot"}) | {"hot": frozen_hot(table.hot)}
    return TrafficTable(**(values | _own(TrafficFileTable, first)))


def frozen_record(table: RecordTable | None) -> Record | None:
    """Return the frozen form of what is recorded."""
    return None if table is None else Record(table.packets, table.slots)


def _own(table: type[Table], values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key in table.model_fields}
