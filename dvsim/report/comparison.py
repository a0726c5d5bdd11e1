"""The page of results side by side: what differs, ratios, curves or distributions, statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from dvsim.report.basis import commands_of, origin_table
from dvsim.report.blocks import Block, Fold, Page, Section, Text, answer, commands
from dvsim.report.curves import band, line_trace, x_axis, y_axis
from dvsim.report.drawing import COLOURS, DASHES, SYMBOLS, Drawing, layout, tall
from dvsim.report.metrics import name_of, unit_of
from dvsim.report.overlaid import Compared, Side, distribution, forest_drawing, series
from dvsim.report.sweep import Group, Mark, Sweep, named
from dvsim.report.table import Cell, Table, changed, number
from dvsim.study.compare import Comparison, Row, interval_notes, names_of
from dvsim.study.rate import SYSTEM

MOST_ROWS = 60  # of a figure of ratios


def comparison_page(comparison: Comparison, command: str | None = None) -> Page:
    """Return the page of runs, or of studies, side by side; `command` is what makes it."""
    if comparison.of_studies:
        return _studies_page(comparison, command)
    sides = sides_of(comparison)
    kinds = dict.fromkeys(
        (row.column, row.reading) for row in comparison.rows if row.column != SYSTEM
    )
    drawn = {column: (column, reading) for column, reading in reversed(kinds)}  # as printed
    distributions = [
        distribution(sides, *kind, name=f"distribution-{index}")
        for index, kind in enumerate(reversed(drawn.values()))
    ]
    over_time = [series(sides, *kind, name=f"series-{index}") for index, kind in enumerate(kinds)]
    statistics = {}
    for column, reading in kinds:
        rows = [row for row in comparison.rows if (row.column, row.reading) == (column, reading)]
        unit = f" in {reading}/s"
        statistics[f"{column}, {reading}/s"] = table(rows, sides, f"{column}-{reading}", unit)
    whole = table([row for row in comparison.rows if row.column == SYSTEM], sides, "whole", "")
    labels = [side.label for side in sides]
    return _page(
        comparison,
        labels,
        f"{len(sides)} runs side by side",
        [*answer(sentences(comparison, sides)), whole],
        [
            Section("ratios", "Ratios", forests(comparison, sides)),
            Section("distributions", "Distributions", distributions),
            Section("series", "Rates over time", over_time),
            _statistics(statistics),
        ],
        command,
    )


def _studies_page(comparison: Comparison, command: str | None) -> Page:
    labels = [
        f"{index} {result.scenario.name}"
        for index, result in enumerate(comparison.results, start=1)
    ]
    metrics = metrics_of(comparison)
    statistics = {
        name_of(comparison.results[0], metric): study_table(comparison, labels, metric)
        for metric in metrics
    }
    return _page(
        comparison,
        labels,
        f"{len(labels)} studies side by side",
        answer(study_sentences(comparison, labels)),
        [
            Section("ratios", "Ratios", study_forests(comparison, labels, metrics)),
            Section("curves", "Curves", overlaid_curves(comparison, labels, metrics)),
            _statistics(statistics),
        ],
        command,
    )


def _page(
    comparison: Comparison,
    labels: Sequence[str],
    title: str,
    blocks: Sequence[Block],
    sections: Sequence[Section],
    command: str | None,
) -> Page:
    """Return what pages of runs and of studies have in common around what they do not."""
    differing = Table(
        name="differences",
        caption="What is not the same in all of them.",
        head=["what", *labels],
        rows=[
            [Cell(difference.what), *map(Cell, difference.values)]
            for difference in comparison.differences
        ],
    )
    made = origin_table(comparison.results, [{"run": Cell(label)} for label in labels])
    nothing = Text("Nothing that was asked.")
    return Page(
        title,
        [
            Section("answer", "The answer", blocks),
            Section("what-differs", "What differs", [differing if differing.rows else nothing]),
            *sections,
            Section(
                "origin",
                "Where it comes from",
                [made, *commands(commands_of(comparison.results, command))],
            ),
        ],
    )


def _statistics(tables: dict[str, Table]) -> Section:
    folds = [Fold(title, [table], opened=True) for title, table in tables.items()]
    return Section("statistics", "Statistics", folds)


def sides_of(comparison: Comparison) -> list[Side]:
    """Return each run with a number and a colour."""
    return [
        Side(run, f"{index + 1} {name}", COLOURS[index % len(COLOURS)])
        for index, (run, name) in enumerate(
            zip(comparison.results, names_of(comparison.results), strict=True)
        )
    ]


def sentences(comparison: Comparison, sides: Sequence[Side]) -> list[str]:
    """Say how fast each run was, and how much of the question they have in common."""
    sentences_of_sides = [
        f"{side.label}: {side.run.answer}"
        + (f"; {change.text()} times the first." if change and change.kind == "ratio" else ".")
        for side, change in zip(sides, comparison.rows[0].changes, strict=True)
    ]
    sentences_of_sides += _notes(comparison)
    if {side.run.backend for side in sides} == {"sim", "emu"}:
        sentences_of_sides.append(
            "A simulated rate is that of the modelled hardware; an emulated one is that of the "
            "machine that it was measured on. Only with cards that were measured there must the "
            "two agree."
        )
    return sentences_of_sides


def _notes(comparison: Comparison) -> list[str]:
    """Say how intervals are made, and what differs."""
    names = [difference.what for difference in comparison.differences]
    return [
        f"Ratios: {'; '.join(interval_notes(comparison.results))}.",
        f"{len(names)} things differ: {', '.join(names)}." if names else "Nothing differs.",
    ]


def table(rows: Sequence[Row], sides: Sequence[Side], name: str, unit: str) -> Table:
    """Tabulate statistics of a column, a run beside the other."""
    names = [r.metric if r.column != SYSTEM else f"{r.reading}/s, all receivers" for r in rows]
    several = [side.run.replications > 1 for side in sides]
    labels = [side.label for side in sides]
    return sides_table(
        [[Cell(name)] for name in names], ["statistic"], rows, labels, several, name, unit
    )


def sides_table(
    names: Sequence[Sequence[Cell]],
    heads: Sequence[str],
    rows: Sequence[Row],
    labels: Sequence[str],
    several: Sequence[bool],
    name: str,
    unit: str,
) -> Table:
    """Tabulate values side by side, with their intervals and what became of the first.

    `names` and `heads` say what each row is, in one cell or more; `labels` and `several` what each
    result is called, and whether it has more than one replication; `unit` ends the caption's
    beginning, such as " in messages/s".
    """
    spans = [("", len(heads))]
    head = list(heads)
    for index, label in enumerate(labels):
        spans.append((label, 3 if index else 2))
        head += ["mean", "±", *(["to the first"] if index else [])]
    lines = []
    for cells, row in zip(names, rows, strict=True):
        line = list(cells)
        columns = zip(row.values, row.changes, several, strict=True)
        for index, (value, change, many) in enumerate(columns):
            line.append(number(None if value is None else value.value))
            line.append(number(value.high - value.value if value is not None and many else None))
            line += [changed(change)] if index else []
        lines.append(line)
    return Table(
        name=name,
        caption=(
            f"Means over replications{unit}, and half of the 95 % interval over them, which one "
            "replication does not have. What became of the first one's value is a ratio with its "
            "interval; of shares, and where one has 0, a difference, with a sign."
        ),
        head=head,
        rows=lines,
        spans=spans,
    )


def _forest(
    name: str, title: str, names: Sequence[str], rows: Sequence[Row], labels: Sequence[str]
) -> list[Drawing]:
    others = [
        Compared(label, COLOURS[index % len(COLOURS)], [row.changes[index] for row in rows])
        for index, label in enumerate(labels)
        if index
    ]
    drawn = forest_drawing(f"forest-{name}", f"{title}: ratios", names, others)
    return [] if drawn is None else [drawn]


def forests(comparison: Comparison, sides: Sequence[Side]) -> list[Drawing]:
    """Draw the ratios to the first run: of all messages, then of each column."""
    drawn = []
    labels = [side.label for side in sides]
    for index, (column, group) in enumerate(groupby(comparison.rows, key=lambda row: row.column)):
        rows = list(group)
        every = column == SYSTEM
        names = [f"{row.reading}/s" if every else f"{row.metric} of {row.reading}" for row in rows]
        drawn += _forest(f"{index}", "All receivers" if every else column, names, rows, labels)
    return drawn


def metrics_of(comparison: Comparison) -> list[str]:
    """Choose the metrics that say something about any of the studies, and that rows have."""
    there = {row.metric for row in comparison.rows}
    chosen = dict.fromkeys(metric for study in comparison.results for metric in study.drawn)
    return [metric for metric in chosen if metric in there]


def study_sentences(comparison: Comparison, labels: Sequence[str]) -> list[str]:
    """Say how many points they share, what is left out, and how intervals are made."""
    said = [f"{text}." for label in labels[1:] if (text := _ratios(comparison, labels, label))]
    said.append(f"{len(comparison.points)} points are in all of them.")
    unmatched = zip(comparison.unmatched, labels, strict=True)
    alone = [f"{len(only)} of {label}" for only, label in unmatched if only]
    if alone:
        said.append(f"Left out, since not all have them: {', '.join(alone)} points.")
    return said + _notes(comparison)


def _ratios(comparison: Comparison, labels: Sequence[str], label: str) -> str:
    """Say between what the ratios of a study to the first lie, metric by metric."""
    index, texts = labels.index(label), []
    for metric in metrics_of(comparison):
        changes = [row.changes[index] for row in comparison.rows if row.metric == metric]
        ratios = [
            change.value for change in changes if change is not None and change.kind == "ratio"
        ]
        if ratios:
            low, high = (f"{end:.3g}" for end in (min(ratios), max(ratios)))
            spread = low if low == high else f"{low} to {high}"
            texts.append(f"{name_of(comparison.results[0], metric)} {spread}")
    return f"{label}, in times of the first: {'; '.join(texts)}" if texts else ""


def study_forests(
    comparison: Comparison, labels: Sequence[str], metrics: Sequence[str]
) -> list[Drawing]:
    """Draw the ratios of each metric to the first study, point by point."""
    drawn = []
    for metric in metrics:
        rows = [row for row in comparison.rows if row.metric == metric][:MOST_ROWS]
        names = [named(row.point or {}) or "the run" for row in rows]
        title = name_of(comparison.results[0], metric).capitalize()
        drawn += _forest(metric, title, names, rows, labels)
    return drawn


def overlaid_curves(
    comparison: Comparison, labels: Sequence[str], metrics: Sequence[str]
) -> list[Drawing]:
    """Draw each metric over the key that the studies have along their axes, all in one figure.

    There is none where they have no such key, or not the same, or its values are no numbers.
    """
    sweeps = [Sweep(study) for study in comparison.results]
    first = sweeps[0]
    alike = all(sweep.key == first.key and sweep.numeric for sweep in sweeps)
    if first.key is None or not alike:
        return []
    return [_curve(sweeps, labels, metric) for metric in metrics]


def _curve(sweeps: Sequence[Sweep], labels: Sequence[str], metric: str) -> Drawing:
    lines: list[tuple[int, Sweep, Group, Sequence[Mark]]] = []
    for index, sweep in enumerate(sweeps):
        for group in sweep.groups:
            marks = sweep.marks(group, metric)
            if marks:
                name = ": ".join(filter(None, [labels[index], group.name]))
                lines.append((index, sweep, replace(group, name=name), marks))
    if len(sweeps[0].groups) == 1:  # one line each: the study has the colour
        lines = [(place, s, replace(g, number=place), line) for place, s, g, line in lines]
    traces: list[dict[str, Any]] = []
    for _, _, group, line in lines:
        traces += band(group, line)
    for index, sweep, group, line in lines:
        trace = line_trace(sweep, group, line, metric)
        trace["line"] |= {"dash": DASHES[index % len(DASHES)]}
        symbol = SYMBOLS[index % len(SYMBOLS)]
        trace["marker"] |= {"symbol": [symbol + "-open" * (not mark.settled) for mark in line]}
        traces.append(trace)
    values = [mark.value for *_, line in lines for mark in line]
    widest = max(sweeps, key=lambda sweep: len(sweep.values))
    title = f"{name_of(widest.study, metric).capitalize()} against {widest.key}"
    said = "; ".join(f"{group.name}: {len(line)} points" for _, _, group, line in lines)
    return Drawing(
        f"curve-{metric}",
        title,
        f"{title}, in {unit_of(widest.study, metric) or 1}. {said}.",
        "Each study has its own stroke and mark, lines of the same keys have the same colour, "
        "and bands are the 95 % interval over replications. Open marks have not settled.",
        traces,
        layout(tall(len(lines)), x_axis(widest), y_axis(widest, metric, values)),
    )


def study_table(comparison: Comparison, labels: Sequence[str], metric: str) -> Table:
    """Tabulate a metric at every point that all studies have."""
    rows = [row for row in comparison.rows if row.metric == metric]
    keys = list(rows[0].point or ()) or ["point"]
    names = [
        [Cell(str(value)) for value in (row.point or {}).values()] or [Cell("the run")]
        for row in rows
    ]
    several = [study.replications > 1 for study in comparison.results]
    unit = "" if rows[0].unit == "1" else f" in {rows[0].unit}"
    return sides_table(names, keys, rows, labels, several, f"table-{metric}", unit)
