"""The Data Vortex switch, slot by slot.

switch.py      `Switch`: the argument checks and one call per run
simulation.py  a switch while it runs, for stepping, own packets and checkpoints
result.py      what a run has counted; settled.py whether it may be quoted; paths.py single packets
traffic.py     what enters; trace.py from a file
faults.py      what can be broken
wiring.py      where a packet goes that stays on its cylinder
graph.py       the switch as a NetworkX graph
checkpoint.py  a simulation in a file
"""

from dvsim.switch.faults import Fault
from dvsim.switch.paths import Path, Step
from dvsim.switch.result import SwitchRun
from dvsim.switch.simulation import Deliveries, Simulation
from dvsim.switch.switch import Switch
from dvsim.switch.traffic import replication_seed

__all__ = [
    "Deliveries",
    "Fault",
    "Path",
    "Simulation",
    "Step",
    "Switch",
    "SwitchRun",
    "replication_seed",
]
