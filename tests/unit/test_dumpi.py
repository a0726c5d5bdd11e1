"""Are the calls of DUMPI files replayed as they were traced, and bad files refused?"""

import struct

import pytest
from click.testing import CliRunner
from dumpi_writer import DOUBLE, INT, NULL, SECOND, WORLD, Dumpi, exchange
from trace_files import laid, told

from dvsim.cli.main import cli
from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import COLLECTIVE_TAG, RECV, SEND
from dvsim.kinds.workload.mpi import OWN_TAGS
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.readers.calls import BLOCKING, communicates
from dvsim.kinds.workload.readers.dumpi import ISENDS, SENDS
from dvsim.kinds.workload.readers.dumpi_file import (
    ALL_CALLS,
    LAYOUTS,
    NAMES,
    ROOT,
    Trace,
    read_file,
)

TAG = COLLECTIVE_TAG


def ranks_of(*files):
    """Return files of ranks that are given by their calls."""
    return {f"run-{rank:04d}.bin": one.data() for rank, one in enumerate(files)}


def sent(graph):
    """Return (rank, peer, bytes) of all messages."""
    return [(graph.rank_of(one), int(graph.peer[one]), int(graph.size[one]))
            for one in range(graph.operations) if graph.kind[one] == SEND]  # fmt: skip


def test_a_program_is_read_with_its_times(tmp_path):
    graph = read(laid(tmp_path, exchange()))
    assert told(graph) == [
        "calc 2000 ns", "send 800 B to 1, tag 7", "recv 800 B from 1, tag 7", "calc 2800 ns",
        "calc 500 ns", f"recv 16 B from 1, tag {TAG}", f"send 16 B to 1, tag {TAG}",
        f"recv 100 B from 1, tag {TAG + 1}", "calc 10 ns",
    ]  # fmt: skip
    assert graph.traced_ns == 10_000
    assert not graph.skipped
    for other in ("run-0001.bin", "run.meta"):
        assert read(tmp_path / other).digest == graph.digest


def test_a_record_is_as_the_format_has_it(tmp_path):
    times = struct.pack(">HIHI", 0, 10, 0, 20) + struct.pack(">HIHI", 3, 5, 3, 6)
    wait = b"\x00\x12\x4f\x00\x00" + times + struct.pack(">iI2iI", 2, 2, 5, NULL, 0)
    file = Dumpi()
    file.body = b"\x00\x0c\x4f\x00\x00" + times + struct.pack(">iHiiHi", 3, 9, -1, 8, 2, 5) + wait
    (tmp_path / "a-0.bin").write_bytes(file.data())
    trace = Trace()
    read_file(tmp_path / "a-0.bin", trace)
    first, second = trace.calls
    assert (first.name, first.arguments) == ("Irecv", (3, 9, -1, 8, 2, 5))
    assert (first.begin, first.end) == ((SECOND + 3) * 10**9 + 5, (SECOND + 3) * 10**9 + 6)
    assert (second.name, second.arguments) == ("Waitall", (2, (5, NULL), ()))
    assert len(NAMES) < ALL_CALLS
    assert set(LAYOUTS) < set(NAMES)


def test_receives_of_any_get_their_rank_from_the_status(tmp_path):
    zero, one = Dumpi(), Dumpi()
    zero.call("Recv", 0, 10, 1, INT, -1, -1, WORLD, [(4, 1, 3)])
    zero.call("Recv", 10, 20, 1, INT, -1, -1, WORLD, [])
    zero.call("Irecv", 20, 21, 1, INT, -1, 5, WORLD, 9)
    zero.call("Test", 22, 23, 9, 0, [])
    zero.call("Test", 24, 25, 9, 1, [(4, 1, 5)])
    for tag in (3, 4, 5):
        one.call("Send", tag, tag, 1, INT, 0, tag, WORLD)
    graph = read(laid(tmp_path, ranks_of(zero, one)))
    received = [line for line in told(graph) if line.startswith("recv")]
    assert received == [
        "recv 4 B from 1, tag 3", "recv 4 B from any, tag any", "recv 4 B from 1, tag 5",
    ]  # fmt: skip


def test_communicators_that_ranks_number_for_themselves(tmp_path):
    files = [Dumpi() for _ in range(4)]
    for rank, one in enumerate(files):
        handle = 10 + rank
        one.call("Comm_split", 0, 1, WORLD, rank % 2, -rank, handle)
        members = [2, 0] if rank % 2 == 0 else [3, 1]
        mine = members.index(rank)
        if mine:
            one.call("Recv", 1, 2, 1, INT, 0, 0, handle, [])
        else:
            one.call("Send", 1, 2, 1, INT, 1, 0, handle)
        one.call("Bcast", 2, 3, 1, DOUBLE, 1, handle)
        one.call("Comm_group", 3, 3, WORLD, 5)
        one.call("Group_incl", 3, 3, 5, 2, [3, 0], 6)
        one.call("Comm_create", 3, 4, WORLD, 6, 20 if rank in (0, 3) else NULL)
        if rank in (0, 3):
            one.call("Reduce", 4, 5, 3, INT, 3, 0, 20)
        one.call("Comm_dup", 5, 5, WORLD, 30)
        one.call("Barrier", 5, 6, 30)
        one.call("Cart_create", 6, 7, WORLD, 2, [2, 2], [0, 0], 0, 40)
        one.call("Cart_sub", 7, 8, 2, 40, [0, 1], 41)
        one.call("Allgather", 8, 9, 1, INT, 1, INT, 41)
    graph = read(laid(tmp_path, ranks_of(*files)))
    found = sent(graph)
    assert {(2, 0, 4), (3, 1, 4)} <= set(found)  # the members are sorted by key
    assert {(0, 2, 8), (1, 3, 8)} <= set(found)  # rank 1 of the communicator is the root
    assert (0, 3, 12) in found  # rank 3 is the first of the group
    gathered = [(a, b) for a, b, size in found if size == 4 and abs(a - b) == 1]
    assert sorted(gathered) == [(0, 1), (1, 0), (2, 3), (3, 2)]
    assert graph.skipped == {
        "MPI_Comm_split": 4, "MPI_Comm_create": 4, "MPI_Comm_dup": 4, "MPI_Cart_create": 4,
        "MPI_Cart_sub": 4,
    }  # fmt: skip
    tags = {int(graph.tag[one]) for one in range(graph.operations) if graph.kind[one] == RECV}
    assert min(tags) >= OWN_TAGS  # none of them is of the communicator of all


def test_persistent_requests_and_types_of_the_program(tmp_path):
    files = [Dumpi() for _ in range(2)]
    for rank, one in enumerate(files):
        one.call("Type_vector", 0, 0, 3, 2, 5, DOUBLE, 40)
        one.call("Type_struct", 0, 0, 2, [2, 1], [0, 8], [INT, 40], 39)
        one.call("Type_dup", 0, 0, 39, 41)
        init = "Send_init" if rank == 0 else "Recv_init"
        one.call(init, 0, 1, 2, 41, 1 - rank, 0, WORLD, 8)
        for _ in range(3):
            one.call("Startall", 1, 1, 1, [8])
            one.call("Wait", 1, 1, 8, [])
    graph = read(laid(tmp_path, ranks_of(*files)))
    assert sent(graph) == [(0, 1, 2 * (2 * 4 + 48))] * 3
    assert int((graph.kind == RECV).sum()) == 3


def test_collectives_with_sizes_of_their_own(tmp_path):
    files = [Dumpi() for _ in range(3)]
    for rank, one in enumerate(files):
        only = ([1, 2, 3], [0, 1, 3]) if rank == 1 else ()
        one.call("Gatherv", 0, 1, rank, 3, rank + 1, INT, 1, WORLD, *only, INT)
        one.call("Scatterv", 1, 2, rank, 3, INT, rank + 5, INT, 1, WORLD, *only)
        rows = [10 * rank, 10 * rank + 1, 10 * rank + 2]
        columns = [rank, 10 + rank, 20 + rank]
        one.call("Alltoallv", 2, 3, 3, rows, [0] * 3, INT, columns, [0] * 3, INT, WORLD)
    found = sent(read(laid(tmp_path, ranks_of(*files))))
    assert {(0, 1, 4), (2, 1, 12)} <= set(found)
    assert {(1, 0, 20), (1, 2, 28)} <= set(found)
    assert all((a, b, 4 * (10 * a + b)) in found for a in range(3) for b in range(3) if a != b)


def test_what_cannot_be_replayed_is_counted(tmp_path):
    one = Dumpi()
    one.call("Put", 0, 1, 1, INT, 0, 0, 1, INT, 1)
    one.call("Barrier", 1, 2, 77)
    one.call("Send", 2, 3, 1, 99, 0, 0, WORLD)
    one.call("Recv", 3, 4, 1, INT, 0, 0, WORLD, [])
    one.call("Wtime", 4, 5)
    graph = read(laid(tmp_path, ranks_of(one)))
    assert graph.skipped == {
        "MPI_Put": 1, "MPI_Barrier in a communicator that is not known": 1,
        "data types without a size": 1,
    }  # fmt: skip


ZEROS = {"i": 0, "l": 0, "h": WORLD, "b": 0, "I": [0, 1], "H": [INT], "B": [1], "J": [[0, 1, 1]],
         "s": b"x", "S": [], "A": [b"p"]}  # fmt: skip
"""An argument of each letter of the layouts."""

REPLAYED = (*SENDS, *ISENDS, *BLOCKING, "Sendrecv", "Sendrecv_replace")
WAITS_ALONE = ("Test", "Testall", "Testany", "Testsome", "Waitany", "Waitsome", "Recv_init",
               *(f"{one}_init" for one in SENDS))  # fmt: skip
"""Calls that do nothing where no request is open, or that begin with a start."""


@pytest.mark.parametrize("name", sorted(set(LAYOUTS) - {"Init"}))
def test_each_call_is_replayed_or_counted_if_it_communicates(name, tmp_path):
    files = []
    for rank in range(2):
        arguments, reads = [], True
        for letter in LAYOUTS[name]:
            if letter in "?!":
                own, root = ROOT[name]
                reads = letter == "!" or arguments[own] == arguments[root]
            elif reads:
                arguments.append(rank if name in ROOT and not arguments else ZEROS[letter])
        files.append(Dumpi().call(name, 0, 1, *arguments).call("Finalize", 2, 3))
    graph = read(laid(tmp_path, ranks_of(*files)))
    if name in REPLAYED:
        assert graph.messages > 0
        assert not graph.skipped
    elif name in ("Start", "Startall"):
        assert set(graph.skipped) == {"requests that are started and not known"}
    elif communicates(name) and name not in (*WAITS_ALONE, "Comm_free"):
        assert dict(graph.skipped) == {f"MPI_{name}": 2}
    else:
        assert not graph.skipped


def changed(name, change):
    def write(folder):
        files = exchange()
        if change is None:
            del files[name]
        else:
            files[name] = change(files[name])
        return laid(folder, files)

    return write


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (
            changed("run-0001.bin", lambda data: data[:90]),
            r"0001\.bin: rank 1, call 0: has no index at its end",
        ),
        (
            changed("run-0001.bin", lambda data: data[:100] + data[-300:]),
            r"0001\.bin: rank 1, call \d+: (is trunca|has an index that leads|has no room|call)",
        ),
        (changed("run-0000.bin", None), "has no file of rank 0, but of rank 1"),
        (changed("run-0001.bin", None), r"run\.meta:2: numprocs=2, but the last file is of rank 0"),
    ],
)
def test_a_damaged_trace_is_refused_by_its_file(write, said, tmp_path):
    with pytest.raises(ScenarioError, match=said):
        read(write(tmp_path))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("Send", 0, 1, 1, INT, 4, 0, WORLD), r"call 1, MPI_Send: has a message with rank 4"),
        (("Send", 0, 1, -1, INT, 0, 0, WORLD), r"rank 0: call 1, MPI_Send: -1 values of 4 bytes"),
        (("Send", 5, 1, 1, INT, 0, 0, WORLD), r"rank 0: call 1, MPI_Send: the time goes back"),
        (("Bcast", 0, 1, 1, INT, 3, WORLD), r"the root of a bcast must be from 0 to 0, is 3"),
    ],
)  # fmt: skip
def test_a_call_that_cannot_be_is_refused(call, said, tmp_path):
    one = Dumpi()
    one.call(*call)
    with pytest.raises(ScenarioError, match=said):
        read(laid(tmp_path, ranks_of(one)))


def test_a_call_without_a_known_layout_is_named(tmp_path):
    one = Dumpi()
    one.body = struct.pack(">HB", NAMES.index("Pcontrol"), 0)
    with pytest.raises(ScenarioError, match="call 1, MPI_Pcontrol: its arguments are not known"):
        read(laid(tmp_path, ranks_of(one)))


def test_a_trace_without_times_has_none(tmp_path):
    one = Dumpi(mask=0x43)
    one.call("Init", 0, 0, [])
    one.call("Finalize", 0, 0)
    graph = read(laid(tmp_path, ranks_of(one)))
    assert graph.traced_ns is None
    assert graph.operations == 0


EARLY = 4  # a communicator that was made before tracing began


def early(rank, size, *, said=None, ranks=4, own=None, many=()):
    """Return a file of a rank that passes on to the next in a communicator it did not make."""
    one = Dumpi()
    place = rank % size if own is None else own
    if said is not None:
        one.call("Comm_size", 0, 1, EARLY, said)
    if own is not None:
        one.call("Comm_rank", 1, 2, EARLY, own)
    for counts in many:
        one.call("Allgatherv", 2, 3, size, 3, INT, counts, [0] * size, INT, EARLY)
    one.call("Irecv", 3, 4, 2, INT, (place - 1) % size, 0, EARLY, 5)
    one.call("Send", 4, 5, 2, INT, (place + 1) % size, 0, EARLY)
    return one.call("Wait", 5, 9, 5, [])


@pytest.mark.parametrize(
    ("files", "pairs"),
    [
        # a message to the last rank, or a size: it has all ranks
        ([early(rank, 2) for rank in range(2)], [(0, 1), (1, 0)]),
        ([early(rank, 4, said=4) for rank in range(4)], [(0, 1), (1, 2), (2, 3), (3, 0)]),
        ([early(rank, 2, many=[[3, 3]]) for rank in range(2)], [(0, 1), (1, 0)]),
        ([early(rank, 3, many=[[3] * 3]) for rank in range(3)], [(0, 1), (1, 2), (2, 0)]),
        # in the order of their ranks there
        ([early(rank, 3, said=3, own=2 - rank) for rank in range(3)], [(0, 2), (1, 0), (2, 1)]),
        # of as many as use it
        ([early(0, 2, said=2), early(1, 2, said=2), Dumpi().call("Wtime", 0, 1)], [(0, 1), (1, 0)]),
    ],
)
def test_communicators_from_before_the_trace_have_the_ranks_that_follow(files, pairs, tmp_path):
    graph = read(laid(tmp_path, ranks_of(*files)))
    assert sorted({(a, b) for a, b, size in sent(graph) if size == 8}) == pairs
    assert len(graph.assumed) == 1
    assert f"communicator {EARLY}" in graph.assumed[0]
    assert not graph.skipped


@pytest.mark.parametrize(
    "files",
    [
        [early(rank, 2) for rank in range(4)],  # all send to 0 and 1 alone
        [early(rank, 2, said=2) for rank in range(4)],  # two or more of two each
        [early(0, 2, said=2), early(1, 2, said=3), early(0, 2, said=2)],
    ],
)
def test_a_trace_that_lost_most_of_its_messages_is_refused(files, tmp_path):
    laid(tmp_path, ranks_of(*files))
    told = CliRunner().invoke(cli, ["replay", str(tmp_path), "--fabric", "fdr"])
    assert told.exit_code == 2
    assert "MPI_Irecv" in told.output
    assert "communicators made before tracing began" in " ".join(told.output.split())


def test_a_few_calls_in_unknown_communicators_are_counted(tmp_path):
    files = []
    for rank in range(4):
        one = early(rank, 2, said=2)
        for _ in range(3):
            one.call("Barrier", 10, 10, WORLD)
        files.append(one)
    graph = read(laid(tmp_path, ranks_of(*files)))
    assert sum(graph.skipped.values()) == 8
    assert graph.collective[0] > 0
