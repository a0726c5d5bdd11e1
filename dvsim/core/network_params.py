"""The parameters of the network core, and how they become the C struct of network.h."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dvsim.core._core import ffi
from dvsim.core.arrays import Ints, kept_pointer
from dvsim.core.vortex_params import CROSSINGS, EXITS, INJECTIONS, LAYOUTS


@dataclass(frozen=True, kw_only=True)
class NetworkParams:
    """What a network is made of; probabilities are times 2^32."""

    height: int
    angles: int
    levels: int
    ports: int
    planes: int
    link_slots: int
    crossing: str = "brc"
    exit_rule: str = "any"
    injecting: int = 0  # exit any: the angle that injects
    order: npt.NDArray[np.uint32] | None = None
    injection: str = "drop"
    layout: str = "best"  # of the switches; no result changes
    seed: int = 1
    together: int = 0  # planes that are run in lockstep, 0: the core chooses
    arrival_threshold: int = 0
    destination: Ints | None = None
    hot: tuple[int, ...] = ()
    hot_threshold: int = 0
    burst_slots: int = 0
    burst_threshold: int = 0
    trace: tuple[Ints, Ints, Ints] | None = None  # slot, plane * ports + input, output


def native_network_params(params: NetworkParams) -> tuple[Any, list[Any]]:
    """Return the C struct, and what it points to."""
    alive: list[Any] = []
    native = ffi.new("dvsim_network_params *")
    pointer = partial(kept_pointer, alive)
    for name in ("height", "angles", "injecting", "levels", "ports", "planes", "link_slots"):
        setattr(native, name, getattr(params, name))
    native.seed, native.together = params.seed, params.together
    native.crossing = CROSSINGS[params.crossing]
    native.exit_rule = EXITS[params.exit_rule]
    native.injection = INJECTIONS[params.injection]
    native.layout = LAYOUTS[params.layout]
    if params.order is not None:
        native.order = pointer(params.order, np.uint32, "uint32_t *")
    traffic = native.traffic
    traffic.arrival_threshold = params.arrival_threshold
    traffic.hot_threshold = params.hot_threshold
    traffic.burst_slots, traffic.burst_threshold = params.burst_slots, params.burst_threshold
    if params.destination is not None:
        traffic.destination = pointer(params.destination, np.uint32, "uint32_t *")
    if params.hot:
        traffic.hot, traffic.hots = pointer(params.hot, np.uint32, "uint32_t *"), len(params.hot)
    if params.trace is not None:
        slot, port, to = params.trace
        by_port = np.lexsort((slot, port))
        start = np.searchsorted(port[by_port], np.arange(params.planes * params.ports + 1))
        traffic.trace_start = pointer(start, np.int64, "int64_t *")
        traffic.trace_slot = pointer(slot[by_port], np.int64, "int64_t *")
        traffic.trace_to = pointer(to[by_port], np.uint32, "uint32_t *")
    return native, alive
