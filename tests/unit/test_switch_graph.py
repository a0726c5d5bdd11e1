"""Is the graph that of the switch?"""

import networkx as nx
import pytest

from dvsim.fabric.switch import Switch


@pytest.mark.parametrize("crossing", ["brc", "xor", "random"])
def test_graph_has_one_link_of_each_kind_into_each_node(crossing):
    graph = Switch(8, 3, crossing=crossing).graph()
    assert graph.number_of_nodes() == 96
    for node, ways in graph.in_edges.items():
        assert ways["kind"] in ("down", "stay", "ring"), node
    for node in graph.nodes:
        kinds = sorted(data["kind"] for _, _, data in graph.in_edges(node, data=True))
        assert kinds == {0: ["stay"], 3: ["down", "ring"]}.get(node[0], ["down", "stay"])


def test_graph_has_ports_and_faults():
    graph = Switch(4, 3, injecting=[1], faults=[("node", 1, 0, 2), ("stay", 1, 0, 2)]).graph()
    assert nx.get_node_attributes(graph, "input") == {(0, 1, h): 4 + h for h in range(4)}
    assert len(nx.get_node_attributes(graph, "output")) == 12
    assert nx.get_node_attributes(graph, "faults") == {(1, 0, 2): "node stay"}
