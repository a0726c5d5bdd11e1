"""Figures of a comparison with a laboratory: Q-Q with its band, distribution, message sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dvsim.evidence.lab.data import shown
from dvsim.evidence.lab.judge import MEANS, Compared, by_series
from dvsim.sheets.headings import share_of
from dvsim.study.number_text import number_text
from dvsim.view.figure import (
    BLUE,
    VERMILION,
    Axis,
    Figure,
    colour,
    frame_of,
    lines,
    log_axis,
    log_axis_with_zero,
    reading,
    tooltip,
)
from dvsim.view.run_figures import equality

POINTS = 200  # of a distribution function


def qq_figure(case: Compared, name: str) -> Figure | None:
    """Draw measured order statistics over simulated ones; None with fewer than two above zero."""
    factor, unit = shown(case.case.unit)
    table = case.rows[~case.rows["statistic"].isin(["mean", "std"])]
    rows: list[Any] = list(table[(table["lab"] > 0) & (table["simulated"] > 0)].itertuples())
    if len(rows) < 2:
        return None
    frame = frame_of(
        {"line": "order statistics", "colour": BLUE, "text": row.statistic}
        | {"x": row.simulated / factor, "y": row.lab / factor}
        | (
            {}
            if row.outside is None
            else {"low": row.band_low / factor, "high": row.band_high / factor}
        )
        for row in rows
    )
    ends = [*frame["x"], *frame["y"]]
    x, y = (log_axis(f"{who}, {unit}", ends) for who in ("simulated", "laboratory"))
    chart = lines(frame, x, y, joined=False, height=340, under=equality(x, y))
    described = ", ".join(
        f"{row.statistic} {number_text(row.lab / factor)} ({number_text(row.simulated / factor)})"
        for row in rows
    )
    words = f"Measured over simulated order statistics (simulated in brackets), {unit}: {described}"
    heads = {"text": "statistic", "x": x.title, "y": y.title, "low": "low", "high": "high"}
    return Figure(name, "Q-Q", frame, chart, reading("lab_qq"), f"{words}.", heads)


def cdf_figure(case: Compared, name: str) -> Figure | None:
    """Draw the simulated distribution function with the measured quantiles on it."""
    import altair as alt

    if case.simulated.model is None:
        return None
    factor, unit = shown(case.case.unit)
    shares = np.linspace(0, 1, POINTS)
    values = np.quantile(case.simulated.model, shares) / factor
    rows = [
        {"line": "simulated", "colour": BLUE, "x": float(x), "y": float(share)}
        for x, share in zip(values, shares, strict=True)
    ]
    measured: list[Any] = list(case.rows.itertuples())
    rows += [
        {"line": "laboratory", "part": "laboratory", "colour": VERMILION, "open": 1}
        | {"x": row.lab / factor, "y": share, "text": row.statistic}
        for row in measured
        if (share := share_of(row.statistic)) is not None
    ]
    frame = frame_of(rows)
    x = log_axis_with_zero(unit, frame["x"])
    frame["x"] = frame["x"].clip(lower=x.floor)
    y = Axis("share of samples up to it", form="~%", ends=(-0.02, 1.02))
    chart = lines(frame, x, y, marks=False, step=True, height=340)
    dots = alt.Chart(alt.NamedData("rows")).transform_filter("datum.part == 'laboratory'")
    placed = dots.encode(x=x.channel(alt.X, "x"), y=y.channel(alt.Y, "y"))
    marks = placed.mark_point(size=90, shape="diamond", strokeWidth=2, opacity=1, filled=False)
    chart = alt.layer(chart, marks.encode(color=colour(frame), tooltip=tooltip(frame)))
    chart = chart.properties(width="container", height=340)
    heads = {"line": "who", "x": unit, "y": "share"}
    return Figure(name, "Distribution", frame, chart, reading("lab_cdf"), heads=heads)


def sizes_figures(cases: Sequence[Compared]) -> list[Figure]:
    """Draw means, or medians, over message sizes: one figure a metric, if there are two sizes."""
    figures = []
    for metric in dict.fromkeys(case.case.metric for case in cases):
        series = by_series([case for case in cases if case.case.metric == metric])
        found = [line for line in map(_line, series.values()) if len(line) > 1]
        if not found:
            continue
        factor, unit = shown(found[0][0][0].case.unit)
        frame = frame_of(
            {"line": ", ".join(filter(None, line[0][0].case.series[1:])) or metric}
            | {"part": part, "x": case.simulated.message_bytes, "y": value / factor, "open": hollow}
            for line in found
            for case, row in line
            for part, value, hollow in (
                ("simulated", row.simulated, 0),
                ("laboratory", row.lab, 1),
            )
        )
        ends = (min(frame["x"]) / 1.5, max(frame["x"]) * 1.5)
        x = Axis("message size", "log", "bytes", ends=ends)
        y = log_axis(f"{metric}, {unit}", frame["y"])
        name = f"lab-sizes-{metric.replace(' ', '-')}"
        title = f"{metric.capitalize()} over message size"
        heads = {"line": "series", "part": "part", "x": "message size (B)", "y": y.title}
        told = reading("lab_sizes")
        figures.append(Figure(name, title, frame, lines(frame, x, y), told, heads=heads))
    return figures


def _line(cases: Sequence[Compared]) -> list[tuple[Compared, Any]]:
    rows = [(case, case.row(*MEANS)) for case in cases]
    return [(case, row) for case, row in rows if row and min(row.lab, row.simulated) > 0]
