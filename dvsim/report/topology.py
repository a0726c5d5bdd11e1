"""The page about a topology: the tree of a network, and the cylinders of a switch."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.report.blocks import Page, Section, Text, commands
from dvsim.report.cylinders import cylinders_drawing
from dvsim.report.drawing import BLUE, GREY, ORANGE, VERMILION, Drawing, layout, scatter

if TYPE_CHECKING:
    import networkx as nx  # type: ignore[import-untyped]

MOST_LINKS = 2500  # more are a grey field
MOST_PORTS = 2500

Node = tuple[Any, ...]  # ("port", p) or ("switch", level, index)
Link = tuple[Node, Node]


def topology_page(
    title: str, switch: nx.DiGraph, tree: nx.DiGraph | None = None, command: str | None = None
) -> Page:
    """Return the page with a picture of a switch that can be turned.

    Args:
        title: Heading of the page.
        switch: The nodes of a switch, see `dvsim.fabric.switch.graph`.
        tree: Ports and switches of one plane, where the switch is one of many.
        command: The command that makes the page.

    Raises:
        ValueError: If the switch has more nodes than can be drawn.
    """
    figures = [] if tree is None else [tree_drawing(tree, "tree", "One plane")]
    which = "The switch" if tree is None else "One of its switches"
    figures.append(cylinders_drawing(switch, "cylinders", which))
    sections = [
        Section(f"about-{figure.name}", figure.title, [Text(figure.label), figure], headed=False)
        for figure in figures
    ]
    asked = [] if command is None else [command]
    return Page(title, [*sections, Section("origin", "To repeat it", commands(asked), False)])


def tree_drawing(graph: nx.DiGraph, name: str, title: str) -> Drawing:
    """Draw one plane of a network as a tree.

    Args:
        graph: As ``dvsim.Network(...).graph()`` gives it: nodes ("port", p) and ("switch", level,
            index), links of kind up, down and host.
        name, title: Identifier and heading of the figure.
    """
    rows = Counter(row_of(node) for node in graph)
    ups = links_of(graph, "up")
    hosts = [link for link in links_of(graph, "host") if link[0][0] == "port"]  # one direction
    everything = len(ups) + len(hosts) <= MOST_LINKS
    if not everything:
        ups, hosts = ways(ups, hosts, rows)
    traces = [
        link_trace(hosts, rows, "link of a port", ORANGE, "dot"),
        link_trace(ups, rows, "link between switches, up and down", BLUE, "solid"),
        *(node_trace(row, count, rows) for row, count in sorted(rows.items())),
    ]
    top = max(rows)
    x: dict[str, Any] = {"visible": False, "range": [-0.02, 1.02]}
    y = {
        "tickvals": list(range(top + 1)),
        "ticktext": [row_text(row, top) for row in range(top + 1)],
        "range": [-0.4, top + 0.4],
        "showgrid": False,
    }
    return Drawing(
        name=name,
        title=title,
        traces=traces,
        looks=layout(220 + 110 * top, x, y),
        label=label_text(rows, graph),
        reading=reading_text(everything),
    )


def row_of(node: Node) -> int:
    """Return the row of a node: 0 for ports, 1 for the switches of level 0, and so on."""
    return 0 if node[0] == "port" else int(node[1]) + 1


def row_text(row: int, top: int) -> str:
    """Name a row."""
    if row == 0:
        return "ports"
    where = " (top)" if row == top else " (leaves)" if row == 1 else ""
    return f"level {row - 1}{where}"


def links_of(graph: nx.DiGraph, kind: str) -> list[Link]:
    """Return the links of a kind."""
    return [(a, b) for a, b, data in graph.edges(data=True) if data["kind"] == kind]


def ways(
    ups: Sequence[Link], hosts: Sequence[Link], rows: Counter[int]
) -> tuple[list[Link], list[Link]]:
    """Keep what can be on the way from a port of the first leaf to one of the last.

    Returns:
        ups, hosts : list of link: All ways up from the two leaves, and the links of their ports.
    """
    leaves: set[Node] = {("switch", 0, 0), ("switch", 0, rows[1] - 1)}
    kept: list[Link] = []
    reached = set(leaves)
    for row in range(1, max(rows)):
        links = [link for link in ups if row_of(link[0]) == row and link[0] in reached]
        kept += links
        reached = {target for _, target in links}
    return kept, [link for link in hosts if link[1] in leaves]


def across(node: Node, rows: Counter[int]) -> float:
    """Return where a node stands in its row, from 0 to 1."""
    return (int(node[-1]) + 0.5) / rows[row_of(node)]


def link_trace(
    links: Sequence[Link], rows: Counter[int], text: str, colour: str, dash: str
) -> dict[str, Any]:
    """Return links as one line with gaps."""
    gap = (math.nan, math.nan)
    ends = [[(across(node, rows), row_of(node)) for node in link] for link in links]
    points = np.array([point for pair in ends for point in (*pair, gap)], float).reshape(-1, 2)
    look = {"color": colour, "width": 0.8, "dash": dash}
    return scatter(
        text, points[:, 0], points[:, 1], "lines", line=look, opacity=0.7, hoverinfo="skip"
    )


def node_trace(row: int, count: int, rows: Counter[int]) -> dict[str, Any]:
    """Return the nodes of a row; more ports than can be told apart are a bar."""
    bar = row == 0 and count > MOST_PORTS
    places: Iterable[float] = (0, 1) if bar else ((number + 0.5) / count for number in range(count))
    x = np.fromiter(places, dtype=float)
    label = "port" if row == 0 else f"level {row - 1}, switch"
    return scatter(
        f"{count:,} {'ports' if row == 0 else f'switches of level {row - 1}'}",
        x,
        np.full(x.size, float(row)),
        "lines" if bar else "markers",
        line={"color": GREY, "width": 6},
        marker={
            "color": GREY if row == 0 else VERMILION,
            "symbol": "circle" if row == 0 else "square",
            "size": max(3, min(12, 600 / count)),
        },
        hovertemplate=f"{label} %{{pointNumber}}<extra></extra>",
    )


def label_text(rows: Counter[int], graph: nx.DiGraph) -> str:
    """Describe the figure for those who cannot see it."""
    switches = ", ".join(
        f"{rows[row]:,} switches on level {row - 1}" for row in sorted(rows) if row
    )
    cables = sum(
        data.get("links", 1) for _, _, data in graph.edges(data=True) if data["kind"] == "up"
    )
    return f"A tree of {rows[0]:,} ports and {switches}; {cables:,} links lead up between switches."


def reading_text(everything: bool) -> str:
    """Say in two sentences how to read the figure."""
    some = (
        ""
        if everything
        else " Drawn are the ways up from the first and the last leaf only; all switches have such."
    )
    return (
        "A packet climbs, on links drawn at random, until its output lies below, and then comes "
        f"down the one way there is. Level 0 is next to the ports.{some}"
    )
