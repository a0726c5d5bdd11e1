"""What a file about rivals holds: a topology, the assumptions of its routers, what is offered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from dvsim.scenario import bounds
from dvsim.scenario.fields import Number, Varied, Vary, Whole
from dvsim.scenario.spec import Spec, Table

MOST_PORTS = 4096

Network = Literal["vortex", "fattree", "torus", "dragonfly", "hyperx", "slimfly", "random"]
Pattern = Literal["uniform", "hot-spot", "transpose", "bit-complement", "shuffle", "permutation"]
Share = Annotated[Number, Field(ge=0, le=1)]


@dataclass(frozen=True)
class TopologyTable(Table):
    """A network of so many ports."""

    VARIED: ClassVar[bool] = True

    network: Network
    ports: Annotated[Whole, Field(ge=2, le=MOST_PORTS, description="end points")]
    dimensions: Annotated[Whole, Field(ge=1, le=6, description="of a torus")] = 3
    levels: Annotated[Whole, Field(ge=2, le=6, description="of a fat tree")] = 3
    # Of a Data Vortex; heights are ports / angles. Each plane is a switch of its own, and a packet
    # takes any.
    angles: Annotated[Whole, Field(ge=1, le=bounds.ANGLES)] = 4
    planes: Annotated[Whole, Field(ge=1, le=64, description="switches side by side")] = 1


@dataclass(frozen=True)
class RouterTable(Table):
    """What is assumed of the routers of all rivals; a Data Vortex has none."""

    VARIED: ClassVar[bool] = True

    routing: Literal["minimal", "valiant"] = "minimal"
    channels: Annotated[Whole, Field(ge=1, le=64, description="virtual channels of a port")] = 4
    # A phit is what a link carries in a cycle; a packet takes `packet` cycles, which is a slot.
    packet: Annotated[Whole, Field(ge=1, le=1024, description="phits of a packet")] = 16
    buffer: Annotated[Whole, Field(ge=1, le=65_536, description="phits of a virtual channel")] = 64
    output: Annotated[Whole, Field(ge=1, le=65_536, description="phits buffered at an output")] = 32
    link: Annotated[Whole, Field(ge=1, le=10_000, description="cycles of a link")] = 1


@dataclass(frozen=True)
class RivalTraffic(Table):
    """What arrives at the ports."""

    VARIED: ClassVar[bool] = True

    slots: Annotated[Whole, Field(ge=10, le=10**7, description="that are counted")]
    warmup: Annotated[Whole, Field(ge=0, le=10**7, description="slots before them")]
    load: Annotated[Share, Field(description="packets per slot and port")]
    pattern: Pattern = "uniform"
    # Of pattern hot-spot: this share of the packets goes to `hot` ports, the first ones.
    fraction: Share = 0.1
    hot: Annotated[Whole, Field(ge=1, le=MOST_PORTS, description="hot ports")] = 1
    burst: Annotated[Whole, Field(ge=1, le=1024, description="packets that arrive at once")] = 1
    # Of a Data Vortex: whether a packet that does not get in is gone. Rivals always queue.
    injection: Literal["queue", "drop"] = "queue"
    # Messages that wait at a port of a rival before more are refused.
    waiting: Annotated[Whole, Field(ge=1, le=10**6, description="messages")] = 1000


@dataclass(frozen=True, kw_only=True)
class RivalScenario(Spec):
    """One question about a Data Vortex and its rivals."""

    KIND: ClassVar[str] = "rivals"
    LENGTH: ClassVar[str] = "slots"
    LENGTHS: ClassVar[tuple[str, ...]] = ("slots", "warmup")

    topology: TopologyTable
    router: RouterTable = RouterTable()
    traffic: RivalTraffic
    vary: Annotated[Varied, Vary(TopologyTable, RouterTable, RivalTraffic)] = ()
