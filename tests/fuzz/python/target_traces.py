"""Traces of programs, in each format: whatever is in their files, a graph or a clear refusal."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from case_changes import mutated
from case_files import Files
from targets import Target

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "unit"))
import chakra_writer
import dumpi_writer
import otf2_writer

from dvsim.errors import DvsimError
from dvsim.kinds.workload.readers import read

FOLDER = "--"  # stands for a slash in the names of files
SIMGRID = (
    b"0 init\n0 compute 5e6\n0 isend 1 3 100 1\n0 wait 0 1 3\n0 allreduce 10 1e3\n"
    b"0 alltoallv 3 1 2 3 1 2\n0 reducescatter 1 2 5 0\n0 finalize\n",
    b"1 init\n1 irecv 0 3 100 1\n1 waitall\n1 allreduce 10 1e3\n"
    b"1 alltoallv 3 1 2 3 1 2\n1 reducescatter 1 2 5 0\n1 finalize\n",
)
ALLPROF = (
    b"MPI_Init:-:0:0:10\nMPI_Isend:20:1:5:2,4,4:1:9:1,0,2:64:21\nMPI_Wait:30:64:0:31\n"
    b"MPI_Allgatherv:40:1:3:2,4,4:2:8:3,4:8:0,3:2,4,4:1,0,2:50\nMPI_Finalize:60:61\n",
    b"MPI_Init:-:0:0:11\nMPI_Recv:20:1:5:2,4,4:-1:9:1,1,2:0:33\n"
    b"MPI_Allgatherv:40:1:4:2,4,4:2:8:3,4:8:0,3:2,4,4:1,1,2:50\nMPI_Finalize:60:61\n",
)
JSONIZED = {
    f"a.{rank}.json": b'{"version": "0.0.4"}{"id": "1", "type": "COMP_NODE", "durationMicros": "3"}'
    b'{"id": "2", "type": "COMM_%s_NODE", "ctrlDeps": ["1"], "attr": [{"name": "comm_%s", '
    b'"int32Val": %d}, {"name": "comm_size", "int64Val": "64"}]}' % (what, peer, 1 - rank)
    for rank, what, peer in ((0, b"SEND", b"dst"), (1, b"RECV", b"src"))
}
ASTRA = {
    f"a.{rank}.et": b'{"workload_graph": [{"Id": 0, "NodeType": 4, "runtime": 5, "data_deps": []}, '
    b'{"Id": 1, "NodeType": 7, "comm_type": 0, "comm_size": 80, "data_deps": [0]}]}'
    for rank in range(2)
}
GOAL = (
    b"num_ranks 2\nrank 0 {\na: calc 100 cpu 1\nb: send 9b to 1 tag 3 cpu 1 nic 1 // on port 1\n"
    b"b requires a\n}\nrank 1 {\nc: recv 9b from -1 tag -1\nd: calc 5\nd irequires c\n}\n",
)


def read_trace(files: Files, folder: Path) -> str:
    """Read a folder, or its one file; return what came out, a graph that can be replayed."""
    for name, data in files.items():
        path = folder / name.replace(FOLDER, "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    graph = read(path if len(files) == 1 else folder)
    assert graph.ranks == graph.first.size - 1
    assert (graph.size >= 0).all()
    assert (np.diff(graph.start) >= 0).all()
    assert graph.to.size == graph.start[-1]
    kinds = np.bincount(graph.kind, minlength=3).tolist()
    return f"{graph.ranks} ranks, {kinds}, skipped {sorted(graph.skipped)}"


def _otf2() -> list[Files]:
    archives = [
        otf2_writer.stencil(2, 1),
        otf2_writer.stencil(3, 2, order="big", chunk=300, resolution=10**6),
    ]
    last = otf2_writer.Otf2(2, communicators=[("odd", [1])])
    for rank in range(2):
        last.call(rank, 0, 5, "MPI_Iallreduce", ("icollective", 3))
        last.call(rank, 5, 9, "MPI_Wait", ("icollected", "allreduce", 16, 16, 3))
        last.call(rank, 9, 12, "MPI_Comm_split")
        last.mapped(rank, 6, {4: 0})
        last.offsets(rank, (0, 3), (9, -5))
    windows = otf2_writer.Otf2(2, communicators=[("odd", [1])], windows=[0])
    windows.call(0, 0, 5, "MPI_Put", ("put_bytes", 1, 8, 3), ("ended", 50, 3))
    windows.call(0, 5, 9, "MPI_Fetch_and_op", ("atomic", 1, 8, 8, 4))
    windows.call(0, 9, 12, "MPI_Win_start", ("group_sync", 2))
    windows.call(1, 0, 12, "MPI_Win_post", ("group_sync", 2), ("locked", 0), ("unlocked", 0))
    for rank in range(2):
        windows.call(rank, 12, 15, "MPI_Win_fence", ("window_end",))
    threads = otf2_writer.Otf2(2, windows=[0], threads=[1])
    threads.call(0, 0, 5, "MPI_Win_lock_all", ("locked", otf2_writer.NONE))
    threads.call(0, 5, 9, "MPI_Win_unlock_all", ("unlocked", otf2_writer.NONE))
    threads.call(1, 6, 9, "MPI_Win_lock", ("locked", 0), ("unlocked", 0))
    threads.call(2, 7, 9, "MPI_Send", ("send", 0, 8))
    threads.call(0, 10, 12, "MPI_Recv", ("recv", 1, 8))
    return [
        {name.replace("/", FOLDER): data for name, data in one.files().items()}
        for one in (*archives, last, windows, threads)
    ]


def _named(names: Sequence[str], texts: Sequence[bytes]) -> Callable[[], list[Files]]:
    return lambda: [dict(zip(names, texts, strict=True))]


def _target(seeds: Callable[[], Sequence[Files]]) -> Target:
    return Target(seeds, read_trace, (DvsimError,), mutated)


TARGETS = {
    "otf2": _target(_otf2),
    "dumpi": _target(lambda: [dumpi_writer.exchange(2), dumpi_writer.exchange(3)]),
    "chakra": _target(lambda: [chakra_writer.training(2), chakra_writer.training(3)]),
    "chakra-json": _target(lambda: [JSONIZED, ASTRA]),
    "simgrid": _target(_named(("ti0.txt", "ti1.txt"), SIMGRID)),
    "goal": _target(_named(("program.goal",), GOAL)),
    "goal-packed": _target(lambda: [{"program.goal.gz": gzip.compress(GOAL[0], mtime=0)}]),
    "liballprof": _target(_named(("rank-0.txt", "rank-1.txt"), ALLPROF)),
}
