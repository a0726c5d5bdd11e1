"""Quantiles of each run: those that were published beside those that were simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from dvsim.report.axes import GREY, layout, log_axis_with_zero
from dvsim.report.drawing import Drawing
from dvsim.report.prepare import Entry, size_text
from dvsim.study.amounts import number_text
from dvsim.study.statistics import Estimate

STATISTICS = ("mean", "25%", "50%", "75%", "90%", "95%", "99%", "max")
SYMBOLS = ("circle", "square", "triangle-up", "diamond")

Published = Mapping[tuple[str, str, str], float]
"""(scenario, column, statistic) -> rate as the paper prints it."""


@dataclass(frozen=True)
class Point:
    """One statistic of one column: its place on the axis, what was simulated and published."""

    place: int
    simulated: Estimate
    published: float | None

    @property
    def text(self) -> str:
        """The point in words."""
        text = f"{STATISTICS[self.place]} {number_text(self.simulated.value)}"
        return text if self.published is None else f"{text} ({number_text(self.published)})"


def quantile_drawing(entry: Entry, published: Published, name: str) -> Drawing:
    """Draw the mean and the quantiles of every column of one run.

    Parameters
    ----------
    entry : Entry
        The run.
    published : mapping
        Published values; those of other runs are ignored.
    name : str
        Identifier of the figure.
    """
    columns = {column: points_of(entry, column, published) for column in entry.columns}
    every = [point for points in columns.values() for point in points]
    judged = any(point.published is not None for point in every)
    floor, axis = log_axis_with_zero(
        value
        for point in every
        for value in (point.simulated.value, point.published)
        if value is not None
    )
    traces: list[dict[str, Any]] = []
    step = 0.5 / max(len(columns), 1)
    for number, (column, points) in enumerate(columns.items()):
        shift = (number - (len(columns) - 1) / 2) * step
        symbol = SYMBOLS[number % len(SYMBOLS)]
        traces += published_trace(column, points, floor, shift, symbol)
        traces.append(simulated_trace(entry, column, points, floor, shift, symbol))
    x = {
        "tickvals": list(range(len(STATISTICS))),
        "ticktext": list(STATISTICS),
        "tickangle": 0,
        "tickfont": {"size": 11},
        "range": [-0.6, len(STATISTICS) - 0.4],
    }
    unit = f"{entry.reading}/s"
    size = size_text(entry.run.scenario.workload.message_bytes)
    said = "; ".join(
        f"{column}: " + ", ".join(point.text for point in points)
        for column, points in columns.items()
    )
    beside = " (published in brackets)" if judged else ""
    return Drawing(
        name=name,
        title=f"{size}, {entry.label}",
        traces=traces,
        looks=layout(330, x, axis | {"title": unit}),
        label=f"Quantiles at {size}, {entry.label}, in {unit}, {entry.made}{beside}. {said}.",
        reading=reading_text(entry, judged, "0" in axis["ticktext"]),
    )


def points_of(entry: Entry, column: str, published: Published) -> list[Point]:
    """Collect the statistics of a column that were estimated."""
    scenario = entry.run.scenario.name
    printed: Published = published if entry.judged else {}
    found = (
        (place, statistic, entry.estimates.get((column, entry.reading, statistic)))
        for place, statistic in enumerate(STATISTICS)
    )
    return [
        Point(place, estimate, printed.get((scenario, column, statistic)))
        for place, statistic, estimate in found
        if estimate is not None
    ]


def simulated_trace(
    entry: Entry, column: str, points: Sequence[Point], floor: float, shift: float, symbol: str
) -> dict[str, Any]:
    """Give filled marks with the interval over replications; zeros lie on the floor."""
    label = escape(column)
    drawn = [max(point.simulated.value, floor) for point in points]
    pairs = list(zip(points, drawn, strict=True))
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{label} {entry.made}",
        "x": [point.place + shift for point in points],
        "y": drawn,
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(point.simulated.high - y, 0.0) for point, y in pairs],
            "arrayminus": [max(y - max(point.simulated.low, floor), 0.0) for point, y in pairs],
            "thickness": 1.5,
            "width": 3,
        },
        "marker": {"color": entry.colour, "size": 7, "symbol": symbol},
        "customdata": [point.simulated.value for point in points],
        "hovertemplate": f"{label} {entry.made}: %{{customdata:,.0f}}<extra></extra>",
    }


def published_trace(
    column: str, points: Sequence[Point], floor: float, shift: float, symbol: str
) -> list[dict[str, Any]]:
    """Give hollow grey marks for what was published, if anything was."""
    known = [(point.place, point.published) for point in points if point.published is not None]
    if not known:
        return []
    label = escape(column)
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"{label} published",
            "x": [place + shift for place, _ in known],
            "y": [max(value, floor) for _, value in known],
            "marker": {
                "color": GREY,
                "size": 14,
                "symbol": f"{symbol}-open",
                "line": {"width": 1.5},
            },
            "customdata": [value for _, value in known],
            "hovertemplate": f"{label} published: %{{customdata:,.0f}}<extra></extra>",
        }
    ]


def reading_text(entry: Entry, judged: bool, has_zero: bool) -> str:
    """Say in two sentences how to read the figure."""
    count = entry.run.replications
    interval = (
        "one replication gives no interval"
        if count == 1
        else f"bars are the 95 % interval over {count} replications"
    )
    zero = "; zeros lie on the line marked 0" if has_zero else ""
    if not judged:
        return (
            f"Filled marks are {entry.made}, and {interval}{zero}. "
            "No published figure was compared with this run."
        )
    return (
        f"Hollow marks are published, filled ones simulated, and {interval}{zero}. "
        "Where the filled mark sits inside its hollow partner, model and paper agree."
    )
