"""Results side by side: what they have in common, number by number, and in what they differ.

Runs of systems have their statistics compared: rates where they count the same thing, pieces only
if all runs count them, whole messages always. Of results of any kinds, runs beside studies and
sweeps too, the metrics that all have are compared, at the points that belong together: see
`dvsim.study.matching`. What was asked differently is told, not refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from dvsim.contract.kind import Metric
from dvsim.scenario.spec import point_text
from dvsim.study.changes import changes_of
from dvsim.study.facts import Difference, differences
from dvsim.study.manifest import asked_json
from dvsim.study.matching import Matched, match, shared_metrics
from dvsim.study.measured import Measured, measured
from dvsim.study.number_text import counted, joined
from dvsim.study.points import Points
from dvsim.study.rate import SYSTEM
from dvsim.study.run import Run
from dvsim.study.summary import STATISTICS
from dvsim.study.swept_points import Result, SweptPoints
from dvsim.table.estimate import Change, Each, Estimate, Kind, change, estimate


@dataclass(frozen=True)
class Row:
    """A number of each result.

    Attributes:
        values: One for each result; None where it has none.
        changes: What became of the value of the first; None of the first, and where there is
            nothing to compare.
        metric, unit: What; of a run a statistic.
        point: The keys that tell points apart, with their values; None of runs of systems alone.
        column, reading: Of runs of systems; `column` is `SYSTEM` for all receivers together.
    """

    values: tuple[Estimate | None, ...]
    changes: tuple[Change | None, ...]
    metric: str = ""
    unit: str = ""
    point: Mapping[str, Any] | None = None
    column: str = ""
    reading: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the row as JSON types; a change is a ratio or a difference."""
        of_run = {"column": self.column, "reading": self.reading, "statistic": self.metric}
        of_point = {"point": dict(self.point or {}), "metric": self.metric}
        return {
            **(of_run if self.point is None else of_point),
            "unit": self.unit,
            "values": [None if value is None else value._asdict() for value in self.values],
            "changes": [None if change is None else change._asdict() for change in self.changes],
        }


@dataclass(frozen=True)
class Comparison:
    """Results side by side; the first is what the others are held against.

    Attributes:
        rows: Of what all results have.
        metrics, shown: Unless all are runs of systems: the metrics that all have, as the first
            describes them, and those of them that a table for people has.
        single: By number, from 1, results with one point that have none of the keys that tell the
            points of others apart.
        unmatched: Of each result its points that match none of another.
        own_metrics, own_keys: Of each result the metrics and varied keys that another has not.
    """

    results: tuple[Any, ...]
    differences: tuple[Difference, ...]
    rows: tuple[Row, ...]
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    single: tuple[int, ...] = ()
    unmatched: tuple[tuple[Mapping[str, Any], ...], ...] = ()
    own_metrics: tuple[tuple[str, ...], ...] = ()
    own_keys: tuple[tuple[str, ...], ...] = ()

    @property
    def of_points(self) -> bool:
        """Whether metrics are compared at points, not the statistics of runs of systems."""
        return bool(self.metrics)

    @property
    def what(self) -> str:
        """What is compared: runs, studies, sweeps, or results of several sorts."""
        sorts = set(map(sort_of, self.results))
        return sorts.pop() if len(sorts) == 1 else "results"

    @property
    def points(self) -> list[Mapping[str, Any]]:
        """The points that are compared, in the order of the first result."""
        return [dict(p) for p in dict.fromkeys(tuple((r.point or {}).items()) for r in self.rows)]

    def as_json(self) -> dict[str, object]:
        """Return the comparison as JSON types."""
        results = [
            asked_json(result) | {"backend": result.backend, "manifest": result.manifest}
            for result in self.results
        ]
        own = {name: list(map(list, getattr(self, name))) for name in OWN}
        return {
            self.what: results,
            **(own if self.of_points else {}),
            "differences": [
                {"what": item.what, "values": list(item.values)} for item in self.differences
            ],
            "rows": [row.as_json() for row in self.rows],
        }


def sort_of(result: Result) -> str:
    """Return which sort of results one is of: runs of systems, studies, or sweeps."""
    if isinstance(result, SweptPoints):
        return "sweeps"
    return "studies" if isinstance(result, Points) else "runs"


OWN = ("unmatched", "own_metrics", "own_keys")


def compare(results: Sequence[Result]) -> Comparison:
    """Put two or more results side by side, of any kinds: runs, studies, points of sweeps.

    Raises:
        ValueError: If there are fewer, they share no metrics or no points, or so few keys that
            too many points would stand beside each other.
    """
    if len(results) < 2:
        raise ValueError(f"a comparison needs two runs, not {len(results)}")
    if any(isinstance(result, Points) for result in results):
        return _of_points([measured(result) for result in results])
    runs = cast("Sequence[Run]", results)
    return Comparison(tuple(runs), tuple(differences(runs)), tuple(_run_rows(runs)))


def side_by_side(
    each: Sequence[Each], common: Sequence[bool], *, share: bool = False, signed: bool = False
) -> Row:
    """Put the values of results side by side.

    Args:
        each: Of each result the value in each replication; empty where it has none.
        common: Of each result whether its replications had the random numbers of those of the
            first.
        share: Shares are subtracted, not divided; so is everything if one of the results has 0.
        signed: Whether they may be negative.
    """
    values = tuple(estimate(own.values(), signed=signed) if own else None for own in each)
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
        result.name
        if isinstance(result, SweptPoints)
        else changes_of(result.scenario).name
        + ", emulated" * (result.manifest.get("backend") == "emu")
        for result in results
    ]
    facts = [
        {
            "length": ""
            if isinstance(result, SweptPoints)
            else f"{changes_of(result.scenario).length:.3g} of its {result.scenario.LENGTH}",
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

    They had if both are of one kind and were simulated with one seed; what an emulated run met on
    its machine no other run has met.
    """
    first = results[0]
    return [
        first.simulated
        and result.simulated
        and (result.seed, result.scenario.KIND) == (first.seed, first.scenario.KIND)
        for result in results
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
    row = side_by_side(each, common, share=statistic == "empty")
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
    statistics: dict[tuple[str, str, str], dict[int, float]] = {}
    names = ("column", "reading", "statistic", "replication", "value")
    columns = (run.summary_columns[name] for name in names)
    for column, reading, statistic, replication, value in zip(*columns, strict=True):
        if reading != "counter":
            statistics.setdefault((column, reading, statistic), {})[replication] = value
    return statistics


def _of_points(sides: Sequence[Measured]) -> Comparison:
    results = tuple(side.result for side in sides)
    shared = shared_metrics(sides)
    if not shared:
        raise ValueError(_nothing_shared(sides))
    matched = match([side.keys for side in sides])
    if not matched.points:
        varied = (
            f"is at {point_text(points[0])}"
            if len(side.keys.points) == 1
            else f"varies {', '.join(side.keys.names)}"
            for side, points in zip(sides, matched.unmatched, strict=True)
        )
        raise ValueError(f"they have no point in common: {_each(results, varied)}")
    shown = [name for side in sides for name in side.shown if name in shared]
    return Comparison(
        results,
        tuple(differences(results, matched.keys)),
        tuple(_point_rows(sides, shared, matched)),
        {name: sides[0].metrics[name] for name in shared},
        tuple(dict.fromkeys(shown)) or tuple(shared),
        tuple(matched.single),
        tuple(map(tuple, matched.unmatched)),
        tuple(tuple(name for name in side.metrics if name not in shared) for side in sides),
        tuple(map(tuple, matched.own)),
    )


def _each(results: Sequence[Result], texts: Iterable[str]) -> str:
    named = zip(names_of(results), texts, strict=True)
    return "; ".join(f"{name} {text}" for name, text in named)


def _nothing_shared(sides: Sequence[Measured]) -> str:
    results = [side.result for side in sides]
    text = f"they share no metrics: {_each(results, map(_metrics_text, sides))}"
    first, *others = (side.metrics for side in sides)
    alike = [name for name in first if all(name in other for other in others)]
    return f"{text}; {joined(alike)} differ in unit or meaning" if alike else text


def _metrics_text(side: Measured) -> str:
    metrics = side.metrics.items()
    units = {name: "" if metric.unit == "1" else f" ({metric.unit})" for name, metric in metrics}
    return f"has {', '.join(name + unit for name, unit in units.items())}"


def _point_rows(
    sides: Sequence[Measured], metrics: Sequence[str], matched: Matched
) -> Iterator[Row]:
    common = in_common([side.result for side in sides])
    for point, numbers in matched.points:
        at = list(zip(sides, numbers, strict=True))
        for metric in metrics:
            first = sides[0].metrics[metric]
            unit = first.unit
            each = [side.each(number, metric, unit) for side, number in at]
            if not any(each):
                continue
            row = side_by_side(each, common, share=unit == "1", signed=first.signed)
            yield replace(row, metric=metric, unit=unit, point=dict(point))
