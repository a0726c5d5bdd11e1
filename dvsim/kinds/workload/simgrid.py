"""SimGrid, which replays a program over rivals at flow level: links that are shared, no packets.

The operations of a trace become time-independent traces for ``smpirun -replay``, which the
distribution has (``libsimgrid-dev``).

    python -m dvsim.kinds.workload.simgrid TRACE [FABRIC,... [RATE [LATENCY]]]
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from heapq import heapify, heappop, heappush
from pathlib import Path

import numpy as np

from dvsim.errors import DvsimError, RunFailed, ScenarioError, nearest
from dvsim.fabric.topology.factors import factors
from dvsim.kinds.workload.graph import ANY, CALC, RECV, SEND, Graph

FABRICS = {"cluster": 1, "fattree": 2, "torus": 3, "dragonfly": 4}
"""The topologies, and into how many factors their ports fall."""
BYTE = 6  # MPI_BYTE, as SimGrid numbers data types
RATE, LATENCY = "6.8GBps", "100ns"
"""Of each link: assumed, the data rate of FDR InfiniBand and what a short cable takes."""


def sides_of(fabric: str, ranks: int) -> list[int]:
    """Return the sides of the smallest topology that has room for so many ranks."""
    count, ports = FABRICS[fabric], ranks
    while (sides := factors(ports, count, 2 if count > 1 else 1)) is None:
        ports += 1
    return sides


def platform(fabric: str, sides: list[int], rate: str = RATE, latency: str = LATENCY) -> str:
    """Return a topology as SimGrid reads it."""
    a, b, c, d = (*sides, 1, 1, 1)[:4]
    shape = {
        "cluster": "",
        "fattree": f'topology="FAT_TREE" topo_parameters="2;{a},{b};1,{a};1,1"',
        "torus": f'topology="TORUS" topo_parameters="{a},{b},{c}"',
        "dragonfly": f'topology="DRAGONFLY" topo_parameters="{a},1;{b},1;{c},1;{d}"',
    }[fabric]
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{int(np.prod(sides)) - 1}" speed="1Gf"
   bw="{rate}" lat="{latency}" {shape}/>
</platform>
"""


def trace_lines(graph: Graph) -> list[str]:
    """Return a program as SimGrid's actions.

    What a rank does at once in several processors it does one after the other here; messages go on
    beside. Each message has a tag of its own, so that it meets the receive that MPI gives it.

    Raises:
        ScenarioError: If a receive takes any message: only a run says which.
    """
    if ((graph.kind == RECV) & ((graph.peer == ANY) | (graph.tag == ANY))).any():
        raise ScenarioError.at(graph.name, "has receives of any rank or tag, SimGrid needs one")
    source = np.repeat(np.arange(graph.operations), np.diff(graph.start))
    lines: list[str] = []
    seen: Counter[tuple[int, int, int, int]] = Counter()
    tags: dict[tuple[int, int, int, int], int] = {}
    for rank in range(graph.ranks):
        first, last = int(graph.first[rank]), int(graph.first[rank + 1])
        edges = slice(int(graph.start[first]), int(graph.start[last]))
        waits: dict[int, list[int]] = {number: [] for number in range(first, last)}
        left, behind = dict.fromkeys(waits, 0), {number: list[int]() for number in waits}
        columns = (source[edges], graph.to[edges], graph.after_start[edges])
        for before, after, started in zip(*(one.tolist() for one in columns), strict=True):
            left[after] += 1
            behind[before].append(after)
            if not started:
                waits[after].append(before)
        ready = [number for number, count in left.items() if not count]
        heapify(ready)
        pending: dict[int, str] = {}
        lines.append(f"{rank} init")
        while ready:
            number = heappop(ready)
            lines += [pending.pop(before) for before in waits[number] if before in pending]
            kind, size = int(graph.kind[number]), int(graph.size[number])
            if kind == CALC:
                lines.append(f"{rank} compute {size / 1000:.3f}")  # flops at 1 Gflop/s
            else:
                peer, tag = int(graph.peer[number]), int(graph.tag[number])
                ends = (rank, peer) if kind == SEND else (peer, rank)
                own = tags.setdefault((*ends, tag, seen[kind, *ends, tag]), len(tags))
                seen[kind, *ends, tag] += 1
                verb = "isend" if kind == SEND else "irecv"
                lines.append(f"{rank} {verb} {peer} {own} {size} {BYTE}")
                pending[number] = f"{rank} wait {ends[0]} {ends[1]} {own}"
            for after in behind[number]:
                left[after] -= 1
                if not left[after]:
                    heappush(ready, after)
        lines += [*pending.values(), f"{rank} finalize"]
    return lines


def replay_time(graph: Graph, fabric: str, rate: str = RATE, latency: str = LATENCY) -> float:
    """Return how many seconds a program takes over a topology.

    Raises:
        RunFailed: If SimGrid is not there, fails, or says no time; what it said is kept.
    """
    found = shutil.which("smpirun")
    if found is None:
        raise RunFailed("this needs smpirun of SimGrid; get it by `apt-get install libsimgrid-dev`")
    folder = Path(tempfile.mkdtemp(prefix="dvsim-simgrid-"))
    lines = trace_lines(graph)
    sides = sides_of(fabric, graph.ranks)
    hosts = "".join(f"n{rank}\n" for rank in range(graph.ranks))
    for name, text in (("trace.txt", "\n".join(lines) + "\n"), ("list", "trace.txt\n"),
                       ("platform.xml", platform(fabric, sides, rate, latency)),
                       ("hosts", hosts)):  # fmt: skip
        (folder / name).write_text(text, "ascii")
    command = [found, "-no-privatize", "-replay", "list", "-np", str(graph.ranks),
               "-platform", "platform.xml", "-hostfile", "hosts"]  # fmt: skip
    said = folder / "output.txt"
    with said.open("w") as output:
        done = subprocess.run(command, cwd=folder, stdout=output, stderr=output, check=False)
    told = re.search(r"Simulation time (\d+\.?\d*(?:e-?\d+)?)", said.read_text())
    if done.returncode or told is None:
        raise RunFailed(f"{found} failed with exit code {done.returncode}; see {said}")
    shutil.rmtree(folder, ignore_errors=True)
    return float(told[1])


def main() -> None:
    """Print the time of a trace over each topology."""
    from dvsim.kinds.workload.readers import read

    if len(sys.argv) < 2:
        sys.exit(str(__doc__))
    _, trace, *more = sys.argv
    try:
        graph = read(Path(trace))
        for fabric in more[0].split(",") if more else FABRICS:
            if fabric not in FABRICS:
                message = f"no such fabric '{fabric}'; there are {', '.join(FABRICS)}"
                raise ScenarioError.at("fabric", message, hint=nearest(fabric, list(FABRICS)))
            sides = "x".join(map(str, sides_of(fabric, graph.ranks)))
            print(f"{fabric} {sides}: {replay_time(graph, fabric, *more[1:3]) * 1e6:.1f} us")
    except DvsimError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
