"""Figures of results side by side: ratios to the first, distributions, series, a line for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dvsim.report.drawing import (
    SYMBOLS,
    Drawing,
    Floats,
    error_bars,
    layout,
    line_at,
    log_axis,
    marker,
    scatter,
    tall,
)
from dvsim.report.series import active, column_series, smooth, thin
from dvsim.study.number_text import number_text
from dvsim.study.summary import column_rates, column_samples
from dvsim.table.estimate import Change

if TYPE_CHECKING:
    from dvsim.study.run import Run

POINTS = 400  # of a distribution, of a series
ROW, ROOM = 22, 130  # pixels
LETTERS = 34  # of a label beside the figure
APART = 0.6  # share of the room of a row in which the marks of several runs stand


@dataclass(frozen=True)
class Side:
    """One run of a comparison, as figures and tables call it."""

    run: Run
    label: str
    colour: str


def distribution(sides: Sequence[Side], column: str, reading: str, name: str) -> Drawing:
    """Draw the share of samples that are below each rate, a line for each run."""
    rates = {side: np.sort(rates_of(side.run, column, reading)) for side in sides}
    above = [values[values > 0] for values in rates.values()]
    low = min((float(values[0]) for values in above if values.size), default=1.0)
    high = max((float(values[-1]) for values in above if values.size), default=10.0)
    traces, described = [], []
    for side, values in rates.items():
        x, y = steps(values, low)
        trace = line_trace(side, x, y) | {"hovertemplate": hover("%{x:,.0f}", "%{y:.1%}")}
        trace["line"] |= {"shape": "hv"}  # no rate between two samples was seen
        traces.append(trace)
        empty = float(np.mean(values == 0)) if values.size else 1.0
        middle = number_text(float(np.median(values))) if values.size else "nothing"
        described.append(
            f"{side.label}: {values.size:,} samples, {empty:.0%} empty, median {middle}"
        )
    return Drawing(
        name=name,
        title=f"{column}, {reading}/s",
        traces=traces,
        looks=layout(
            tall(len(sides)) + 60,
            log_axis(low / 1.2, high) | {"title": f"{reading}/s"},
            {"title": "share of samples below", "tickformat": "~%", "range": [0, 1.02]},
        ),
        label=f"Distribution of {column} in {reading}/s. {'; '.join(described)}.",
        reading=(
            "Each line rises from the share of empty samples on the left to 1 at the fastest "
            "sample, over all replications. The further right a line lies, the faster the run; "
            "the steeper it is, the more even."
        ),
    )


def series(sides: Sequence[Side], column: str, reading: str, name: str) -> Drawing:
    """Draw the smoothed rates over the course of each run, of the first replication."""
    lines: dict[Side, tuple[Floats, Floats]] = {}
    described = []
    for side in sides:
        time, rate = column_series(side.run, column, reading)
        length = float(time[-1]) if time.size and time[-1] > 0 else 1.0
        x, y = thin(*smooth(*active(time, rate)), POINTS)
        if y.size:
            lines[side] = (x / length, y)
        empty = "" if y.size else ", in which nothing arrived"
        described.append(f"{side.label}: {number_text(length)} s{empty}")
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
        traces=traces,
        looks=layout(
            tall(len(sides)) + 60,
            {"title": "share of the run", "tickformat": "~%", "range": [0, 1]},
            log_axis(low / 1.5, high * 1.2) | {"title": f"{reading}/s"},
        ),
        label=f"Rates of {column} over the course of each run. {'; '.join(described)}.",
        reading=(
            "Each line is the moving average of the samples in which something arrived, in the "
            "first replication. Runs differ in length, so the axis is the share of each: "
            f"{'; '.join(described)}."
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
    """Return the line of a run."""
    return scatter(side.label, x, y, "lines", line={"color": side.colour, "width": 2})


def hover(x: str, y: str) -> str:
    """Return the text of a point."""
    return f"{x}: {y}<extra>%{{fullData.name}}</extra>"


class Compared(NamedTuple):
    """A result that is held against the first, as the figure calls it, and its changes."""

    label: str
    colour: str
    changes: Sequence[Change | None]


def forest_drawing(
    name: str, title: str, rows: Sequence[str], others: Sequence[Compared]
) -> Drawing | None:
    """Draw the ratios of several results to the first, one row for each statistic.

    Args:
        name, title: Of the figure.
        rows: What is compared; each of `others` has as many changes.
        others: The results but the first.

    Returns:
        Drawing or None: None if there is no ratio. Rows without one, and differences, are left out.
    """
    kept = [index for index in range(len(rows)) if any(_ratio(other, index) for other in others)]
    if not kept:
        return None
    traces = [_trace(other, number, len(others), kept) for number, other in enumerate(others)]
    ends = [end for other in others for index in kept for end in _ends(_ratio(other, index))]
    texts = [_short(rows[index]) for index in kept]
    height = ROOM + ROW * len(kept) * max(1, len(others) // 2)
    x = log_axis(min([*ends, 1.0]) / 1.1, max([*ends, 1.0])) | {"title": "ratio to the first"}
    y = {
        "tickvals": list(range(len(kept))),
        "ticktext": texts,
        "range": [len(kept) - 0.4, -0.6],
        "showgrid": False,
    }
    looks = layout(height, x, y)
    looks["shapes"] = [line_at(1, 1.5, "dash")]
    return Drawing(
        name=name,
        title=title,
        traces=traces,
        looks=looks,
        label=f"{title}. {_said(rows, kept, others)}.",
        reading=(
            "Each mark is a ratio to the first run, its bar the 95 % interval over replications; "
            "open marks have none. Where a bar does not reach the dashed line at 1, the two runs "
            "differ by more than chance explains."
        ),
    )


def _trace(compared: Compared, number: int, count: int, kept: Sequence[int]) -> dict[str, Any]:
    ratios = [(row, _ratio(compared, index)) for row, index in enumerate(kept)]
    drawn = [(row, change) for row, change in ratios if change is not None]
    shift = (number - (count - 1) / 2) * APART / count
    symbol = SYMBOLS[number % len(SYMBOLS)]
    values = [change.value for _, change in drawn]
    low, high = ([_ends(change)[end] for _, change in drawn] for end in (0, -1))
    symbols = [symbol + "-open" * (change.high is None) for _, change in drawn]
    return scatter(
        compared.label,
        values,
        [row + shift for row, _ in drawn],
        marker=marker(compared.colour, 9, symbols),
        error_x=error_bars(values, low, high, color=compared.colour, thickness=2, width=4),
        text=[escape(change.text()) for _, change in drawn],
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def _ratio(compared: Compared, index: int) -> Change | None:
    change = compared.changes[index]
    return change if change and change.kind == "ratio" and change.value > 0 else None


def _ends(change: Change | None) -> tuple[float, ...]:
    if change is None:
        return ()
    if change.low is None or change.high is None:
        return change.value, change.value
    return change.low, change.high


def _short(text: str) -> str:
    return escape(text if len(text) <= LETTERS else text[: LETTERS - 1] + "…")


def _said(rows: Sequence[str], kept: Sequence[int], others: Sequence[Compared]) -> str:
    parts = []
    for other in others:
        change = _ratio(other, kept[0])
        if change is not None:
            parts.append(f"{other.label}: {rows[kept[0]]} {change.text()}")
    return "; ".join(parts) or f"{len(kept)} ratios"
