"""A study as text: one row per point, its metrics with half of their intervals, theory beside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from dvsim.kinds.switch.result import flow_text
from dvsim.results.beside_studies import matching_keys
from dvsim.results.changed import changes_of
from dvsim.results.lines import Table
from dvsim.scenario.spec import point_text

if TYPE_CHECKING:
    from dvsim.kinds.switch.result import Study

INDENT = "  "
COLUMNS = {
    "throughput": ("throughput", 4, "mean-field"),
    "acceptance": ("acceptance", 4, "butterfly"),
    "mean_hops": ("hops", 2, "zero-load"),
    "mean_latency": ("latency", 2, ""),
}
"""The metrics that are shown: heading, places, and the theory that stands beside."""

PS_PER_NS = 1000


def study_lines(study: Study) -> Iterator[str | Table]:
    """Yield a study: what was asked, the table of its points, and what is to be said of some."""
    scenario = study.scenario
    yield f"{changes_of(scenario).name}: {scenario.title}"
    many = study.replications > 1
    meaning = f"{study.replications} replications; ± is half of the 95 % interval over replications"
    if not many:
        meaning = "1 replication, which says nothing about the spread between runs"
    slots = sorted({scenario.at(point).traffic.slots for point in range(len(scenario.points))})
    shown = f"{slots[0]:,}" + (f" to {slots[-1]:,}" if len(slots) > 1 else "")
    yield f"{INDENT}{shown} slots, seed {study.seed}, {meaning}"
    keys = matching_keys([study])
    head, *rows = _rows(study, keys)
    yield Table(head, rows, range(len(keys), len(head)), keys=len(keys), groups=_groups(head, keys))
    for number, note in study.notes().items():
        point = {key: scenario.points[number][key] for key in keys}
        named = f"{point_text(point)}: " if point else ""
        yield f"{INDENT}* {named}not settled: {note}"
    errors = study.flow_errors()
    if errors:
        yield f"{INDENT}{flow_text(errors, len(scenario.points))}"
    if study.folder is not None:
        yield f"{INDENT}kept in {study.folder}"


def _groups(head: list[str], keys: list[str]) -> list[int]:
    """Return how many columns stay together: a metric, its ±, and the theory beside."""
    metrics = {heading for heading, _, _ in COLUMNS.values()} | {"p99", "latency ns", "lost"}
    first = [place for place in range(len(keys), len(head)) if head[place] in metrics]
    return [end - begin for begin, end in pairwise([*first, len(head)])]


def _rows(study: Study, shown: list[str]) -> Iterator[list[str]]:
    """Yield the heading and the row of each point."""
    theory = {
        (int(point), name, metric): float(value)
        for point, name, metric, value in study.theory.itertuples(index=False)
    }
    beside = {name for _, name, _ in theory}
    estimates = study.estimates().set_index(["point", "metric"])[["value", "high"]]
    cells = {key: (row[0], row[1] - row[0]) for key, row in _items(estimates)}
    slot, keys, notes = study.slot_ps, study.keys()[shown], study.notes()
    head = list(shown)
    for heading, _, name in COLUMNS.values():
        head += [heading, "±"] + ([name] if name in beside else [])
    flow = study.flow_errors()
    losing = any(cells[number, "lost"][0] > 0 for number in range(len(keys)))
    lost = ["lost"] if losing else []
    yield [*head, "p99", *(["latency ns"] if slot else []), *lost, ""]
    for number in range(len(keys)):
        row = [_key(value) or "none" for value in keys.iloc[number].tolist()]
        scatters = study.replications > 1 and number not in flow
        for metric, (_, places, name) in COLUMNS.items():
            value, half = cells[number, metric]
            row += [_number(value, places), _number(half, places) if scatters else "-"]
            if name in beside:
                row.append(_number(theory.get((number, name, metric), math.nan), places))
        row.append(_number(cells[number, "p99"][0], 1))
        if slot:
            row.append(_number(cells[number, "mean_latency"][0] * slot / PS_PER_NS, 1))
        if losing:
            row.append(_number(cells[number, "lost"][0], 1))
        yield [*row, "*" if number in notes else ""]


def _items(table: Any) -> Iterator[tuple[tuple[int, str], tuple[float, float]]]:  # noqa: ANN401
    """Yield the rows of a table by its index, as plain types."""
    for (point, metric), (value, high) in zip(table.index, table.to_numpy(), strict=True):
        yield (int(point), str(metric)), (float(value), float(high))


def _key(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number(value: float, places: int) -> str:
    return "-" if math.isnan(value) else f"{value:,.{places}f}"
