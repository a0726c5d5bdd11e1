"""The parameters of the network core, and how they become the C struct of network.h."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dvsim.core._core import ffi
from dvsim.core.vortex_params import CoreParams, set_common


@dataclass(frozen=True, kw_only=True)
class NetworkParams(CoreParams):
    """What a network is made of; an input of its trace is plane * ports + input."""

    levels: int
    ports: int
    planes: int
    link_slots: int
    exit_rule: str = "any"
    injecting: int = 0  # exit any: the angle that injects
    together: int = 0  # planes that are run in lockstep, 0: the core chooses


def native_network_params(params: NetworkParams) -> tuple[Any, list[Any]]:
    """Return the C struct, and what it points to."""
    alive: list[Any] = []
    native = ffi.new("dvsim_network_params *")
    for name in ("injecting", "levels", "ports", "planes", "link_slots", "together"):
        setattr(native, name, getattr(params, name))
    set_common(native, native.traffic, params, alive, params.planes * params.ports)
    return native, alive
