"""From the tables of a point to its replay; a trace is read once and kept while it is used."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dvsim.kinds.workload.collectives import Collectives
from dvsim.kinds.workload.fabrics import Chosen, choose
from dvsim.kinds.workload.graph import Builder, Graph
from dvsim.kinds.workload.readers import read
from dvsim.kinds.workload.replay import Replay, places_of, prepared, replay_graph
from dvsim.kinds.workload.scenario import WorkloadScenario
from dvsim.kinds.workload.skeletons import Skeleton
from dvsim.scenario.bounds import SEED

KEPT = 4  # traces


def digest_of(path: Path, table: Collectives) -> str:
    """Return the digest of what a trace holds, read anew if the file has changed."""
    return _read(str(path), _state(path), table).digest


def trace_of(scenario: WorkloadScenario) -> Path | None:
    """Return the path of the trace of a scenario; None where it has a skeleton."""
    name = scenario.program.trace
    return None if name is None else Path(scenario.path).parent / name


def is_there(scenario: WorkloadScenario) -> bool:
    """Return whether the program can be had; of a kept result the trace may be gone."""
    path = trace_of(scenario)
    return path is None or path.exists()


def graph_of(scenario: WorkloadScenario) -> Graph:
    """Return the operations of the trace or the skeleton of a scenario."""
    path = trace_of(scenario)
    if path is not None:
        return _read(str(path), _state(path), scenario.algorithms)
    assert scenario.skeleton is not None  # one of the two is there
    return _laid(scenario.skeleton, scenario.algorithms)


def _state(path: Path) -> tuple[tuple[str, int, int], ...]:
    inside = path if path.is_dir() else path.with_suffix("")  # of OTF2
    files = [path, *inside.rglob("*"), *(() if path.is_dir() else path.parent.iterdir())]
    states = ((file, file.stat()) for file in files if file.is_file())
    return tuple((str(file), status.st_ctime_ns, status.st_size) for file, status in states)


@lru_cache(maxsize=KEPT)
def _read(path: str, state: tuple[tuple[str, int, int], ...], table: Collectives) -> Graph:
    return read(path, table=table)


@lru_cache(maxsize=1)
def _laid(skeleton: Skeleton, table: Collectives) -> Graph:
    return skeleton.graph(table)


def fabric_of(scenario: WorkloadScenario) -> Chosen:
    """Return the fabric of a point."""
    fabric = scenario.fabric
    return choose(fabric.network, scenario.settings, graph_of(scenario).ranks, fabric.faults)


def placed(scenario: WorkloadScenario, fabric: Chosen, seed: int) -> npt.NDArray[np.int32]:
    """Return the port of each rank."""
    return places_of(graph_of(scenario), fabric, scenario.program.placement, seed)


def replayed(scenario: WorkloadScenario, seed: int, replication: int) -> Replay:
    """Run one replication of a point."""
    program = scenario.program
    slow = None if program.straggler is None else (program.straggler, program.slowdown)
    graph = prepared(graph_of(scenario), program.compute_scale, slow)
    fabric = fabric_of(scenario)
    graph = repeated(graph, program.repeat)
    return replay_graph(graph, fabric, program.placement, (seed * 1_000_003 + replication) & SEED)


def repeated(graph: Graph, times: int) -> Graph:
    """Return a program that is run several times; a rank begins anew when all of it has ended."""
    if times == 1:
        return graph
    builder = Builder(graph.ranks, graph.name, graph.files)
    builder.skipped, builder.assumed = dict(graph.skipped), dict.fromkeys(graph.assumed)
    builder.tags, builder.eager = graph.tags, graph.eager
    builder.expanded, builder.agent = graph.expanded, graph.agent
    rank = np.repeat(np.arange(graph.ranks), np.diff(graph.first))
    source = np.repeat(np.arange(graph.operations), np.diff(graph.start))
    first = np.ones(graph.operations, dtype=bool)
    first[graph.to] = False
    ended = np.ones(graph.operations, dtype=bool)
    ended[source[graph.after_start == 0]] = False
    between: npt.NDArray[np.int64] | None = None
    for _ in range(times):
        made = builder.extend(
            rank, graph.kind, graph.peer, graph.size, graph.tag,
            cpu=graph.cpu, nic=graph.nic, line=graph.line,
        )  # fmt: skip
        for started in (0, 1):
            edges = graph.after_start == started
            builder.require_many(made[graph.to[edges]], made[source[edges]], started=bool(started))
        if between is not None:
            builder.require_many(made[first], between[rank[first]])
        between = builder.extend(np.arange(graph.ranks), 0)
        builder.require_many(between[rank[ended]], made[ended])
    return builder.build()
