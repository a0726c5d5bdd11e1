"""How large a replay may be: a multigrid over a network word by word, and a halo of 4,096 ranks.

The multigrid stands for the trace of AMG on 27 ranks: cycles over levels of a grid, on each of
which a rank exchanges with its 26 neighbours, twice, and a sum over all at the end of a cycle. Its
calls are read from a GOAL schedule of as many bytes as that trace has, or more.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from rows import row

from dvsim.kinds.workload.fabrics import choose
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.readers.goal import write_goal
from dvsim.kinds.workload.replay import replay_graph
from dvsim.kinds.workload.skeletons import Halo3d26

SIDE, CELLS, LEVELS, WORD = 3, 20, 5, 8
LIMIT_S, LIMIT_BYTES = 60, 2 << 30
NS = 1000


def multigrid(cycles: int) -> Program:
    """Return the calls of 27 ranks."""
    program = Program(SIDE**3, "multigrid")
    places = list(product(range(SIDE), repeat=3))
    for rank, place in enumerate(places):
        for number in range(cycles):
            for step in range(2 * LEVELS - 1):
                level = min(step, 2 * LEVELS - 2 - step)
                cells = max(1, CELLS >> level)
                program.compute(rank, cells**3 * 2 * NS)
                for turn in range(2):
                    _exchange(program, rank, place, cells, (number * 20 + step) * 2 + turn)
            program.collective(rank, "allreduce", 2 * WORD)
    return program


def _exchange(program: Program, rank: int, place: tuple[int, ...], cells: int, tag: int) -> None:
    requests = []
    for way in product((-1, 0, 1), repeat=3):
        other = tuple(one + step for one, step in zip(place, way, strict=True))
        if not any(way) or min(other) < 0 or max(other) >= SIDE:
            continue
        peer = (other[0] * SIDE + other[1]) * SIDE + other[2]
        size = WORD * cells ** way.count(0)
        program.recv(rank, peer, size, tag, request=("in", way))
        program.send(rank, peer, size, tag, request=("out", way))
        requests += [("in", way), ("out", way)]
    program.wait(rank, requests)


def main() -> None:
    """Print how long each takes, of 60 s, and the most memory, of 2 GiB."""
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    with tempfile.TemporaryDirectory(prefix="dvsim-bench-") as folder:
        path = Path(folder) / "multigrid.goal"
        with path.open("w", encoding="ascii") as file:
            write_goal(multigrid(cycles).graph(), file)
        size, started = path.stat().st_size, time.perf_counter()
        found = replay_graph(read(path), choose("dv205", {"fidelity": "cycle"}, SIDE**3))
    taken = time.perf_counter() - started
    print(f"multigrid: {size / 1e6:.1f} MB of schedule, {found.graph.messages:,} messages, "
          f"{found.graph.bytes / 1e6:.0f} MB; {found.time_ns / 1e6:.3f} ms of the program in "
          f"{taken:.1f} s", flush=True)  # fmt: skip
    row("27 ranks of a multigrid over dv205, word by word", f"{LIMIT_S} s", taken / LIMIT_S, "less")
    started = time.perf_counter()
    halo = Halo3d26(ranks=4096, nx=20, ny=20, nz=20, iterations=10).graph()
    found = replay_graph(halo, choose("dv212", {}, 4096))
    taken = time.perf_counter() - started
    print(f"halo3d26: {found.graph.messages:,} messages in {taken:.1f} s", flush=True)
    row("4,096 ranks of halo3d26 over dv212", f"{LIMIT_S} s", taken / LIMIT_S, "less")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    row("both, memory", "2 GiB", most / LIMIT_BYTES, "less")


if __name__ == "__main__":
    main()
