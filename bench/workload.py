"""How fast is a replay: operations per second in the core, beside the same engine in SimPy.

The program is an exchange with six neighbours on a ring of ranks, with a little computing between,
over LogGOPS with the numbers of LogGOPSim. Times to solution of both are printed: they need not be
equal, since SimPy has no turns at equal times. ``dvsim replay`` and ``smpirun -replay`` of SimGrid
take the same trace, from text to the answer; their models of the network are different.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
from rows import faster, row, seconds
from simgrid_replay import replay, run, smpirun, write_trace
from simpy_replay import SimpyReplay

from dvsim.core.replay import Costs, ReplayCore
from dvsim.kinds.workload.graph import CALC, RECV, SEND, Builder, Graph

NEIGHBOURS, RUNS = 6, 3
USUAL = Costs(2_500_000, 1_500_000, 1_000_000, 6_000_000, 0, 65_535)


def exchange(ranks: int, iterations: int) -> Graph:
    """Return a program in which each rank exchanges 1 KiB with its neighbours, again and again."""
    builder, rank, before = Builder(ranks, "exchange"), np.arange(ranks), None
    for tag in range(iterations):
        made = [builder.extend(rank, RECV, (rank + far) % ranks, 1024, tag)
                for far in range(1, NEIGHBOURS + 1)]  # fmt: skip
        made += [builder.extend(rank, SEND, (rank - far) % ranks, 1024, tag)
                 for far in range(1, NEIGHBOURS + 1)]  # fmt: skip
        work = builder.extend(rank, CALC, size=1_000_000)
        for one in made:
            builder.require_many(work, one)
            if before is not None:
                builder.require_many(one, before)
        before = work
    return builder.build()


def core_rate(graph: Graph) -> float:
    """Return operations per second of one core."""
    core = ReplayCore(graph, USUAL)
    started = process_time()
    core.run()
    taken = process_time() - started
    assert core.done == graph.operations
    return graph.operations / taken


def simpy_rate(graph: Graph) -> float:
    """Return the same of SimPy."""
    rival = SimpyReplay(graph, 2500, 1500, 1000, 6)
    started = process_time()
    end = rival.run()
    print(f"SimPy: {end / 1e6:.3f} ms of the program", flush=True)
    return graph.operations / (process_time() - started)


def beside_simgrid(ranks: int, iterations: int) -> None:
    """Print how long both commands take for a trace."""
    rival = smpirun(ranks)
    if rival is None:
        print("SimGrid: not installed", flush=True)
        return
    with tempfile.TemporaryDirectory(prefix="dvsim-bench-") as name:
        folder = Path(name)
        write_trace(folder, ranks, iterations)
        ours = [seconds(lambda: run(replay(), folder)) for _ in range(RUNS)]
        theirs = [seconds(lambda: run(rival, folder)) for _ in range(RUNS)]
    print(f"SimGrid's trace of {ranks} ranks: {min(ours):.2f} s, smpirun {min(theirs):.2f} s")
    faster(f"dvsim replay of a trace of {ranks} ranks", "smpirun -replay", ours, theirs)


def main() -> None:
    """Print the rates of programs of several sizes, and the ratio to SimPy."""
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for ranks in (64, 512, 4096):
        graph = exchange(ranks, max(1, 64 * iterations // ranks))
        rates = [core_rate(graph) for _ in range(RUNS)]
        print(f"{ranks:>5} ranks, {graph.operations:,} operations: {max(rates) / 1e6:.2f} M/s")
        each = [rate / 3e6 for rate in rates]
        row(f"replay of {ranks} ranks, operations/s", "3 M/s", max(each), "more", each)
    small = exchange(64, 10)
    ours, theirs = core_rate(small), simpy_rate(small)
    row("replay of 64 ranks, operations/s", "SimPy", ours / theirs, "more")
    for ranks in (64, 512):
        beside_simgrid(ranks, max(1, 64 * iterations // ranks // 2))


if __name__ == "__main__":
    main()
