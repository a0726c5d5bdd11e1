"""Layout that all figures share: transparent, quiet, and legible on a phone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

GREY = "#7f7f7f"  # the one grey that keeps 3:1 or more on white and on near-black alike

AXIS: dict[str, Any] = {
    "showline": True,
    "linecolor": GREY,
    "ticks": "outside",
    "tickcolor": GREY,
    "ticklen": 4,
    "showgrid": False,
    "zeroline": False,
    "automargin": True,
}


def layout(height: int, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    """Give the layout of a figure.

    The background is transparent and the text grey so that the page's own style sheet can decide
    about light, dark and paper.

    Parameters
    ----------
    height : int
        Height in pixels; the width is that of the page.
    x, y : dict
        What differs from the common axis; a title is plain text.
    """
    for axis in (x, y):
        if "title" in axis:
            axis["title"] = {"text": axis["title"], "font": {"size": 13}, "standoff": 8}
    return {
        "height": height,
        "margin": {"l": 62, "r": 12, "t": 34, "b": 46},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": GREY},
        "legend": {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": "#0072B2"},
        # dragging scrolls the page on a phone; zoom is on the bar above the figure
        "dragmode": False,
        "hovermode": "closest",
        "xaxis": AXIS | x,
        "yaxis": AXIS | {"showgrid": True, "gridcolor": "rgba(127,127,127,0.22)"} | y,
    }


def tall(entries: int) -> int:
    """Return the height of a figure in pixels whose legend has so many entries, two in a row."""
    return 300 + 24 * -(-entries // 2)


def log_axis(low: float, high: float) -> dict[str, Any]:
    """Make a logarithmic axis from `low` to just above `high`, both > 0.

    Ticks stand at 1, 2 and 5 of each decade where there are less than two of them.

    Examples
    --------
    >>> log_axis(15e3, 80e3)["ticktext"], log_axis(100, 1e5)["ticktext"]
    (['20k', '50k', '100k'], ['100', '1k', '10k', '100k'])
    """
    start = math.log10(low)
    end = max(math.log10(high) + 0.1, start + 0.5)
    steps = (1, 2, 5) if end - start < 2 else (1,)
    ticks = [
        (step * 10.0**decade, tick_text(step, decade))
        for decade in range(math.floor(start), math.floor(end) + 1)
        for step in steps
        if start <= math.log10(step) + decade <= end
    ]
    return {
        "type": "log",
        "range": [start, end],
        "tickvals": [value for value, _ in ticks],
        "ticktext": [text for _, text in ticks],
    }


def log_axis_with_zero(values: Iterable[float]) -> tuple[float, dict[str, Any]]:
    """Make a logarithmic axis that has a place for zero, if there is one among the values.

    Parameters
    ----------
    values : iterable of float
        All values to be drawn, >= 0.

    Returns
    -------
    floor : float
        Where to draw a zero: one decade below the smallest decade of the others.
    axis : dict
        Type, range and ticks; the tick at `floor` says "0".

    Examples
    --------
    >>> floor, axis = log_axis_with_zero([0.0, 2000.0, 3.4e6])
    >>> floor, axis["ticktext"]
    (100.0, ['0', '1k', '10k', '100k', '1M'])
    """
    known = list(values)
    above = [value for value in known if value > 0]
    low, high = min(above, default=1.0), max(above, default=10.0)
    bottom = math.floor(math.log10(low))
    floor = 10.0 ** (bottom - 1)
    if len(above) == len(known):
        return floor, log_axis(low / 1.5, high * 1.5)
    axis = log_axis(10.0**bottom, high * 1.5)
    axis["range"] = [bottom - 1.2, axis["range"][1]]
    axis["tickvals"] = [floor, *axis["tickvals"]]
    axis["ticktext"] = ["0", *axis["ticktext"]]
    return floor, axis


def tick_text(step: int, decade: int) -> str:
    """Write `step` times a power of ten with an SI prefix, as rates are read.

    Examples
    --------
    >>> [tick_text(*n) for n in ((1, -1), (1, 0), (5, 2), (1, 5), (2, 6), (1, 10))]
    ['0.1', '1', '500', '100k', '2M', '10G']
    """
    for power, prefix in ((9, "G"), (6, "M"), (3, "k"), (0, "")):
        if decade >= power:
            return f"{step * 10 ** (decade - power)}{prefix}"
    return f"{step * 10.0**decade:g}"
