"""Which metrics, and which points, of results of any kinds belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dvsim.contract.kind import Metric
from dvsim.study.measured import Measured, PointKeys, factor_of
from dvsim.study.sweep_table import short_names

Point = Mapping[str, Any]
MOST = 10_000  # combinations of points


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
    points: Sequence[tuple[Point, tuple[int, ...]]]
    unmatched: Sequence[Sequence[Point]]
    own: Sequence[Sequence[str]]
    single: Sequence[int]


def shared_metrics(sides: Sequence[Measured]) -> list[str]:
    """Return the names of the metrics that all results have, in the order of the first.

    They have one if it is called alike, has units that can be converted, and is not described
    differently.
    """
    first, *others = (side.metrics for side in sides)
    return [
        name
        for name, metric in first.items()
        if all(name in other and _same(metric, other[name]) for other in others)
    ]


def _same(metric: Metric, other: Metric) -> bool:
    described = {metric.reading, other.reading} - {""}
    return factor_of(other.unit, metric.unit) is not None and len(described) < 2


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
