"""Figures of a comparison with a laboratory: Q-Q with its band, distribution, message sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dvsim.evidence.lab.compare import MEANS, Compared, Row, by_series
from dvsim.evidence.lab.data import shown
from dvsim.evidence.statistics import share_of
from dvsim.report.drawing import (
    BLUE,
    COLOURS,
    GREY,
    VERMILION,
    Drawing,
    error_bars,
    layout,
    log_axis,
    log_axis_with_zero,
    scatter,
    tall,
)
from dvsim.report.groups import size_text
from dvsim.study.number_text import number_text

POINTS = 400  # of a distribution function


def qq_drawing(case: Compared, name: str) -> Drawing | None:
    """Draw measured order statistics over simulated ones; None with fewer than two above zero."""
    factor, unit = shown(case.case.unit)
    rows = [row for row in case.rows if row.statistic not in {"mean", "std"}]
    rows = [row for row in rows if row.lab > 0 and row.simulated > 0]
    if len(rows) < 2:
        return None
    ends = [x / factor for row in rows for x in (row.lab, row.simulated)]
    low, high = min(ends) / 1.3, max(ends) * 1.3
    dashed = {"color": GREY, "width": 1, "dash": "dash"}
    traces = [
        scatter("equal", [low, high], [low, high], "lines", line=dashed, hoverinfo="skip"),
        *_band_trace(rows, factor),
        scatter(
            "order statistics",
            [row.simulated / factor for row in rows],
            [row.lab / factor for row in rows],
            "markers+text",
            text=[row.statistic for row in rows],
            textposition=[("top left", "bottom right")[index % 2] for index in range(len(rows))],
            marker={"color": BLUE, "size": 9},
            hovertemplate="%{text}: simulated %{x:,.4g}, laboratory %{y:,.4g}<extra></extra>",
        ),
    ]
    axes = [
        log_axis(low, high) | {"title": f"{who}, {unit}"} for who in ("simulated", "laboratory")
    ]
    described = ", ".join(
        f"{row.statistic} {number_text(row.lab / factor)} ({number_text(row.simulated / factor)})"
        for row in rows
    )
    return Drawing(
        name=name,
        title="Q-Q",
        traces=traces,
        looks=layout(380, *axes),
        label="Measured over simulated order statistics (simulated in brackets), "
        f"{unit}: {described}.",
        reading=(
            "On the dashed line laboratory and simulation agree; above it the laboratory is larger."
            " The bars are where 95 % of laboratories with as many independent samples would "
            "be if the simulation were true."
        ),
    )


def _band_trace(rows: Sequence[Row], factor: float) -> list[dict[str, Any]]:
    known = [(row, row.band) for row in rows if row.band is not None]
    if not known:
        return []
    middles = [row.simulated / factor for row, _ in known]
    low, high = ([band[end] / factor for _, band in known] for end in (0, 1))
    bars = error_bars(middles, low, high, thickness=5, width=0, color="rgba(127,127,127,0.5)")
    look = {"color": GREY, "size": 3}
    name = "band if the model is true"
    return [scatter(name, middles, middles, error_y=bars, marker=look, hoverinfo="skip")]


def cdf_drawing(case: Compared, name: str) -> Drawing | None:
    """Draw the simulated distribution function with the measured quantiles on it."""
    if case.simulated.model is None:
        return None
    factor, unit = shown(case.case.unit)
    shares = np.linspace(0, 1, POINTS)
    values = np.quantile(case.simulated.model, shares) / factor
    points = [(row.lab / factor, share) for row, share in _shares(case)]
    floor, axis = log_axis_with_zero([*values.tolist(), *(x for x, _ in points)])
    traces = [
        scatter(
            "simulated",
            np.maximum(values, floor),
            shares,
            "lines",
            line={"color": BLUE, "width": 2, "shape": "hv"},
            hovertemplate="%{y:.1%} up to %{x:,.4g}<extra>simulated</extra>",
        ),
        scatter(
            "laboratory",
            [max(x, floor) for x, _ in points],
            [share for _, share in points],
            marker={"color": VERMILION, "size": 9, "symbol": "diamond-open"},
            hovertemplate="%{y:.1%} up to %{x:,.4g}<extra>laboratory</extra>",
        ),
    ]
    y = {"title": "share of samples up to it", "tickformat": "~%", "range": [-0.02, 1.02]}
    return Drawing(
        name=name,
        title="Distribution",
        traces=traces,
        looks=layout(380, axis | {"title": unit}, y),
        label=f"Simulated distribution of {case.name}, {unit}, and {len(points)} measured points.",
        reading=(
            "The line is the simulated share of samples up to a value; the diamonds are measured. "
            "A diamond to the right of the line was larger in the laboratory."
        ),
    )


def _shares(case: Compared) -> list[tuple[Row, float]]:
    shares = ((row, share_of(row.statistic)) for row in case.rows)
    return [(row, share) for row, share in shares if share is not None]


def sizes_drawings(cases: Sequence[Compared]) -> list[Drawing]:
    """Draw means, or medians, over message sizes: one figure a metric, if there are two sizes."""
    drawings = []
    for metric in dict.fromkeys(case.case.metric for case in cases):
        series = by_series([case for case in cases if case.case.metric == metric])
        lines = [line for line in map(_line, series.values()) if len(line) > 1]
        if lines:
            drawings.append(_sizes_drawing(metric, lines))
    return drawings


def _line(cases: Sequence[Compared]) -> list[tuple[Compared, Row]]:
    rows = [(case, case.row(*MEANS)) for case in cases]
    return [(case, row) for case, row in rows if row and min(row.lab, row.simulated) > 0]


def _sizes_drawing(metric: str, lines: Sequence[list[tuple[Compared, Row]]]) -> Drawing:
    factor, unit = shown(lines[0][0][0].case.unit)
    traces: list[dict[str, Any]] = []
    for index, line in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        name = ", ".join(filter(None, line[0][0].case.series[1:])) or metric
        x = [case.simulated.message_bytes for case, _ in line]
        own, lab = (
            [end / factor for end in ends]
            for ends in zip(*((row.simulated, row.lab) for _, row in line), strict=True)
        )
        traces.append(
            scatter(
                f"{name}, simulated",
                x,
                own,
                "lines+markers",
                line={"color": colour, "width": 2},
                marker={"color": colour, "size": 6},
            )
        )
        look = {"color": colour, "size": 13, "symbol": "diamond-open"}
        traces.append(scatter(f"{name}, laboratory", x, lab, marker=look))
    sizes = sorted({case.simulated.message_bytes for line in lines for case, _ in line})
    values = [x / factor for line in lines for _, row in line for x in (row.lab, row.simulated)]
    x_axis = log_axis(sizes[0] / 1.5, sizes[-1] * 1.5) | {
        "title": "message size",
        "tickvals": sizes,
        "ticktext": [size_text(size) for size in sizes],
    }
    y_axis = log_axis(min(values) / 1.5, max(values) * 1.5) | {"title": f"{metric}, {unit}"}
    plain = metric.replace(" ", "-")
    return Drawing(
        name=f"lab-sizes-{plain}",
        title=f"{metric.capitalize()} over message size",
        traces=traces,
        looks=layout(tall(len(traces)), x_axis, y_axis),
        label=f"{metric} over {len(sizes)} message sizes, laboratory and simulation, in {unit}.",
        reading=(
            "Hollow diamonds are measured, filled points simulated. Where the lines of two series "
            "cross, and by how much one is above the other, is what a what-if decides on."
        ),
    )
