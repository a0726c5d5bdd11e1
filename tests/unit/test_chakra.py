"""Are the nodes of Chakra traces replayed as they wait for each other, and bad traces refused?"""

import pytest
from chakra_writer import (
    ALLGATHER,
    ALLREDUCE,
    BARRIER,
    COLLECTIVE,
    COMPUTE,
    RECV,
    SEND,
    file,
    node,
    training,
)
from trace_files import laid, told

from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import COLLECTIVE_TAG
from dvsim.kinds.workload.readers import read


def before(graph, operation):
    return [
        one
        for one in range(graph.operations)
        for edge in range(graph.start[one], graph.start[one + 1])
        if graph.to[edge] == operation
    ]


def test_branches_join_where_a_node_waits_for_both(tmp_path):
    graph = read(laid(tmp_path, training()))
    one, two = COLLECTIVE_TAG, COLLECTIVE_TAG + 1
    assert told(graph) == [
        "calc 10000 ns", "calc 3e+09 ns", f"recv 64 B from 1, tag {one}",
        f"send 64 B to 1, tag {one}", f"recv 1 B from 1, tag {two}", f"send 1 B to 1, tag {two}",
        "send 512 B to 1, tag 7",
    ]  # fmt: skip
    assert [before(graph, one) for one in range(7)] == [
        [], [0], [0], [0], [1, 2, 3], [1, 2, 3], [4, 5],
    ]  # fmt: skip
    assert told(graph, 1)[-1] == "recv 512 B from 0, tag 7"
    assert read(tmp_path / "step.1.et").digest == graph.digest
    assert graph.traced_ns is None


def test_nodes_may_stand_in_any_order(tmp_path):
    nodes = [node(3, COMPUTE, [2], micros=3), node(2, COMPUTE, [1], micros=2), node(1, 1)]
    graph = read(laid(tmp_path, {"a.0.et": file(*nodes)}))
    assert told(graph) == ["calc 2000 ns", "calc 3000 ns"]
    assert before(graph, 1) == [0]


def test_groups_have_the_ranks_that_use_them(tmp_path):
    files = {}
    for rank in range(4):
        group = "even" if rank % 2 == 0 else "odd"
        files[f"a.{rank}.et"] = file(
            node(1, COLLECTIVE, comm_type=ALLGATHER, comm_size=8, pg_name=group),
            node(2, COLLECTIVE, [1], comm_type=6, comm_size=40),
            node(3, COLLECTIVE, [2], comm_type=7, comm_size=42),
        )
    graph = read(laid(tmp_path, files))
    lines = told(graph)
    assert lines[:2] == [
        f"recv 8 B from 2, tag {COLLECTIVE_TAG + 2}", f"send 8 B to 2, tag {COLLECTIVE_TAG + 2}",
    ]  # fmt: skip
    assert sum(line.startswith("send 10 B") for line in lines) == 3
    assert sum("B to" in line for line in lines) == 1 + 3 + 2


def test_what_cannot_be_replayed_is_counted(tmp_path):
    nodes = [node(1, 2, micros=5), node(2, 3), node(3, 8), node(4, COMPUTE, [1, 2, 3], micros=1)]
    graph = read(laid(tmp_path, {"a.0.et": file(*nodes)}))
    assert graph.skipped == {"memory loads": 1, "memory stores": 1, "nodes of type 8": 1}
    assert told(graph) == ["calc 1000 ns"]


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([node(1, COMPUTE, [9])], "node 1 waits for node 9, which is not there"),
        ([node(1, COMPUTE, [2]), node(2, COMPUTE, [1])], "has nodes that wait for each other: "),
        ([node(1, COMPUTE), node(1, COMPUTE)], "has node 1 twice"),
        ([node(1, SEND, comm_dst=4)], "rank 0: node 1: the ranks are 0 to 0; no rank 4"),
        ([node(1, SEND, comm_dst=0, comm_size=-5)], "rank 0: node 1: a message of -5 bytes"),
        ([node(1, RECV, comm_src=0, comm_tag=-2)], "a message of 0 bytes with tag -2"),
        ([node(1, COLLECTIVE, comm_type=44)], "rank 0: node 1: no collective 44"),
        ([node(1, COLLECTIVE, comm_type=ALLREDUCE, comm_size=-1)], "a collective of -1 bytes"),
        ([b"\x0f"], r"a\.0\.et: is truncated or no protocol buffer, at byte"),
    ],
)
def test_nodes_that_cannot_be_are_refused(nodes, said, tmp_path):
    with pytest.raises(ScenarioError, match=said):
        read(laid(tmp_path, {"a.0.et": file(*nodes)}))


def test_a_damaged_trace_is_refused(tmp_path):
    files = training(3)
    laid(tmp_path, files | {"step.1.et": files["step.1.et"][:-3]})
    with pytest.raises(ScenarioError, match=r"step\.1\.et: is truncated"):
        read(tmp_path)
    (tmp_path / "step.1.et").unlink()
    with pytest.raises(ScenarioError, match="has no file of rank 1, but of rank 2"):
        read(tmp_path)
    laid(tmp_path, {"step.1.et": file(node(4, COLLECTIVE, comm_type=BARRIER))})
    with pytest.raises(ScenarioError, match=r"rank \d"):
        read(tmp_path)
    laid(tmp_path, {"step.1.et": b""})
    with pytest.raises(ScenarioError, match=r"step\.1\.et: is empty"):
        read(tmp_path)
