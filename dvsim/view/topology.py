"""The page about a topology: the tree of a network, and a switch with its cylinders rolled out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from dvsim.view.blocks import Page, Section, Text, commands
from dvsim.view.figure import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILION,
    Figure,
    reading,
)

if TYPE_CHECKING:
    import altair as alt
    import networkx as nx  # type: ignore[import-untyped]

MOST_LINKS = 2500  # of a tree; more are a grey field
MOST_NODES = 20_000  # of a switch; more are a cloud in which nothing can be seen
MOST_DRAWN = 1000  # links of a switch; more hide each other, then those of some heights are drawn
KINDS = {
    "down": ("down: to the next cylinder, same height", BLUE, []),
    "stay": ("stay: same cylinder, crosses to another height", ORANGE, [6, 3]),
    "ring": ("ring: along the innermost cylinder", GREEN, [2, 3]),
    "host": ("link of a port", ORANGE, [2, 3]),
    "up": ("link between switches, up and down", BLUE, []),
}
NODES = {
    "port": ("port", GREY, "circle"),
    "node": ("node", GREY, "circle"),
    "switch": ("switch", VERMILION, "square"),
    "input": ("input port", VERMILION, "diamond"),
    "output": ("output port", PURPLE, "square"),
    "faults": ("faulty node", VERMILION, "cross"),
}

Node = tuple[Any, ...]  # ("port", p) or ("switch", level, index)


def topology_page(
    title: str, switch: nx.DiGraph, tree: nx.DiGraph | None = None, command: str | None = None
) -> Page:
    """Return the page with a picture of a switch, and of the network that it is part of.

    Args:
        title: Heading of the page.
        switch: The nodes of a switch, see `dvsim.fabric.switch.graph`; at most `MOST_NODES`.
        tree: Ports and switches of one plane, where the switch is one of many.
        command: The command that makes the page.
    """
    figures = [] if tree is None else [tree_figure(tree, "tree", "One plane")]
    which = "The switch" if tree is None else "One of its switches"
    figures.append(switch_figure(switch, "cylinders", which))
    sections = [
        Section(f"about-{figure.name}", figure.title, [Text(figure.words), figure], headed=False)
        for figure in figures
    ]
    asked = [] if command is None else [command]
    return Page(title, [*sections, Section("origin", "To repeat it", commands(asked), False)])


def tree_figure(graph: nx.DiGraph, name: str, title: str) -> Figure:
    """Draw one plane of a network as a tree.

    Args:
        graph: As ``dvsim.Network(...).graph()`` gives it: nodes ("port", p) and ("switch", level,
            index), links of kind up, down and host.
        name, title: Identifier and heading of the figure.
    """
    rows = Counter(_row(node) for node in graph)
    ups = [(a, b) for a, b, data in graph.edges(data=True) if data["kind"] == "up"]
    hosts = [
        (a, b)
        for a, b, data in graph.edges(data=True)
        if data["kind"] == "host" and a[0] == "port"  # one direction
    ]
    whole = len(ups) + len(hosts) <= MOST_LINKS
    if not whole:  # keep what can be on the way from a port of the first leaf to one of the last
        leaves: set[Node] = {("switch", 0, 0), ("switch", 0, rows[1] - 1)}
        kept, reached = [], set(leaves)
        for row in range(1, max(rows)):
            links = [link for link in ups if _row(link[0]) == row and link[0] in reached]
            kept += links
            reached = {target for _, target in links}
        ups, hosts = kept, [link for link in hosts if link[1] in leaves]

    def place(node: Node) -> tuple[float, float]:
        return (int(node[-1]) + 0.5) / rows[_row(node)], float(_row(node))

    made = [
        _link(KINDS[kind][0], *place(a), *place(b))
        for kind, links in (("host", hosts), ("up", ups))
        for a, b in links
    ]
    shown = [node for node in graph if whole or node[0] == "switch" or int(node[1]) % 8 == 0]
    made += [_mark(NODES[node[0]][0], *place(node), " ".join(map(str, node))) for node in shown]
    top = max(rows)
    names = ["ports", *(f"level {level}" for level in range(top))]
    labels = f"{names}[datum.value]"
    chart = _drawing(made, 220 + 110 * top, labels, list(range(top + 1)))
    cables = sum(
        data.get("links", 1) for _, _, data in graph.edges(data=True) if data["kind"] == "up"
    )
    switches = ", ".join(f"{rows[row]:,} switches on level {row - 1}" for row in range(1, top + 1))
    words = (
        f"A tree of {rows[0]:,} ports and {switches}; {cables:,} links lead up between switches."
    )
    some = "" if whole else " Drawn are the ways up from the first and the last leaf only."
    told = reading("tree", some=some)
    return Figure(name, title, pd.DataFrame(made), chart, told, words, _HEADS)


def switch_figure(graph: nx.DiGraph, name: str, title: str) -> Figure:
    """Draw a switch with its cylinders rolled out, side by side.

    Args:
        graph: As ``dvsim.Switch(...).graph()`` gives it.
        name, title: Identifier and heading of the figure.
    """
    height, angles = graph.graph["height"], graph.graph["angles"]
    cylinders = height.bit_length()
    every = 1
    while graph.number_of_edges() / every > MOST_DRAWN and every < height:
        every *= 2

    def place(node: Node, on: int = 0) -> tuple[float, float]:
        cylinder, angle, up = node
        return cylinder * (angles + 1.5) + angle + on, float(up)

    made = []
    for source, target, data in graph.edges(data=True):
        if source[2] % every:
            continue
        round_ = target[1] < source[1]  # the last angle is next to the first: the link leaves
        to = place(target, angles) if round_ else place(target)
        at = place(source)
        if round_:
            to = (at[0] + 0.6, at[1] + 0.6 * (to[1] - at[1]))
        made.append(_link(KINDS[data["kind"]][0], *at, *to))
    for node, data in graph.nodes(data=True):
        what = next((key for key in ("faults", "output", "input") if key in data), "node")
        said = f"cylinder {node[0]}, angle {node[1]}, height {node[2]}"
        more = [f"{key} {data[key]}" for key in ("input", "output", "faults") if key in data]
        if len(graph) <= MOST_LINKS or node[2] % every == 0:
            made.append(_mark(NODES[what][0], *place(node), ", ".join([said, *more])))
    kinds = Counter(data["kind"] for _, _, data in graph.edges(data=True))
    links = ", ".join(f"{kinds[kind]:,} {kind}" for kind in KINDS if kind in kinds)
    inputs = sum("input" in data for _, data in graph.nodes(data=True))
    outputs = len({data["output"] for _, data in graph.nodes(data=True) if "output" in data})
    words = (
        f"{cylinders} concentric cylinders of {angles} angles and {height} heights: "
        f"{len(graph):,} nodes, {inputs:,} inputs, {outputs:,} outputs; links: {links}."
    )
    some = f" Links are drawn for one height in {every}: all of them would hide each other."
    told = reading("switch", some=some * (every > 1))
    chart = _drawing(made, 460, "'height ' + datum.value", None)
    return Figure(name, title, pd.DataFrame(made), chart, told, words, _HEADS)


_HEADS = {"line": "what", "text": "which", "x": "x", "y": "y", "x2": "x2", "y2": "y2"}


def _row(node: Node) -> int:
    return 0 if node[0] == "port" else int(node[1]) + 1


def _link(line: str, x: float, y: float, x2: float, y2: float) -> dict[str, Any]:
    ends = {"x": round(x, 5), "y": round(y, 4), "x2": round(x2, 5), "y2": round(y2, 4)}
    return {"line": line, "text": ""} | ends


def _mark(line: str, x: float, y: float, text: str) -> dict[str, Any]:
    return {"line": line, "text": text, "x": round(x, 5), "y": y, "x2": None, "y2": None}


def _drawing(
    rows: list[dict[str, Any]], height: int, labels: str, ticks: list[int] | None
) -> alt.LayerChart:
    import altair as alt

    there = {row["line"] for row in rows}
    kinds = [known for known in KINDS.values() if known[0] in there]
    nodes = [known for known in NODES.values() if known[0] in there]
    base = alt.Chart(alt.NamedData("rows"))
    x = alt.X("x:Q", axis=None, scale=alt.Scale(zero=False, padding=8))
    look = {"labelExpr": labels, "grid": False} | (
        {"values": ticks} if ticks else {"tickMinStep": 1}
    )
    y = alt.Y("y:Q", title=None, axis=alt.Axis(**look), scale=alt.Scale(zero=False, padding=12))

    def scale(known: list[Any], at: int) -> Any:  # noqa: ANN401 - a class of Altair
        return alt.Scale(domain=[one[0] for one in known], range=[one[at] for one in known])

    links = base.transform_filter("datum.x2 != null").mark_rule(strokeWidth=1, opacity=0.75)
    marks = base.transform_filter("datum.x2 == null").mark_point(filled=True, size=36, opacity=1)
    return (
        alt.layer(
            links.encode(
                x=x,
                y=y,
                x2="x2:Q",
                y2="y2:Q",
                color=alt.Color("line:N", scale=scale(kinds, 1)),
                strokeDash=alt.StrokeDash("line:N", scale=scale(kinds, 2)),
            ),
            marks.encode(
                x=x,
                y=y,
                color=alt.Color("line:N", scale=scale(nodes, 1)),
                shape=alt.Shape("line:N", scale=scale(nodes, 2)),
                tooltip=["text:N"],
            ),
        )
        .resolve_scale(color="independent")
        .properties(width="container", height=height)
    )
