"""What a result of any kind gives at its points: each metric by replication.

A run of a system has one point and the numbers that a sweep would keep of it. The points of a sweep
are kept runs, whose replications are read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dvsim.contract.find import kind_of
from dvsim.contract.kind import Metric
from dvsim.scenario.quantity import UNITS
from dvsim.scenario.spec import Spec, plain
from dvsim.scenario.types import Parameter
from dvsim.scenario.units import format_value
from dvsim.study.swept_points import Result, SweptPoints
from dvsim.table.estimate import Each

ALIKE = {"msg/s": "1/s"}  # units that count the same


@dataclass(frozen=True)
class PointKeys:
    """The keys of points with their values.

    Attributes:
        points: The varied keys of each point.
        settings: The scenario of each point, which has the fixed keys.
        paths: The full names of keys that sweeps vary, by their short names.
    """

    points: Sequence[Mapping[str, Any]]
    settings: Sequence[Spec]
    paths: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(scenario: Spec) -> PointKeys:
        """Return those of a scenario."""
        points = [{key: plain(value) for key, value in point.items()} for point in scenario.points]
        return PointKeys(points, [scenario.at(number) for number in range(len(points))])

    def called(self, names: Mapping[str, str]) -> PointKeys:
        """Return them with other names of keys, which are given by the full names."""
        now = {key: names[path] for key, path in self.paths.items()}
        points = [{now.get(key, key): point[key] for key in point} for point in self.points]
        return PointKeys(points, self.settings, {name: path for path, name in names.items()})

    @cached_property
    def names(self) -> list[str]:
        """The keys that were varied."""
        return list(dict.fromkeys(key for point in self.points for key in point))

    def has(self, key: str) -> bool:
        """Return whether the points have a value of a key, varied or fixed."""
        return key in self.names or self._parameter(0, key) is not None or self.settings[0].has(key)

    def at(self, point: int, key: str) -> Any:  # noqa: ANN401 - any value of a key
        """Return the value of a key at a point."""
        if key in self.points[point]:
            return self.points[point][key]
        parameter = self._parameter(point, key)
        if parameter is None:
            return plain(self.settings[point].get(key))
        number = parameter.dimension in ("count", "ratio", "size")
        return parameter.value if number else format_value(parameter.value, parameter.dimension)

    def _parameter(self, point: int, key: str) -> Parameter | None:
        _, _, path = self.paths.get(key, "").partition(".")
        role, _, name = path.partition(".")
        card = self.settings[point].cards.get(role)
        return None if card is None else card.parameters.get(name)


@dataclass(frozen=True)
class Measured:
    """What a result gives.

    Attributes:
        result: The result.
        metrics: Those that have a number somewhere, by name.
        shown: Those that a table for people has.
        keys: Its points.
        values: By point and metric the value in each replication.
        flow: Points whose replications are equal, since they are at flow fidelity.
    """

    result: Result
    metrics: Mapping[str, Metric]
    shown: Sequence[str]
    keys: PointKeys
    values: Mapping[tuple[int, str], Each]
    flow: frozenset[int] = frozenset()

    def each(self, point: int, metric: str, unit: str) -> Each:
        """Return a metric at a point by replication, of equal ones the first alone."""
        factor = factor_of(self.metrics[metric].unit, unit) or 1.0
        values = list(self.values.get((point, metric), {}).items())
        return {n: value * factor for n, value in values[: 1 if point in self.flow else None]}


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
    values = {
        (point, name): each
        for point, numbers in enumerate(kind.point_numbers(scenario, kind.brief(result)))
        for name, each in numbers.each.items()
        if each
    }
    flow = frozenset(result.flow_errors())
    return Measured(result, _there(metrics, values), result.SHOWN, keys, values, flow)


def _there(metrics: Mapping[str, Metric], values: Iterable[tuple[int, str]]) -> dict[str, Metric]:
    there = {name for _, name in values}
    return {name: metric for name, metric in metrics.items() if name in there}


def _of_sweep(swept: SweptPoints) -> Measured:
    metrics = {name: swept.metric(name)._replace(unit=u) for name, u in swept.METRICS.items()}
    runs = {id(run): measured(run) for run, _ in swept.runs}
    at = [(runs[id(run)], inner) for run, inner in swept.runs]
    values = {
        (point, name): run.values[inner, name]
        for point, (run, inner) in enumerate(at)
        for name in metrics
        if (inner, name) in run.values
    }
    flow = frozenset(point for point, (run, inner) in enumerate(at) if inner in run.flow)
    keys = PointKeys(swept.points, [run.keys.settings[inner] for run, inner in at], swept.paths)
    return Measured(swept, _there(metrics, values), swept.drawn, keys, values, flow)
