"""One plane of a network as a NetworkX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from dvsim.fabric.network.network import Network


def graph(network: Network) -> nx.DiGraph:
    """Return the ports, switches and links of one plane; all planes are alike.

    Returns:
        networkx.DiGraph: A node is ``("port", port)`` or ``("switch", level, number)``, level 0
        being the leaves, with attributes ``kind``, ``port`` or ``level``, ``number`` and, below the
        top, ``group``, the number of the group of switches with the same ports below. A link has
        ``kind``: ``up``, ``down``, or ``host`` between a port and its leaf; and ``links``, how many
        there are in parallel.
    """
    shape = network.tree
    top, half = shape.levels - 1, shape.radix // 2
    built = nx.DiGraph(ports=shape.ports, levels=shape.levels, radix=shape.radix)
    for level, count in enumerate(shape.switches):
        size = count if level == top else half**level
        for number in range(count):
            built.add_node(
                ("switch", level, number),
                kind="switch", level=level, number=number, group=number // size,
            )  # fmt: skip
    for port in range(shape.ports):
        leaf = ("switch", 0, port // shape.down)
        built.add_node(("port", port), kind="port", port=port)
        built.add_edge(("port", port), leaf, kind="host", links=1)
        built.add_edge(leaf, ("port", port), kind="host", links=1)
    for level, count in enumerate(shape.switches[:-1]):
        size = half**level
        for number in range(count):
            group, first = divmod(number, size)
            for up in range(half):
                link = first * half + up
                above = link // shape.parallel
                if level + 1 < top:
                    above = group // half * size * half + link
                _join(built, ("switch", level, number), ("switch", level + 1, above))
    return built


def _join(built: nx.DiGraph, lower: tuple[str, int, int], upper: tuple[str, int, int]) -> None:
    for kind, ends in (("up", (lower, upper)), ("down", (upper, lower))):
        if built.has_edge(*ends):
            built.edges[ends]["links"] += 1
        else:
            built.add_edge(*ends, kind=kind, links=1)
