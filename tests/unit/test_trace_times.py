"""Is only that computing which a rank computed: neither a late beginning nor MPI_Finalize?"""

import pytest
from dumpi_writer import INT, WORLD, Dumpi
from otf2_writer import Otf2
from trace_files import laid

import dvsim
from dvsim.kinds.workload.fit import measurements
from dvsim.kinds.workload.session import replays

CALLS = (
    [("Init", 0, 100), ("Send", 1100, 1200), ("Finalize", 1300, 60_000)],
    [("Init", 7000, 7100), ("Recv", 7200, 7300), ("Finalize", 7400, 9000)],
)
"""Of two ranks: names, begins and ends in ns; the second begins late, the first ends late."""


def otf2(folder):
    archive = Otf2(2)
    for rank, calls in enumerate(CALLS):
        for name, begin, end in calls:
            events = {"Send": [("send", 1, 8)], "Recv": [("recv", 0, 8)]}.get(name, [])
            archive.call(rank, begin, end, f"MPI_{name}", *events)
    return archive.write(folder)


def dumpi(folder):
    files = {}
    for rank, calls in enumerate(CALLS):
        one = Dumpi()
        message = (2, INT, 1 - rank, 0, WORLD)
        arguments = {"Init": ([b"p"],), "Send": message, "Recv": (*message, [(8, 0, 0)])}
        for name, begin, end in calls:
            one.call(name, begin, end, *arguments.get(name, ()))
        files[f"run-{rank:04d}.bin"] = one.data()
    return laid(folder, files)


def liballprof(folder):
    files = {}
    for rank, calls in enumerate(CALLS):
        message = f"64:2:1,4,4:{1 - rank}:0:91,{rank},2" + ":0" * rank
        middle = {"Init": "0:0", "Send": message, "Recv": message, "Finalize": "0"}
        lines = [f"MPI_{name}:{begin / 1000}:{middle[name]}:{end / 1000}\n".replace(
                     "Init:0.0", "Init:-") for name, begin, end in calls]  # fmt: skip
        text = "# clockdiff: 0.0 s (relative to rank 0)\n" + "".join(lines)
        files[f"pmpi-trace-rank-{rank}.txt"] = text.encode()
    return laid(folder, files)


@pytest.mark.parametrize(
    ("write", "computed", "traced"),
    [(otf2, 300, 60_000), (dumpi, 300, 60_000), (liballprof, 200, 59_900)],
)
def test_late_ranks_wait_and_nothing_comes_after_mpi_finalize(write, computed, traced, tmp_path):
    trace = write(tmp_path)
    found = dvsim.replay(trace, "loggops", o="150 ns", L="500 ns")
    plain = found.plain()
    assert plain["traced_ns"] == traced
    assert plain["parts_ns"]["compute"] == computed
    assert plain["parts_ns"]["wait"] == 7000
    assert plain["time_ns"] == 7000 + computed + 150 + 7 * 6  # its message was there long before
    (measured,) = measurements(trace)
    assert measured.time_ns == pytest.approx(traced - 60_000 + 7400)
    (slow,) = replays(trace, "loggops", {}, straggler="1:3")
    assert slow.plain()["parts_ns"]["wait"] == 7000
    assert slow.plain()["parts_ns"]["compute"] == 3 * computed
    none = dvsim.replay(trace, "loggops", o="150 ns", L="500 ns", compute="zero").plain()
    assert none["parts_ns"]["compute"] == none["parts_ns"]["wait"] == 0
    assert none["time_ns"] == 150 + 500 + 150 + 7 * 6
