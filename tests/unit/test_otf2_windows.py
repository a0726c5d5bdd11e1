"""Are one-sided operations of OTF2 archives replayed beside the other rank's program?"""

import re

import numpy as np
import pytest
from otf2_writer import Otf2

import dvsim
from dvsim.errors import RunFailed, ScenarioError
from dvsim.kinds.workload.check import CALC, CARRIED_TAG, SEND
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.readers.goal import write_goal

EXACT = {"L": "2500 ns", "o": "1500 ns", "g": "1000 ns", "G": "6 ns", "O": "0 ns", "S": 65535}
LATENCY, OWN, BYTE = 2500, 1500, 6
TRIP = 2 * (2 * OWN + LATENCY)


def made(ranks, **options):
    """Return an archive in which all ranks made a window, and its time."""
    archive = Otf2(ranks, windows=[0], **options)
    for rank in range(ranks):
        archive.call(rank, 0, 0, "MPI_Win_create", ("window_end", 21))
    return archive


def replayed(archive, folder, fabric="loggops"):
    return dvsim.replay(
        archive.write(folder), fabric=fabric, **(EXACT if fabric == "loggops" else {})
    )


def busy(archive, rank, until):
    """Let a rank compute until a time, and end."""
    archive.call(rank, until, until, "MPI_Finalize")


def test_a_put_does_not_wait_for_the_program_of_the_other(tmp_path):
    archive = made(2)
    archive.call(0, 0, 10, "MPI_Win_lock", ("locked", 1))
    archive.call(0, 10, 20, "MPI_Put", ("put_bytes", 1, 1001, 7))
    archive.call(0, 20, 30, "MPI_Win_unlock", ("ended", 52, 7), ("unlocked", 1))
    busy(archive, 0, 30)
    busy(archive, 1, 1_000_000)
    found = replayed(archive, tmp_path)
    assert (found.plain()["messages"], found.plain()["bytes"]) == (1, 1001)
    assert found.plain()["collective_messages"] == 3  # a lock and its answer, an answer of the put
    assert dict(found.graph.skipped) == {"communicators and windows made or freed": 2}
    assert found.finish_ns[0] == 2 * TRIP + 1000 * BYTE
    assert found.finish_ns[1] == 1_000_000  # as long as it computes: nothing interrupts it


ASKED = OWN + LATENCY + OWN  # a byte that comes to an agent


def locked(archive, rank, begin, had, released, remote=2, *, shared=0):
    """Let a rank ask for a lock, have it, and release it."""
    archive.enter(rank, begin, "MPI_Win_lock")
    archive.locked(rank, had, remote, shared=shared)
    archive.leave(rank, had, "MPI_Win_lock")
    archive.call(rank, released, released + 2, "MPI_Win_unlock", ("unlocked", remote))


def test_a_lock_that_another_rank_has_is_waited_for(tmp_path):
    archive = made(3)
    locked(archive, 0, 0, 10, 100_000)
    locked(archive, 1, 50_000, 100_010, 100_020)
    found = replayed(archive, tmp_path)
    released = TRIP + 100_000 - 10
    assert found.finish_ns[1] == released + ASKED + ASKED + 10
    assert found.matrix(messages=True).tolist() == [[0, 0, 2], [0, 0, 1], [1, 1, 0]]
    assert set(found.graph.skipped) == {"communicators and windows made or freed"}


def test_locks_are_given_in_the_order_of_the_trace(tmp_path):
    """The first one asks first in the replay, as it does not compute, but had it last."""
    archive = made(3)
    locked(archive, 0, 0, 200_000, 200_100)
    locked(archive, 1, 50_000, 50_010, 90_000)
    found = replayed(archive, tmp_path)
    assert found.finish_ns[0] > found.finish_ns[1] > 90_000


def test_locks_that_ranks_share_wait_for_none_but_one_alone(tmp_path):
    archive = made(4)
    locked(archive, 0, 0, 10, 100_000, 3, shared=1)
    locked(archive, 1, 20_000, 20_010, 40_000, 3, shared=1)
    locked(archive, 2, 60_000, 100_010, 100_020, 3)
    found = replayed(archive, tmp_path)
    assert found.finish_ns[1] < 60_000
    assert found.finish_ns[2] == TRIP + 99_990 + 2 * ASKED + 10


def test_a_lock_of_all_waits_for_those_that_one_has_alone(tmp_path):
    def length(of_zero):
        archive = made(3)
        locked(archive, 0, 0, 10, 100_000, shared=of_zero)
        archive.call(1, 0, 100_010, "MPI_Win_lock_all")
        archive.locked(1, 100_005, None, shared=1)
        archive.call(1, 100_020, 100_030, "MPI_Win_unlock_all", ("unlocked", None))
        found = replayed(archive, tmp_path)
        return found.finish_ns[1], found.matrix(messages=True)[1].tolist()

    archive = length(0)
    assert archive[0] > 100_000
    assert archive[1] == [0, 0, 1]
    assert length(1)[1] == [0, 0, 0]


def test_a_program_that_mpi_let_go_on_before_it_had_the_lock_waits_in_its_unlock(tmp_path):
    """Rank 0 takes a message under its lock that rank 1 sends under the same lock."""
    archive = made(3)
    archive.call(0, 0, 10, "MPI_Win_lock", ("locked", 2))
    archive.call(0, 10, 60, "MPI_Recv", ("recv", 1, 8))
    archive.call(0, 90, 100, "MPI_Win_unlock", ("unlocked", 2))
    archive.call(1, 20, 30, "MPI_Win_lock", ("locked", 2))
    archive.call(1, 30, 40, "MPI_Send", ("send", 0, 8))
    archive.call(1, 50, 120, "MPI_Win_unlock", ("unlocked", 2))
    archive.events[1][-2] = (110, archive.events[1][-2][1])
    found = replayed(archive, tmp_path)
    assert found.finish_ns[1] > found.finish_ns[0]


def test_a_lock_that_is_never_released_is_named_with_who_waits(tmp_path):
    archive = made(3)
    archive.call(0, 0, 10, "MPI_Win_lock", ("locked", 2))
    locked(archive, 1, 20, 100, 200)
    with pytest.raises(RunFailed) as error:
        replayed(archive, tmp_path)
    assert "rank 1, operation 2: recv 1 B from 2, the answer" in str(error.value)
    assert "rank 2, operation 4: recv 1 B from 0, the release of a lock" in str(error.value)


def test_ranks_that_wait_for_each_others_locks_are_named(tmp_path):
    archive = made(2)
    for rank in range(2):
        archive.call(rank, 0, 10, "MPI_Win_lock", ("locked", rank))
        archive.call(rank, 20 + rank, 30, "MPI_Win_lock", ("locked", 1 - rank))
    with pytest.raises(RunFailed, match="can never complete") as error:
        replayed(archive, tmp_path)
    for rank in range(2):
        said = rf"rank {rank}, operation \d+: recv 1 B from {rank}, the release of a lock"
        assert re.search(said, str(error.value))


def test_a_get_brings_its_bytes_back_and_an_atomic_both_ways(tmp_path):
    archive = made(2)
    archive.call(0, 0, 10, "MPI_Get", ("get_bytes", 1, 501, 1))
    archive.call(0, 10, 20, "MPI_Win_flush", ("ended", 52, 1))
    archive.call(0, 20, 30, "MPI_Fetch_and_op", ("atomic", 1, 8, 8, 2))
    archive.call(0, 30, 40, "MPI_Win_flush_all")  # says nothing of its own
    busy(archive, 0, 50)
    busy(archive, 1, 50)
    found = replayed(archive, tmp_path)
    assert found.matrix().tolist() == [[0, 1 + 8], [501 + 8, 0]]
    assert found.plain()["messages"] == 3
    assert found.finish_ns[0] == TRIP + 500 * BYTE + TRIP + 2 * 7 * BYTE + 10


def test_a_fence_waits_for_all_that_was_put_and_joins_the_ranks(tmp_path):
    archive = made(2)
    for rank in range(2):
        archive.call(rank, 0, 10, "MPI_Win_fence", ("window_end",))
    archive.call(0, 10, 20, "MPI_Put", ("put_bytes", 1, 8, 1), ("ended", 50, 1))
    archive.call(0, 20, 30, "MPI_Put", ("put_bytes", 1, 8, 2), ("ended", 50, 2))
    archive.call(1, 20, 40, "MPI_Win_fence", ("window_end",))
    archive.call(0, 30, 40, "MPI_Win_fence", ("window_end",))
    for rank in range(2):
        busy(archive, rank, 40)
    graph = read(archive.write(tmp_path))
    assert graph.collective[0] == 2 + 2 + 2  # two barriers, two answers
    assert graph.agent == 1
    mine = range(int(graph.first[1]))
    sends = [one for one in mine if graph.kind[one] == SEND]
    last = next(one for one in reversed(sends) if graph.cpu[one] == 0)  # of the second fence
    before = {
        int(one)
        for one in mine
        for edge in range(graph.start[one], graph.start[one + 1])
        if graph.to[edge] == last and not graph.after_start[edge]
    }
    answers = [one for one in mine if graph.cpu[one] == 1 and graph.kind[one] != SEND]
    assert before >= set(answers)
    assert len(answers) == 2


def test_groups_say_when_a_window_can_be_reached(tmp_path):
    archive = made(3, communicators=[("targets", [1, 2]), ("origin", [0])])
    archive.call(1, 0, 10, "MPI_Win_post", ("group_sync", 3))
    archive.call(2, 100_000, 100_010, "MPI_Win_post", ("group_sync", 3))
    archive.call(0, 0, 10, "MPI_Win_start", ("group_sync", 2))
    archive.call(0, 10, 20, "MPI_Put", ("put_bytes", 1, 8, 1))
    archive.call(0, 20, 30, "MPI_Win_complete", ("group_sync", 2))
    archive.call(1, 10, 20, "MPI_Win_wait", ("group_sync", 3))
    archive.call(2, 100_010, 100_020, "MPI_Win_wait", ("group_sync", 3))
    found = replayed(archive, tmp_path)
    assert set(found.graph.skipped) == {"communicators and windows made or freed"}
    assert found.matrix(messages=True).tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]
    assert found.finish_ns[1] > 100_000  # the origin waits for both of its targets


def test_what_comes_from_an_earlier_score_p_does_not_wait_in_the_get_itself(tmp_path):
    """It says in MPI_Get that the get ended."""
    archive = made(2)
    for number in range(10):
        at = 10 * number
        archive.call(0, at, at + 10, "MPI_Get",
                     ("get_bytes", 1, 8, number), ("ended", 49, number))  # fmt: skip
    archive.call(0, 100, 110, "MPI_Win_unlock", ("unlocked", 1))
    found = replayed(archive, tmp_path)
    assert TRIP < found.finish_ns[0] < 4 * TRIP


def test_puts_wait_for_no_receive_however_large(tmp_path):
    archive = made(2)
    for number in range(2):
        archive.call(0, 10 * number, 10 * number + 10, "MPI_Put", ("put_bytes", 1, 8, number))
    archive.call(0, 30, 40, "MPI_Win_unlock", ("unlocked", 1))
    found = dvsim.replay(archive.write(tmp_path), fabric="loggops", **(EXACT | {"S": 0}))
    first = OWN + LATENCY + OWN + 7 * BYTE  # meanwhile the second has come
    second = first + OWN + OWN + 7 * BYTE  # the agent answers the first before
    assert found.finish_ns[0] == second + OWN + LATENCY + OWN


@pytest.mark.parametrize("fabric", ["dv", "fdr"])
def test_they_go_over_every_fabric(fabric, tmp_path):
    archive = made(2)
    archive.call(0, 0, 10, "MPI_Put", ("put_bytes", 1, 1000, 1))
    archive.call(0, 10, 20, "MPI_Win_flush", ("ended", 52, 1))
    busy(archive, 1, 500_000)
    found = replayed(archive, tmp_path, fabric)
    assert 0 < found.finish_ns[0] < 50_000
    assert found.finish_ns[1] == 500_000


def test_numbers_of_a_rank_become_those_of_the_archive(tmp_path):
    archive = made(2, communicators=[("one", [1])])
    archive.windows = [1, 0]
    archive.events = [[], []]
    archive.call(0, 0, 10, "MPI_Put", ("put_bytes", 1, 8, 1, 5))
    archive.call(0, 20, 30, "MPI_Win_complete", ("group_sync", 9, 5))
    archive.call(1, 20, 30, "MPI_Win_wait", ("group_sync", 8, 1))
    archive.mapped(0, 8, {5: 1})
    archive.mapped(0, 4, {9: 2})
    archive.mapped(1, 4, {8: 3})
    archive.communicators.append(("zero", [0]))
    assert replayed(archive, tmp_path).matrix(messages=True).tolist() == [[0, 2], [1, 0]]


def test_threads_are_not_one_sided(tmp_path):
    archive = Otf2(1)
    archive.put(0, 5, 53, b"\x01\x02")  # ThreadFork
    archive.call(0, 10, 20, "MPI_Finalize")
    graph = read(archive.write(tmp_path))
    assert not graph.skipped
    assert graph.size[graph.kind == CALC].sum() == 5000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ("put_bytes", 5, 8, 1),
            r"0\.evt: rank 0: an operation on rank 5 of window 0, which has 2",
        ),
        (
            ("put_bytes", 1, 8, 1, 4),
            r"0\.evt: rank 0: an event is on window 4, which is not defined",
        ),
        (
            ("put_bytes", 1, 1 << 62, 1),
            r"0\.evt: rank 0: a one-sided operation of 4611686018427387904",
        ),
    ],
)
def test_what_is_wrong_is_named(call, message, tmp_path):
    archive = made(2)
    archive.call(0, 0, 10, "MPI_Put", call)
    with pytest.raises(ScenarioError, match=message):
        read(archive.write(tmp_path))


def test_operations_may_have_one_number(tmp_path):
    """Of an operation that has ended at this end the number can be used again."""
    archive = made(3)
    for other in (1, 2):
        archive.call(0, 0, 10, "MPI_Put", ("put_bytes", other, 8, 3), ("ended", 50, 3))
    archive.call(0, 10, 20, "MPI_Win_flush_all")
    busy(archive, 0, 30)
    graph = read(archive.write(tmp_path))
    before = {
        graph.told(one).partition(": ")[2].partition(",")[0]
        for one in range(int(graph.first[1]))
        for edge in range(graph.start[one], graph.start[one + 1])
        if graph.kind[graph.to[edge]] == CALC and not graph.after_start[edge]
    }
    assert before == {"recv 1 B from 1", "recv 1 B from 2"}


def test_who_waits_for_a_window_that_nobody_opens_is_named(tmp_path):
    archive = made(2, communicators=[("one", [1])])
    archive.call(0, 0, 10, "MPI_Win_start", ("group_sync", 2))
    with pytest.raises(RunFailed, match=r"rank 0, operation 0: recv 1 B from 1"):
        replayed(archive, tmp_path)


def test_a_repeated_program_keeps_its_agents(tmp_path):
    from dvsim.kinds.workload.model import repeated

    archive = made(2)
    archive.call(0, 0, 10, "MPI_Put", ("put_bytes", 1, 8, 1))
    archive.call(0, 10, 20, "MPI_Win_unlock", ("unlocked", 1))
    graph = read(archive.write(tmp_path))
    twice = repeated(graph, 2)
    assert (twice.agent, twice.collective[0]) == (1, 2 * graph.collective[0])
    assert np.array_equal(np.unique(twice.cpu), [0, 1])


def test_a_schedule_of_them_takes_as_long_when_it_is_read_again(tmp_path):
    archive = made(2)
    archive.call(0, 0, 10, "MPI_Get", ("get_bytes", 1, 501, 1))
    archive.call(0, 10, 20, "MPI_Win_flush", ("ended", 52, 1))
    found = replayed(archive, tmp_path)
    with (tmp_path / "again.goal").open("w") as file:
        write_goal(found.graph, file)
    again = dvsim.replay(tmp_path / "again.goal", fabric="loggops", **EXACT)
    assert again.graph.digest == found.graph.digest
    assert again.finish_ns == found.finish_ns


def test_the_package_reads_the_same_operations(tmp_path):
    otf2 = pytest.importorskip("otf2", reason="the oracle: pip install otf2")
    archive = made(2, communicators=[("one", [1])])
    archive.call(0, 0, 10, "MPI_Win_lock", ("locked", 1))
    archive.call(0, 10, 20, "MPI_Put", ("put_bytes", 1, 100, 7), ("ended", 50, 7))
    archive.call(0, 20, 30, "MPI_Get", ("get_bytes", 1, 2000, 8))
    archive.call(0, 30, 40, "MPI_Fetch_and_op", ("atomic", 1, 8, 16, 9))
    archive.call(0, 40, 50, "MPI_Win_unlock", ("ended", 52, 9), ("unlocked", 1))
    archive.call(1, 50, 60, "MPI_Win_post", ("group_sync", 2))
    for rank in range(2):
        archive.call(rank, 60, 70, "MPI_Win_fence", ("window_end",))
    anchor = archive.write(tmp_path)
    carried, seen = [], {}
    with otf2.reader.open(str(anchor)) as trace:
        for _, event in trace.events:
            name = type(event).__name__
            seen[name] = seen.get(name, 0) + name.startswith("Rma")
            if name in ("RmaPut", "RmaGet"):
                carried.append((event.remote, event.bytes))
            elif name == "RmaAtomic":
                carried.append((event.remote, event.bytes_sent + event.bytes_received))
    assert carried == [(1, 100), (1, 2000), (1, 24)]
    assert seen["RmaCollectiveEnd"] == 4
    assert seen["RmaAcquireLock"] == seen["RmaReleaseLock"] == seen["RmaGroupSync"] == 1
    graph = read(anchor)
    of_program = (graph.kind == SEND) & (graph.tag >= CARRIED_TAG)
    assert int(graph.size[of_program].sum()) == sum(size for _, size in carried)
