"""The cylinders of a switch in space: nodes, links and ports, as a figure that can be turned.

A node is placed by its cylinder (the radius; 0 is the outermost), its angle (around) and its height
(up). A link goes one angle on, so it is drawn as an arc around the axis, never across.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.report.drawing import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILION,
    Drawing,
    Floats,
    layout,
    packed,
)

if TYPE_CHECKING:
    import networkx as nx  # type: ignore[import-untyped]

MOST_NODES = 20_000  # more are a cloud in which nothing can be seen
MOST_LINKS = 1_000  # more hide each other; then links of some heights are drawn
TURN_STEPS = 48  # pieces of a whole turn
LEAST_STEPS = 9  # of an arc: three dashes at least
INNER = 0.26  # radius of the innermost cylinder
TALL = 1.4  # height of the cylinders; the outermost has the radius 1
KINDS = {
    "down": ("down: to the next cylinder, same height", BLUE, "solid", 3),
    "stay": ("stay: same cylinder, crosses to another height", ORANGE, "dash", 2),
    "ring": ("ring: along the innermost cylinder", GREEN, "dot", 1),
}
"""Kind of a link -> what it is, colour, dash, and how many of three pieces of it are drawn."""
BUTTONS = ("orbitRotation", "zoom3d", "pan3d", "resetCameraDefault3d", "toImage")

SAMPLE = 9  # size of a mark in the legend
NOWHERE = {axis: [None] for axis in "xyz"}  # where a sample for the legend lies

Node = tuple[int, int, int]


class Space:
    """Where the nodes of a switch lie.

    Args:
        height, angles: H and A.
    """

    def __init__(self, height: int, angles: int) -> None:
        self.height = height
        self.angles = angles
        self.cylinders = height.bit_length()

    def place(self, cylinder: float, angle: float, height: float) -> tuple[float, float, float]:
        """Return x, y and z."""
        radius = 1 - (1 - INNER) * cylinder / max(self.cylinders - 1, 1)
        turn = math.tau * angle / self.angles
        up = TALL * (height / max(self.height - 1, 1) - 0.5)
        return radius * math.cos(turn), radius * math.sin(turn), up

    def points(self, nodes: Sequence[Node]) -> Floats:
        """Return the places of nodes, shape (3, nodes)."""
        return np.array([self.place(*node) for node in nodes], dtype=float).reshape(-1, 3).T

    def arcs(self, links: Sequence[tuple[Node, Node]], drawn: int = 3) -> Floats:
        """Return the arcs of links one after the other, shape (3, points), with gaps between.

        A gap is a point that is not a number. Of every three pieces of an arc, `drawn` are drawn:
        the dashes of the figure library have one length, whatever the size of the switch.
        """
        pieces = 3 * -(-max(LEAST_STEPS, TURN_STEPS // self.angles) // 3)
        shares = [piece / pieces for piece in range(pieces + 1)]
        step = pieces if drawn == 3 else 3
        points: list[tuple[float, float, float]] = []
        for (c, a, h), (to_c, _, to_h) in links:
            for start in range(0, pieces, step):
                end = start + (pieces if drawn == 3 else drawn)
                points += [
                    self.place(c + (to_c - c) * share, a + share, h + (to_h - h) * share)
                    for share in shares[start : end + 1]
                ]
                points.append((math.nan, math.nan, math.nan))
        return np.array(points, dtype=float).reshape(-1, 3).T


def cylinders_drawing(graph: nx.DiGraph, name: str, title: str) -> Drawing:
    """Draw a switch as cylinders that can be turned.

    Args:
        graph: As ``dvsim.Switch(...).graph()`` gives it; at most `MOST_NODES` nodes.
        name, title: Identifier and heading of the figure.

    Raises:
        ValueError: If it has more nodes.
    """
    if len(graph) > MOST_NODES:
        raise ValueError(f"{len(graph):,} nodes are more than the {MOST_NODES:,} that can be drawn")
    space = Space(graph.graph["height"], graph.graph["angles"])
    every = thinned(graph, space)
    traces = [trace for kind in KINDS for trace in link_traces(graph, space, kind, every)]
    nodes = list(graph.nodes(data=True))
    size = min(4.5, max(1.2, 60 / math.sqrt(len(nodes))))
    traces += node_traces(space, "node", nodes, GREY, "circle", 0.6 * size)
    for attribute, text, colour, symbol in (
        ("input", "input port", VERMILION, "diamond"),
        ("output", "output port", PURPLE, "square"),
        ("faults", "faulty node", VERMILION, "x"),
    ):
        chosen = [(node, data) for node, data in nodes if attribute in data]
        if chosen:
            traces += node_traces(space, text, chosen, colour, symbol, size)
    looks = layout(640, {}, {}) | {
        "margin": {"l": 0, "r": 0, "t": 34, "b": 0},
        "scene": {
            **{f"{axis}axis": {"visible": False} for axis in "xyz"},
            "aspectmode": "data",
            "dragmode": "orbit",
            "camera": {"eye": {"x": 1.2, "y": 0.95, "z": 0.75}},
        },
    }
    return Drawing(
        name=name,
        title=title,
        traces=traces,
        looks=looks,
        buttons=BUTTONS,
        label=label_text(graph, space),
        reading=reading_text(space, every),
    )


def thinned(graph: nx.DiGraph, space: Space) -> int:
    """Return of how many heights one has its links drawn: 1 where all of them can be."""
    every = 1
    while graph.number_of_edges() / every > MOST_LINKS and every < space.height:
        every *= 2
    return every


def link_traces(graph: nx.DiGraph, space: Space, kind: str, every: int) -> list[dict[str, Any]]:
    """Give all links of a kind as one line with gaps, and a sample of it for the legend.

    A click on the sample switches the line off, since they are of one group.
    """
    links = [
        (source, target)
        for source, target, data in graph.edges(data=True)
        if data["kind"] == kind and source[2] % every == 0
    ]
    if not links:
        return []
    text, colour, dash, drawn = KINDS[kind]
    common = {"type": "scatter3d", "mode": "lines", "legendgroup": kind, "hoverinfo": "skip"}
    look = {"color": colour, "width": 2.5}
    return [
        common | axes(space.arcs(links, drawn)) | {"line": look, "showlegend": False},
        common
        | {"name": text, "x": [None], "y": [None], "z": [None], "line": look | {"dash": dash}},
    ]


def node_traces(
    space: Space,
    text: str,
    nodes: Sequence[tuple[Node, dict[str, Any]]],
    colour: str,
    symbol: str,
    size: float,
) -> list[dict[str, Any]]:
    """Give nodes, with their attributes, as marks that say what they are, and a sample mark."""
    common = {"type": "scatter3d", "mode": "markers", "legendgroup": text, "name": text}
    marker = {"color": colour, "symbol": symbol, "opacity": 0.9}
    return [
        common
        | axes(space.points([node for node, _ in nodes]))
        | {
            "marker": marker | {"size": size},
            "text": [escape(node_text(node, data)) for node, data in nodes],
            "hovertemplate": "%{text}<extra></extra>",
            "showlegend": False,
        },
        common | NOWHERE | {"marker": marker | {"size": SAMPLE}},
    ]


def node_text(node: Node, data: dict[str, Any]) -> str:
    """Say what a node is."""
    cylinder, angle, height = node
    parts = [f"cylinder {cylinder}, angle {angle}, height {height}"]
    parts += [f"{key} {data[key]}" for key in ("input", "output", "faults") if key in data]
    return ", ".join(parts)


def axes(points: Floats) -> dict[str, Any]:
    """Give coordinates in single precision."""
    return {axis: packed(values) for axis, values in zip("xyz", points, strict=True)}


def label_text(graph: nx.DiGraph, space: Space) -> str:
    """Describe the figure for those who cannot see it."""
    kinds = [data["kind"] for _, _, data in graph.edges(data=True)]
    links = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in KINDS if kind in kinds)
    inputs = sum("input" in data for _, data in graph.nodes(data=True))
    outputs = len({data["output"] for _, data in graph.nodes(data=True) if "output" in data})
    return (
        f"{space.cylinders} concentric cylinders of {space.angles} angles and {space.height} "
        f"heights: {len(graph):,} nodes, {inputs:,} inputs, {outputs:,} outputs; links: {links}."
    )


def reading_text(space: Space, every: int) -> str:
    """Say in two sentences how to read the figure."""
    some = (
        f" Links are drawn for one height in {every}: all of them would hide each other."
        if every > 1
        else ""
    )
    last = space.cylinders - 1
    return (
        "Drag to turn, and click in the legend to switch nodes or a kind of link off; every link "
        "goes one angle on, and a packet travels one link per slot. "
        f"Packets enter on the outermost cylinder, 0, and leave on the innermost, {last}.{some}"
    )
