"""The parameters of the switch core, and how they become the C struct (models/vortex/vortex.h).

The core writes heights bit-reversed; that is turned here, so that nothing above sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dvsim.core._core import ffi, lib
from dvsim.core.arrays import Ints, kept_pointer

CROSSINGS = {
    "brc": lib.DVSIM_CROSS_BRC,
    "xor": lib.DVSIM_CROSS_XOR,
    "random": lib.DVSIM_CROSS_RANDOM,
}
EXITS = {"angle": lib.DVSIM_EXIT_ANGLE, "any": lib.DVSIM_EXIT_ANY}
INJECTIONS = {
    "drop": lib.DVSIM_INJECT_DROP,
    "queue": lib.DVSIM_INJECT_QUEUE,
    "saturate": lib.DVSIM_INJECT_SATURATE,
    "given": lib.DVSIM_INJECT_GIVEN,
}
LAYOUTS = {
    "best": lib.DVSIM_LAYOUT_BEST,
    "words": lib.DVSIM_LAYOUT_WORDS,
    "slices": lib.DVSIM_LAYOUT_SLICES,
}
FAULTS = {
    "node": lib.DVSIM_FAULT_NODE,
    "down": lib.DVSIM_FAULT_DOWN,
    "stay": lib.DVSIM_FAULT_STAY,
    "block": lib.DVSIM_FAULT_BLOCK,
    "free": lib.DVSIM_FAULT_FREE,
}


@dataclass(frozen=True, kw_only=True)
class CoreParams:
    """What switches are made of and what is offered to them; probabilities are times 2^32."""

    height: int
    angles: int
    crossing: str = "brc"
    exit_rule: str = "angle"
    order: npt.NDArray[np.uint32] | None = None
    injection: str = "drop"
    layout: str = "best"  # of packets in memory: no result depends on it
    seed: int = 1
    arrival_threshold: int = 0
    destination: Ints | None = None
    hot: tuple[int, ...] = ()
    hot_threshold: int = 0
    burst_slots: int = 0
    burst_threshold: int = 0
    trace: tuple[Ints, Ints, Ints] | None = None  # slot, input, output


@dataclass(frozen=True, kw_only=True)
class VortexParams(CoreParams):
    """What a switch is made of; ports are angle * height + height."""

    injecting: tuple[int, ...]
    replications: int = 1
    faults: tuple[tuple[str, int, int, int], ...] = ()  # kind, cylinder, angle, height
    watched: int = 0


def set_common(
    native: Any,  # noqa: ANN401 - a C struct
    traffic: Any,  # noqa: ANN401
    params: CoreParams,
    alive: list[Any],
    inputs: int,
) -> None:
    """Set what structs of switch and network share; `alive` gets what they point to."""
    pointer = partial(kept_pointer, alive)
    for name in ("height", "angles", "seed"):
        setattr(native, name, getattr(params, name))
    native.crossing = CROSSINGS[params.crossing]
    native.exit_rule = EXITS[params.exit_rule]
    native.injection = INJECTIONS[params.injection]
    native.layout = LAYOUTS[params.layout]
    if params.order is not None:
        native.order = pointer(params.order, np.uint32, "uint32_t *")
    for name in ("arrival_threshold", "hot_threshold", "burst_slots", "burst_threshold"):
        setattr(traffic, name, getattr(params, name))
    if params.destination is not None:
        traffic.destination = pointer(params.destination, np.uint32, "uint32_t *")
    if params.hot:
        traffic.hot, traffic.hots = pointer(params.hot, np.uint32, "uint32_t *"), len(params.hot)
    if params.trace is not None:
        slot, port, to = params.trace
        by_port = np.lexsort((slot, port))
        start = np.searchsorted(port[by_port], np.arange(inputs + 1))
        traffic.trace_start = pointer(start, np.int64, "int64_t *")
        traffic.trace_slot = pointer(slot[by_port], np.int64, "int64_t *")
        traffic.trace_to = pointer(to[by_port], np.uint32, "uint32_t *")


def reversed_heights(values: Ints, height: int) -> Ints:
    """Return ports or heights with the bits of the height reversed; twice gives them back."""
    bits = height.bit_length() - 1
    mirrored = values - values % height
    for bit in range(bits):
        mirrored |= (values >> bit & 1) << (bits - 1 - bit)
    return mirrored


def native_params(params: VortexParams) -> tuple[Any, list[Any]]:
    """Return the C struct, and what it points to."""
    alive: list[Any] = []
    native = ffi.new("dvsim_vortex_params *")
    turned = partial(reversed_heights, height=params.height)
    arrays: dict[str, Any] = {"hot": tuple(turned(np.array(params.hot, dtype=np.int64)).tolist())}
    if params.destination is not None:
        arrays["destination"] = turned(params.destination)[turned(np.arange(params.height))]
    if params.trace is not None:
        slot, port, to = params.trace
        arrays["trace"] = slot, turned(port), turned(to)
    inputs = params.angles * params.height
    set_common(native, native, replace(params, **arrays), alive, inputs)
    native.replications, native.watched = params.replications, params.watched
    flags = [angle in set(params.injecting) for angle in range(params.angles)]
    native.injecting = kept_pointer(alive, flags, np.uint8, "uint8_t *")
    faults = ffi.new("dvsim_fault[]", len(params.faults))
    for fault, (kind, cylinder, angle, at) in zip(faults, params.faults, strict=True):
        fault.kind, fault.cylinder, fault.angle, fault.height = FAULTS[kind], cylinder, angle, at
    alive.append(faults)
    native.faults, native.fault_count = faults, len(params.faults)
    return native, alive
