"""Results side by side, as blocks: what they are, what differs, ratios, figures, every number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dvsim.scenario.spec import point_text
from dvsim.study.changes import titled
from dvsim.study.number_text import estimate_texts, joined
from dvsim.study.table import Cell, Table, changed, number
from dvsim.table.compare import ON, Comparison, interval_notes, names_of, sort_of
from dvsim.table.estimate import Change
from dvsim.table.samples import SYSTEM
from dvsim.view.axes import Sweep, named
from dvsim.view.basis import commands_of, origin_table
from dvsim.view.blocks import Block, Page, Section, Text, commands, under
from dvsim.view.curves import rows_of, swept_figure
from dvsim.view.figure import COLOURS, Figure, reading
from dvsim.view.overlaid import Compared, Side, distribution, forest_figure, series

MOST_ROWS = 60  # of a figure of ratios
MOST_UNMATCHED = 6  # points that are named
MEGABYTES = 1e6
READING = (
    "± is half of the 95 % interval over replications. The change against the first is a ratio; of "
    "shares, and where one has 0, a difference, with a sign."
)
OWN_METRICS = "Metrics that not all have"
OWN_KEYS = "Keys that not all have, so that each value stands beside every point of the others"
MACHINES = (
    "A simulated rate is that of the modelled hardware; an emulated one is that of the machine "
    "that it was measured on. Only with cards that were measured there must the two agree."
)


def comparison_page(comparison: Comparison, command: str | None = None) -> Page:
    """Return the page of results side by side; `command` is what makes it."""
    results, labels = comparison.results, labels_of(comparison)
    answer, differing, numbers = comparison_sections(comparison)
    made = origin_table(results, [{"run": label} for label in labels])
    again = commands(commands_of(results, command))
    return Page(
        f"{len(results)} {comparison.what} side by side",
        [
            answer,
            differing,
            *(study_figures if comparison.metrics else run_figures)(comparison),
            numbers,
            Section("origin", "Where it comes from", [made, *again]),
        ],
    )


def comparison_sections(comparison: Comparison) -> list[Section]:
    """Return all that needs no figure: what the results are, what differs, and their numbers."""
    labels = labels_of(comparison)
    reading = [Text(text) for text in (READING, *interval_notes(comparison))]
    if comparison.metrics:
        short = under("Points", [*map(Text, _sentences(comparison, labels)), *reading])
        tables = [_study_table(comparison, labels)]
    else:
        by_column = comparison.rows.groupby("component", sort=False)
        whole, *tables = [_run_table(rows, labels) for _, rows in by_column]
        short = under("All receivers", [*reading, whole])
    return [
        Section("answer", "The answer", [*_results(comparison), *short]),
        Section("what-differs", "What differs", [_differences(comparison)]),
        Section("statistics", "Statistics", tables),
    ]


def labels_of(comparison: Comparison) -> list[str]:
    """Return what tables and figures call each result: its number and its name."""
    names = enumerate(names_of(comparison.results), start=1)
    return [f"{number} {name}" for number, name in names]


def _results(comparison: Comparison) -> Iterator[Text]:
    names = names_of(comparison.results)
    for index, (result, name) in enumerate(zip(comparison.results, names, strict=True)):
        sort = sort_of(result)
        text = (
            f"{name}: {len(result.points)} points"
            if sort == "sweeps"
            else titled(result.scenario, name)
        )
        yield Text(f"{index + 1}  {result.backend}  {text}", "verdict")
        if sort == "runs":
            rows = comparison.rows
            rate = rows[(rows["result"] == index + 1) & (rows["metric"] == "rate")]
            change = None if rate.empty else change_of(next(rate.itertuples()))
            yield Text(result.answer + (f"; {change.text()} times 1" if change else ""))
        yield Text(str(result.folder))
    if {result.backend for result in comparison.results} == {"sim", "emu"}:
        yield Text(MACHINES)


def _differences(comparison: Comparison) -> Block:
    if not comparison.differences:
        return Text("Nothing differs in what was asked.")
    head = ["what", *(str(number) for number in range(1, len(comparison.results) + 1))]
    rows = [[what, *values] for what, values in comparison.differences]
    return Table(head, rows, name="differences", caption="What is not the same in all of them.")


def run_figures(comparison: Comparison) -> list[Section]:
    """Return the figures of runs: ratios, distributions and rates over time."""
    sides = sides_of(comparison)
    rows = comparison.rows[comparison.rows["component"] != SYSTEM]
    readings = rows["metric"].str.partition(".")[0]
    kinds = dict.fromkeys(zip(rows["component"], readings, strict=True))
    drawn = {column: (column, reading) for column, reading in reversed(kinds)}  # as printed
    distributions = [
        distribution(sides, *kind, name=f"distribution-{index}")
        for index, kind in enumerate(reversed(drawn.values()))
    ]
    over_time = [series(sides, *kind, name=f"series-{index}") for index, kind in enumerate(kinds)]
    return [
        Section("ratios", "Ratios", forests(comparison)),
        Section("distributions", "Distributions", distributions),
        Section("series", "Rates over time", over_time),
    ]


def study_figures(comparison: Comparison) -> list[Section]:
    """Return the figures of studies: ratios and curves."""
    labels, metrics = labels_of(comparison), metrics_of(comparison)
    return [
        Section("ratios", "Ratios", study_forests(comparison, labels, metrics)),
        Section("curves", "Curves", overlaid_curves(comparison, labels, metrics)),
    ]


def sides_of(comparison: Comparison) -> list[Side]:
    """Return each run with its label and a colour."""
    return [
        Side(run, label, COLOURS[index % len(COLOURS)])
        for index, (run, label) in enumerate(
            zip(comparison.results, labels_of(comparison), strict=True)
        )
    ]


def _run_table(rows: pd.DataFrame, labels: Sequence[str]) -> Table:
    column, printed = rows["component"].iloc[0], rows["metric"].iloc[0].partition(".")[0]
    title = "Whole messages per second" if column == SYSTEM else f"{column}, {printed}/s"

    def cells(row: Any) -> list[str]:  # noqa: ANN401 - of a frame
        reading, _, statistic = row.metric.partition(".")
        whole = {"rate": "msg/s", "payload_rate": "MB/s"}
        return [whole.get(row.metric) or statistic + f", in {reading}" * (reading != printed)]

    return _values(f"statistics-{column}", title, ["statistic"], cells, rows, labels)


def _study_table(comparison: Comparison, labels: Sequence[str]) -> Table:
    rows = comparison.rows[comparison.rows["metric"].isin(comparison.shown)]

    def cells(row: Any) -> list[str]:  # noqa: ANN401 - of a frame
        return [*map(_plain, comparison.points[row.point].values()), _metric(row)]

    head = [*comparison.points[0], "metric"]
    return _values("statistics", "Every point that all have", head, cells, rows, labels)


def _values(
    name: str,
    caption: str,
    heads: Sequence[str],
    cells: Callable[[Any], list[str]],
    rows: pd.DataFrame,
    labels: Sequence[str],
) -> Table:
    """Tabulate of each result the value, half of its interval, and the change against the first.

    `cells` and `heads` say what each row is, in one cell or more; `labels` name the results.
    """
    head, spans = list(heads), [("", len(heads))]
    for column, label in enumerate(labels, start=1):
        spans.append((label, 2 if column == 1 else 3))
        head += [str(column), "±", *([f"{column}/1"] if column > 1 else [])]
    lines: dict[Any, list[Any]] = {}
    found: dict[Any, Any] = {
        (row.point, row.component, row.metric, row.result): row for row in rows.itertuples()
    }
    for *key, _ in found:
        own = [found.get((*key, number)) for number in range(1, len(labels) + 1)]
        line: list[Any] = cells(next(filter(None, own)))
        for index, row in enumerate(own):
            line += _estimate(row)
            line += [changed(change_of(row), _scale(row))] if index else []
        lines[tuple(key)] = line
    return Table(head, list(lines.values()), name=name, caption=caption, spans=spans)


def _found(rows: pd.DataFrame) -> dict[Any, Any]:
    return {(row.point, row.component, row.metric, row.result): row for row in rows.itertuples()}


def _scale(row: Any) -> float:  # noqa: ANN401 - of a frame
    return MEGABYTES if row is not None and row.unit == "B/s" else 1.0


def _estimate(row: Any) -> list[Cell]:  # noqa: ANN401 - of a frame
    if row is None or not row.n:
        return [number(None), number(None)]
    half, unit = row.high - row.value, _scale(row)
    text, spread = estimate_texts(row.value / unit, half / unit, signed=row.low < 0)
    without = number(None)
    return [
        Cell(text, "number", raw=row.value),
        Cell(spread, "number", raw=half) if spread else without,
    ]


def change_of(row: Any) -> Change | None:  # noqa: ANN401 - of a frame
    """Return what became of the value of a row of a comparison; None where nothing is known."""
    if row is None or not row.kind:
        return None
    low, high = (row.change_low, row.change_high) if row.by else (None, None)
    return Change(row.kind, row.change, low, high, row.by)


def _metric(row: Any) -> str:  # noqa: ANN401 - of a frame
    unit = "MB/s" if row.unit == "B/s" else row.unit
    return row.metric if unit == "1" else f"{row.metric}, {unit}"


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _points_text(points: Sequence[Mapping[str, Any]]) -> str:
    texts = "; ".join(map(point_text, points[:MOST_UNMATCHED]))
    more = len(points) - MOST_UNMATCHED
    return f"{texts}; and {more} more" if more > 0 else texts


def _forest(
    name: str, title: str, called: Callable[[Any], str], rows: pd.DataFrame, labels: Sequence[str]
) -> list[Figure]:
    keys = rows.drop_duplicates(ON)
    found: dict[Any, Any] = {
        (row.point, row.component, row.metric, row.result): row for row in rows.itertuples()
    }
    others = [
        Compared(
            label,
            COLOURS[index % len(COLOURS)],
            [change_of(found.get((*key, index + 1))) for key in keys[ON].itertuples(index=False)],
        )
        for index, label in enumerate(labels)
        if index
    ]
    names = [called(row) for row in keys.itertuples()]
    drawn = forest_figure(f"forest-{name}", f"{title}: ratios", names, others)
    return [] if drawn is None else [drawn]


def forests(comparison: Comparison) -> list[Figure]:
    """Draw the ratios to the first run: of all messages, then of each column."""
    drawn, labels = [], labels_of(comparison)
    by_column = comparison.rows.groupby("component", sort=False)
    for index, (column, rows) in enumerate(by_column):
        title = "All receivers" if column == SYSTEM else str(column)
        drawn += _forest(f"{index}", title, _statistic, rows, labels)
    return drawn


def _statistic(row: Any) -> str:  # noqa: ANN401 - of a frame
    if row.component == SYSTEM:
        return {"rate": "messages/s", "payload_rate": "bytes/s"}[row.metric]
    reading, _, statistic = row.metric.partition(".")
    return f"{statistic} of {reading}"


def metrics_of(comparison: Comparison) -> list[str]:
    """Return the metrics that figures have: those of tables that rows have."""
    there = set(comparison.rows["metric"])
    return [name for name in comparison.shown if name in there]


def _sentences(comparison: Comparison, labels: Sequence[str]) -> list[str]:
    texts = [f"{text}." for label in labels[1:] if (text := _ratios(comparison, labels, label))]
    if comparison.single:
        numbers = joined(list(map(str, comparison.single)))
        texts.append(f"{numbers}, with one point, beside {len(comparison.points)} points.")
    elif [*comparison.points] != [{}]:
        count = len(comparison.points)
        texts.append(
            f"{count} points are in all of them." if count > 1 else "1 point is in all of them."
        )
    texts += [
        f"Only in some, left out of {number}: {_points_text(points)}."
        for number, points in enumerate(comparison.unmatched, start=1)
        if points
    ]
    for what, own in ((OWN_KEYS, comparison.own_keys), (OWN_METRICS, comparison.own_metrics)):
        parts = [f"{n} has {', '.join(names)}" for n, names in enumerate(own, start=1) if names]
        texts += [f"{what}: {'; '.join(parts)}."] if parts else []
    return texts


def _ratios(comparison: Comparison, labels: Sequence[str], label: str) -> str:
    texts = []
    rows = comparison.rows[comparison.rows["result"] == labels.index(label) + 1]
    for metric in metrics_of(comparison):
        own = rows[(rows["metric"] == metric) & (rows["kind"] == "ratio")]
        ratios = own["change"].tolist()
        if ratios:
            low, high = (f"{end:.3g}" for end in (min(ratios), max(ratios)))
            spread = low if low == high else f"{low} to {high}"
            texts.append(f"{_label(comparison, metric)} {spread}")
    return f"{label}, in times of the first: {'; '.join(texts)}" if texts else ""


def _label(comparison: Comparison, metric: str) -> str:
    return comparison.metrics[metric].label or metric.replace("_", " ")


def study_forests(
    comparison: Comparison, labels: Sequence[str], metrics: Sequence[str]
) -> list[Figure]:
    """Draw the ratios of each metric to the first study, point by point."""

    def at(row: Any) -> str:  # noqa: ANN401 - of a frame
        return named(comparison.points[row.point]) or "the run"

    drawn = []
    for metric in metrics:
        own = comparison.rows["metric"] == metric
        rows = comparison.rows[own & (comparison.rows["point"] < MOST_ROWS)]
        title = _label(comparison, metric).capitalize()
        drawn += _forest(metric, title, at, rows, labels)
    return drawn


def overlaid_curves(
    comparison: Comparison, labels: Sequence[str], metrics: Sequence[str]
) -> list[Figure]:
    """Draw each metric over the key that the studies have along their axes, all in one figure.

    There is none where they have no such key, or not the same, or its values are no numbers.
    """
    sweeps = [Sweep(result) for result in comparison.results if sort_of(result) != "runs"]
    if len(sweeps) < len(comparison.results):
        return []
    first = sweeps[0]
    alike = all(sweep.key == first.key and sweep.numeric for sweep in sweeps)
    if first.key is None or not alike:
        return []
    return [_curve(sweeps, labels, metric) for metric in metrics]


def _curve(sweeps: Sequence[Sweep], labels: Sequence[str], metric: str) -> Figure:
    rows, widest = [], max(sweeps, key=lambda sweep: len(sweep.values))
    single = len(sweeps[0].groups) == 1  # one line each: the study has the colour
    for label, sweep in zip(labels, sweeps, strict=True):
        for group in sweep.groups:
            for row in rows_of(sweep, group, metric):
                line = {"line": label} if single else {"part": label}
                rows.append(row | line)
    made = swept_figure(widest, metric, f"curve-{metric}", rows)
    return replace(made, reading=reading("compared"))
