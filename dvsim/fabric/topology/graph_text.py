"""Graphs as text that other programs read: GraphML, node-link JSON, DOT.

Nodes get names in place of tuples: ``c0a1h2`` is cylinder 0, angle 1, height 2 of a switch,
``port12`` a port of a network and ``level1switch3`` a switch of it. All attributes are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape

import networkx as nx  # type: ignore[import-untyped]


def name_of(node: tuple[Any, ...]) -> str:
    """Name a node of a switch or of a network.

    >>> name_of((0, 1, 2)), name_of(("port", 12)), name_of(("switch", 1, 3))
    ('c0a1h2', 'port12', 'level1switch3')
    """
    if node[0] == "port":
        return f"port{node[1]}"
    if node[0] == "switch":
        return f"level{node[1]}switch{node[2]}"
    cylinder, angle, height = node
    return f"c{cylinder}a{angle}h{height}"


def graphml(graph: nx.DiGraph) -> Iterator[str]:
    """Yield the lines of a graph as GraphML, as ``networkx.read_graphml`` reads it.

    Written here line by line: the writer of NetworkX holds the whole document as objects.
    """
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    kinds: dict[tuple[str, str], str] = {}
    for owner, data in (
        ("graph", graph.graph),
        *(("node", data) for _, data in graph.nodes(data=True)),
        *(("edge", data) for _, _, data in graph.edges(data=True)),
    ):
        for key, value in data.items():
            kinds.setdefault((owner, key), "long" if isinstance(value, int) else "string")
    for (owner, key), kind in kinds.items():
        yield f'  <key id="{owner}-{key}" for="{owner}" attr.name="{key}" attr.type="{kind}"/>'
    yield '  <graph edgedefault="directed">'
    yield from _data("graph", graph.graph)
    for node, data in graph.nodes(data=True):
        yield f'    <node id="{name_of(node)}">{"".join(_data("node", data))}</node>'
    for source, target, data in graph.edges(data=True):
        ends = f'source="{name_of(source)}" target="{name_of(target)}"'
        yield f"    <edge {ends}>{''.join(_data('edge', data))}</edge>"
    yield "  </graph>"
    yield "</graphml>"


def node_link(graph: nx.DiGraph) -> Iterator[str]:
    """Yield a graph as node-link JSON, as ``networkx.node_link_graph`` reads it; one line each."""
    yield '{"directed": true, "multigraph": false,'
    yield f'"graph": {_json(graph.graph)},'
    yield '"nodes": ['
    yield from _listed({"id": name_of(node)} | data for node, data in graph.nodes(data=True))
    yield '], "edges": ['
    yield from _listed(
        {"source": name_of(source), "target": name_of(target)} | data
        for source, target, data in graph.edges(data=True)
    )
    yield "]}"


def dot(graph: nx.DiGraph) -> Iterator[str]:
    """Yield the lines of a graph in the DOT language of Graphviz.

    The height of a node is called ``at_height``: Graphviz would take ``height`` for inches.
    """
    yield "digraph topology {"
    for key, value in graph.graph.items():
        yield f"  {_quoted(key)}={_quoted(value)};"
    for node, data in graph.nodes(data=True):
        renamed = {"at_height" if key == "height" else key: data[key] for key in data}
        yield f"  {name_of(node)}{_attributes(renamed)};"
    for source, target, data in graph.edges(data=True):
        yield f"  {name_of(source)} -> {name_of(target)}{_attributes(data)};"
    yield "}"


FORMATS: Mapping[str, Callable[[nx.DiGraph], Iterator[str]]] = {
    "graphml": graphml,
    "json": node_link,
    "dot": dot,
}


def _data(owner: str, data: Mapping[str, Any]) -> Iterator[str]:
    for key, value in data.items():
        yield f'<data key="{owner}-{key}">{escape(str(value))}</data>'


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, allow_nan=False)


def _listed(items: Iterator[dict[str, Any]]) -> Iterator[str]:
    before = None
    for item in items:
        if before is not None:
            yield f"{before},"
        before = _json(item)
    if before is not None:
        yield before


def _attributes(data: Mapping[str, Any]) -> str:
    if not data:
        return ""
    return f" [{', '.join(f'{_quoted(key)}={_quoted(value)}' for key, value in data.items())}]"


def _quoted(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
