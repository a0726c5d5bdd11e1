"""Quantiles of each run beside those that were published: size by size, and all in one Q-Q."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

from dvsim.report.drawing import (
    COLOURS,
    GREY,
    SYMBOLS,
    Drawing,
    error_bars,
    layout,
    log_axis,
    log_axis_with_zero,
    marker,
    scatter,
    tall,
)
from dvsim.report.groups import Entry, Group, paths_of, size_text
from dvsim.report.published import Published, Rows, verdicts_on
from dvsim.scenario.sampled import Path
from dvsim.study.number_text import number_text
from dvsim.table.estimate import Estimate

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Row, Validation

STATISTICS = ("mean", "25%", "50%", "75%", "90%", "95%", "99%", "max")


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

    Args:
        entry: The run.
        published: Published values; those of other runs are ignored.
        name: Identifier of the figure.
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
    described = "; ".join(
        f"{column}: " + ", ".join(point.text for point in points)
        for column, points in columns.items()
    )
    beside = " (published in brackets)" if judged else ""
    return Drawing(
        name=name,
        title=f"{size}, {entry.label}",
        traces=traces,
        looks=layout(330, x, axis | {"title": unit}),
        label=f"Quantiles at {size}, {entry.label}, in {unit}, {entry.made}{beside}. {described}.",
        reading=reading_text(entry, judged, "0" in axis["ticktext"]),
    )


def points_of(entry: Entry, column: str, published: Published) -> list[Point]:
    """Collect the statistics of a column that were estimated."""
    scenario = entry.run.scenario.name
    printed: Published = published if entry.judged else {}
    estimates = (
        (index, statistic, entry.estimates.get((column, entry.reading, statistic)))
        for index, statistic in enumerate(STATISTICS)
    )
    return [
        Point(index, estimate, printed.get((scenario, column, statistic)))
        for index, statistic, estimate in estimates
        if estimate is not None
    ]


def simulated_trace(
    entry: Entry, column: str, points: Sequence[Point], floor: float, shift: float, symbol: str
) -> dict[str, Any]:
    """Return filled marks with the interval over replications; zeros lie on the floor."""
    drawn = [max(point.simulated.value, floor) for point in points]
    name = f"{column} {entry.made}"
    return scatter(
        name,
        [point.place + shift for point in points],
        drawn,
        error_y=error_bars(
            drawn,
            [max(point.simulated.low, floor) for point in points],
            [point.simulated.high for point in points],
            thickness=1.5,
            width=3,
        ),
        marker={"color": entry.colour, "size": 7, "symbol": symbol},
        customdata=[point.simulated.value for point in points],
        hovertemplate=f"{escape(name)}: %{{customdata:,.0f}}<extra></extra>",
    )


def published_trace(
    column: str, points: Sequence[Point], floor: float, shift: float, symbol: str
) -> list[dict[str, Any]]:
    """Return hollow grey marks for what was published, if anything was."""
    known = [(point.place, point.published) for point in points if point.published is not None]
    if not known:
        return []
    name = f"{column} published"
    values = [value for _, value in known]
    trace = scatter(
        name,
        [index + shift for index, _ in known],
        [max(value, floor) for value in values],
        marker=marker(GREY, 14, f"{symbol}-open"),
        customdata=values,
        hovertemplate=f"{escape(name)}: %{{customdata:,.0f}}<extra></extra>",
    )
    return [trace]


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


def qq_drawings(
    groups: Sequence[Group], validation: Validation | None, rows: Rows
) -> list[Drawing]:
    """Draw one figure for each transport that was compared with published columns."""
    if validation is None:
        return []
    return [
        qq_drawing(lines, f"qq-{path.short}", path.label, f"{path.readings[0]}/s")
        for path in paths_of(groups)
        if (lines := columns_of(groups, validation, rows, path))
    ]


def columns_of(
    groups: Sequence[Group], validation: Validation, rows: Rows, path: Path
) -> list[tuple[str, int, list[Row]]]:
    """Give each judged column: its name, the number of its size, its statistics above zero."""
    lines = []
    for number, group in enumerate(groups):
        for entry in group.entries:
            if entry.path != path:
                continue
            for column in verdicts_on(entry, validation.columns):
                chosen = [
                    row
                    for statistic in STATISTICS
                    if (row := rows.get((entry.run.scenario.name, column, statistic))) is not None
                    and row.published > 0
                    and row.simulated > 0
                ]
                if chosen:
                    lines.append((f"{size_text(group.message_bytes)} {column}", number, chosen))
    return lines


def qq_drawing(
    lines: Sequence[tuple[str, int, list[Row]]], name: str, title: str, unit: str
) -> Drawing:
    """Draw the statistics of some columns on two equal logarithmic axes."""
    every = [row for _, _, rows in lines for row in rows]
    low = min(min(row.published, row.simulated) for row in every) / 1.5
    high = max(max(row.published, row.simulated) for row in every) * 1.5
    judged = [row for row in every if row.verdict != "info" and row.tolerance is not None]
    widest = max((row.tolerance or 0.0 for row in judged), default=0.0)
    traces: list[dict[str, Any]] = [*band_traces(low, high, widest)]
    traces += [column_trace(label, number, rows) for label, number, rows in lines]
    x = log_axis(low, high) | {"title": f"published, {unit}"}
    y = log_axis(low, high) | {"title": f"simulated, {unit}"}
    passed = sum(row.verdict == "pass" for row in judged)
    worst = max(every, key=lambda row: abs(row.log_error or 0.0))
    text = (
        f"{passed} of {len(judged)} statistics with a declared tolerance are within it; the "
        f"furthest from the line is {worst.statistic} of {size_text(worst.message_bytes)} "
        f"{worst.column}, simulated {worst.simulated / worst.published:.2f} times what was "
        "published"
    )
    return Drawing(
        name=name,
        title=f"{title}: simulated against published",
        traces=traces,
        looks=layout(tall(len(lines)) + 100, x, y),
        label=f"Q-Q of {len(every)} statistics, {title}, in {unit}. {text}.",
        reading=(
            "Each mark is the mean or a quantile of a published column, filled where it was held "
            "out and hollow where parameters were fitted to that column; on the line model and "
            "paper agree. The band is the widest tolerance that was declared, "
            f"{widest:.0%}; zeros have no place here. {text}."
        ),
    )


def band_traces(low: float, high: float, tolerance: float) -> list[dict[str, Any]]:
    """Return the line of equality, and the area within a tolerance: abs(ln ratio) <= ln(1 + x)."""
    ends, factor = [low, high], 1 + tolerance
    around = [end * factor for end in ends] + [end / factor for end in reversed(ends)]
    common: dict[str, Any] = {"hoverinfo": "skip", "showlegend": False}
    shade = {"line": {"width": 0}, "fill": "toself", "fillcolor": "rgba(127, 127, 127, 0.16)"}
    dashed = {"color": GREY, "width": 1.5, "dash": "dash"}
    return [
        scatter("tolerance", [*ends, *reversed(ends)], around, "lines", **common, **shade),
        scatter("equal", ends, ends, "lines", **common, line=dashed),
    ]


def column_trace(label: str, number: int, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the statistics of one column: colour and mark by size, filled where held out."""
    hollow = "-open" * (rows[0].split == "fitted")
    values = [row.simulated for row in rows]
    bars = error_bars(
        values,
        [row.low if isfinite(row.low) else row.simulated for row in rows],
        [row.high if isfinite(row.high) else row.simulated for row in rows],
        thickness=1,
        width=2,
    )
    name = f"{label}, {rows[0].split}"
    return scatter(
        name,
        [row.published for row in rows],
        values,
        error_y=bars,
        marker=marker(COLOURS[number % len(COLOURS)], 8, SYMBOLS[number % len(SYMBOLS)] + hollow),
        text=[f"{row.statistic}: {row.simulated / row.published:.2f} times" for row in rows],
        hovertemplate=f"%{{text}}, %{{y:,.0f}} for %{{x:,.0f}}<extra>{escape(name)}</extra>",
    )
