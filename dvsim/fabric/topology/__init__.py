"""Topology: the nodes and links of a switch, or the switches and ports of a network, for others.

`choose` finds out what is meant, `text` writes graphs as GraphML, JSON and DOT; the picture that
can be turned is `dvsim.view.topology`.
"""

from dvsim.fabric.topology.choose import Topology, of_preset, of_switch
from dvsim.fabric.topology.graph_text import FORMATS

__all__ = ["FORMATS", "Topology", "of_preset", "of_switch"]
