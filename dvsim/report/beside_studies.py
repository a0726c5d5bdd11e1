"""The page about studies side by side: curves overlaid, ratios, and a table of each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dvsim.report.axes import layout, tall
from dvsim.report.beside_tables import differences_table, manifest_table, sides_table
from dvsim.report.curves import band, line_trace, x_axis, y_axis
from dvsim.report.drawing import Drawing
from dvsim.report.evidence import commands_of
from dvsim.report.forest import Compared, forest_drawing
from dvsim.report.metrics import name_of, unit_of
from dvsim.report.overlaid import COLOURS
from dvsim.report.page import render
from dvsim.report.sweep import Group, Mark, Sweep, named
from dvsim.report.table import Cell, Table
from dvsim.study.compare import Comparison, interval_notes

DASHES = ("solid", "dash", "dot", "dashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up")
MOST_ROWS = 60  # of a figure of ratios


def render_study_comparison(found: Comparison, command: str | None = None) -> str:
    """Make the page of a comparison of studies, as one HTML page that needs nothing else."""
    labels = labels_of(found)
    metrics = metrics_of(found)
    return render(
        "compare.html.jinja",
        title=f"{len(labels)} studies side by side",
        intro="",
        sentences=sentences(found, labels),
        whole=None,
        differences=differences_table(found.differences, labels),
        forests=forests(found, labels, metrics),
        curves=overlaid_curves(found, labels, metrics),
        columns=[
            (name_of(found.results[0], metric), table(found, labels, metric)) for metric in metrics
        ],
        distributions=[],
        series=[],
        manifest=manifest_table(found.results, labels),
        commands=commands_of(found.results, command),
    )


def labels_of(found: Comparison) -> list[str]:
    """Give each study a number and its name."""
    return [f"{number} {one.scenario.name}" for number, one in enumerate(found.results, start=1)]


def metrics_of(found: Comparison) -> list[str]:
    """Choose the metrics that say something about any of the studies, and that rows have."""
    there = {row.metric for row in found.rows}
    chosen = dict.fromkeys(metric for study in found.results for metric in study.drawn)
    return [metric for metric in chosen if metric in there]


def sentences(found: Comparison, labels: Sequence[str]) -> list[str]:
    """Say how many points they share, what is left out, and how intervals are made."""
    said = [f"{told}." for label in labels[1:] if (told := _told(found, labels, label))]
    said.append(f"{len(found.points)} points are in all of them.")
    left = [
        f"{len(only)} of {label}"
        for only, label in zip(found.unmatched, labels, strict=True)
        if only
    ]
    if left:
        said.append(f"Left out, since not all have them: {', '.join(left)} points.")
    said.append(f"Ratios: {'; '.join(interval_notes(found.results))}.")
    names = [difference.what for difference in found.differences]
    said.append(f"{len(names)} things differ: {', '.join(names)}." if names else "Nothing differs.")
    return said


def _told(found: Comparison, labels: Sequence[str], label: str) -> str:
    """Say between what the ratios of a study to the first lie, metric by metric."""
    place, said = labels.index(label), []
    for metric in metrics_of(found):
        changes = [row.changes[place] for row in found.rows if row.metric == metric]
        ratios = [one.value for one in changes if one is not None and one.kind == "ratio"]
        if ratios:
            low, high = (f"{end:.3g}" for end in (min(ratios), max(ratios)))
            spread = low if low == high else f"{low} to {high}"
            said.append(f"{name_of(found.results[0], metric)} {spread}")
    return f"{label}, in times of the first: {'; '.join(said)}" if said else ""


def forests(found: Comparison, labels: Sequence[str], metrics: Sequence[str]) -> list[Drawing]:
    """Draw the ratios of each metric to the first study, point by point."""
    drawn = []
    for metric in metrics:
        rows = [row for row in found.rows if row.metric == metric][:MOST_ROWS]
        others = [
            Compared(label, COLOURS[place % len(COLOURS)], [row.changes[place] for row in rows])
            for place, label in enumerate(labels)
            if place
        ]
        names = [named(row.point or {}) or "the run" for row in rows]
        title = name_of(found.results[0], metric).capitalize()
        drawn.append(forest_drawing(f"forest-{metric}", f"{title}: ratios", names, others))
    return [drawing for drawing in drawn if drawing is not None]


def overlaid_curves(
    found: Comparison, labels: Sequence[str], metrics: Sequence[str]
) -> list[Drawing]:
    """Draw each metric over the key that the studies have along their axes, all in one figure.

    There is none where they have no such key, or not the same, or its values are no numbers.
    """
    sweeps = [Sweep(study) for study in found.results]
    first = sweeps[0]
    alike = all(one.key == first.key and one.numeric for one in sweeps)
    if first.key is None or not alike:
        return []
    return [_curve(sweeps, labels, metric) for metric in metrics]


def _curve(sweeps: Sequence[Sweep], labels: Sequence[str], metric: str) -> Drawing:
    lines: list[tuple[int, Sweep, Group, Sequence[Mark]]] = []
    for place, sweep in enumerate(sweeps):
        for group in sweep.groups:
            marks = sweep.marks(group, metric)
            if marks:
                name = ": ".join(filter(None, [labels[place], group.name]))
                lines.append((place, sweep, replace(group, name=name), marks))
    if len(sweeps[0].groups) == 1:  # one line each: the study has the colour
        lines = [(place, s, replace(g, number=place), line) for place, s, g, line in lines]
    traces: list[dict[str, Any]] = []
    for _, _, group, line in lines:
        traces += band(group, line)
    for place, sweep, group, line in lines:
        trace = line_trace(sweep, group, line, metric)
        trace["line"] |= {"dash": DASHES[place % len(DASHES)]}
        symbol = SYMBOLS[place % len(SYMBOLS)]
        trace["marker"] |= {"symbol": [symbol + "-open" * (not mark.settled) for mark in line]}
        traces.append(trace)
    values = [mark.value for *_, line in lines for mark in line]
    widest = max(sweeps, key=lambda sweep: len(sweep.values))
    name, title = (
        f"curve-{metric}",
        f"{name_of(widest.study, metric).capitalize()} against {widest.key}",
    )
    looks = layout(tall(len(lines)), x_axis(widest), y_axis(widest, metric, values))
    said = "; ".join(f"{group.name}: {len(line)} points" for _, _, group, line in lines)
    return Drawing(
        name=name,
        title=title,
        traces=traces,
        looks=looks,
        label=f"{title}, in {unit_of(widest.study, metric) or 1}. {said}.",
        reading=(
            "Each study has its own stroke and mark, lines of the same keys have the same colour, "
            "and bands are the 95 % interval over replications. Open marks have not settled."
        ),
    )


def table(found: Comparison, labels: Sequence[str], metric: str) -> Table:
    """Tabulate a metric at every point that all studies have."""
    rows = [row for row in found.rows if row.metric == metric]
    keys = list(rows[0].point or ()) or ["point"]
    names = [
        [Cell(str(value)) for value in (row.point or {}).values()] or [Cell("the run")]
        for row in rows
    ]
    several = [study.replications > 1 for study in found.results]
    unit = "" if rows[0].unit == "1" else f" in {rows[0].unit}"
    return sides_table(names, keys, rows, labels, several, f"table-{metric}", unit)
