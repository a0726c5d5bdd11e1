"""Figures of results side by side: ratios to the first, distributions, series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dvsim.study.number_text import number_text
from dvsim.table.estimate import Change
from dvsim.table.samples import column_rates, column_samples
from dvsim.view.figure import Axis, Figure, Floats, forest, frame_of, lines, log_axis, reading
from dvsim.view.run_figures import active, column_series, smooth, thin

if TYPE_CHECKING:
    from dvsim.table.result import Result

POINTS = 200  # of a distribution, of a series


@dataclass(frozen=True)
class Side:
    """One run of a comparison, as figures and tables call it."""

    run: Result
    label: str
    colour: str


def distribution(sides: Sequence[Side], column: str, reading_: str, name: str) -> Figure:
    """Draw the share of samples that are below each rate, a line for each run."""
    rates = {side: np.sort(rates_of(side.run, column, reading_)) for side in sides}
    above = [values[values > 0] for values in rates.values()]
    low = min((float(values[0]) for values in above if values.size), default=1.0)
    frame = frame_of(
        {"line": side.label, "colour": side.colour, "x": float(f"{x:.6g}"), "y": y}
        for side, values in rates.items()
        for x, y in zip(*(part.tolist() for part in steps(values, low)), strict=True)
    )
    described = "; ".join(
        f"{side.label}: {values.size:,} samples, "
        f"{float(np.mean(values == 0)) if values.size else 1.0:.0%} empty, median "
        f"{number_text(float(np.median(values))) if values.size else 'nothing'}"
        for side, values in rates.items()
    )
    x = log_axis(f"{reading_}/s", frame["x"])
    y = Axis("share of samples below", form="~%", ends=(0, 1.02))
    title = f"{column}, {reading_}/s"
    chart = lines(frame, x, y, marks=False, step=True)  # no rate between two samples was seen
    heads = {"line": "run", "x": x.title, "y": y.title}
    words = f"Distribution. {described}."
    return Figure(name, title, frame, chart, reading("distribution"), words, heads)


def series(sides: Sequence[Side], column: str, reading_: str, name: str) -> Figure:
    """Draw the smoothed rates over the course of each run, of the first replication."""
    rows, lengths = [], []
    for side in sides:
        time, rate = column_series(side.run, column, reading_)
        length = float(time[-1]) if time.size and time[-1] > 0 else 1.0
        x, y = thin(*smooth(*active(time, rate)), POINTS)
        rows += [
            {"line": side.label, "colour": side.colour, "x": float(f"{a / length:.5g}"), "y": b}
            for a, b in zip(x.tolist(), y.tolist(), strict=True)
        ]
        lengths.append(f"{side.label}: {number_text(length)} s")
    frame = frame_of(rows)
    x_axis = Axis("share of the run", form="~%", ends=(0, 1))
    y_axis = log_axis(f"{reading_}/s", frame["y"])
    few = bool(rows) and int(frame.groupby("line").size().min()) == 1
    chart = lines(frame, x_axis, y_axis, marks=few)  # no line is seen of one point
    told = reading("series", lengths="; ".join(lengths))
    heads = {"line": "run", "x": x_axis.title, "y": y_axis.title}
    return Figure(name, f"{column}, {reading_}/s", frame, chart, told, heads=heads)


def rates_of(run: Result, column: str, reading_: str) -> Floats:
    """Return the rates of all samples of a column, over all replications."""
    parts = [
        column_rates(rows, reading_)
        for _, rows in column_samples(run.sides["samples"], run.scenario.probe.columns[column])
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


class Compared(NamedTuple):
    """A result that is held against the first, as the figure calls it, and its changes."""

    label: str
    colour: str
    changes: Sequence[Change | None]


def forest_figure(
    name: str, title: str, rows: Sequence[str], others: Sequence[Compared]
) -> Figure | None:
    """Draw the ratios of several results to the first, one row for each statistic.

    Args:
        name, title: Of the figure.
        rows: What is compared; each of `others` has as many changes.
        others: The results but the first.

    Returns:
        Figure or None: None if there is no ratio. Rows without one, and differences, are left out.
    """
    found = [
        {"line": other.label, "colour": other.colour, "y": row, "x": change.value}
        | {"low": change.low, "high": change.high, "open": int(change.high is None)}
        | {"text": change.text()}
        for index, row in enumerate(rows)
        for other in others
        if (change := other.changes[index]) and change.kind == "ratio" and change.value > 0
    ]
    if not found:
        return None
    frame = frame_of(found).astype({"low": float, "high": float})
    ends = [1.0, *frame["x"], *frame["low"].dropna(), *frame["high"].dropna()]
    chart = forest(frame, log_axis("ratio to the first", ends), at=1)
    heads = {"line": "run", "y": "what", "x": "ratio", "low": "low", "high": "high"}
    first = "; ".join(f"{row['line']}: {row['y']} {row['text']}" for row in found[: len(others)])
    return Figure(name, title, frame, chart, reading("forest"), f"{first}.", heads)
