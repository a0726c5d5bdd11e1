"""The few numbers that a run comes down to, by name: what a sweep tabulates and draws.

``delivered_rate`` (see `dvsim.study.rate.rate_of`), ``payload_rate``, of each
column what the source prints (``r1_mean``, ``r1_p50``, ``r1_p99``, ``r1_empty``) and of each stage
how busy it was (``busy_broker``), of several alike that which was busiest on average.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import nan
from typing import Any

from dvsim.kinds.rabbitmq.metrics import METRICS
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.study.point_numbers import PointNumbers, in_order
from dvsim.study.rate import rate_of
from dvsim.study.stages import STAGES, Stage, limit_of
from dvsim.table.estimate import Each

_STATISTICS = {"mean": "mean", "50%": "p50", "99%": "p99", "empty": "empty"}

Instance = tuple[str, int]
"""A stage, and which of several alike."""


def unit_of(name: str) -> str:
    """Return the unit of a number."""
    if name in METRICS:
        return METRICS[name].unit
    return "1" if name.startswith("busy_") or name.endswith("_empty") else "1/s"


def names_of(scenario: Scenario) -> list[str]:
    """Return the names of the numbers that a run may have."""
    whole = [name for name, metric in METRICS.items() if metric.shown]
    busy = [f"busy_{name}" for name in STAGES]
    return in_order([*whole, *_names(scenario.probe.columns), *busy])


def point_numbers(scenario: Scenario, summary: Mapping[str, Sequence[Any]]) -> PointNumbers:
    """Return the numbers of the columns of a summary.

    Its rows are taken as lists: of a small run, pandas would take longer than the run.
    """
    columns = scenario.probe.columns
    counted = scenario.readings[0]
    rates: dict[str, dict[int, float]] = {name: {} for name in _names(columns)}
    names = ("replication", "column", "reading", "statistic", "value")
    for replication, column, reading, statistic, value in zip(
        *(summary[name] for name in names), strict=True
    ):
        if reading == counted and statistic in _STATISTICS:
            rates[f"{column}_{_STATISTICS[statistic]}"][replication] = value
    totals, size = rate_of(summary), scenario.workload.message_bytes
    stages = busiest_alike(busy_of(summary))
    each: dict[str, Each] = {
        "delivered_rate": totals,
        "payload_rate": {number: total * size for number, total in totals.items()},
        **rates,
        **{f"busy_{name}": shares for name, shares in stages.items()},
    }
    means = [Stage(name, _mean(shares.values())) for name, shares in stages.items()]
    busiest = max(means, key=lambda stage: stage.utilisation, default=None)
    limit = limit_of(busiest, scenario, _mean(totals.values()))
    return PointNumbers({}, each, "" if limit is None else str(limit))


def busy_of(summary: Mapping[str, Sequence[Any]]) -> dict[Instance, Each]:
    """Return how busy each instance of each stage was, by replication: means over iterations."""
    busy: dict[Instance, dict[int, list[float]]] = {}
    names = ("replication", "column", "instance", "reading", "statistic", "value")
    for replication, stage, instance, reading, statistic, value in zip(
        *(summary[name] for name in names), strict=True
    ):
        if reading == "counter" and statistic == "utilisation":
            each = busy.setdefault((stage, instance), {})
            each.setdefault(replication, []).append(value)
    return {
        instance: {number: _mean(values) for number, values in each.items()}
        for instance, each in busy.items()
    }


def busiest_alike(busy: Mapping[Instance, Each]) -> dict[str, Each]:
    """Return of each stage the instance that was busiest on average, by replication.

    >>> busiest_alike({("bridge", 1): {1: 0.9, 2: 0.1}, ("bridge", 2): {1: 0.5, 2: 0.7}})
    {'bridge': {1: 0.5, 2: 0.7}}
    """
    most: dict[str, Each] = {}
    for (name, _), each in busy.items():
        if name not in most or _mean(each.values()) > _mean(most[name].values()):
            most[name] = each
    return most


def _names(columns: Mapping[str, object]) -> list[str]:
    return [f"{label}_{name}" for label in columns for name in _STATISTICS.values()]


def _mean(values: Collection[float]) -> float:
    return sum(values) / len(values) if values else nan
