"""Results side by side as text and as JSON: what differs, values, and changes against the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from dvsim.study.text_table import GAP, Table

if TYPE_CHECKING:
    from dvsim.study.compare import Comparison, Difference, Row
    from dvsim.study.paired import Change
    from dvsim.study.points import PointsStudy
    from dvsim.study.run import Run

INDENT = "  "
NAME, VALUE, SPREAD, CHANGE = 20, 13, 16, 22  # widths
MOST_UNMATCHED = 6  # points that are named


def comparison_lines(comparison: Comparison) -> Iterator[str | Table]:
    """Yield results as text: what they are, what differs, and their numbers."""
    yield from study_lines(comparison) if comparison.of_studies else run_lines(comparison)


def run_lines(comparison: Comparison) -> Iterator[str | Table]:
    """Yield runs as text: what they are, what differs, and a table for each column."""
    from dvsim.study.rate import SYSTEM

    times = [
        "" if change is None else f"; {change.text()} times 1"
        for change in comparison.rows[0].changes
    ]
    answers = [run.answer + text for run, text in zip(comparison.results, times, strict=True)]
    yield from _head(comparison.results, comparison.differences, answers)
    for column, group in groupby(comparison.rows, key=lambda row: row.column):
        rows = list(group)
        printed = rows[0].reading
        name = "all receivers" if column == SYSTEM else f"{column}, {printed}/s"
        cells = [
            [f"{INDENT}{_name(row, printed)}", *_cells(row, 1e6 if row.unit == "B/s" else 1.0)]
            for row in rows
        ]
        runs = len(comparison.results)
        head, groups = [name, *_column_heads(runs)], [2, *[3] * (runs - 1)]
        widths = [NAME + len(INDENT), VALUE, SPREAD, *[VALUE, SPREAD, CHANGE] * (runs - 1)]
        yield ""
        yield Table(head, cells, range(1, len(head)), groups=groups, widths=widths)


def study_lines(comparison: Comparison) -> Iterator[str | Table]:
    """Yield studies as text: what they are, what differs, and each metric of each shared point."""
    studies = comparison.results
    yield from _head(studies, comparison.differences)
    for number, points in enumerate(comparison.unmatched, start=1):
        if points:
            yield f"only in some, left out of {number}: {_points_text(points)}"
    keys = list(comparison.rows[0].point or ())
    head = [*keys, "metric", *_column_heads(len(studies))]
    rows = [
        [*map(_plain, (row.point or {}).values()), _metric(row), *_cells(row)]
        for row in comparison.rows
        if row.metric in studies[0].SHOWN
    ]
    label_columns = len(keys) + 1
    yield ""
    groups = [2, *[3] * (len(studies) - 1)]
    yield Table(head, rows, range(label_columns, len(head)), keys=label_columns, groups=groups)


def _head(
    results: Sequence[Run | PointsStudy],
    differences: Sequence[Difference],
    answers: Sequence[str] = (),
) -> Iterator[str | Table]:
    from dvsim.study.compare import interval_notes, names_of

    names = names_of(results)
    for number, result in enumerate(results, start=1):
        yield f"{number}  {result.backend}  {names[number - 1]}: {result.scenario.title}"
        yield from (f"   {text}" for text in answers[number - 1 : number])
        yield f"   {result.folder}"
    yield ""
    yield _differences(differences, len(results))
    yield ""
    yield "± is half of the 95 % interval over replications, - where there is none; the change"
    yield "against the first is a ratio, of shares and where one has 0 a difference, with a sign"
    yield from interval_notes(results)


def _differences(differences: Sequence[Difference], count: int) -> str | Table:
    if not differences:
        return "nothing differs in what was asked"
    head = ["what differs", *map(str, range(1, count + 1))]
    rows = [[f"{INDENT}{difference.what}", *difference.values] for difference in differences]
    widths = [max(map(len, cells)) + GAP for cells in zip(head, *rows, strict=True)]
    widths[0] = max(widths[0], NAME + 2 * GAP)  # below each other with the tables that follow
    return Table(head, rows, widths=widths)


def _column_heads(count: int) -> list[str]:
    """Return the heads of the columns: of each result the value, its ±, and the change."""
    heads = []
    for number in range(1, count + 1):
        heads += [str(number), "±", *([f"{number}/1"] if number > 1 else [])]
    return heads


def _name(row: Row, printed: str) -> str:
    from dvsim.study.rate import SYSTEM

    if row.column != SYSTEM:
        return row.metric + f", in {row.reading}" * (row.reading != printed)
    return "msg/s" if row.reading == "messages" else "MB/s"


def _cells(row: Row, unit: float = 1.0) -> list[str]:
    """Return the cells of a row: of each result the value, its ±, and what became of the first."""
    from dvsim.study.amounts import estimate_texts

    lines: list[str] = []
    for number, (value, change) in enumerate(zip(row.values, row.changes, strict=True)):
        if value is None:
            lines += ["", ""]
        else:
            text, half = estimate_texts(value.value / unit, (value.high - value.value) / unit)
            lines += [text, half or "-"]
        if number:
            lines.append("" if change is None else change.text(unit))
    return lines


def _metric(row: Row) -> str:
    return row.metric if row.unit == "1" else f"{row.metric}, {row.unit}"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _points_text(points: Sequence[Mapping[str, Any]]) -> str:
    from dvsim.scenario.spec import point_text

    named = "; ".join(map(point_text, points[:MOST_UNMATCHED]))
    more = len(points) - MOST_UNMATCHED
    return f"{named}; and {more} more" if more > 0 else named


def as_json(comparison: Comparison) -> dict[str, object]:
    """Return a comparison as JSON types."""
    differences = [
        {"what": item.what, "values": list(item.values)} for item in comparison.differences
    ]
    content = {"differences": differences, "rows": rows_json(comparison.rows)}
    if comparison.of_studies:
        unmatched = [[dict(point) for point in points] for points in comparison.unmatched]
        return {
            "studies": [_origin(result) for result in comparison.results],
            "unmatched": unmatched,
            **content,
        }
    return {
        "runs": [_origin(run) | {"backend": run.backend} for run in comparison.results],
        **content,
    }


def rows_json(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return rows as JSON types; a change is called ratio or difference."""
    return [
        (
            {"column": row.column, "reading": row.reading, "statistic": row.metric}
            if row.point is None
            else {"point": dict(row.point), "metric": row.metric}
        )
        | {
            "unit": row.unit,
            "values": [None if value is None else value._asdict() for value in row.values],
            "changes": [
                None if change is None else {change.kind: change.value, **interval_json(change)}
                for change in row.changes
            ],
        }
        for row in rows
    ]


def interval_json(change: Change) -> dict[str, Any]:
    """Return the interval of a change as JSON types."""
    return {"low": change.low, "high": change.high, "paired": change.paired}


def _origin(run: Run | PointsStudy) -> dict[str, Any]:
    return {
        "scenario": run.scenario.name,
        "folder": str(run.folder),
        "seed": run.seed,
        "replications": run.replications,
        "manifest": run.manifest,
    }
