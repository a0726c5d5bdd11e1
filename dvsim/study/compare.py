"""Results side by side: what they have in common, number by number, and in what they differ.

Runs of any systems and backends, or studies that share metrics. Rates of runs are compared where
they count the same thing: pieces only if all runs count them, whole messages always. Points belong
together if every key that any of them varies has the same value at both, varied there or
fixed; keys that only say how long a point is run do not count, unless nothing else tells points
apart. What was asked differently is told, not refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from dvsim.kinds.find import kind_of
from dvsim.scenario.spec import plain
from dvsim.study.amounts import counted
from dvsim.study.changes import changes_of
from dvsim.study.facts import LENGTHS, facts_of_run, facts_of_study, parameters_of
from dvsim.study.manifest import asked_json
from dvsim.study.paired import Change, Each, Kind, change
from dvsim.study.points import PointsStudy
from dvsim.study.rate import SYSTEM
from dvsim.study.run import Run
from dvsim.study.statistics import Estimate, estimate
from dvsim.study.summary import STATISTICS

Result = Run | PointsStudy

Point = tuple[tuple[str, Any], ...]
"""Keys with their values, by which points of several studies are matched."""


@dataclass(frozen=True)
class Row:
    """A number of each result.

    Attributes:
        values: One for each result; None where it has none.
        changes: What became of the value of the first; None of the first, and where there is
            nothing to compare.
        metric, unit: What; of a run a statistic.
        point: Of studies the keys that tell points apart, with their values.
        column, reading: Of runs; `column` is `SYSTEM` for all receivers together.
    """

    values: tuple[Estimate | None, ...]
    changes: tuple[Change | None, ...]
    metric: str = ""
    unit: str = ""
    point: Mapping[str, Any] | None = None
    column: str = ""
    reading: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the row as JSON types; a change is called ratio or difference."""
        of_run = {"column": self.column, "reading": self.reading, "statistic": self.metric}
        of_point = {"point": dict(self.point or {}), "metric": self.metric}
        return {
            **(of_run if self.point is None else of_point),
            "unit": self.unit,
            "values": [None if value is None else value._asdict() for value in self.values],
            "changes": [
                None if change is None else {change.kind: change.value, **change.interval}
                for change in self.changes
            ],
        }


@dataclass(frozen=True)
class Difference:
    """Something that was asked or done differently, in words for each result."""

    what: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Results side by side; the first is what the others are held against.

    Attributes:
        rows: Of what all results have.
        unmatched: Of each study its points that not all have.
    """

    results: tuple[Any, ...]
    differences: tuple[Difference, ...]
    rows: tuple[Row, ...]
    unmatched: tuple[tuple[Mapping[str, Any], ...], ...] = ()

    @property
    def of_studies(self) -> bool:
        """Whether studies are compared, point by point."""
        return bool(kind_of(self.results[0].scenario).studies)

    @property
    def points(self) -> list[Mapping[str, Any]]:
        """The points that all studies have, in the order of the first."""
        return [dict(p) for p in dict.fromkeys(tuple((r.point or {}).items()) for r in self.rows)]

    def as_json(self) -> dict[str, object]:
        """Return the comparison as JSON types."""
        results = [
            asked_json(result) | {"backend": result.backend, "manifest": result.manifest}
            for result in self.results
        ]
        return {
            "studies" if self.of_studies else "runs": results,
            **({"unmatched": list(map(list, self.unmatched))} if self.of_studies else {}),
            "differences": [
                {"what": item.what, "values": list(item.values)} for item in self.differences
            ],
            "rows": [row.as_json() for row in self.rows],
        }


def compare(results: Sequence[Result]) -> Comparison:
    """Put two or more results side by side: runs, or studies.

    Raises:
        ValueError: If there are fewer, or they share no metrics.
    """
    studies = [result for result in results if kind_of(result.scenario).studies]
    if len(results) < 2:
        raise ValueError(f"a comparison needs two runs, not {len(results)}")
    if studies and len(studies) < len(results):
        raise ValueError("a run and a study share no metrics")
    if studies:
        return _of_studies(cast("Sequence[PointsStudy]", studies))
    runs = cast("Sequence[Run]", results)
    return Comparison(tuple(runs), tuple(_differences(runs)), tuple(_run_rows(runs)))


def sides(each: Sequence[Each], common: Sequence[bool], *, share: bool = False) -> Row:
    """Put the values of results side by side.

    Args:
        each: Of each result the value in each replication; empty where it has none.
        common: Of each result whether its replications had the random numbers of those of the
            first.
        share: Shares are subtracted, not divided; so is everything if one of the results has 0.
    """
    values = tuple(estimate(by_number.values()) if by_number else None for by_number in each)
    nothing = any(mean is not None and mean.value == 0 for mean in values)
    kind: Kind = "difference" if share or nothing else "ratio"
    changes = [
        change(each[0], by_number, kind, common=paired)
        for by_number, paired in zip(each[1:], common[1:], strict=True)
    ]
    return Row(values, (None, *changes))


def names_of(results: Sequence[Result]) -> list[str]:
    """Return the name of each result with what was changed in it; of several alike what else.

    Examples: ``h3/dv-8192`` and ``h3/dv-8192 with 4 sockets``; ``h3/dv-8`` and ``h3/dv-8, seed 2``.
    """
    names = [
        changes_of(result.scenario).name + ", emulated" * (result.manifest.get("backend") == "emu")
        for result in results
    ]
    facts = [
        {
            result.scenario.LENGTH: f"{changes_of(result.scenario).length:.3g} of its "
            f"{result.scenario.LENGTH}",
            "seed": f"seed {result.seed}",
            "replications": counted(result.replications),
            "version": f"version {result.manifest.get('version')}",
        }
        for result in results
    ]
    for fact in facts[0]:
        shared = {name for name in names if names.count(name) > 1}
        for same in shared:
            positions = [position for position, name in enumerate(names) if name == same]
            texts = [facts[position].get(fact, "") for position in positions]
            for position, text in zip(positions, texts, strict=True):
                names[position] += f", {text}" * (len(set(texts)) > 1)
    return names


def in_common(results: Sequence[Result]) -> list[bool]:
    """Say of each result whether its replications had the random numbers of those of the first.

    They had if both were simulated with one seed; what an emulated run met on its machine no other
    run has met.
    """
    first = results[0]
    return [
        first.simulated and result.simulated and result.seed == first.seed for result in results
    ]


def rate_ratio(first: Run, other: Run) -> Change | None:
    """Return how many times the rate of the first run another has; None where one has none."""
    return change(first.rates, other.rates, "ratio", common=in_common([first, other])[1])


def interval_notes(results: Sequence[Result]) -> Iterator[str]:
    """Say how the interval of each result against the first was made, results alike together."""
    notes: dict[str, list[str]] = {}
    for number, (result, common) in enumerate(
        zip(results, in_common(results), strict=True), start=1
    ):
        if number > 1:
            notes.setdefault(_note(results[0], result, common=common), []).append(f"{number}/1")
    for note, which in notes.items():
        yield f"{', '.join(which)}: {note}"


def _note(first: Result, other: Result, *, common: bool) -> str:
    if first.replications != other.replications:
        return f"no interval, {first.replications} and {other.replications} replications"
    if first.replications < 2:
        return "no interval, one replication"
    if common:
        return f"paired over replications: seed {first.seed} drew the same numbers for both"
    return "of independent runs, by Welch"


def unlike(descriptions: Sequence[Mapping[str, str]]) -> Iterator[Difference]:
    """Yield what is not the same in all of several descriptions, in their order."""
    for fact in dict.fromkeys(key for description in descriptions for key in description):
        values = tuple(description.get(fact, "–") for description in descriptions)
        if len(set(values)) > 1:
            yield Difference(fact, values)


def _run_rows(runs: Sequence[Run]) -> Iterator[Row]:
    common, tables = in_common(runs), [_statistics(run) for run in runs]
    whole = [run.rates for run in runs]
    yield _row((SYSTEM, "messages", "rate"), "1/s", whole, common)
    sizes = [run.scenario.workload.message_bytes for run in runs]
    payload = [
        {number: rate * size for number, rate in by_replication.items()}
        for by_replication, size in zip(whole, sizes, strict=True)
    ]
    yield _row((SYSTEM, "bytes", "rate"), "B/s", payload, common)
    for column, reading, statistics in _common(runs):
        for statistic in statistics:
            key = (column, reading, statistic)
            values = [table.get(key, {}) for table in tables]
            if any(values):
                unit = "1" if statistic in ("count", "empty") else "1/s"
                yield _row(key, unit, values, common)


def _row(key: tuple[str, str, str], unit: str, each: Sequence[Each], common: Sequence[bool]) -> Row:
    column, reading, statistic = key
    row = sides(each, common, share=statistic == "empty")
    return replace(row, metric=statistic, unit=unit, column=column, reading=reading)


def _common(runs: Sequence[Run]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the columns that all runs have, what they count, and the statistics to compare.

    What all of them count and print first has all statistics; of the rest the mean is enough.
    """
    shared = [
        reading
        for reading in runs[0].scenario.readings
        if all(reading in run.scenario.readings for run in runs)
    ]
    for label in runs[0].scenario.probe.columns:
        if not all(label in run.scenario.probe.columns for run in runs):
            continue
        for reading in shared:
            yield label, reading, STATISTICS if reading == shared[0] else ("mean",)


def _statistics(run: Run) -> Mapping[tuple[str, str, str], Each]:
    """Return every statistic of every column in each replication."""
    statistics: dict[tuple[str, str, str], dict[int, float]] = {}
    names = ("column", "reading", "statistic", "replication", "value")
    columns = (run.summary_columns[name] for name in names)
    for column, reading, statistic, replication, value in zip(*columns, strict=True):
        if reading != "counter":
            statistics.setdefault((column, reading, statistic), {})[replication] = value
    return statistics


def _differences(runs: Sequence[Run]) -> Iterator[Difference]:
    """Yield what is not the same in all runs, the most important first."""
    mixed = len({run.backend for run in runs}) > 1
    yield from unlike([facts_of_run(run, mixed=mixed) for run in runs])
    cards = [parameters_of(run) for run in runs]
    for name in cards[0]:
        if (
            all(name in parameters for parameters in cards)
            and len({parameters[name].value for parameters in cards}) > 1
        ):
            yield Difference(name, tuple(parameters[name].text for parameters in cards))


def _of_studies(studies: Sequence[PointsStudy]) -> Comparison:
    units = [study.METRICS.items() for study in studies]
    metrics = [metric for metric in units[0] if all(metric in other for other in units)]
    if not metrics:
        raise ValueError("these studies share no metrics")
    keys = matching_keys(studies)
    numbers = [_point_numbers(study, keys) for study in studies]
    shared = [point for point in numbers[0] if all(point in other for other in numbers)]
    unmatched = [
        tuple(dict(point) for point in points if point not in set(shared)) for points in numbers
    ]
    facts = [facts_of_study(study, keys) for study in studies]
    rows = tuple(_study_rows(studies, metrics, numbers, shared))
    return Comparison(tuple(studies), tuple(unlike(facts)), rows, tuple(unmatched))


def matching_keys(studies: Sequence[PointsStudy]) -> list[str]:
    """Return the keys that tell the points of studies apart, in the order of the first."""
    keys = list(dict.fromkeys(key for study in studies for key in study.scenario.keys))
    distinguishing = [key for key in keys if key not in LENGTHS]
    counts = [len(_point_numbers(study, distinguishing)) for study in studies]
    tell = counts == [len(study.scenario.points) for study in studies]
    return distinguishing if tell else keys


def _point_numbers(study: PointsStudy, keys: Sequence[str]) -> dict[Point, int]:
    """Return the number of each point by its keys."""
    scenario = study.scenario
    settings = (scenario.at(number) for number in range(len(scenario.points)))
    named = [tuple((key, plain(setting.get(key))) for key in keys) for setting in settings]
    return {point: number for number, point in enumerate(named)}


def _study_rows(
    studies: Sequence[PointsStudy],
    metrics: Sequence[tuple[str, str]],
    by_point: Sequence[Mapping[Point, int]],
    shared: Sequence[Point],
) -> Iterator[Row]:
    common, tables = in_common(studies), [_values(study) for study in studies]
    flow = [study.flow_errors() for study in studies]
    for point in shared:
        numbers = [of_study[point] for of_study in by_point]
        for metric, unit in metrics:
            each = [table.get((n, metric), {}) for table, n in zip(tables, numbers, strict=True)]
            if not any(each):
                continue
            if any(number in errors for number, errors in zip(numbers, flow, strict=True)):
                # replications are equal there: no interval
                each = [dict(list(values.items())[:1]) for values in each]
            row = sides(each, common, share=unit == "1")
            yield replace(row, metric=metric, unit=unit, point=dict(point))


def _values(study: PointsStudy) -> Mapping[tuple[int, str], Each]:
    """Return each metric of each point by replication; what is not a number is absent."""
    by_point: dict[tuple[int, str], dict[int, float]] = {}
    points, replications = (study.points[name].tolist() for name in ("point", "replication"))
    for metric in study.METRICS:
        rows = zip(points, replications, study.points[metric].tolist(), strict=True)
        for point, replication, value in rows:
            if value == value:  # noqa: PLR0124 - not a number
                by_point.setdefault((point, metric), {})[replication] = value
    return by_point
