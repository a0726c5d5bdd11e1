"""A study as text: one row per point, its metrics with half of their intervals, theory beside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from dvsim.kinds.study import halves_of
from dvsim.scenario.spec import point_text
from dvsim.study.number_text import fixed_text
from dvsim.study.points_text import key_text, question_lines
from dvsim.study.table import Table
from dvsim.table.match import PointKeys, matching_keys
from dvsim.table.result import Result, flow_text

INDENT = "  "
COLUMNS = {
    "throughput": ("throughput", 4, "mean-field"),
    "acceptance": ("acceptance", 4, "butterfly"),
    "mean_hops": ("hops", 2, "zero-load"),
    "mean_latency": ("latency", 2, ""),
}
"""The metrics that are shown: heading, places, and the theory that stands beside."""

PS_PER_NS = 1000


def study_lines(study: Result) -> Iterator[str | Table]:
    """Yield a study: what was asked, the table of its points, and what is to be said of some."""
    scenario = study.scenario
    slots = sorted({scenario.at(point).get("slots") for point in range(len(scenario.points))})
    shown = f"{slots[0]:,}" + (f" to {slots[-1]:,}" if len(slots) > 1 else "")
    yield from question_lines(study, f"{shown} slots")
    keys = matching_keys([PointKeys.of(study)])
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
    metrics = {heading for heading, _, _ in COLUMNS.values()} | {"p99", "latency ns", "lost"}
    first = [index for index in range(len(keys), len(head)) if head[index] in metrics]
    return [end - begin for begin, end in pairwise([*first, len(head)])]


def _rows(study: Result, shown: list[str]) -> Iterator[list[str]]:
    theory = {
        (int(point), name, metric): float(value)
        for point, name, metric, value in study.beside.itertuples(index=False)
    }
    beside = {name for _, name, _ in theory}
    cells = halves_of(study)
    slot, keys, notes = study.slot_ps, study.points[shown], study.notes()
    head = list(shown)
    for heading, _, name in COLUMNS.values():
        head += [heading, "±"] + ([name] if name in beside else [])
    flow = study.flow_errors()
    losing = any(cells[number, "lost"][0] > 0 for number in range(len(keys)))
    lost = ["lost"] if losing else []
    yield [*head, "p99", *(["latency ns"] if slot else []), *lost, ""]
    for number in range(len(keys)):
        row = [key_text(value) or "none" for value in keys.iloc[number].tolist()]
        scatters = study.replications > 1 and number not in flow
        for metric, (_, places, name) in COLUMNS.items():
            value, half = cells[number, metric]
            row += [fixed_text(value, places), fixed_text(half, places) if scatters else "-"]
            if name in beside:
                row.append(fixed_text(theory.get((number, name, metric), math.nan), places))
        row.append(fixed_text(cells[number, "p99"][0], 1))
        if slot:
            row.append(fixed_text(cells[number, "mean_latency"][0] * slot / PS_PER_NS, 1))
        if losing:
            row.append(fixed_text(cells[number, "lost"][0], 1))
        yield [*row, "*" if number in notes else ""]
