"""The page about runs side by side: tables of what differs, distributions and series overlaid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.report.axes import layout, log_axis, tall
from dvsim.report.drawing import Drawing, coordinates, draw
from dvsim.report.evidence import ORIGIN, commands_of, origin_cells
from dvsim.report.page import render, write
from dvsim.report.prepare import BLUE, OTHER_COLOURS, VERMILION
from dvsim.report.series import Floats, active, column_series, smooth, thin
from dvsim.report.table import Cell, Table, number, number_text, times
from dvsim.results.beside import ALL, Comparison, Row
from dvsim.results.summary import column_rates, column_samples

if TYPE_CHECKING:
    from dvsim.results.run import Run

COLOURS = (BLUE, VERMILION, *OTHER_COLOURS)
POINTS = 400  # of a distribution, of a series
UNITS = {"1/s": "/s", "B/s": "B/s", "1": ""}


@dataclass(frozen=True)
class Side:
    """One run of a comparison, as figures and tables call it."""

    run: Run
    label: str
    colour: str


def sides_of(found: Comparison) -> list[Side]:
    """Give each run a number and a colour."""
    return [
        Side(run, f"{place + 1} {run.scenario.name} {run.backend}", COLOURS[place % len(COLOURS)])
        for place, run in enumerate(found.runs)
    ]


def render_comparison(found: Comparison, command: str | None = None) -> str:
    """Make the page of a comparison, as one HTML page that needs nothing else.

    Equal arguments give equal text.

    Parameters
    ----------
    found : Comparison
        The runs side by side.
    command : str, optional
        The command that makes the page.
    """
    sides = sides_of(found)
    kinds = dict.fromkeys((row.column, row.reading) for row in found.rows if row.column != ALL)
    drawn = {column: (column, reading) for column, reading in reversed(kinds)}  # as printed
    return render(
        "compare.html.jinja",
        title=f"{len(sides)} runs side by side",
        intro="",
        sentences=sentences(found, sides),
        whole=rows_table([row for row in found.rows if row.column == ALL], sides, "whole", ""),
        differences=differences_table(found, sides),
        columns=[
            (
                f"{column}, {reading}/s",
                rows_table(
                    [row for row in found.rows if (row.column, row.reading) == (column, reading)],
                    sides,
                    f"{column}-{reading}",
                    f" in {reading}/s",
                ),
            )
            for column, reading in kinds
        ],
        distributions=[
            distribution(sides, *kind, name=f"distribution-{place}")
            for place, kind in enumerate(reversed(drawn.values()))
        ],
        series=[series(sides, *kind, name=f"series-{place}") for place, kind in enumerate(kinds)],
        manifest=manifest_table(sides),
        commands=commands_of(found.runs, command),
    )


def write_comparison(path: Path, found: Comparison, command: str | None = None) -> None:
    """Write the page of a comparison to a file, see `render_comparison`.

    Raises
    ------
    OutputError
        If the file cannot be written. What was there before is still there then.
    """
    write(path, render_comparison(found, command))


def sentences(found: Comparison, sides: Sequence[Side]) -> list[str]:
    """Say how fast each run was, and how much of the question they have in common."""
    row = found.rows[0]
    rates = "; ".join(
        f"{side.label}: {number_text(None if one is None else one.value)} messages/s"
        + (f", {ratio:.3g} times the first" if place and ratio is not None else "")
        for place, (side, one, ratio) in enumerate(zip(sides, row.values, row.ratios, strict=True))
    )
    said = [f"Whole messages of all receivers together: {rates}."]
    names = [difference.what for difference in found.differences]
    said.append(f"{len(names)} things differ: {', '.join(names)}." if names else "Nothing differs.")
    if {side.run.backend for side in sides} == {"sim", "emu"}:
        said.append(
            "A simulated rate is that of the modelled hardware; an emulated one is that of the "
            "machine that it was measured on. Only with cards that were measured there must the "
            "two agree."
        )
    return said


def differences_table(found: Comparison, sides: Sequence[Side]) -> Table:
    """Tabulate what was asked or done differently."""
    return Table(
        name="differences",
        caption="What is not the same in all runs.",
        head=["what", *(side.label for side in sides)],
        rows=[
            [Cell(item.what), *(Cell(value) for value in item.values)] for item in found.differences
        ],
    )


def rows_table(rows: Sequence[Row], sides: Sequence[Side], name: str, unit: str) -> Table:
    """Tabulate statistics, a run beside the other, with intervals and ratios to the first."""
    spans = [("", 1)]
    head = ["statistic"]
    for place, side in enumerate(sides):
        spans.append((side.label, 3 if place else 2))
        head += ["mean", "±", "ratio"] if place else ["mean", "±"]
    lines = []
    for row in rows:
        label = row.statistic if row.column != ALL else f"{row.reading}/s, all receivers"
        line = [Cell(label)]
        for place, (side, one, ratio) in enumerate(zip(sides, row.values, row.ratios, strict=True)):
            several = one is not None and side.run.replications > 1
            line.append(number(None if one is None else one.value))
            line.append(number(one.high - one.value if one is not None and several else None))
            line += [times(ratio)] if place else []
        lines.append(line)
    return Table(
        name=name,
        caption=(
            f"Means over replications{unit}, and half of the 95 % interval over them, which one "
            "replication does not have. Ratios are to the first run."
        ),
        head=head,
        rows=lines,
        spans=spans,
    )


def distribution(sides: Sequence[Side], column: str, reading: str, name: str) -> Drawing:
    """Draw the share of samples that are below each rate, a line for each run."""
    rates = {side: np.sort(rates_of(side.run, column, reading)) for side in sides}
    above = [values[values > 0] for values in rates.values()]
    low = min((float(values[0]) for values in above if values.size), default=1.0)
    high = max((float(values[-1]) for values in above if values.size), default=10.0)
    traces, said = [], []
    for side, values in rates.items():
        x, y = steps(values, low)
        trace = line_trace(side, x, y) | {"hovertemplate": hover("%{x:,.0f}", "%{y:.1%}")}
        trace["line"] |= {"shape": "hv"}  # no rate between two samples was seen
        traces.append(trace)
        empty = float(np.mean(values == 0)) if values.size else 1.0
        middle = number_text(float(np.median(values))) if values.size else "nothing"
        said.append(f"{side.label}: {values.size:,} samples, {empty:.0%} empty, median {middle}")
    return Drawing(
        name=name,
        title=f"{column}, {reading}/s",
        html=draw(
            name,
            traces,
            layout(
                tall(len(sides)) + 60,
                log_axis(low / 1.2, high) | {"title": f"{reading}/s"},
                {"title": "share of samples below", "tickformat": "~%", "range": [0, 1.02]},
            ),
        ),
        label=f"Distribution of {column} in {reading}/s. {'; '.join(said)}.",
        reading=(
            "Each line rises from the share of empty samples on the left to 1 at the fastest "
            "sample, over all replications. The further right a line lies, the faster the run; "
            "the steeper it is, the more even."
        ),
    )


def series(sides: Sequence[Side], column: str, reading: str, name: str) -> Drawing:
    """Draw the smoothed rates over the course of each run, of the first replication."""
    lines: dict[Side, tuple[Floats, Floats]] = {}
    said = []
    for side in sides:
        time, rate = column_series(side.run, column, reading)
        length = float(time[-1]) if time.size and time[-1] > 0 else 1.0
        x, y = thin(*smooth(*active(time, rate)), POINTS)
        if y.size:
            lines[side] = (x / length, y)
        empty = "" if y.size else ", in which nothing arrived"
        said.append(f"{side.label}: {number_text(length)} s{empty}")
    low = min((float(y.min()) for _, y in lines.values()), default=1.0)
    high = max((float(y.max()) for _, y in lines.values()), default=10.0)
    traces = [
        line_trace(side, x, y)
        | {"hovertemplate": hover("%{x:.0%}", f"%{{y:,.0f}} {reading}/s")}
        | ({"mode": "markers"} if y.size == 1 else {})  # no line is seen of one point
        for side, (x, y) in lines.items()
    ]
    return Drawing(
        name=name,
        title=f"{column}, {reading}/s",
        html=draw(
            name,
            traces,
            layout(
                tall(len(sides)) + 60,
                {"title": "share of the run", "tickformat": "~%", "range": [0, 1]},
                log_axis(low / 1.5, high * 1.2) | {"title": f"{reading}/s"},
            ),
        ),
        label=f"Rates of {column} over the course of each run. {'; '.join(said)}.",
        reading=(
            "Each line is the moving average of the samples in which something arrived, in the "
            "first replication. Runs differ in length, so the axis is the share of each: "
            f"{'; '.join(said)}."
        ),
    )


def rates_of(run: Run, column: str, reading: str) -> Floats:
    """Return the rates of all samples of a column, over all replications."""
    parts = [
        column_rates(rows, reading)
        for _, rows in column_samples(run.samples, run.scenario.probe.columns[column])
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def steps(values: Floats, low: float) -> tuple[Floats, Floats]:
    """Return a distribution by at most `POINTS` of its samples; empty ones lie left of `low`.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = steps(np.array([0.0, 0.0, 5.0, 10.0]), 5.0)
    >>> x.tolist(), y.tolist()
    ([4.0, 5.0, 10.0], [0.5, 0.75, 1.0])
    """
    empty = float(np.mean(values == 0)) if values.size else 0.0
    above = values[values > 0]
    keep = np.linspace(0, above.size - 1, min(above.size, POINTS)).round().astype(np.intp)
    share = (values.size - above.size + keep + 1) / max(values.size, 1)
    return np.concatenate(([low * 0.8], above[keep])), np.concatenate(([empty], share))


def line_trace(side: Side, x: Floats, y: Floats) -> dict[str, Any]:
    """Give the line of a run."""
    looks = {"line": {"color": side.colour, "width": 2}}
    named = {"type": "scatter", "mode": "lines", "name": escape(side.label)}
    return named | coordinates(x, y) | looks


def hover(x: str, y: str) -> str:
    """Give the text of a point."""
    return f"{x}: {y}<extra>%{{fullData.name}}</extra>"


def manifest_table(sides: Sequence[Side]) -> Table:
    """Tabulate where each run came from."""
    return Table(
        name="manifest",
        caption="Every run: how it was asked for, and where and when it was made.",
        head=["run", "seed", "replications", *ORIGIN],
        rows=[
            [
                Cell(side.label),
                number(side.run.seed),
                number(side.run.replications),
                *origin_cells(side.run.manifest),
            ]
            for side in sides
        ],
    )
