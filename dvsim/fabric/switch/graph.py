"""The switch as a NetworkX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx  # type: ignore[import-untyped]

from dvsim.fabric.switch.wiring import crossing_of, random_order

if TYPE_CHECKING:
    from dvsim.fabric.switch.switch import Switch


def graph(switch: Switch, seed: int = 1) -> nx.DiGraph:
    """Return the nodes and links of a switch as a directed graph.

    Args:
        switch: The switch.
        seed: With crossing ``random``, the seed of the run whose wiring is drawn.

    Returns:
        networkx.DiGraph: A node is the tuple (cylinder, angle, height), with these three as
        attributes, ``input`` and ``output`` where it has that port, and ``faults``, a text, where
        it is faulty. A link has ``kind``: ``down`` (to the next cylinder, height unchanged),
        ``stay`` (to the crossing height of the same cylinder) or ``ring`` (along the innermost
        cylinder).
    """
    built = nx.DiGraph(height=switch.height, angles=switch.angles, crossing=switch.crossing)
    order = random_order(switch.height, seed) if switch.crossing == "random" else None
    last = switch.cylinders - 1
    for cylinder in range(switch.cylinders):
        crossing = crossing_of(switch.crossing, switch.height, cylinder, order).tolist()
        for angle in range(switch.angles):
            on = (angle + 1) % switch.angles
            for height in range(switch.height):
                node = (cylinder, angle, height)
                built.add_node(node, cylinder=cylinder, angle=angle, height=height)
                kind = "stay" if cylinder < last else "ring"
                built.add_edge(node, (cylinder, on, crossing[height]), kind=kind)
                if cylinder < last:
                    built.add_edge(node, (cylinder + 1, on, height), kind="down")
    _mark(built, switch)
    return built


def _mark(built: nx.DiGraph, switch: Switch) -> None:
    last = switch.cylinders - 1
    for angle in range(switch.angles):
        for height in range(switch.height):
            port = angle * switch.height + height
            if angle in switch.injecting:
                built.nodes[0, angle, height]["input"] = port
            built.nodes[last, angle, height]["output"] = port if switch.exit == "angle" else height
    for kind, *node in switch.faults:
        attributes = built.nodes[tuple(node)]
        attributes["faults"] = " ".join(filter(None, [attributes.get("faults"), kind]))
