"""One replication of a switch or network, and the tables of many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.errors import RunFailed
from dvsim.fabric.network import NetworkRun
from dvsim.fabric.switch import SwitchRun, replication_seed
from dvsim.kinds.switch.metrics import (
    CYLINDER_COLUMNS,
    HISTOGRAM_COLUMNS,
    RUN_COLUMNS,
    THEORY_COLUMNS,
)
from dvsim.kinds.switch.points import device_of, network_of, node_updates, traffic_of
from dvsim.kinds.switch.record import recorded
from dvsim.kinds.switch.spec import SwitchScenario
from dvsim.kinds.switch.theory import theory_of

if TYPE_CHECKING:
    from dvsim.kinds.study import Done

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Measured(NamedTuple):
    """One run: its metrics by name, notes, histograms, and by level and cylinder what it met."""

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


def measure(setting: SwitchScenario, seed: int, replication: int) -> Measured:
    """Run one replication of one point and measure it."""
    table, how = setting.traffic, dict[str, Any]()
    if setting.network is not None:
        how["fidelity"] = setting.network.fidelity
    seed = replication_seed(seed, replication - 1)
    try:
        offered = traffic_of(table)
        run = device_of(setting).run(offered, table.slots, table.warmup, seed, **how)
    except MemoryError as error:
        raise RunFailed(str(error)) from error
    flow = getattr(run, "error", None)  # a network at flow fidelity has one
    return Measured(
        metrics=metrics_of(run),
        fidelity="flow" if flow else "cycle",
        latency_error=flow.latency if flow else np.nan,
        throughput_error=flow.throughput if flow else np.nan,
        notes="; ".join(run.notes),
        hops=run.hops,
        latency=run.latency,
        blocked=np.atleast_2d(run.blocked),
        occupancy=np.atleast_2d(run.occupancy),
        node_updates=0 if flow else node_updates(setting),
    )


def metrics_of(run: SwitchRun | NetworkRun) -> dict[str, float]:
    """Return the metrics of a run by name, see `dvsim.kinds.switch.metrics.METRICS`."""
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


def tables_of(scenario: SwitchScenario, seed: int, runs: Sequence[Done]) -> dict[str, pd.DataFrame]:
    """Return what a result has beside its values."""
    events, queues = recorded(scenario, seed)
    return {
        "runs": _runs(runs),
        "histograms": _histograms(runs),
        "cylinders": _cylinders(runs),
        "theory": _theory(scenario),
        "events": events,
        "queues": queues,
    }


def slot_of(scenario: SwitchScenario) -> int | None:
    """Return how long a slot takes in picoseconds; None where the scenario does not say."""
    if scenario.switch is not None:
        return scenario.switch.slot_ps
    return None if scenario.network is None else network_of(scenario.network).slot_ps


def _runs(runs: Sequence[Done]) -> pd.DataFrame:
    said = list(RUN_COLUMNS)[2:]
    rows = [
        (run.point, run.replication, *(getattr(run.reading, name) for name in said)) for run in runs
    ]
    return pd.DataFrame(rows, columns=list(RUN_COLUMNS)).astype(dict(RUN_COLUMNS))


def _histograms(runs: Sequence[Done]) -> pd.DataFrame:
    parts = []
    for run in runs:
        for kind in ("hops", "latency"):
            counts = getattr(run.reading, kind)
            values = np.flatnonzero(counts)
            where = {"point": run.point, "replication": run.replication, "kind": kind}
            parts.append(pd.DataFrame({**where, "value": values, "packets": counts[values]}))
    return pd.concat(parts, ignore_index=True).astype(dict(HISTOGRAM_COLUMNS))


def _cylinders(runs: Sequence[Done]) -> pd.DataFrame:
    rows = []
    for run in runs:
        blocked, occupancy = run.reading.blocked, run.reading.occupancy
        levels, cylinders = occupancy.shape
        for level in range(levels):
            for cylinder in range(cylinders):
                inner = cylinder == cylinders - 1
                share = np.nan if inner else blocked[level, cylinder]
                where = (run.point, run.replication, level, cylinder)
                rows.append((*where, share, occupancy[level, cylinder]))
    return pd.DataFrame(rows, columns=list(CYLINDER_COLUMNS)).astype(dict(CYLINDER_COLUMNS))


def _theory(scenario: SwitchScenario) -> pd.DataFrame:
    rows = [
        (point, name, metric, value)
        for point in range(len(scenario.points))
        for name in scenario.compare
        for metric, value in theory_of(name, scenario.at(point))
    ]
    return pd.DataFrame(rows, columns=list(THEORY_COLUMNS)).astype(dict(THEORY_COLUMNS))
