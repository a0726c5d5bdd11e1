"""Backend "switch": the points of a scenario of a switch or network, each with its replications.

A run depends on nothing but the tables of its point and its own seed, and the tables of results
are put together in the order of points and replications; so the bytes are the same for any number
of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.backends.pool import pooled
from dvsim.backends.record import recorded
from dvsim.backends.theory import theory_of
from dvsim.errors import RunFailed
from dvsim.results.study import (
    CYLINDER_COLUMNS,
    HISTOGRAM_COLUMNS,
    METRICS,
    POINT_COLUMNS,
    THEORY_COLUMNS,
)
from dvsim.scenario.switch_points import arguments_of, device_of, network_of, nodes_of
from dvsim.scenario.switch_types import Setting, SwitchScenario
from dvsim.switch import replication_seed

if TYPE_CHECKING:
    from dvsim.network import NetworkRun
    from dvsim.switch import SwitchRun

OnTask = Callable[[str, int, int], None]

SMALL = 2 * 10**7  # node updates; runs of fewer share a task
QUICK = 5 * 10**8  # node updates of all runs; fewer are done before a process has started

OWN = [name for name in POINT_COLUMNS if name not in METRICS]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Tables(NamedTuple):
    """What comes out of one scenario, see `dvsim.results.study`; `work_s` is added up."""

    points: pd.DataFrame
    histograms: pd.DataFrame
    cylinders: pd.DataFrame
    theory: pd.DataFrame
    events: pd.DataFrame
    queues: pd.DataFrame
    work_s: float
    node_updates: int
    slot_ps: int | None


class Task(NamedTuple):
    """Some replications of one point."""

    name: str
    setting: Setting
    point: int
    seed: int
    replications: tuple[int, ...]


class Measured(NamedTuple):
    """One run: its metrics by name, notes, histograms, and by level and cylinder what it met."""

    point: int
    replication: int
    metrics: dict[str, float]
    fidelity: str
    latency_error: float
    throughput_error: float
    notes: str
    hops: Ints
    latency: Ints
    blocked: Floats
    occupancy: Floats
    node_updates: int
    work_s: float


def study(
    scenarios: Sequence[SwitchScenario],
    *,
    seed: int = 1,
    replications: int = 10,
    workers: int = 1,
    on_task: OnTask | None = None,
) -> Generator[Tables, None, None]:
    """Run all points of scenarios and yield the tables of each, in order.

    Closing the generator ends its worker processes.

    Parameters
    ----------
    scenarios
        What to run.
    seed, replications
        Replication 1 .. `replications` of `seed`; the points share their random numbers.
    workers
        Processes; 1 runs in this one, and so do a few quick runs.
    on_task
        Called in this process with the name of a scenario, runs and node updates, for progress.

    Raises
    ------
    RunFailed
        If a switch does not fit in memory, or a worker dies.
    """
    groups = [list(_tasks(scenario, seed, replications)) for scenario in scenarios]
    todo = sum(
        _node_updates(task.setting) * len(task.replications) for group in groups for task in group
    )
    with closing(pooled(run_task, groups, workers if todo > QUICK else 1)) as results:
        for scenario, done in zip(scenarios, results, strict=True):
            runs: list[Measured] = []
            for measured in done:
                runs += measured
                if on_task:
                    updates = sum(run.node_updates for run in measured)
                    on_task(scenario.name, len(measured), updates)
            yield _gather(scenario, seed, runs)


def run_task(task: Task) -> list[Measured]:
    """Run one task; what a worker process does."""
    try:
        return [
            measure(task.setting, task.seed, task.point, replication)
            for replication in task.replications
        ]
    except MemoryError as error:
        raise RunFailed(f"{task.name}: {error}") from error


def measure(setting: Setting, seed: int, point: int, replication: int) -> Measured:
    """Run one replication of one point and measure it.

    Raises
    ------
    MemoryError
        If it does not fit in memory; said before anything is allocated.
    """
    started = time.perf_counter()
    run = run_once(setting, replication_seed(seed, replication - 1))
    error = getattr(run, "error", None)  # a network at flow fidelity has one
    return Measured(
        point=point,
        replication=replication,
        metrics=metrics_of(run),
        fidelity="flow" if error else "cycle",
        latency_error=error.latency if error else np.nan,
        throughput_error=error.throughput if error else np.nan,
        notes="; ".join(run.notes),
        hops=run.hops,
        latency=run.latency,
        blocked=np.atleast_2d(run.blocked),
        occupancy=np.atleast_2d(run.occupancy),
        node_updates=0 if error else _node_updates(setting),
        work_s=time.perf_counter() - started,
    )


def run_once(setting: Setting, seed: int) -> SwitchRun | NetworkRun:
    """Run the switch or network of a point."""
    device = device_of(setting)
    how: dict[str, Any] = arguments_of(setting.traffic)
    if setting.network is not None:
        how["fidelity"] = setting.network.fidelity
    load = how.pop("load")
    return device.run(load, setting.traffic.slots, setting.traffic.warmup, seed, **how)


def metrics_of(run: SwitchRun | NetworkRun) -> dict[str, float]:
    """Return the metrics of a run by name, see `dvsim.results.study.METRICS`."""
    blocked = np.atleast_2d(run.blocked)
    some = int(run.latency.sum()) > 0
    return {
        "offered": float(run.offered),
        "accepted": float(run.accepted),
        "delivered": float(run.delivered),
        "lost": float(run.lost),
        "refused": float(run.refused),
        "throughput": run.throughput,
        "acceptance": run.acceptance,
        "mean_hops": run.mean_hops,
        "mean_latency": run.mean_latency,
        "p50": float(run.quantile(0.5)) if some else np.nan,
        "p99": float(run.quantile(0.99)) if some else np.nan,
        "max": float(np.flatnonzero(run.latency)[-1]) if some else np.nan,
        "blocked": float(blocked.mean()),
        "in_flight": float(run.in_flight),
        "waiting": float(run.waiting),
    }


def _node_updates(setting: Setting) -> int:
    return nodes_of(setting) * (setting.traffic.slots + setting.traffic.warmup)


def _tasks(scenario: SwitchScenario, seed: int, replications: int) -> Iterator[Task]:
    """Yield the runs of a scenario; many small ones share a task, since each has its overhead."""
    numbers = tuple(range(1, replications + 1))
    for point in range(len(scenario.points)):
        setting = scenario.at(point)
        size = max(1, SMALL // max(1, _node_updates(setting)))
        for first in range(0, replications, size):
            chosen = numbers[first : first + size]
            yield Task(scenario.name, setting, point, seed, chosen)


def _gather(scenario: SwitchScenario, seed: int, runs: Sequence[Measured]) -> Tables:
    by_point = [
        [run for run in runs if run.point == point] for point in range(len(scenario.points))
    ]
    events, queues = recorded(scenario, seed)
    slot_ps: int | None = None
    if scenario.setting.switch is not None:
        slot_ps = scenario.setting.switch.slot_ps
    elif scenario.setting.network is not None:
        slot_ps = network_of(scenario.setting.network).slot_ps
    return Tables(
        points=_points(runs),
        histograms=_histograms(by_point),
        cylinders=_cylinders(by_point),
        theory=_theory(scenario),
        events=events,
        queues=queues,
        work_s=sum(run.work_s for run in runs),
        node_updates=sum(run.node_updates for run in runs),
        slot_ps=slot_ps,
    )


def _points(runs: Sequence[Measured]) -> pd.DataFrame:
    rows = [run.metrics | {name: getattr(run, name) for name in OWN} for run in runs]
    return pd.DataFrame(rows, columns=list(POINT_COLUMNS)).astype(dict(POINT_COLUMNS))


def _histograms(by_point: Sequence[Sequence[Measured]]) -> pd.DataFrame:
    parts = []
    for point, runs in enumerate(by_point):
        for kind in ("hops", "latency"):
            counts = _sum([getattr(run, kind) for run in runs])
            values = np.flatnonzero(counts)
            columns = {"point": point, "kind": kind, "value": values, "packets": counts[values]}
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True).astype(dict(HISTOGRAM_COLUMNS))


def _sum(histograms: Sequence[Ints]) -> Ints:
    total = np.zeros(max(one.size for one in histograms), dtype=np.int64)
    for one in histograms:
        total[: one.size] += one
    return total


def _cylinders(by_point: Sequence[Sequence[Measured]]) -> pd.DataFrame:
    rows = []
    for point, runs in enumerate(by_point):
        blocked = np.mean([run.blocked for run in runs], axis=0)
        occupancy = np.mean([run.occupancy for run in runs], axis=0)
        levels, cylinders = occupancy.shape
        for level in range(levels):
            for cylinder in range(cylinders):
                inner = cylinder == cylinders - 1
                share = np.nan if inner else blocked[level, cylinder]
                rows.append((point, level, cylinder, share, occupancy[level, cylinder]))
    return pd.DataFrame(rows, columns=list(CYLINDER_COLUMNS)).astype(dict(CYLINDER_COLUMNS))


def _theory(scenario: SwitchScenario) -> pd.DataFrame:
    rows = [
        (point, name, metric, value)
        for point in range(len(scenario.points))
        for name in scenario.compare
        for metric, value in theory_of(name, scenario.at(point))
    ]
    return pd.DataFrame(rows, columns=list(THEORY_COLUMNS)).astype(dict(THEORY_COLUMNS))
