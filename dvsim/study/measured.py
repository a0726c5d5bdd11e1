"""What a result of any kind gives at its points: each metric by replication.

A run of a system has one point and the numbers that a sweep would keep of it. The points of a sweep
are kept runs, whose replications are read again; where a run is gone, its means are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

from dvsim.kinds.base import Metric
from dvsim.kinds.find import kind_of
from dvsim.scenario.quantity import UNITS
from dvsim.scenario.spec import Spec, plain
from dvsim.study.paired import Each
from dvsim.study.statistics import Estimate
from dvsim.study.swept_points import Result, SweptPoints

ALIKE = {"msg/s": "1/s"}  # units that count the same


@dataclass(frozen=True)
class PointKeys:
    """The keys of points with their values.

    Attributes:
        points: The varied keys of each point.
        settings: The scenario of each point, which has the fixed keys; none where it is not known.
    """

    points: Sequence[Mapping[str, Any]]
    settings: Sequence[Spec] = ()

    @staticmethod
    def of(scenario: Spec) -> PointKeys:
        """Return those of a scenario."""
        points = [{key: plain(value) for key, value in point.items()} for point in scenario.points]
        return PointKeys(points, [scenario.at(number) for number in range(len(points))])

    @property
    def names(self) -> list[str]:
        """The keys that were varied."""
        return list(dict.fromkeys(key for point in self.points for key in point))

    def has(self, key: str) -> bool:
        """Return whether the points have a value of a key, varied or fixed."""
        return key in self.names or any(setting.has(key) for setting in self.settings[:1])

    def at(self, point: int, key: str) -> Any:  # noqa: ANN401 - any value of a key
        """Return the value of a key at a point."""
        if key in self.points[point]:
            return self.points[point][key]
        return plain(self.settings[point].get(key)) if self.settings else None


@dataclass(frozen=True)
class Measured:
    """What a result gives.

    Attributes:
        result: The result.
        metrics: Those that have a number somewhere, by name.
        shown: Those that a table for people has.
        keys: Its points.
        values: By point and metric the value in each replication.
        means: The same where no replications are kept.
        flow: Points whose replications are equal, since they are at flow fidelity.
    """

    result: Result
    metrics: Mapping[str, Metric]
    shown: Sequence[str]
    keys: PointKeys
    values: Mapping[tuple[int, str], Each]
    means: Mapping[tuple[int, str], Estimate] = field(default_factory=dict)
    flow: frozenset[int] = frozenset()

    def each(self, point: int, metric: str, unit: str) -> Each:
        """Return a metric at a point by replication; a mean without replications has number 0."""
        mean = self.means.get((point, metric))
        values = {0: mean.value} if mean else self.values.get((point, metric), {})
        factor = factor_of(self.metrics[metric].unit, unit) or 1.0
        return {number: value * factor for number, value in values.items()}

    def mean(self, point: int, metric: str, unit: str) -> Estimate | None:
        """Return the mean of a metric of which no replications are kept; else None."""
        mean, factor = self.means.get((point, metric)), factor_of(self.metrics[metric].unit, unit)
        return mean and Estimate(*(number * (factor or 1.0) for number in mean))


def factor_of(unit: str, other: str) -> float | None:
    """Return what a number in a unit is multiplied by to be in another; None if it cannot be.

    >>> factor_of("ms", "us"), factor_of("msg/s", "1/s"), factor_of("us", "slots")
    (1000.0, 1.0, None)
    """
    if ALIKE.get(unit, unit) == ALIKE.get(other, other):
        return 1.0
    scales = (scale for scale in UNITS.values() if unit in scale and other in scale)
    return next((float(scale[unit] / scale[other]) for scale in scales), None)


def measured(result: Result) -> Measured:
    """Return what a result gives."""
    if isinstance(result, SweptPoints):
        return _of_sweep(result)
    kind, scenario = kind_of(result.scenario), result.scenario
    metrics = {
        name: kind.metric(name)._replace(unit=unit) for name, unit in kind.metrics(scenario).items()
    }
    keys = PointKeys.of(scenario)
    values, flow = result.by_replication(), frozenset(result.flow_errors())
    return Measured(result, _there(metrics, values), result.SHOWN, keys, values, {}, flow)


def _there(metrics: Mapping[str, Metric], *values: Iterable[tuple[int, str]]) -> dict[str, Metric]:
    """Return the metrics that have a value at some point."""
    there = {name for some in values for _, name in some}
    return {name: metric for name, metric in metrics.items() if name in there}


def _of_sweep(swept: SweptPoints) -> Measured:
    """Return the points of a sweep: of the runs that are kept, else the means of its table."""
    metrics = {name: swept.metric(name)._replace(unit=u) for name, u in swept.METRICS.items()}
    values: dict[tuple[int, str], Each] = {}
    means: dict[tuple[int, str], Estimate] = {}
    flow, settings = set(), []
    runs = {id(run): measured(run) for run, _ in swept.runs if run is not None}
    for point, (run, inner) in enumerate(swept.runs):
        if run is None:
            own_means = {(point, name): swept.mean(point, name) for name in metrics}
            means |= {key: mean for key, mean in own_means.items() if not isnan(mean.value)}
            continue
        own = runs[id(run)]
        values |= {(point, n): own.values[inner, n] for n in metrics if (inner, n) in own.values}
        flow |= {point} if inner in own.flow else set()
        settings.append(own.keys.settings[inner])
    keys = PointKeys(swept.points, settings if len(settings) == len(swept.points) else ())
    metrics = _there(metrics, values, means)
    return Measured(swept, metrics, swept.drawn, keys, values, means, frozenset(flow))
