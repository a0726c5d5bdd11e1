"""Figures of a comparison with a laboratory: Q-Q with its band, and message sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dvsim.evidence.lab.data import shown
from dvsim.evidence.lab.judge import MEANS, Compared, by_series
from dvsim.view.figure import (
    BLUE,
    Axis,
    Figure,
    frame_of,
    lines,
    log_axis,
    reading,
)
from dvsim.view.run_figures import equality


def qq_figure(case: Compared, name: str) -> Figure | None:
    """Draw measured order statistics over simulated ones; None with fewer than two above zero."""
    factor, unit = shown(case.case.unit)
    rows = case.rows[~case.rows["statistic"].isin(["mean", "std"])]
    rows = rows[(rows["lab"] > 0) & (rows["simulated"] > 0)]
    if len(rows) < 2:
        return None
    names = {"simulated": "x", "lab": "y", "band_low": "low", "band_high": "high"}
    placed = (rows[[*names]] / factor).rename(columns=names)
    placed = placed.assign(line="order statistics", colour=BLUE, text=rows["statistic"])
    points: list[Any] = placed.to_dict(orient="records")
    frame = frame_of(points)
    ends = [*frame["x"], *frame["y"]]
    x, y = (log_axis(f"{who}, {unit}", ends) for who in ("simulated", "laboratory"))
    chart = lines(frame, x, y, joined=False, height=340, under=equality(x, y))
    heads = {"text": "statistic", "x": x.title, "y": y.title, "low": "low", "high": "high"}
    return Figure(name, "Q-Q", frame, chart, reading("lab_qq"), heads=heads)


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
