"""Distributions and series of runs, a line for each run in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.report.axes import layout, log_axis, tall
from dvsim.report.drawing import Drawing, coordinates
from dvsim.report.prepare import BLUE, OTHER_COLOURS, VERMILION
from dvsim.report.series import Floats, active, column_series, smooth, thin
from dvsim.study.amounts import number_text
from dvsim.study.summary import column_rates, column_samples

if TYPE_CHECKING:
    from dvsim.study.run import Run

COLOURS = (BLUE, VERMILION, *OTHER_COLOURS)
POINTS = 400  # of a distribution, of a series


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
        traces=traces,
        looks=layout(
            tall(len(sides)) + 60,
            log_axis(low / 1.2, high) | {"title": f"{reading}/s"},
            {"title": "share of samples below", "tickformat": "~%", "range": [0, 1.02]},
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
        traces=traces,
        looks=layout(
            tall(len(sides)) + 60,
            {"title": "share of the run", "tickformat": "~%", "range": [0, 1]},
            log_axis(low / 1.5, high * 1.2) | {"title": f"{reading}/s"},
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
