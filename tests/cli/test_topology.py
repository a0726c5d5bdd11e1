"""Does `dvsim topology` write graphs that others can read, and pictures that need nothing else?"""

import json
import re

import networkx as nx
import pytest
from click.testing import CliRunner

from dvsim.cli.topology import topology
from dvsim.fabric.network import Network
from dvsim.fabric.switch import Switch
from dvsim.fabric.topology.choose import nearest
from dvsim.fabric.topology.graph_text import name_of

SMALL = ["--height", "4", "--angles", "3"]
OWN = [*SMALL, "--injecting", "0,2", "--crossing", "xor", "--exit", "any"]
GRAPHS = {
    "switch": (SMALL, Switch(4, 3).graph()),
    "own": (OWN, Switch(4, 3, [0, 2], "xor", "any").graph()),
    "one level": (["--preset", "dv203"], Network("dv203").switch.graph()),
    "two levels": (["--preset", "dv207"], Network("dv207").graph()),
}


def ask(*arguments):
    return CliRunner().invoke(topology, arguments, catch_exceptions=False)


def wrong(*arguments):
    done = ask(*arguments)
    assert done.exit_code == 2
    return done.output.splitlines()[-1]


def read_graphml(text):
    graph = nx.parse_graphml(text)
    for added in ("node_default", "edge_default"):
        graph.graph.pop(added, None)
    return graph


def read_json(text):
    return nx.node_link_graph(json.loads(text), directed=True, multigraph=False, edges="edges")


def read_dot(text):
    """As much of the language as is written: every value is a text there."""
    graph = nx.DiGraph()
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == ("digraph topology {", "}")
    for line in lines[1:-1]:
        own = re.fullmatch(r'  "(\w+)"="([^"]*)";', line)
        if own:
            graph.graph[own[1]] = own[2]
            continue
        node = re.fullmatch(r'  (\w+)(?: -> (\w+))? \[("\w+"="[^"]*"(?:, "\w+"="[^"]*")*)\];', line)
        data = dict(re.findall(r'"(\w+)"="([^"]*)"', node[3]))
        assert "height" not in data  # Graphviz would take it for inches
        if "at_height" in data:
            data["height"] = data.pop("at_height")
        if node[2]:
            graph.add_edge(node[1], node[2], **data)
        else:
            graph.add_node(node[1], **data)
    return graph


def as_text(graph):
    plain = nx.DiGraph(**{key: str(value) for key, value in graph.graph.items()})
    for node, data in graph.nodes(data=True):
        plain.add_node(node, **{key: str(value) for key, value in data.items()})
    for source, target, data in graph.edges(data=True):
        plain.add_edge(source, target, **{key: str(value) for key, value in data.items()})
    return plain


def same(one, other):
    return (
        dict(one.nodes(data=True)) == dict(other.nodes(data=True))
        and {(a, b): d for a, b, d in one.edges(data=True)}
        == {(a, b): d for a, b, d in other.edges(data=True)}
        and one.graph == other.graph
    )


@pytest.mark.parametrize("what", GRAPHS)
@pytest.mark.parametrize(
    ("form", "read"), [("graphml", read_graphml), ("json", read_json), ("dot", read_dot)]
)
def test_every_format_gives_back_the_graph_with_its_attributes(what, form, read):
    arguments, graph = GRAPHS[what]
    expected = nx.relabel_nodes(graph, name_of)
    expected = as_text(expected) if form == "dot" else expected
    done = ask(*arguments, "--format", form)
    assert done.exit_code == 0
    assert same(read(done.output), expected)


def test_the_prototype_has_its_36_nodes_and_12_ports():
    graph = read_json(ask(*SMALL, "--format", "json").output)
    assert len(graph) == 36
    assert sum("input" in data for _, data in graph.nodes(data=True)) == 12


def test_faults_and_quotes_survive_the_formats():
    from dvsim.fabric.topology.graph_text import dot, graphml, node_link

    graph = nx.DiGraph(title='a "switch" <of> \\ & more')
    graph.add_node((0, 1, 2), faults="node line")
    assert read_graphml("\n".join(graphml(graph))).graph == graph.graph
    assert read_json("\n".join(node_link(graph))).graph == graph.graph
    assert r'"title"="a \"switch\" <of> \\ & more";' in "\n".join(dot(graph))


def test_a_file_holds_what_stdout_would(tmp_path):
    path = tmp_path / "new" / "graph.dot"
    done = ask(*SMALL, "--format", "dot", "--report", str(path))
    assert done.output.strip() == str(path)
    assert path.read_text("utf-8") == ask(*SMALL, "--format", "dot").output


@pytest.mark.parametrize("arguments", [SMALL, ["--preset", "dv206"], ["--preset", "dv207"]])
def test_the_picture_needs_nothing_else_and_says_what_it_shows(tmp_path, arguments):
    path = tmp_path / "page.html"
    done = ask(*arguments, "--format", "html", "--report", str(path))
    assert done.exit_code == 0
    page = path.read_text("utf-8")
    addresses = re.findall(r'<[^>]*\s(?:src|href)="([^"]*)"', page.split("<script>", 1)[0])
    assert all(address.startswith("#") for address in addresses)
    nodes = "36 nodes" if arguments is SMALL else "2,688 nodes"
    assert nodes in page
    for text in ("down: to the next", "stay: same cylinder", "ring: along", "input port"):
        assert text in page
    assert ("A tree of 128 ports" in page) == ("dv207" in arguments)
    assert ("one height in 8" in page) == (arguments is not SMALL)


def test_a_picture_is_the_same_each_time(tmp_path):
    pages = []
    for name in ("a", "b"):
        ask(*SMALL, "--format", "html", "--report", str(tmp_path / name))
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_a_large_network_draws_some_of_its_links(tmp_path):
    from dvsim.view.topology import tree_figure

    drawing = tree_figure(Network("dv211").graph(), "tree", "One plane")
    assert "2,048 ports" in drawing.label
    assert "64 switches on level 0, 32 switches on level 1" in drawing.label
    assert "the first and the last leaf only" in drawing.reading
    assert len(drawing.json) < 100_000


def test_a_switch_is_drawn_whole_with_its_cylinders_side_by_side():
    from dvsim.view.topology import switch_figure

    graph = Switch(height=4, angles=2).graph()
    frame = switch_figure(graph, "switch", "The switch").frame
    marks = frame[frame["x2"].isna()]
    assert len(marks) == len(graph)
    assert len(frame) - len(marks) == graph.number_of_edges()
    assert not marks[["x", "y"]].duplicated().any()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "name a --preset, or --height and --angles"),
        (["--height", "4"], "name a --preset, or --height and --angles"),
        (["--preset", "dv217"], "'dv217'; did you mean 'dv216'?"),
        (["--preset", "dv206", "--angles", "3"], "--angles is too much"),
        (["--height", "5", "--angles", "3"], "is 5; nearest 4 or 8"),
        (["--height", "4", "--angles", "0"], "angles must be from 1 to 4096, is 0"),
        ([*SMALL, "--injecting", "x"], "or angles such as 0,2, is 'x'"),
        ([*SMALL, "--injecting", "3,"], "must be from 0 to 2, is 3"),
        ([*SMALL, "--crossing", "xr"], "did you mean 'xor'?"),
        ([*SMALL, "--exit", "angel"], "did you mean 'angle'?"),
        ([*SMALL, "--format", "html"], "name its file with --report FILE"),
        (["--height", "65536", "--angles", "16"], "nearest: 1024 heights and 16 angles"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(arguments, text):
    assert text in wrong(*arguments)


def test_a_switch_that_is_too_large_to_draw_is_refused_with_the_nearest(tmp_path):
    path = tmp_path / "page.html"
    said = wrong("--height", "4096", "--angles", "3", "--format", "html", "--report", str(path))
    assert "159,744 nodes is too large to draw: at most 20,000" in said
    assert "nearest: 512 heights and 3 angles, 15,360 nodes" in said
    assert not path.exists()


def test_the_nearest_size_can_be_had():
    assert nearest(Switch(2**20, 4096), 20_000) == "2 heights and 4096 angles, 16,384 nodes"
    assert nearest(Switch(4, 4096), 1_000) == "2 heights and 250 angles, 1,000 nodes"
