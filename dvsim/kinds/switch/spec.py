"""What a file about a switch or network alone holds: the arguments of `dvsim.Switch` and the like.

What one key may be is said here; what the keys together may be is asked of `dvsim.Switch` and
`dvsim.Network` themselves, at every point, in `dvsim.kinds.switch.points`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from dvsim.fabric.switch.check import power_of_two
from dvsim.fabric.switch.choices import Crossing, Exit, Injection, Pattern
from dvsim.scenario import bounds
from dvsim.scenario.card_kinds import Limits
from dvsim.scenario.fields import Count, Fixed, Number, Quantity, Some, Text, Varied, Vary, Whole
from dvsim.scenario.quantity import show
from dvsim.scenario.spec import Spec, Table

MOST_RECORDED = 200  # packets, and slots, that a report can show moving

Fault = tuple[str, int, int, int]
Packets = tuple[tuple[int, int, int], ...]


def _height_checked(value: int) -> int:
    try:
        power_of_two("height", value)
    except ValueError as error:
        raise ValueError(str(error).removeprefix("height ")) from None
    return value


def _wholes(value: object, what: str) -> tuple[int, ...]:
    if not isinstance(value, list) or any(type(item) is not int for item in value):
        raise ValueError(f"must be {what}, not {_shown(value)}")
    return tuple(value)


def _angles_read(value: object) -> int | tuple[int, ...]:
    if type(value) is int:
        return value
    return _wholes(value, "a number of angles, or a list of angles")


def _faults_read(value: object) -> tuple[Fault, ...]:
    if not isinstance(value, list):
        raise ValueError(f"must be a list of [kind, cylinder, angle, height], not {show(value)}")
    return tuple(map(_fault_read, value))


def _fault_read(value: object) -> Fault:
    if not (
        isinstance(value, list)
        and [type(item) for item in value] == [str, int, int, int]  # True is no whole number
    ):
        raise ValueError(f"a fault is [kind, cylinder, angle, height], not {_shown(value)}")
    return (value[0], value[1], value[2], value[3])


def _trace_read(value: object) -> str | tuple[tuple[int, ...], ...]:
    if isinstance(value, str) and value:
        return value
    if not isinstance(value, list):
        wanted = "a file of packets, or a list of [slot, input, output]"
        raise ValueError(f"must be {wanted}, not {show(value)}")
    packets = tuple(_wholes(item, "a packet [slot, input, output]") for item in value)
    if any(len(packet) != 3 for packet in packets):
        raise ValueError("a packet is [slot, input, output]")
    return packets


def _hot_read(value: object) -> object:
    alone = isinstance(value, list) and len(value) == 2 and isinstance(value[1], list)
    return dict(zip(("fraction", "outputs"), value, strict=True)) if alone else value  # type: ignore[call-overload]


def _shown(value: object) -> str:
    return str(value) if isinstance(value, list) and len(str(value)) <= 40 else show(value)


def _list_of(what: str) -> Callable[[object], tuple[int, ...]]:
    return lambda value: _wholes(value, what)


ARRAY: dict[str, Any] = {"type": "array"}
Share = Annotated[Number, Field(ge=0, le=1)]
Slot = Annotated[int, Quantity(Limits("time", above=True, most=bounds.TIME), "22 ns")]


@dataclass(frozen=True)
class SwitchTable(Table):
    """One switch: the arguments of `dvsim.Switch`, and how long a slot takes where that is known.

    `injecting` is a number of angles, the angles themselves, or None for all.
    """

    VARIED: ClassVar[bool] = True

    height: Annotated[Whole, AfterValidator(_height_checked), Field(description="a power of two")]
    angles: Annotated[Whole, Field(ge=1, le=bounds.ANGLES)]
    injecting: Annotated[
        int | tuple[int, ...] | None,
        BeforeValidator(_angles_read),
        WithJsonSchema({"anyOf": [{"type": "integer"}, ARRAY]}),
        Field(description="a number of angles or the angles"),
    ] = None
    crossing: Crossing = "brc"
    exit: Exit = "angle"
    faults: Annotated[
        tuple[Fault, ...],
        BeforeValidator(_faults_read),
        WithJsonSchema(ARRAY),
        Field(description="[kind, cylinder, angle, height], …"),
    ] = ()
    slot_ps: Annotated[
        Slot | None,
        Fixed(),
        Field(validation_alias="slot", description="how long a slot takes; for times beside slots"),
    ] = None


@dataclass(frozen=True)
class NetworkTable(Table):
    """A network of switches, the arguments of `dvsim.Network`: a preset, or switch and levels.

    What is None is that of the preset or the card.
    """

    VARIED: ClassVar[bool] = True

    preset: Annotated[Text | None, Field(description="dv202 to dv216")] = None
    switch: Annotated[SwitchTable | None, Fixed(), Field(description="instead of a preset")] = None
    levels: Count | None = None
    ports: Count | None = None
    planes: Annotated[Count | None, Field(description="by default those of the card")] = None
    link: Annotated[
        Annotated[Whole, Field(ge=0, le=bounds.COUNT)] | None,
        Field(description="slots; by default those of the card"),
    ] = None
    fidelity: Literal["cycle", "flow", "auto"] = "cycle"


@dataclass(frozen=True)
class Hot:
    """A share of the packets that goes to a few outputs."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    fraction: Share
    outputs: Annotated[tuple[Whole, ...], Some]


@dataclass(frozen=True)
class TrafficTable(Table):
    """What is offered and for how long, the arguments of ``run``.

    `trace` holds the packets themselves, as (slot, input, output).
    """

    VARIED: ClassVar[bool] = True

    slots: Annotated[Whole, Field(ge=1, le=bounds.SLOTS, description="that are counted")]
    warmup: Annotated[Whole, Field(ge=0, le=bounds.SLOTS, description="slots before them")] = 0
    load: Annotated[Share | None, Field(description="packets per slot and input")] = None
    pattern: Pattern = "uniform"
    injection: Injection = "drop"
    hot: Annotated[
        Hot | None,
        BeforeValidator(_hot_read),
        Field(description="of pattern hot-spot: { fraction = 0.1, outputs = [0] }"),
    ] = None
    burst: Annotated[Count | None, Field(description="slots; of pattern bursty")] = None
    duty: Annotated[Share | None, Field(description="of pattern bursty")] = None
    permutation: Annotated[
        tuple[int, ...] | None,
        BeforeValidator(_list_of("a list of heights")),
        WithJsonSchema(ARRAY),
        Field(description="height of each height"),
    ] = None
    trace: Annotated[
        Packets | str | None,
        BeforeValidator(_trace_read),
        WithJsonSchema({"anyOf": [{"type": "string"}, ARRAY]}),
        Fixed(),
        Field(description="a CSV file with slot,input,output"),
    ] = None


@dataclass(frozen=True)
class Compare(Table):
    """Theory or a baseline beside the simulated values."""

    names: Annotated[
        tuple[Literal["mean-field", "zero-load", "butterfly"], ...],
        Some,
        Field(validation_alias="with"),
    ]


@dataclass(frozen=True)
class Record(Table):
    """A short run of the first point that is kept slot by slot: so many packets, so many slots."""

    packets: Annotated[Whole, Field(ge=1, le=MOST_RECORDED)]
    slots: Annotated[Whole, Field(ge=1, le=MOST_RECORDED)]


@dataclass(frozen=True, kw_only=True)
class SwitchScenario(Spec):
    """One question about a switch or a network; exactly one of the two is there."""

    KIND: ClassVar[str] = "switch"
    LENGTH: ClassVar[str] = "slots"
    LENGTHS: ClassVar[tuple[str, ...]] = ("slots", "warmup")

    switch: SwitchTable | None = None
    network: Annotated[NetworkTable | None, Field(description="instead of a switch")] = None
    traffic: TrafficTable
    vary: Annotated[Varied, Vary(SwitchTable, NetworkTable, TrafficTable)] = ()
    theory: Annotated[Compare | None, Field(validation_alias="compare")] = None
    record: Annotated[
        Record | None, Field(description="a short run of the first point, kept slot by slot")
    ] = None

    @property
    def compare(self) -> tuple[str, ...]:
        """Theories and baselines to put beside: ``mean-field``, ``zero-load``, ``butterfly``."""
        return () if self.theory is None else tuple(dict.fromkeys(self.theory.names))
