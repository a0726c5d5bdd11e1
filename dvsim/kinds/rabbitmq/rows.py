"""The rows of a run of a system, and the few numbers that it comes down to.

Rows are statistics of the columns (``messages.mean``), the rate of the system, and in each
iteration what components counted. The few numbers are what a sweep tabulates and draws:
``delivered_rate`` (see `dvsim.table.samples.sampled_rate`), ``payload_rate``, of each column what
the source prints (``r1_mean``, ``r1_p50``, ``r1_p99``, ``r1_empty``) and of each stage how busy it
was (``busy_broker``), of several alike that which was busiest on average.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dvsim.core.probe import Iteration
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.iteration import run_iteration
from dvsim.kinds.rabbitmq.metrics import BEHIND, METRICS
from dvsim.table.estimate import Each
from dvsim.table.metrics import VALUES, in_order
from dvsim.table.samples import SAMPLES, SYSTEM, Arrays, statistics
from dvsim.table.stages import STAGES, Stage, limit_of

if TYPE_CHECKING:
    from dvsim.kinds.rabbitmq.spec import Scenario
    from dvsim.kinds.study import Done
    from dvsim.table.result import Result
    from dvsim.table.stages import Limit

_STATISTICS = {"mean": "mean", "50%": "p50", "99%": "p99", "empty": "empty"}

Row = tuple[int, str, int, str, float]
"""Iteration (0 of what spans them), component, instance, metric, value."""


class Replicate(NamedTuple):
    """One replication: its rows, its samples by column, and the few numbers."""

    rows: Sequence[Row]
    samples: Arrays
    metrics: Mapping[str, float]
    fidelity: str = "cycle"
    notes: str = ""

    def sum(self, metric: str) -> float:
        """Return what the run itself counted, over all iterations."""
        return sum(row[4] for row in self.rows if row[1] == "run" and row[3] == metric)

    @property
    def events(self) -> float:
        """How many events there were."""
        return self.sum("events")

    @property
    def simulated_s(self) -> float:
        """The simulated time in seconds."""
        return self.sum("simulated_s")


def simulated(scenario: Scenario, seed: int, replication: int) -> Replicate:
    """Simulate all iterations of a replication."""
    name = scenario.name
    try:
        numbers = range(1, scenario.workload.iterations + 1)
        iterations = [run_iteration(scenario, seed, replication, number) for number in numbers]
        return replicate(scenario, replication, iterations)
    except ValueError as error:  # the C core refuses a parameter
        raise RunFailed(f"{name}: {error}") from error
    except OverflowError as error:
        message = f"{name}: a time or a count is too large for 64 bits: {error}"
        raise RunFailed(message) from error
    except MemoryError as error:
        message = f"{name}: an iteration has more samples than fit into memory"
        raise RunFailed(message) from error


def replicate(scenario: Scenario, number: int, iterations: Iterable[Iteration]) -> Replicate:
    """Return the rows and samples of a replication, by its number, that has these iterations."""
    columns: dict[str, list[np.ndarray]] = {name: [] for name in SAMPLES}
    counted: list[Row] = []
    for position, iteration in enumerate(iterations, start=1):
        for receiver, record in iteration.records.items():
            rows = len(record.pieces)
            values = {
                "replication": np.full(rows, number),
                "iteration": np.full(rows, position),
                "receiver": np.full(rows, receiver),
                "index": np.arange(rows),
                **record._asdict(),
            }
            for name, kind in SAMPLES.items():
                columns[name].append(values[name].astype(kind))
        for counter in iteration.counters:
            component, instance, metric, value, _ = counter.row
            if not math.isfinite(value):
                raise RunFailed(f"{counter.component} {metric} is {value}, not a number")
            counted.append((position, component, instance, metric, value))
    samples = {name: np.concatenate(parts) for name, parts in columns.items()}
    found: list[Row] = [
        *((0, name, 0, metric, value) for name, metric, value in statistics(samples, scenario)),
        *counted,
    ]
    each = numbers_of(scenario, ((number, *row) for row in found))
    metrics = {name: values.get(number, math.nan) for name, values in each.items()}
    metrics[BEHIND] = _mean([row[4] for row in counted if row[3] == "behind_schedule_s"])
    return Replicate(found, samples, metrics)


def table_of(runs: Sequence[Done]) -> pd.DataFrame:
    """Return the rows of replications as a table of values."""
    columns = zip(
        *((0, run.replication, *row) for run in runs for row in run.reading.rows), strict=True
    )
    return pd.DataFrame(
        {
            name: pd.Series(column, dtype=kind)
            for (name, kind), column in zip(VALUES.items(), columns, strict=True)
        }
    )


def samples_of(runs: Sequence[Done]) -> pd.DataFrame:
    """Return the samples of replications as a table."""
    parts = [run.reading.samples for run in runs]
    return pd.DataFrame({name: np.concatenate([part[name] for part in parts]) for name in SAMPLES})


def few(result: Result) -> dict[str, Each]:
    """Return the few numbers of a result by name and replication."""
    columns = ("replication", "iteration", "component", "instance", "metric", "value")
    rows = zip(*(result.values[name].tolist() for name in columns), strict=True)
    return numbers_of(result.scenario, rows)


def unit_of(name: str) -> str:
    """Return the unit of a number, of a statistic or of what a component counted."""
    if name in METRICS and METRICS[name].of is None:  # a formula may be called as what is counted
        return METRICS[name].unit
    if name.startswith("busy_") or name.endswith(("_empty", ".empty", ".count")):
        return "1"
    if name in ("rate_alone", "rate_together"):
        return "B/s"
    if name.startswith("rate_"):
        return "msg/s"
    if name == "rate" or "." in name or name.endswith(("_mean", "_p50", "_p99")):
        return "1/s"
    if name.endswith("_s") or name == "cpu_per_message":
        return "s"
    return "B" if name.endswith("_bytes") else "1"


def names_of(scenario: Scenario) -> list[str]:
    """Return the names of the numbers that a run may have."""
    whole = [name for name, metric in METRICS.items() if metric.shown]
    busy = [f"busy_{name}" for name in STAGES]
    return in_order([*whole, *_names(scenario).values(), *busy], whole)


def _names(scenario: Scenario) -> dict[tuple[str, str], str]:
    counted = scenario.readings[0]
    return {
        (label, f"{counted}.{statistic}"): f"{label}_{name}"
        for label in scenario.probe.columns
        for statistic, name in _STATISTICS.items()
    }


def numbers_of(scenario: Scenario, rows: Iterable[tuple[Any, ...]]) -> dict[str, Each]:
    """Return the few numbers of rows by name and replication; each row begins with that.

    They are no table: of a small run, pandas would take longer than the run.
    """
    names = {(SYSTEM, "rate"): "delivered_rate", (SYSTEM, "payload_rate"): "payload_rate"}
    names |= _names(scenario)
    each: dict[str, dict[int, float]] = {name: {} for name in names.values()}
    counted = []
    for row in rows:
        replication, iteration, component, _, metric, value = row
        if iteration:
            counted.append(row)
        elif (component, metric) in names:
            each[names[component, metric]][replication] = value
    busy = busiest_alike(busy_of(counted))
    return {**each, **{f"busy_{name}": shares for name, shares in busy.items()}}


def busy_of(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[str, int], Each]:
    """Return how busy each instance of each stage was, by replication: means over iterations."""
    busy: dict[tuple[str, int], dict[int, list[float]]] = {}
    for replication, _, component, instance, metric, value in rows:
        if metric == "utilisation":
            each = busy.setdefault((component, instance), {})
            each.setdefault(replication, []).append(value)
    return {
        instance: {number: _mean(values) for number, values in each.items()}
        for instance, each in busy.items()
    }


def limit_at(scenario: Scenario, stages: list[Stage], rate: float) -> Limit | None:
    """Return what keeps a system from being faster than a rate; see `limit_of`."""
    work, path = scenario.workload, scenario.system.path
    return limit_of(stages, rate, work.messages_per_second, path.waits)


def busiest_alike(busy: Mapping[tuple[str, int], Each]) -> dict[str, Each]:
    """Return of each stage the instance that was busiest on average, by replication.

    >>> busiest_alike({("bridge", 1): {1: 0.9, 2: 0.1}, ("bridge", 2): {1: 0.5, 2: 0.7}})
    {'bridge': {1: 0.5, 2: 0.7}}
    """
    most: dict[str, Each] = {}
    for (name, _), each in busy.items():
        if name not in most or _mean(each.values()) > _mean(most[name].values()):
            most[name] = each
    return most


def _mean(values: Collection[float]) -> float:
    return sum(values) / len(values) if values else math.nan
