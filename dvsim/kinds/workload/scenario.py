"""What a file about a program's traffic holds: the program, and the fabric that carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from dvsim.kinds.workload.collectives import MPICH, Collectives
from dvsim.kinds.workload.irregular_skeletons import SKELETONS, AnySkeleton
from dvsim.scenario import bounds
from dvsim.scenario.fields import Count, Fixed, Number, Text, Varied, Vary, Whole
from dvsim.scenario.quantity import show
from dvsim.scenario.spec import Spec, Table

MOST_FACTOR = 1e6
MOST_REPEATS = 10_000

Placement = Literal["linear", "random"]
Factor = Annotated[Number, Field(ge=0, le=MOST_FACTOR)]


def _placement_read(value: object) -> str | tuple[int, ...]:
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        return tuple(value)
    if value in ("linear", "random"):
        return str(value)
    raise ValueError(f"must be 'linear', 'random' or a list of ports, not {show(value)}")


@dataclass(frozen=True)
class ProgramTable(Table):
    """What the ranks do."""

    VARIED: ClassVar[bool] = True

    # A file, a folder or a tar of either, beside the scenario; or there is a skeleton.
    trace: Annotated[
        Text | None, Fixed(), Field(description="a file, a folder, or a tar of either")
    ] = None
    # Of what the trace holds; filled in when it is read.
    digest: Annotated[
        Text | None, Fixed(), Field(description="of what the trace holds; filled in")
    ] = None
    # Factor of all computing: 1 as measured, 0 none.
    compute_scale: Annotated[Factor, Field(description="factor of all computing")] = 1.0
    # A rank, and how many times as long it computes.
    straggler: Annotated[
        Annotated[Whole, Field(ge=0, le=bounds.COUNT)] | None,
        Field(description="a rank that computes longer"),
    ] = None
    slowdown: Annotated[Factor, Field(description="how many times as long it computes")] = 1.0
    # ``linear``: rank r at port r; ``random``: anywhere, by the seed; or the ports.
    placement: Annotated[
        str | tuple[int, ...],
        BeforeValidator(_placement_read),
        WithJsonSchema({"anyOf": [{"enum": ["linear", "random"]}, {"type": "array"}]}),
        Field(description="linear, random, or a list of ports"),
    ] = "linear"
    # How often the whole program is run, one after the other.
    repeat: Annotated[Count, Field(le=MOST_REPEATS, description="times that it is run")] = 1


@dataclass(frozen=True)
class FabricTable(Table):
    """The network that carries the messages; keys that are set replace numbers of its card."""

    VARIED: ClassVar[bool] = True

    network: Annotated[
        Text, Field(description="dv, dv202 to dv216, fdr, aries, loggops, or a card")
    ]
    latency: Annotated[Text | None, Field(description="L: a time")] = None
    overhead: Annotated[Text | None, Field(description="o: a time")] = None
    gap: Annotated[Text | None, Field(description="g: a time, of LogGOPS")] = None
    gap_per_byte: Annotated[Text | None, Field(description="G: a time, of LogGOPS")] = None
    overhead_per_byte: Annotated[Text | None, Field(description="O: a time")] = None
    eager: Annotated[Text | None, Field(description="S: the largest eager message")] = None
    rate: Annotated[Text | None, Field(description="of a port of a Data Vortex")] = None
    planes: Annotated[Count | None, Field(description="of a Data Vortex")] = None
    link: Annotated[
        Annotated[Whole, Field(ge=0, le=bounds.COUNT)] | None,
        Field(description="slots, of a Data Vortex"),
    ] = None
    fidelity: Annotated[
        Literal["flow", "cycle"] | None, Field(description="of a Data Vortex: cycle is every word")
    ] = None
    landing: Annotated[
        Literal["memory", "sram"] | None,
        Field(description="where messages end, of a Data Vortex at fidelity cycle"),
    ] = None
    faults: Annotated[
        tuple[Text, ...], Fixed(), Field(description="what is wrong in it: 'dead plane=3'")
    ] = ()


_LETTERS = ("latency", "overhead", "gap", "gap_per_byte", "overhead_per_byte", "eager")
SETTINGS: Mapping[str, str] = {
    **dict(zip(_LETTERS, "LogGOS", strict=True)),
    **{key: key for key in ("rate", "planes", "link", "fidelity", "landing")},
}
"""The keys of ``[fabric]`` and the settings that they are."""


@dataclass(frozen=True, kw_only=True)
class WorkloadScenario(Spec):
    """One question about a program over a fabric."""

    KIND: ClassVar[str] = "workload"
    LENGTH: ClassVar[str] = "repeat"

    program: ProgramTable = ProgramTable()
    skeleton: Annotated[AnySkeleton | None, Field(description="instead of a trace")] = None
    collectives: Annotated[
        Collectives | None, Field(description="their algorithms, by default MPICH's")
    ] = None
    fabric: FabricTable
    vary: Annotated[Varied, Vary(*SKELETONS.values(), ProgramTable, FabricTable)] = ()

    @property
    def algorithms(self) -> Collectives:
        """Which algorithm each collective takes."""
        return MPICH if self.collectives is None else self.collectives

    @property
    def settings(self) -> dict[str, object]:
        """What is other than the card says, by setting."""
        settings = {key: getattr(self.fabric, name) for name, key in SETTINGS.items()}
        return {key: value for key, value in settings.items() if value is not None}
