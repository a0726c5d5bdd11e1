"""The page about a topology: the tree of a network, and the cylinders of a switch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dvsim.report.cylinders import cylinders_drawing
from dvsim.report.page import render, write
from dvsim.report.tree import tree_drawing

if TYPE_CHECKING:
    import networkx as nx  # type: ignore[import-untyped]


def render_topology(
    title: str, switch: nx.DiGraph, tree: nx.DiGraph | None = None, command: str | None = None
) -> str:
    """Make a page with a picture of a switch that can be turned.

    Equal arguments give equal text.

    Parameters
    ----------
    title : str
        Heading of the page.
    switch : networkx.DiGraph
        The nodes of a switch, see `dvsim.fabric.switch.graph`.
    tree : networkx.DiGraph, optional
        Ports and switches of one plane, where the switch is one of many.
    command : str, optional
        The command that makes the page.

    Returns
    -------
    str
        HTML, with the figure library inside: about 5 MB.

    Raises
    ------
    ValueError
        If the switch has more nodes than can be drawn.
    """
    figures = []
    if tree is not None:
        figures.append(tree_drawing(tree, "tree", "One plane"))
    which = "The switch" if tree is None else "One of its switches"
    figures.append(cylinders_drawing(switch, "cylinders", which))
    return render("topology.html.jinja", title=title, intro="", figures=figures, command=command)


def write_topology(
    path: Path,
    title: str,
    switch: nx.DiGraph,
    tree: nx.DiGraph | None = None,
    command: str | None = None,
) -> None:
    """Write the page of `render_topology` to a file, whole or not at all.

    Raises
    ------
    ValueError
        If the switch has more nodes than can be drawn.
    OutputError
        If the file cannot be written.
    """
    write(path, render_topology(title, switch, tree, command))
