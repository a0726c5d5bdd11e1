"""Studies side by side: the points that they have in common, metric by metric.

Two points belong together if every key that any of the studies varies has the same value at both,
varied there or fixed. Keys that only say how long a point is run do not count, unless nothing else
tells the points of a study apart.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dvsim.scenario.document import dotted
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import plain
from dvsim.study.compare import Difference, Sides, in_common, sides, unlike
from dvsim.study.paired import Each
from dvsim.study.points import PointsStudy

LENGTHS = ("slots", "warmup", "messages")
"""Keys that say how long a point is run."""

Point = tuple[tuple[str, Any], ...]
"""Keys with their values, by which points of several studies are matched."""


@dataclass(frozen=True)
class StudyRow(Sides):
    """One metric of all studies at one point.

    Attributes:
        point: The keys that tell points apart, with their values; empty where there is one point.
        metric, unit: What.
    """

    point: Mapping[str, Any]
    metric: str
    unit: str


@dataclass(frozen=True)
class StudyComparison:
    """Studies side by side; the first is what the others are held against.

    Attributes:
        rows: Of the points that all studies have.
        unmatched: Of each study its points that not all have.
    """

    studies: tuple[PointsStudy, ...]
    differences: tuple[Difference, ...]
    rows: tuple[StudyRow, ...]
    unmatched: tuple[tuple[Mapping[str, Any], ...], ...]

    @property
    def points(self) -> list[Mapping[str, Any]]:
        """The points that all studies have, in the order of the first."""
        return [dict(point) for point in dict.fromkeys(tuple(r.point.items()) for r in self.rows)]


def compare_studies(studies: Sequence[PointsStudy]) -> StudyComparison:
    """Put studies of one kind side by side.

    Args:
        studies: Two at least, all of a switch or network or all of messaging.

    Raises:
        ValueError: If there are fewer, or they are of several kinds.
    """
    if len(studies) < 2 or len({type(study) for study in studies}) > 1:
        message = "a comparison needs two studies of one kind"
        raise ValueError(message)
    keys = matching_keys(studies)
    places = [_places(study, keys) for study in studies]
    shared = [point for point in places[0] if all(point in other for other in places)]
    unmatched = [
        tuple(dict(point) for point in found if point not in set(shared)) for found in places
    ]
    told = [_told(study, keys) for study in studies]
    return StudyComparison(
        tuple(studies), tuple(unlike(told)), tuple(_rows(studies, places, shared)), tuple(unmatched)
    )


def matching_keys(studies: Sequence[PointsStudy]) -> list[str]:
    """Return the keys that tell the points of studies apart, in the order of the first."""
    keys = list(dict.fromkeys(key for study in studies for key in study.scenario.keys))
    telling = [key for key in keys if key not in LENGTHS]
    if all(len(_places(study, telling)) == len(study.scenario.points) for study in studies):
        return telling
    return keys


def _places(study: PointsStudy, keys: Sequence[str]) -> dict[Point, int]:
    """Return the number of each point by its keys."""
    scenario = study.scenario
    settings = (scenario.at(number) for number in range(len(scenario.points)))
    named = [tuple((key, plain(setting.get(key))) for key in keys) for setting in settings]
    return {point: number for number, point in enumerate(named)}


def _rows(
    studies: Sequence[PointsStudy], places: Sequence[Mapping[Point, int]], shared: Sequence[Point]
) -> Iterator[StudyRow]:
    common, tables = in_common(studies), [_values(study) for study in studies]
    flow = [study.flow_errors() for study in studies]
    for point in shared:
        numbers = [found[point] for found in places]
        for metric, unit in studies[0].METRICS.items():
            each = [table.get((n, metric), {}) for table, n in zip(tables, numbers, strict=True)]
            if not any(each):
                continue
            if any(number in errors for number, errors in zip(numbers, flow, strict=True)):
                each = [_one(one) for one in each]  # replications are equal there: no interval
            found = sides(each, common, share=unit == "1")
            yield StudyRow(found.values, found.changes, dict(point), metric, unit)


def _values(study: PointsStudy) -> Mapping[tuple[int, str], Each]:
    """Return each metric of each point by replication; what is not a number is absent."""
    found: dict[tuple[int, str], dict[int, float]] = {}
    points, replications = (study.points[name].tolist() for name in ("point", "replication"))
    for metric in study.METRICS:
        rows = zip(points, replications, study.points[metric].tolist(), strict=True)
        for point, replication, value in rows:
            if value == value:  # noqa: PLR0124 - not a number
                found.setdefault((point, metric), {})[replication] = value
    return found


def _one(each: Each) -> Each:
    return dict(list(each.items())[:1])


def _told(study: PointsStudy, varied: Sequence[str]) -> dict[str, str]:
    """Return everything that may differ, in words: what was asked, but for what is varied."""
    told = {
        "scenario": study.scenario.name,
        "points": str(len(study.scenario.points)),
        "seed": str(study.seed),
        "replications": str(study.replications),
        "version": str(study.manifest.get("version", "–")),
    }
    data = tomllib.loads(to_toml(study.scenario))
    tables = {name: data[name] for name in data if isinstance(data[name], Mapping)}
    for table in ("tolerance", "compare", "record"):
        tables.pop(table, None)
    skipped = {*varied, *(key for key in LENGTHS if key in study.scenario.keys)}
    for path, value in _leaves(tables, ()):
        named = path[2] if path[:2] == ("network", "switch") else path[1]
        if named not in skipped:
            told[dotted(path)] = str(value)
    return told


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    """Yield what a resolved scenario says, key by key; of a card its name and its numbers."""
    if not isinstance(value, Mapping):
        if path[-1] not in ("title", "notes", "kind"):
            yield path, value
    elif "value" in value and "confidence" in value:
        yield path, value["value"]
    else:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
