"""Q-Q: every published statistic against the simulated one, the declared tolerance as a band."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from dvsim.evidence.verdicts import Row, Validation
from dvsim.report.axes import GREY, layout, log_axis, tall
from dvsim.report.compare import Rows, verdicts_on
from dvsim.report.drawing import Drawing
from dvsim.report.prepare import Group, size_text
from dvsim.report.quantiles import STATISTICS
from dvsim.report.sweep import COLOURS, SYMBOLS


def qq_drawings(
    groups: Sequence[Group], validation: Validation | None, rows: Rows
) -> list[Drawing]:
    """Draw one figure for each transport that was compared with published columns."""
    if validation is None:
        return []
    drawings = []
    for vortex, title in ((True, "Data Vortex"), (False, "TCP")):
        lines = columns_of(groups, validation, rows, vortex=vortex)
        if lines:
            unit = "pieces/s" if vortex else "messages/s"
            drawings.append(qq_drawing(lines, f"qq-{'dv' if vortex else 'tcp'}", title, unit))
    return drawings


def columns_of(
    groups: Sequence[Group], validation: Validation, rows: Rows, *, vortex: bool
) -> list[tuple[str, int, list[Row]]]:
    """Give each judged column: its name, the number of its size, its statistics above zero."""
    lines = []
    for number, group in enumerate(groups):
        for entry in group.entries:
            if entry.is_vortex != vortex:
                continue
            for column in verdicts_on(entry, validation.columns):
                found = [
                    row
                    for statistic in STATISTICS
                    if (row := rows.get((entry.run.scenario.name, column, statistic))) is not None
                    and row.published > 0
                    and row.simulated > 0
                ]
                if found:
                    lines.append((f"{size_text(group.message_bytes)} {column}", number, found))
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
    said = (
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
        label=f"Q-Q of {len(every)} statistics, {title}, in {unit}. {said}.",
        reading=(
            "Each mark is the mean or a quantile of a published column, filled where it was held "
            "out and hollow where parameters were fitted to that column; on the line model and "
            "paper agree. The band is the widest tolerance that was declared, "
            f"{widest:.0%}; zeros have no place here. {said}."
        ),
    )


def band_traces(low: float, high: float, tolerance: float) -> list[dict[str, Any]]:
    """Give the line of equality, and the area within a tolerance: abs(ln ratio) <= ln(1 + x)."""
    ends, factor = [low, high], 1 + tolerance
    line = {
        "type": "scatter",
        "mode": "lines",
        "name": "equal",
        "x": ends,
        "y": ends,
        "line": {"color": GREY, "width": 1.5, "dash": "dash"},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    area = line | {
        "name": "tolerance",
        "x": [*ends, *reversed(ends)],
        "y": [end * factor for end in ends] + [end / factor for end in reversed(ends)],
        "line": {"width": 0},
        "fill": "toself",
        "fillcolor": "rgba(127, 127, 127, 0.16)",
    }
    return [area, line]


def column_trace(label: str, number: int, rows: Sequence[Row]) -> dict[str, Any]:
    """Give the statistics of one column: colour and mark by size, filled where held out."""
    colour = COLOURS[number % len(COLOURS)]
    fitted = rows[0].split == "fitted"
    symbol = SYMBOLS[number % len(SYMBOLS)] + "-open" * fitted
    name = escape(f"{label}, {rows[0].split}")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [row.published for row in rows],
        "y": [row.simulated for row in rows],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [max(finite(row.high, row.simulated) - row.simulated, 0.0) for row in rows],
            "arrayminus": [
                max(row.simulated - finite(row.low, row.simulated), 0.0) for row in rows
            ],
            "thickness": 1,
            "width": 2,
        },
        "marker": {
            "color": colour,
            "size": 8,
            "symbol": symbol,
            "line": {"width": 1.5, "color": colour},
        },
        "text": [f"{row.statistic}: {row.simulated / row.published:.2f} times" for row in rows],
        "hovertemplate": f"%{{text}}, %{{y:,.0f}} for %{{x:,.0f}}<extra>{name}</extra>",
    }


def finite(value: float, otherwise: float) -> float:
    """Take the end of an interval, or the value itself where there is no interval."""
    return value if math.isfinite(value) else otherwise
