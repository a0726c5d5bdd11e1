"""The few numbers that a run comes down to, by name: what a sweep tabulates and draws.

``delivered_rate`` (see `dvsim.study.rate.rate_of`), ``payload_rate``, of each
column what the source prints (``r1_mean``, ``r1_p50``, ``r1_p99``, ``r1_empty``) and of each stage
how busy it was (``busy_broker``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dvsim.kinds.rabbitmq.metrics import METRICS
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.study.point_numbers import PointNumbers, in_order
from dvsim.study.rate import rate_of
from dvsim.study.stages import STAGES, Stage, limit_of
from dvsim.study.statistics import Estimate, estimate

_STATISTICS = {"mean": "mean", "50%": "p50", "99%": "p99", "empty": "empty"}


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

    Its rows are gone through once: of a small run, pandas would take longer than the run.
    """
    columns = scenario.probe.columns
    counted = scenario.readings[0]
    rates: dict[str, dict[int, float]] = {name: {} for name in _names(columns)}
    busy: dict[tuple[str, int], dict[int, list[float]]] = {}  # by instance and replication
    names = ("replication", "column", "instance", "reading", "statistic", "value")
    for replication, column, instance, reading, statistic, value in zip(
        *(summary[name] for name in names), strict=True
    ):
        if reading == "counter":
            if statistic == "utilisation":
                of_instance = busy.setdefault((column, instance), {})
                of_instance.setdefault(replication, []).append(value)
            continue
        if reading == counted and statistic in _STATISTICS:
            rates[f"{column}_{_STATISTICS[statistic]}"][replication] = value
    totals = list(rate_of(summary).values())
    size = scenario.workload.message_bytes
    results = {
        "delivered_rate": estimate(totals),
        "payload_rate": estimate([total * size for total in totals]),
    }
    results |= {name: estimate(list(values.values())) for name, values in rates.items()}
    stages: dict[str, Estimate] = {}
    for (name, _), by_replication in busy.items():
        found = estimate([_mean(values) for values in by_replication.values()])
        if name not in stages or found.value > stages[name].value:
            stages[name] = found  # the busiest of several alike
    results |= {f"busy_{name}": stage for name, stage in stages.items()}
    shares = [Stage(name, stage.value) for name, stage in stages.items()]
    busiest = max(shares, key=lambda stage: stage.utilisation, default=None)
    limit = limit_of(busiest, scenario, results["delivered_rate"].value)
    return PointNumbers({}, results, "" if limit is None else str(limit))


def _names(columns: Mapping[str, object]) -> list[str]:
    return [f"{label}_{name}" for label in columns for name in _STATISTICS.values()]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
