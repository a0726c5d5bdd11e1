"""Are the nodes of Chakra traces replayed as they wait for each other, and bad traces refused?"""

import gzip
import json

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

import dvsim
from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import COLLECTIVE_TAG
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.readers.goal import write_goal


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
        ([node(1, COMPUTE, [2]), node(2, COMPUTE, [1])], "has nodes that wait for each other: "),
        ([node(1, COMPUTE), node(1, COMPUTE)], "has node 1 twice"),
        ([node(1, SEND, comm_dst=4)], "rank 0: node 1: the ranks are 0 to 0; no rank 4"),
        ([node(1, SEND, comm_dst=0, comm_size=-5)], "rank 0: node 1: a message of -5 bytes"),
        ([node(1, RECV, comm_src=0, comm_tag=-2)], "a message of 0 bytes with tag -2"),
        ([node(1, COLLECTIVE, comm_type=44)], "rank 0: node 1: no collective 44"),
        ([node(1, COLLECTIVE, comm_type="ALL_REDUC")], "no collective ALL_REDUC; .*ALL_REDUCE"),
        ([node(1, COLLECTIVE, comm_size=8)], "rank 0: node 1: has no comm_type"),
        ([node(1, SEND, comm_size=8)], "rank 0: node 1: has no comm_dst"),
        ([node(1, RECV, comm_size=8)], "rank 0: node 1: has no comm_src"),
        ([node(1, COLLECTIVE, comm_type=ALLREDUCE, comm_size=-1)], "a collective of -1 bytes"),
        ([b"\x0f"], r"a\.0\.et: rank 0, node \d+: is truncated or no protocol buffer, at byte"),
    ],
)
def test_nodes_that_cannot_be_are_refused(nodes, said, tmp_path):
    with pytest.raises(ScenarioError, match=said):
        read(laid(tmp_path, {"a.0.et": file(*nodes)}))


def test_a_damaged_trace_is_refused(tmp_path):
    files = training(3)
    laid(tmp_path, files | {"step.1.et": files["step.1.et"][:-3]})
    with pytest.raises(ScenarioError, match=r"step\.1\.et: rank 1, node \d+: is truncated"):
        read(tmp_path)
    (tmp_path / "step.1.et").unlink()
    with pytest.raises(ScenarioError, match="has no file of rank 1, but of rank 2"):
        read(tmp_path)
    laid(tmp_path, {"step.1.et": file(node(4, COLLECTIVE, comm_type=BARRIER))})
    with pytest.raises(ScenarioError, match=r"rank \d"):
        read(tmp_path)
    laid(tmp_path, {"step.1.et": b""})
    with pytest.raises(ScenarioError, match=r"step\.1\.et: rank 1, node 0: is empty"):
        read(tmp_path)


def as_json(files, camel):
    """Return a trace as JSON, as chakra_jsonizer writes it, or by ASTRA-sim's names."""
    found = {}
    for rank in range(len(files)):
        nodes = [
            {"id": "1", "type": "COMP_NODE", "durationMicros": "10"},
            {"id": "2", "type": "COMP_NODE", "ctrlDeps": ["1"], "attr": [
                {"name": "num_ops", "int64Val": "3000000000000"}]},
            {"id": "3", "type": "COMM_COLL_NODE", "dataDeps": ["1"], "attr": [
                {"name": "comm_type", "int64Val": "0"}, {"name": "comm_size", "uint64Val": "64"},
                {"name": "is_cpu_op", "boolVal": False}]},
            {"id": "4", "type": "COMM_COLL_NODE", "dataDeps": ["2", "3"], "attr": [
                {"name": "comm_type", "int64Val": "9"}]},
        ]  # fmt: skip
        peer = {"type": "COMM_RECV_NODE", "id": "6", "name": "comm_src"}
        if rank + 1 < len(files):
            peer = {"type": "COMM_SEND_NODE", "id": "5", "name": "comm_dst"}
        values = {peer.pop("name"): rank + 1 if peer["id"] == "5" else rank - 1}
        values |= {"comm_size": 512, "comm_tag": 7}
        attributes = [{"name": name, "int32Val": value} for name, value in values.items()]
        nodes.append({**peer, "dataDeps": ["4"], "attr": attributes})
        if camel:
            texts = [json.dumps(one, indent=2) for one in ({"version": "0.0.4"}, *nodes)]
            found[f"step.{rank}.json"] = "".join(texts)
        else:
            found[f"step.{rank}.json"] = json.dumps({"workload_graph": list(map(flat, nodes))})
    return found


def flat(node):
    """Return a node by the names that ASTRA-sim reads."""
    numbers = {"COMP_NODE": 4, "COMM_SEND_NODE": 5, "COMM_RECV_NODE": 6, "COMM_COLL_NODE": 7}
    after = [int(one) for key in ("ctrlDeps", "dataDeps") for one in node.get(key, ())]
    rest = {one["name"]: int(list(one.values())[1]) for one in node.get("attr", ())}
    return {
        "Id": int(node["id"]), "Name": "x", "NodeType": numbers[node["type"]], "data_deps": after,
        "runtime": int(node.get("durationMicros", 0)), **rest,
    }  # fmt: skip


@pytest.mark.parametrize("camel", [True, False], ids=["jsonizer", "astra"])
def test_json_is_the_same_trace(camel, tmp_path):
    texts = as_json(training(2), camel)
    for name in ("json", "wire", "packed"):
        (tmp_path / name).mkdir()
    laid(tmp_path / "json", {name: text.encode() for name, text in texts.items()})
    laid(tmp_path / "wire", training(2))
    assert read(tmp_path / "json").digest == read(tmp_path / "wire").digest
    renamed = {name.replace("json", "et"): gzip.compress(t.encode()) for name, t in texts.items()}
    laid(tmp_path / "packed", renamed)
    assert read(tmp_path / "packed" / "step.0.et").digest == read(tmp_path / "wire").digest


def test_packed_files_may_say_so_in_their_names(tmp_path):
    (tmp_path / "plain").mkdir()
    laid(tmp_path / "plain", training(2))
    (tmp_path / "packed").mkdir()
    packed = {f"{name}.gz": gzip.compress(data) for name, data in training(2).items()}
    laid(tmp_path / "packed", packed)
    digest = read(tmp_path / "plain").digest
    assert read(tmp_path / "packed").digest == digest
    assert read(tmp_path / "packed" / "step.1.et.gz").digest == digest


@pytest.mark.parametrize(
    "node",
    [
        {"type": 7, "comm_type": "ALL_REDUCE", "comm_size": 64, "durationMicros": 0},
        {"type": "COMM_COLL_NODE", "attr": [{"name": "comm_type", "stringVal": "ALL_REDUCE"},
                                            {"name": "comm_size", "int64Val": "64"}]},
    ],
)  # fmt: skip
def test_collectives_may_be_named(node, tmp_path):
    files = {f"a.{rank}.json": json.dumps([{"id": 1, **node}]).encode() for rank in range(2)}
    assert read(laid(tmp_path, files)).collective == (2, 128)


SPELT = [{"NodeType": 7, "Id": 1, "commType": given, "commSize": "64"} for given in (
    "ALL_REDUCE", "allreduce", "AllReduce", "all-reduce", "CollectiveCommType.ALL_REDUCE", "0", 0,
)]  # fmt: skip
SPELT += [
    {"type": 7, "id": 1, "attr": [{"name": "commType", "int64_val": "0"},
                                  {"name": "COMM_SIZE", "uint64Val": "64"}]},
    {"type": "COMM_COLL_NODE", "id": 1, "comm_type": "ALL_REDUCE", "comm_size": "64",
     "ctrlDeps": None},
]  # fmt: skip


@pytest.mark.parametrize("node", SPELT)
def test_attributes_are_spelt_in_several_ways(node, tmp_path):
    files = {f"a.{rank}.json": json.dumps([node]).encode() for rank in range(2)}
    assert read(laid(tmp_path, files)).collective == (2, 128)


def test_a_send_of_any_size_does_not_wait_for_its_receive(tmp_path):
    """ASTRA-sim's own ring: each rank sends before it receives."""
    size, ranks = 1 << 20, 4
    files = {
        f"a.{rank}.et": file(
            node(1, SEND, comm_size=size, comm_src=rank, comm_dst=(rank + 1) % ranks),
            node(2, RECV, [1], comm_size=size, comm_src=(rank - 1) % ranks, comm_dst=rank),
        )
        for rank in range(ranks)
    }
    laid(tmp_path, files)
    for fabric in ("fdr", "loggops", "dv"):
        found = dvsim.replay(tmp_path, fabric, S="1 KiB")
        assert (found.graph.messages, found.skipped) == (ranks, {})
    again = tmp_path / "again.goal"
    with again.open("w") as out:
        write_goal(found.graph, out)
    assert dvsim.replay(again, fabric, S="1 KiB").time_ns == found.time_ns
    assert read(again).digest == found.graph.digest


def test_nodes_may_wait_for_what_a_converter_dropped(tmp_path):
    one = {"id": 7, "type": 4, "ctrl_deps": [3, 6], "data_deps": [4], "runtime": 5}
    two = {"id": 6, "type": 4, "data_deps": [1], "runtime": 2}
    graph = read(laid(tmp_path, {"a.0.json": json.dumps([one, two]).encode()}))
    assert told(graph) == ["calc 2000 ns", "calc 5000 ns"]
    assert before(graph, 1) == [0]
    assert graph.skipped == {"dependencies on nodes that are not there": 3}
    laid(tmp_path, {"b.0.et": file(node(1, COMPUTE, [9], micros=3))})
    assert sum(read(tmp_path / "b.0.et").skipped.values()) == 1


def test_a_message_without_a_size_is_said(tmp_path):
    nodes = [node(1, SEND, comm_dst=0), node(2, RECV, comm_src=0, comm_size=8)]
    assert read(laid(tmp_path, {"a.0.et": file(*nodes)})).assumed


def test_times_may_have_a_fraction(tmp_path):
    graph = read(laid(tmp_path, {"a.0.json": b'[{"id": 1, "type": 4, "durationMicros": 2.5}]'}))
    assert told(graph) == ["calc 2500 ns"]


def test_tags_may_have_any_size(tmp_path):
    nodes = [node(1, SEND, comm_dst=0, comm_size=8, comm_tag=1 << 40),
             node(2, RECV, comm_src=0, comm_size=8, comm_tag=1 << 40)]  # fmt: skip
    graph = read(laid(tmp_path, {"a.0.et": file(*nodes)}))
    assert len(set(graph.tag)) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"version": "1"} {"id": "1", "type": "COMP_NODE"', r"json:1: rank 0, node 0: is trunc"),
        ('{"version": "1"} {"id": "x", "type": "COMP_NODE"}', r"node 0: id must be a whole number"),
        ('{"version": "1"} {"id": "1", "type": "FROB_NODE"}', r"type must be a whole number, is"),
        (
            '{"nodes": [{"type": "COMP_NODE", "data_deps": true}]}',
            r"data_deps must be a list, is 'True'",
        ),
        ('{"version": "1"} [3]', r"json:1: rank 0, node 0: must have objects for nodes"),
        ('{"nodes": [{"id": 3, "type": "COMP_NODE"}, {"id": 3}]}', r"node 1: has node 3 twice"),
    ],
)
def test_json_that_is_no_trace_is_refused(text, said, tmp_path):
    with pytest.raises(ScenarioError, match=said):
        read(laid(tmp_path, {"a.0.json": text.encode()}))
