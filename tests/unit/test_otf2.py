"""Are the calls of an OTF2 archive replayed as they were traced, and bad archives refused?"""

import numpy as np
import pytest
from otf2_writer import Otf2, stencil

from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import CALC, COLLECTIVE_TAG, RECV, SEND
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.readers.scorep import KINDS, own_size


def told(graph):
    return [graph.told(one).partition(": ")[2] for one in range(graph.operations)]


def own(graph):
    """Return which operations are the program's own messages, not those of collectives."""
    return (graph.kind == SEND) & (graph.tag < COLLECTIVE_TAG)


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("chunk", [1 << 20, 200])
def test_a_program_is_read_in_each_byte_order_and_over_chunks(order, chunk, tmp_path):
    graph = read(stencil(order=order, chunk=chunk).write(tmp_path))
    assert graph.ranks == 4
    assert own(graph).sum() == 4 * 2 * 3
    assert graph.size[own(graph)].tolist() == [4096] * 24
    assert graph.collective == (3 * 8, 3 * 8 * 8)  # recursive doubling of 4 ranks
    assert graph.messages == 24 + 3 * 8
    assert graph.traced_ns == 500 + 3 * (20_000 + 600 + 3000 + 5000 + 4000) + 500
    assert not graph.skipped
    computed = graph.size[: graph.first[1]][graph.kind[: graph.first[1]] == CALC] / 1000
    assert computed.tolist() == [
        20_500,
        5000,
        20_000,
        5000,
        20_000,
        5000,
        10,
    ]  # MPI_Finalize is none


def test_a_folder_of_it_is_the_same(tmp_path):
    anchor = stencil().write(tmp_path)
    assert read(tmp_path).digest == read(anchor).digest


def waits(graph, operation):
    return [
        (before, bool(graph.after_start[edge]))
        for before in range(graph.operations)
        for edge in range(graph.start[before], graph.start[before + 1])
        if graph.to[edge] == operation
    ]


def test_what_does_not_block_ends_at_its_wait(tmp_path):
    archive = Otf2(2)
    archive.call(0, 0, 10, "MPI_Isend", ("isend", 1, 100, 7, 3))
    archive.call(0, 30, 40, "MPI_Wait", ("isent", 7))
    archive.call(0, 60, 70, "MPI_Send", ("send", 1, 8))
    archive.call(1, 0, 10, "MPI_Irecv", ("irecv", 5))
    archive.call(1, 20, 40, "MPI_Recv", ("recv", 0, 8))
    archive.call(1, 50, 60, "MPI_Wait", ("ireceived", 0, 100, 5, 3))
    graph = read(archive.write(tmp_path))
    assert told(graph) == [
        "send 100 B to 1, tag 3", "calc 20 ns", "calc 20 ns", "send 8 B to 1, tag 0",
        "recv 100 B from 0, tag 3", "calc 10 ns", "recv 8 B from 0, tag 0", "calc 10 ns",
    ]  # fmt: skip
    assert waits(graph, 1) == [(0, True)]
    assert waits(graph, 2) == [(0, False), (1, False)]
    assert waits(graph, 3) == [(2, False)]


def test_computation_between_an_isend_and_its_wait_does_not_wait(tmp_path):
    archive = Otf2(2)
    archive.call(0, 0, 10, "MPI_Isend", ("isend", 1, 100, 7))
    archive.call(0, 30, 40, "MPI_Isend", ("isend", 1, 200, 8))
    archive.call(0, 50, 60, "MPI_Waitall", ("isent", 7), ("isent", 8))
    archive.call(0, 90, 95, "MPI_Barrier", ("end", "barrier", 0, 0))
    archive.call(1, 0, 10, "MPI_Recv", ("recv", 0, 100))
    archive.call(1, 10, 20, "MPI_Recv", ("recv", 0, 200))
    archive.call(1, 90, 95, "MPI_Barrier", ("end", "barrier", 0, 0))
    graph = read(archive.write(tmp_path))
    assert told(graph)[:5] == [
        "send 100 B to 1, tag 0", "calc 20 ns", "send 200 B to 1, tag 0", "calc 10 ns",
        "calc 30 ns",
    ]  # fmt: skip
    assert waits(graph, 1) == [(0, True)]
    assert waits(graph, 2) == [(1, False)]
    assert waits(graph, 3) == [(2, True)]
    assert sorted(waits(graph, 4)) == [(0, False), (2, False), (3, False)]


def test_communicators_are_told_apart(tmp_path):
    archive = Otf2(4, communicators=[("odd", [3, 1]), ("twin", [0, 1, 2, 3])])
    for rank in (1, 3):
        members = [3, 1]
        mine = members.index(rank)
        archive.call(rank, 10, 20, "MPI_Send", ("send", 1 - mine, 8, 5, 1))
        archive.call(rank, 20, 30, "MPI_Recv", ("recv", 1 - mine, 8, 5, 1))
        archive.call(rank, 30, 40, "MPI_Bcast",
                     ("end", "bcast", 0 if mine else 128, 64, 0, 1))  # fmt: skip
    for rank in range(4):
        archive.call(rank, 50, 60, "MPI_Barrier", ("end", "barrier", 0, 0, None, 2))
        archive.call(rank, 60, 70, "MPI_Barrier", ("end", "barrier", 0, 0))
    graph = read(archive.write(tmp_path))
    sent = [(graph.rank_of(one), int(graph.peer[one]), int(graph.size[one]))
            for one in np.flatnonzero(graph.kind == SEND)]  # fmt: skip
    assert {(1, 3, 8), (3, 1, 8), (3, 1, 64)} <= set(sent)
    assert (1, 3, 64) not in sent
    assert graph.messages == 3 + 2 * 4 * 2


def test_numbers_and_clocks_of_a_rank_become_those_of_the_archive(tmp_path):
    archive = Otf2(2, communicators=[("none", [0])])
    archive.enter(0, 100, "other")
    archive.leave(0, 200, "other")
    archive.call(0, 200, 300, "MPI_Send", ("send", 1, 8, 0, 7))
    archive.call(1, 1000, 1100, "MPI_Recv", ("recv", 0, 8, 0, 0))
    archive.mapped(0, 6, {7: 0})
    archive.mapped(0, 3, {0: 0, 1: 1})
    archive.offsets(1, (1000, -900), (1100, -880))
    graph = read(archive.write(tmp_path))
    assert graph.traced_ns == 300 - 100
    assert told(graph) == ["calc 100 ns", "send 8 B to 1, tag 0", "recv 8 B from 0, tag 0"]


def test_collectives_that_do_not_block_end_at_their_wait(tmp_path):
    archive = Otf2(2)
    for rank in range(2):
        archive.call(rank, 0, 10, "MPI_Iallreduce", ("icollective", 3))
        archive.call(rank, 50, 60, "MPI_Wait", ("icollected", "allreduce", 16, 16, 3))
        archive.call(rank, 70, 80, "MPI_Finalize")
    graph = read(archive.write(tmp_path))
    assert told(graph)[: graph.first[1]] == [
        f"recv 8 B from 1, tag {COLLECTIVE_TAG}", f"send 8 B to 1, tag {COLLECTIVE_TAG}",
        "calc 40 ns", "calc 10 ns",
    ]  # fmt: skip
    assert sorted(waits(graph, 2)) == [(0, True), (1, True)]
    assert sorted(waits(graph, 3)) == [(0, False), (1, False), (2, False)]


def test_what_cannot_be_replayed_is_counted(tmp_path):
    archive = Otf2(2)
    for rank in range(2):
        archive.call(rank, 0, 5, "MPI_Comm_split")
        archive.call(rank, 5, 10, "MPI_Ialltoall")
        archive.call(rank, 10, 15, "MPI_Comm_rank")
        archive.call(rank, 15, 20, "MPI_Irecv", ("irecv", 4))
        archive.call(rank, 20, 25, "MPI_Alltoallv", ("end", "alltoallv", 30, 30))
        archive.call(rank, 25, 30, "MPI_Init", ("end", 17, 0, 0))
    graph = read(archive.write(tmp_path))
    assert graph.skipped == {
        "MPI_Comm_split": 2, "MPI_Ialltoall": 2, "receives that never ended": 2,
        "sizes of single pairs, taken as equal": 2, "communicators and windows made or freed": 2,
    }  # fmt: skip
    assert graph.bytes == 30


def test_threads_that_communicate_are_of_their_rank(tmp_path):
    """One of rank 0 sends, one of rank 1 has nothing of MPI; the last rank has but a thread."""
    archive = Otf2(3, threads=[0, 1, 2])
    archive.call(0, 100, 200, "MPI_Recv", ("recv", 1, 50, 4))
    archive.call(1, 100, 110, "MPI_Send", ("send", 0, 50, 4))
    archive.call(3, 120, 130, "MPI_Send", ("send", 1, 70, 5))
    archive.call(1, 130, 190, "MPI_Recv", ("recv", 0, 70, 5))
    archive.call(4, 90, 210, "work")
    archive.call(5, 300, 310, "MPI_Send", ("send", 0, 10, 6))
    archive.call(0, 310, 320, "MPI_Recv", ("recv", 2, 10, 6))
    graph = read(archive.write(tmp_path))
    assert (graph.messages, graph.bytes) == (3, 130)
    assert dict(graph.skipped) == {"locations that are no MPI ranks": 1}
    assert graph.traced_ns == 320 - 100


def without_mpi(processes, kinds):
    """Return an archive without MPI, of processes with a location for each kind."""
    archive = Otf2(processes * len(kinds))
    ends = []
    for location in range(processes * len(kinds)):
        archive.enter(location, 1000 + location, "main")
        archive.leave(location, 5000 - location, "main")
        process, kind = divmod(location, len(kinds))
        body = archive.n(location, 0) + bytes([kinds[kind]]) + archive.n(2, process)
        ends.append(archive.record(14, body))
    head = [part for part in archive.definitions() if part[0] in (5, 10, 15)]
    archive.definitions = lambda: [*head, *ends]
    return archive


THREAD, GPU, METRIC = 1, 2, 3


@pytest.mark.parametrize("kinds", [[THREAD], [THREAD, GPU, METRIC, THREAD], [GPU, THREAD]])
def test_a_process_without_mpi_is_one_rank(kinds, tmp_path):
    anchor = without_mpi(1, kinds).write(tmp_path)
    graph = read(anchor)
    assert (graph.ranks, graph.messages) == (1, 0)
    first = kinds.index(THREAD)
    assert told(graph) == [f"calc {4000 - 2 * first} ns"]
    assert sum(graph.skipped.values()) == len(kinds) - 1


def test_processes_without_mpi_are_refused(tmp_path):
    with pytest.raises(
        ScenarioError, match=r"traces\.def: has 3 processes, none of which calls MPI"
    ):
        read(without_mpi(3, [THREAD, GPU]).write(tmp_path))
    with pytest.raises(ScenarioError, match=r"traces\.def: has no location of an MPI rank"):
        read(without_mpi(1, [GPU, METRIC]).write(tmp_path))


def test_each_rank_without_events_is_named(tmp_path):
    anchor = stencil(4).write(tmp_path)
    for rank in (1, 3):
        (tmp_path / "traces" / f"{rank}.evt").unlink()
    with pytest.raises(ScenarioError) as caught:
        read(anchor)
    assert [fault.key for fault in caught.value.faults] == ["rank 1", "rank 3"]


def test_bytes_are_what_score_p_counts():
    p, n = 6, 100
    for op, kind in enumerate(KINDS):
        given = {
            "bcast": (p * n, n), "gather": (n, p * n), "gatherv": (n, p * n), "reduce": (n, p * n),
            "scatter": (p * n, n), "scatterv": (p * n, n), "barrier": (0, 0),
        }.get(kind, (p * n, p * n))  # fmt: skip
        size = own_size(op, *given, p, 0, 0)
        assert (
            sum(size) == p * n
            if isinstance(size, list)
            else size == (n if op else 0) or (kind == "exscan" and size == p * n // (p - 1))
        )
    assert own_size(KINDS.index("gather"), 0, 5 * n, p, 2, 2) == n  # the root's stay in place
    assert own_size(KINDS.index("scan"), 2 * n, 5 * n, p, 4, 0) == n
    assert own_size(KINDS.index("exscan"), 0, 5 * n, p, 5, 0) == n


def damaged(name, change):
    def write(folder):
        files = stencil(2, 1).files()
        if change is None:
            del files[name]
        else:
            files[name] = change(files[name])
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return folder / "traces.otf2"

    return write


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (damaged("traces/1.evt", None), r"1\.evt: rank 1: is missing: the events of this rank"),
        (damaged("traces.def", None), r"traces\.def: is missing: the definitions"),
        (
            damaged("traces/0.evt", lambda data: data[:60]),
            r"0, event \d+: is truncated: it ends at",
        ),
        (damaged("traces/0.evt", lambda data: data[:10]), r"0\.evt: rank 0, event 0: no chunk of"),
        (damaged("traces.otf2", lambda data: data[:20]), "is no anchor file of an OTF2 archive"),
        (damaged("traces.otf2", lambda data: data[:28] + b"\2" + data[29:]), "packed by SIONlib"),
        (damaged("traces/0.evt", lambda data: data[:18] + b"\2"), r"0\.evt: rank 0: has no events"),
    ],
)
def test_a_damaged_archive_is_refused_by_file_and_rank(write, said, tmp_path):
    with pytest.raises(ScenarioError, match=said):
        read(write(tmp_path))


def test_a_collective_that_not_all_ranks_enter_is_refused(tmp_path):
    archive = Otf2(3)
    for rank in range(3):
        archive.call(rank, 0, 5, "MPI_Barrier", ("end", "barrier", 0, 0))
    for rank in (0, 2):
        archive.call(rank, 5, 10, "MPI_Bcast", ("end", "bcast", 0 if rank else 24, 8, 0))
    anchor = archive.write(tmp_path)
    said = r"1\.evt: rank 1: does not enter a bcast, the collective 2 of its communicator, which r"
    with pytest.raises(ScenarioError, match=said):
        read(anchor)
    archive.call(1, 5, 10, "MPI_Barrier", ("end", "barrier", 0, 0))
    with pytest.raises(ScenarioError, match=r"rank 1: enters a barrier of root 0 where rank 0 ent"):
        read(archive.write(tmp_path))


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (("send", 5, 8), "a message with rank 5 of communicator 0, which has 2 ranks"),
        (("send", 1, 8, 0, 9), "communicator 9, which is not defined"),
        (("send", 1, 1 << 60), f"a message of {1 << 60} bytes"),
        (("end", "bcast", 8, 8, 7), r"the root of a bcast must be from 0 to 1, is 7"),
    ],
)
def test_an_event_that_cannot_be_is_refused(event, said, tmp_path):
    archive = stencil(2, 1)
    archive.call(0, 50_000, 50_010, "MPI_Send", event)
    with pytest.raises(ScenarioError, match=said):
        read(archive.write(tmp_path))


def test_the_package_reads_the_same(tmp_path):
    otf2 = pytest.importorskip("otf2", reason="the oracle: pip install otf2")
    anchor = stencil().write(tmp_path)
    sizes, times = [], []
    with otf2.reader.open(str(anchor)) as trace:
        for _, event in trace.events:
            times.append(event.time)
            if isinstance(event, otf2.events.MpiSend | otf2.events.MpiIsend):
                sizes.append(event.msg_length)
    graph = read(anchor)
    assert graph.size[own(graph)].tolist() == sizes
    assert graph.traced_ns == max(times) - min(times)
    received = (graph.kind == RECV) & (graph.tag < COLLECTIVE_TAG)
    assert int(graph.size[received].sum()) == sum(sizes)
