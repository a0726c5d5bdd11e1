"""Networks of Data Vortex switches, slot by slot.

network.py     `Network`: one call per run; offer.py: the arguments
tree.py        which trees there are: ports, levels, presets
simulation.py  a network while it runs, for stepping and for bursts of one's own
result.py      what a run has counted
graph.py       one plane as a NetworkX graph
flow.py        runs from tables of the switch; units.py makes and keeps them
bursts.py      bursts as linear flows, measured on the cycle level
"""

from dvsim.fabric.network.network import Network
from dvsim.fabric.network.offer import check_offer
from dvsim.fabric.network.result import NetworkRun
from dvsim.fabric.network.simulation import Completions, NetworkSimulation
from dvsim.fabric.network.tree import PRESETS

__all__ = [
    "PRESETS",
    "Completions",
    "Network",
    "NetworkRun",
    "NetworkSimulation",
    "check_offer",
]
