"""Which graph is meant: a switch of one's own, or a preset of the network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dvsim.fabric.switch import Switch

if TYPE_CHECKING:
    import networkx as nx  # type: ignore[import-untyped]

    from dvsim.fabric.network import Network

MOST_NODES = 300_000  # as objects of Python they take about a kilobyte each


@dataclass(frozen=True)
class Topology:
    """A switch, or the tree of switches that it is part of."""

    title: str  # what it is
    switch: Switch  # the switch, or each of the switches of the network
    network: Network | None = None  # the network, if it has more than one switch

    @property
    def nodes(self) -> int:
        """Nodes of the graph: those of the switch, or ports and switches of one plane."""
        if self.network is None:
            return self.switch.nodes
        return int(self.network.ports + sum(self.network.switches))

    def graph(self, most: int = MOST_NODES) -> nx.DiGraph:
        """Return the graph: the nodes of a switch, or ports and switches of one plane.

        Raises:
            ValueError: If it has more than `most` nodes; the text names the nearest size that has
                not.
        """
        if self.nodes > most:
            raise ValueError(
                f"{self.title}: {self.nodes:,} nodes are more than the {most:,} that can be "
                f"written; nearest: {nearest(self.switch, most)}"
            )
        return self.switch.graph() if self.network is None else self.network.graph()


def of_switch(
    height: int,
    angles: int,
    injecting: int | Iterable[int] | None = None,
    crossing: str = "brc",
    exit: str = "angle",
) -> Topology:
    """Take a switch; arguments and errors are those of `dvsim.Switch`."""
    switch = Switch(height, angles, injecting, crossing, exit)
    return Topology(f"Switch of {height} heights and {angles} angles", switch)


def of_preset(name: str) -> Topology:
    """Take a preset of `dvsim.Network`: the switch itself where there is only one.

    Raises:
        ValueError: If there is no such preset; the text names the nearest.
    """
    from dvsim.fabric.network import Network

    network = Network(name)
    if network.levels == 1:
        return Topology(f"One plane of {name}: its only switch", network.switch)
    return Topology(f"One plane of {name}", network.switch, network)


def nearest(switch: Switch, most: int) -> str:
    """Name the largest switch of at most `most` nodes with as many angles, or else with fewer."""
    angles = min(switch.angles, most // 4)  # two heights have two cylinders
    height = switch.height
    while height > 2 and height.bit_length() * angles * height > most:
        height //= 2
    return f"{height} heights and {angles} angles, {height.bit_length() * angles * height:,} nodes"
