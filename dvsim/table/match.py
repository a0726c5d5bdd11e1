"""Which metrics and points of results of any kinds belong together, and in what they differ.

A run of a system has one point and the numbers that a sweep would keep of it. The points of a sweep
are kept runs, whose replications are read again.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.contract.load import load
from dvsim.scenario.document import dotted
from dvsim.scenario.quantity import UNITS
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec, plain
from dvsim.scenario.types import Parameter
from dvsim.scenario.units import format_value, value_text
from dvsim.study.folder import SCENARIO
from dvsim.study.number_text import MISSING
from dvsim.table.estimate import Each
from dvsim.table.manifest import Emulated
from dvsim.table.metrics import Metric
from dvsim.table.result import Result, short_names

ALIKE = {"msg/s": "1/s"}  # units that count the same
MOST = 10_000  # combinations of points
Difference = tuple[str, tuple[str, ...]]  # what, and the word for it of each result
BASE = ("", "1", "B")  # units of keys whose values are numbers in scenarios, too
NOT_RUN = ("tolerance", "reference", "compare", "record")  # tables that say nothing of what is run


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
    def of(result: Result) -> PointKeys:
        """Return those of a result.

        The points of a sweep have the cards of the first, unless it varies which cards they are.
        """
        scenario = result.scenario
        if result.swept:
            units = result.key_units
            points = [
                {
                    str(key): _whole(value) if units[str(key)] in BASE
                    else value_text(value, units[str(key)])
                    for key, value in row.items()
                }
                for row in result.points.to_dict(orient="records")
            ]  # fmt: skip
            roles = {name: f"system.{name}" for name in scenario.cards}
            cards = [key for key, path in result.paths.items() if path in roles.values()]
            if not cards or result.folder is None:
                return PointKeys(points, [scenario] * len(points), result.paths)
            changed = ([f"{result.paths[key]}={point[key]}" for key in cards] for point in points)
            settings = [load(result.folder / SCENARIO, one) for one in changed]
            return PointKeys(points, settings, result.paths)
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
    """What a result gives; its points are numbered anew.

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

    def table(self, points: Sequence[int], metrics: Mapping[str, Metric]) -> pd.DataFrame:
        """Return the metrics at some points, which are numbered anew, as a long table.

        Of replications that are equal, at flow fidelity, the first alone is there. Values are in
        the units of `metrics`.
        """
        rows = []
        for number, point in enumerate(points):
            for name, metric in metrics.items():
                factor = factor_of(self.metrics[name].unit, metric.unit) or 1.0
                each = list(self.values.get((point, name), {}).items())
                at = (number, "", name, metric.unit, metric.signed)
                rows += [(*at, n, v * factor) for n, v in each[: 1 if point in self.flow else None]]
        columns = ["point", "component", "metric", "unit", "signed", "replication", "value"]
        return pd.DataFrame(rows, columns=columns)


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
    metrics = {name: result.metric(name)._replace(unit=u) for name, u in result.METRICS.items()}
    values = {
        (number, name): each
        for number, point in enumerate(result.points.index)
        for name in metrics
        if (each := result.each(point, name))
    }
    flow = frozenset(result.flow_errors())
    if result.swept:
        rows = result.sides["points"].loc[result.points.index, "fidelity"].tolist()
        flow = frozenset(number for number, fidelity in enumerate(rows) if fidelity == "flow")
    metrics = {name: metric for name, metric in metrics.items() if name in result.there}
    return Measured(result, metrics, result.SHOWN, PointKeys.of(result), values, flow)


def _whole(value: Any) -> Any:  # noqa: ANN401 - any value of a key
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Matched(NamedTuple):
    """Points of several results that belong together.

    Attributes:
        keys: The keys that tell them apart, in the order of the first result.
        points: The keys with their values, and the number of the point in each result.
        unmatched: Of each result the points that match none of another.
        own: Of each result the keys that it varies and another does not know.
        single: By number, from 1, the results with one point that know none of the keys.
    """

    keys: Sequence[str]
    points: Sequence[tuple[Mapping[str, Any], tuple[int, ...]]]
    unmatched: Sequence[Sequence[Mapping[str, Any]]]
    own: Sequence[Sequence[str]]
    single: Sequence[int]


def shared_metrics(sides: Sequence[Measured]) -> dict[str, Metric]:
    """Return the metrics that all results have, as the first describes them, in its order.

    They have one if it is called alike, has units that can be converted, and is not described
    differently.
    """
    first, *others = (side.metrics for side in sides)

    def same(metric: Metric, other: Metric | None) -> bool:
        if other is None or factor_of(other.unit, metric.unit) is None:
            return False
        return len({metric.reading, other.reading} - {""}) < 2

    return {
        name: metric
        for name, metric in first.items()
        if all(same(metric, other.get(name)) for other in others)
    }


def match(sides: Sequence[PointKeys]) -> Matched:
    """Match the points of results by the keys that any of them varies.

    Points match if all keys that both know, varied or fixed, have the same value at both. Keys that
    only say how long a point is run do not count, unless nothing else tells points apart. So a
    result that knows none of the keys matches every point of the others.

    Raises:
        ValueError: If there are so many combinations of points that nobody can read them.
    """
    names = short_names(dict.fromkeys(path for side in sides for path in side.paths.values()))
    sides = [side.called(names) for side in sides]
    several = [side for side in sides if len(side.points) > 1]
    keys = matching_keys(several)
    rows: list[tuple[dict[str, Any], tuple[int, ...]]] = [({}, ())]
    known: set[str] = set()
    for side in sides:
        own = [key for key in keys if side.has(key)]
        common = [key for key in own if key in known]
        there: dict[tuple[Any, ...], list[tuple[int, dict[str, Any]]]] = {}
        for number in range(len(side.points)):
            at = {key: side.at(number, key) for key in own}
            there.setdefault(tuple(at[key] for key in common), []).append((number, at))
        beside = [there.get(tuple(point[key] for key in common), []) for point, _ in rows]
        count = sum(map(len, beside))
        if count > max(MOST, *(len(one.points) for one in sides)):
            raise ValueError(
                f"they share too few keys: {count:,} combinations of points, more than {MOST:,}"
            )
        rows = [
            (point | at, (*numbers, number))
            for (point, numbers), alike in zip(rows, beside, strict=True)
            for number, at in alike
        ]
        known.update(own)
    unmatched = []
    for index, side in enumerate(sides):
        matched = {numbers[index] for _, numbers in rows}
        rest = (number for number in range(len(side.points)) if number not in matched)
        unmatched.append(
            [{key: side.at(number, key) for key in keys if side.has(key)} for number in rest]
        )
    own_keys = [
        [key for key in side.names if key in keys and not all(other.has(key) for other in several)]
        for side in sides
    ]
    single = [
        number
        for number, side in enumerate(sides, start=1)
        if len(side.points) == 1 and keys and not any(map(side.has, keys))
    ]
    in_order = [({key: point[key] for key in keys if key in point}, n) for point, n in rows]
    return Matched(keys, in_order, unmatched, own_keys, single)


def matching_keys(sides: Sequence[PointKeys]) -> list[str]:
    """Return the keys that tell points apart, in the order of the first result."""
    every = list(dict.fromkeys(key for side in sides for key in side.names))
    lengths = {key for side in sides for one in side.settings[:1] for key in one.lengths()}
    telling = [key for key in every if key not in lengths]
    return telling if all(_told_apart(side, telling) for side in sides) else every


def _told_apart(side: PointKeys, keys: Sequence[str]) -> bool:
    known = [key for key in keys if side.has(key)]
    points = range(len(side.points))
    return len({tuple(side.at(point, key) for key in known) for point in points}) == len(points)


def differences(results: Sequence[Result], varied: Sequence[str] = ()) -> Iterator[Difference]:
    """Yield what is not the same in all results, in words for each, but for keys that are varied.

    A number of a card is told if all results have it; so is every key of several kinds, or beside a
    sweep.
    """
    mixed = len({result.simulated for result in results}) > 1
    apart = len({result.scenario.KIND for result in results}) > 1
    apart = apart or any(result.manifest.swept is not None for result in results)
    facts = [_facts(result, mixed=mixed) for result in results]
    yield from _unlike(facts, partly=True)
    settings = [list(_settings(result, varied)) for result in results]
    for card in (False, True):
        texts = [{key: text for key, text, of_card in own if of_card is card} for own in settings]
        yield from _unlike(texts, partly=not card and not apart)


def _unlike(texts: Sequence[Mapping[str, str]], *, partly: bool) -> Iterator[Difference]:
    for what in dict.fromkeys(what for own in texts for what in own):
        values = tuple(own.get(what, MISSING) for own in texts)
        if len(set(values)) > 1 and (partly or all(what in own for own in texts)):
            yield what, values


def _facts(result: Result, *, mixed: bool) -> dict[str, str]:
    scenario, manifest = result.scenario, result.manifest
    points = result.points
    version = manifest.version
    return {
        "backend": "sim" if result.simulated else "emu",
        "kind": str(kind_of(scenario).about),
        "scenario": scenario.name,
        "points": str(len(points)),
        "seed": str(result.seed),
        "replications": str(result.replications),
        "version": version.partition("+")[0] if mixed else version,  # other backends: other code
        "machine": f"{manifest.host.cpu}, {manifest.host.cores} cores",
        **_emulated(manifest.emulated),
    }


def _emulated(known: Emulated | None) -> dict[str, str]:
    if known is None:
        return {}
    asked = known.question
    return {
        "scale": f"{known.scale:.3g}",
        "brokers": ", ".join(asked.urls or [f"{asked.clusters} x {asked.nodes} nodes"]),
        "broker": known.broker,
        "promise": asked.promise,
    }


def _settings(result: Result, varied: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    scenario = result.scenario
    swept = result.paths.values()
    data = tomllib.loads(to_toml(scenario))
    tables = {
        name: table
        for name, table in data.items()
        if isinstance(table, Mapping) and name not in NOT_RUN
    }
    skipped = {*varied, *(key for key in scenario.lengths() if key in scenario.keys)}
    for path, value, of_card in _leaves(tables, ()):
        named = path[2] if path[:2] == ("network", "switch") else path[1]
        if named not in skipped and dotted(path) not in swept:
            yield dotted(path), str(value), of_card


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, bool]]:  # noqa: ANN401
    if not isinstance(value, Mapping):
        if path[-1] not in ("title", "notes", "kind"):
            yield path, value, False
    elif "value" in value and "confidence" in value:
        yield path, value["value"], True
    else:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
