"""The Data Vortex switch, slot by slot.

switch.py      `Switch`: the argument checks and one call per run; what can be broken
simulation.py  a switch while it runs, for stepping; whether it has settled
result.py      what a run has counted
choices.py     the words of arguments and scenario files
traffic.py     what enters; trace.py from a file
wiring.py      where a packet goes that stays on its cylinder; paths of packets
graph.py       the switch as a NetworkX graph

The names below are imported when they are first used: `choices` and `check` are read by everything
that checks a file, which needs neither NumPy nor the core.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dvsim.fabric.switch.result import SwitchRun
    from dvsim.fabric.switch.simulation import Deliveries, Simulation
    from dvsim.fabric.switch.switch import Fault, Switch
    from dvsim.fabric.switch.traffic import Traffic, replication_seed
    from dvsim.fabric.switch.wiring import Path, Step

_LAZY = {
    "Deliveries": "simulation",
    "Fault": "switch",
    "Path": "wiring",
    "Simulation": "simulation",
    "Step": "wiring",
    "Switch": "switch",
    "SwitchRun": "result",
    "Traffic": "traffic",
    "replication_seed": "traffic",
}
__all__ = [
    "Deliveries",
    "Fault",
    "Path",
    "Simulation",
    "Step",
    "Switch",
    "SwitchRun",
    "Traffic",
    "replication_seed",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    if name not in _LAZY:
        raise AttributeError(f"module 'dvsim.fabric.switch' has no attribute {name!r}")
    return getattr(importlib.import_module(f"dvsim.fabric.switch.{_LAZY[name]}"), name)
