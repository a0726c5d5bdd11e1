"""Ratios to the first run with their intervals, one below the other: 1 is no change."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

from dvsim.report.axes import GREY, layout, log_axis
from dvsim.report.drawing import Drawing
from dvsim.study.paired import Change

ROW, ROOM = 22, 130  # pixels
LETTERS = 34  # of a label beside the figure
APART = 0.6  # share of the room of a row in which the marks of several runs stand
SYMBOLS = ("circle", "square", "diamond", "triangle-up")


class Compared(NamedTuple):
    """A result that is held against the first, as the figure calls it, and its changes."""

    label: str
    colour: str
    changes: Sequence[Change | None]


def forest_drawing(
    name: str, title: str, rows: Sequence[str], others: Sequence[Compared]
) -> Drawing | None:
    """Draw the ratios of several results to the first, one row for each statistic.

    Parameters
    ----------
    name, title
        Of the figure.
    rows
        What is compared; each of `others` has as many changes.
    others
        The results but the first.

    Returns
    -------
    Drawing or None
        None if there is no ratio. Rows without one, and differences, are left out.
    """
    kept = [place for place in range(len(rows)) if any(_ratio(one, place) for one in others)]
    if not kept:
        return None
    traces = [_trace(one, number, len(others), kept) for number, one in enumerate(others)]
    ends = [end for one in others for place in kept for end in _ends(_ratio(one, place))]
    texts = [_short(rows[place]) for place in kept]
    height = ROOM + ROW * len(kept) * max(1, len(others) // 2)
    x = log_axis(min([*ends, 1.0]) / 1.1, max([*ends, 1.0])) | {"title": "ratio to the first"}
    y = {
        "tickvals": list(range(len(kept))),
        "ticktext": texts,
        "range": [len(kept) - 0.4, -0.6],
        "showgrid": False,
    }
    looks = layout(height, x, y)
    looks["shapes"] = [
        {
            "type": "line",
            "x0": 1,
            "x1": 1,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"color": GREY, "width": 1.5, "dash": "dash"},
        }
    ]
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


def _trace(one: Compared, number: int, count: int, kept: Sequence[int]) -> dict[str, Any]:
    found = [(row, _ratio(one, place)) for row, place in enumerate(kept)]
    drawn = [(row, change) for row, change in found if change is not None]
    shift = (number - (count - 1) / 2) * APART / count
    symbol = SYMBOLS[number % len(SYMBOLS)]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(one.label),
        "x": [change.value for _, change in drawn],
        "y": [row + shift for row, _ in drawn],
        "marker": {
            "color": one.colour,
            "size": 9,
            "symbol": [symbol + "-open" * (change.high is None) for _, change in drawn],
            "line": {"width": 1.5, "color": one.colour},
        },
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [_ends(change)[-1] - change.value for _, change in drawn],
            "arrayminus": [change.value - _ends(change)[0] for _, change in drawn],
            "color": one.colour,
            "thickness": 2,
            "width": 4,
        },
        "text": [escape(change.text()) for _, change in drawn],
        "hovertemplate": "%{text}<extra>%{fullData.name}</extra>",
    }


def _ratio(one: Compared, place: int) -> Change | None:
    """Return a ratio that can stand on a logarithmic axis."""
    change = one.changes[place]
    return change if change and change.kind == "ratio" and change.value > 0 else None


def _ends(change: Change | None) -> tuple[float, ...]:
    """Return the ends of an interval, the value itself where there is none."""
    if change is None:
        return ()
    if change.low is None or change.high is None:
        return change.value, change.value
    return change.low, change.high


def _short(text: str) -> str:
    return escape(text if len(text) <= LETTERS else text[: LETTERS - 1] + "…")


def _said(rows: Sequence[str], kept: Sequence[int], others: Sequence[Compared]) -> str:
    parts = []
    for one in others:
        change = _ratio(one, kept[0])
        if change is not None:
            parts.append(f"{one.label}: {rows[kept[0]]} {change.text()}")
    return "; ".join(parts) or f"{len(kept)} ratios"
