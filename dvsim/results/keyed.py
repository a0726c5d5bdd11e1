"""The few numbers that a result comes down to, by name: what a sweep tabulates and draws.

Of a system: ``delivered_rate`` (whole messages per second, all receivers together),
``payload_rate``, of each column what the source prints (``r1_mean``, ``r1_p50``, ``r1_p99``,
``r1_empty``) and of each stage how busy it was (``busy_broker``). Of a study: the metrics of each
of its points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dvsim.results.interval import half_width
from dvsim.results.messaging import METRICS as MESSAGING
from dvsim.results.stages import SATURATED, STAGES
from dvsim.results.study import METRICS as SWITCH
from dvsim.scenario.find import natural
from dvsim.scenario.types import Scenario
from dvsim.scenario.varied import plain

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.scenario.load import AnyScenario

_STATISTICS = {"mean": "mean", "50%": "p50", "99%": "p99", "empty": "empty"}
_WHOLE = ("delivered_rate", "payload_rate")
_FIRST = (*_WHOLE, *SWITCH, *MESSAGING)


class Estimate(NamedTuple):
    """Mean over replications and its 95 % interval, which is the value itself of one."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Keyed:
    """The numbers of one run, or of one point of a study.

    Attributes
    ----------
    inner
        The keys that the scenario itself varies, with their values; empty for a system.
    results
        By name.
    bottleneck
        The stage that was busiest, if it was busy enough to limit the run; else empty.
    """

    inner: Mapping[str, float | str]
    results: Mapping[str, Estimate]
    bottleneck: str = ""


def in_order(names: Sequence[str]) -> list[str]:
    """Return names of results in the order of tables: it depends on the names alone."""
    known = {name: place for place, name in enumerate(dict.fromkeys(_FIRST))}
    return sorted(set(names), key=lambda name: (known.get(name, len(known)), natural(name)))


def unit_of(name: str, scenario: AnyScenario) -> str:
    """Return the unit of a result."""
    if not isinstance(scenario, Scenario):
        return (SWITCH if name in SWITCH else MESSAGING)[name]
    if name == "payload_rate":
        return "B/s"
    return "1" if name.startswith("busy_") or name.endswith("_empty") else "1/s"


def names_of_system(scenario: Scenario) -> list[str]:
    """Return the names of the results of a system that a run may have."""
    busy = [f"busy_{name}" for name in STAGES]
    return in_order([*_WHOLE, *_names(scenario.probe.columns), *busy])


def keyed(scenario: AnyScenario, table: Mapping[str, Sequence[Any]]) -> list[Keyed]:
    """Return the numbers of a result.

    Parameters
    ----------
    scenario
        What was asked, resolved.
    table
        Of a system its summary, of a study its points: the columns by name.

    Returns
    -------
    list
        One of a system, one for each point of a study, in order.
    """
    if isinstance(scenario, Scenario):
        return [_of_system(scenario, table)]
    metrics = [name for name in (*SWITCH, *MESSAGING) if name in table]
    values = {name: np.asarray(table[name]) for name in dict.fromkeys(metrics)}
    points = np.asarray(table["point"])
    found = []
    for number, keys in enumerate(scenario.points):
        rows = points == number
        results = {name: estimate(column[rows].tolist()) for name, column in values.items()}
        inner = {key: _plain(value) for key, value in keys.items()}
        found.append(Keyed(inner, results))
    return found


def lists_of(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns of a table by name, as plain lists."""
    return {str(name): table[name].tolist() for name in table.columns}


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of the replications that have a value, with its interval."""
    known = [value for value in values if value == value]  # noqa: PLR0124 - not a number
    if not known:
        return Estimate(float("nan"), float("nan"), float("nan"))
    mean = float(np.mean(known))
    if len(known) == 1:
        return Estimate(mean, mean, mean)
    half = float(half_width(len(known), np.std(known, ddof=1)))
    return Estimate(mean, mean - half, mean + half)


def _plain(value: object) -> float | str:
    found = plain(value)
    return "none" if found is None else float(found) if isinstance(found, bool | int) else found


def _of_system(scenario: Scenario, summary: Mapping[str, Sequence[Any]]) -> Keyed:
    """Go once through the rows of a summary: of a small run, pandas would take longer than it."""
    columns = scenario.probe.columns
    counted = "messages" if scenario.system.transport == "tcp" else "pieces"
    rates: dict[str, dict[int, float]] = {name: {} for name in _names(columns)}
    whole: dict[int, dict[int, list[float]]] = {}  # by replication and receiver
    busy: dict[str, dict[int, list[float]]] = {}  # by component and replication
    names = ("replication", "column", "reading", "statistic", "value")
    for replication, column, reading, statistic, value in zip(
        *(summary[name] for name in names), strict=True
    ):
        if reading == "counter":
            if statistic == "utilisation":
                busy.setdefault(column, {}).setdefault(replication, []).append(value)
            continue
        if reading == counted and statistic in _STATISTICS:
            rates[f"{column}_{_STATISTICS[statistic]}"][replication] = value
        if reading == "messages" and statistic == "mean":
            receivers = whole.setdefault(replication, {})
            receivers.setdefault(columns[column].receiver, []).append(value)
    totals = [sum(map(_mean, receivers.values())) for receivers in whole.values()]
    size = scenario.workload.message_bytes
    results = {
        "delivered_rate": estimate(totals),
        "payload_rate": estimate([total * size for total in totals]),
    }
    results |= {name: estimate(list(values.values())) for name, values in rates.items()}
    stages: dict[str, Estimate] = {}
    for component, by_replication in busy.items():
        name = component.split(".", maxsplit=1)[0]
        found = estimate([_mean(values) for values in by_replication.values()])
        if name not in stages or found.value > stages[name].value:
            stages[name] = found  # the busiest of several alike
    results |= {f"busy_{name}": found for name, found in stages.items()}
    most = max(stages, key=lambda name: stages[name].value, default="")
    limits = most != "" and stages[most].value >= SATURATED
    return Keyed({}, results, STAGES.get(most, most) if limits else "")


def _names(columns: Mapping[str, object]) -> list[str]:
    return [f"{label}_{name}" for label in columns for name in _STATISTICS.values()]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
