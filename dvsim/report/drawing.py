"""A figure as a page holds it: traces, axes, and words for those who cannot see it."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Okabe and Ito's colours for the colour-blind, those that keep a contrast of 3:1 on white and on
# near-black come first; black itself is left out because a dark page would swallow it.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, ORANGE, YELLOW = "#56B4E9", "#E69F00", "#F0E442"
OTHER_COLOURS = (GREEN, PURPLE, SKY, ORANGE, YELLOW)
COLOURS = (BLUE, VERMILION, *OTHER_COLOURS[:-1])  # yellow is too pale for a line on white
GREY = "#7f7f7f"  # the one grey that keeps 3:1 or more on white and on near-black alike
SYMBOLS = ("circle", "square", "triangle-up", "diamond", "triangle-down", "pentagon", "hexagon")
DASHES = ("solid", "dash", "dot", "dashdot")

CONFIG = {"responsive": True, "displaylogo": False, "plotlyServerURL": ""}
AXIS: dict[str, Any] = {"showline": True, "linecolor": GREY, "ticks": "outside"}
AXIS |= {"tickcolor": GREY, "ticklen": 4}
AXIS |= {"showgrid": False, "zeroline": False, "automargin": True}
START = '<script type="application/json" class="traces">'
BUTTONS = ("zoom2d", "pan2d", "resetScale2d", "toImage")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure on the page.

    Attributes:
        name: Identifier of its element; fixed, so that equal runs give equal pages.
        title: Heading.
        label: What it shows, for those who cannot see it.
        reading: Two sentences on how to read it.
        traces: As Plotly has them.
        looks: Its layout, `height` included.
        svg: Instead of traces: a picture that was drawn by hand.
        data: Address of its numbers as CSV; empty where the page makes them from the figure itself.
        buttons: Named one by one: Plotly's default bar also offers to upload the figure to a
            service.
    """

    name: str
    title: str
    label: str
    reading: str
    traces: Sequence[Mapping[str, Any]] = ()
    looks: Mapping[str, Any] = field(default_factory=dict)
    svg: str = ""
    data: str = ""
    buttons: Sequence[str] = BUTTONS
    form: ClassVar[str] = "figure"

    @cached_property
    def json(self) -> str:
        """The figure as JSON; angle brackets are escaped, so that no title can end a script."""
        from plotly.io.json import to_json_plotly

        config = CONFIG | {"modeBarButtons": [list(self.buttons)]}
        figure = {"data": list(self.traces), "layout": dict(self.looks), "config": config}
        text: str = to_json_plotly(figure, engine="json")
        return text

    @property
    def spec(self) -> dict[str, Any]:
        """Data and layout of the figure, in plain types."""
        spec: dict[str, Any] = json.loads(self.json)
        return spec

    @property
    def html(self) -> str:
        """Element and script; figure.js draws the figure when it is looked at."""
        if self.svg:
            return self.svg
        return (
            f'<div class="figure" id="{escape(self.name)}" style="height:{self.looks["height"]}px">'
            f"{START}{self.json}</script></div>"
        )


def scatter(
    name: str,
    x: Sequence[Any] | Floats,
    y: Sequence[Any] | Floats,
    mode: str = "markers",
    **more: object,
) -> dict[str, Any]:
    """Return a trace of marks or lines; arrays are packed, so that a page stays small.

    Plotly reads a small HTML in its texts: the name is escaped, so that no name can use it.
    """
    coordinates = {
        axis: packed(values) if isinstance(values, np.ndarray) else list(values)
        for axis, values in (("x", x), ("y", y))
    }
    return {"type": "scatter", "mode": mode, "name": escape(name), **coordinates, **more}


def error_bars(
    values: Sequence[float], low: Sequence[float], high: Sequence[float], **looks: object
) -> dict[str, Any]:
    """Return the bars of a trace from `low` to `high`; none is on the wrong side of its value."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [max(top - value, 0.0) for value, top in zip(values, high, strict=True)],
        "arrayminus": [max(value - end, 0.0) for value, end in zip(values, low, strict=True)],
        **looks,
    }


def marker(colour: str, size: float, symbol: str | Sequence[str], **more: object) -> dict[str, Any]:
    """Return how marks of one colour look; their frame has that colour too."""
    frame = {"width": 1.5, "color": colour}
    return {"color": colour, "size": size, "symbol": symbol, "line": frame, **more}


def line_at(share: float, width: float, dash: str) -> dict[str, Any]:
    """Return a grey line from the bottom of a figure to its top."""
    ends = {"x0": share, "x1": share, "yref": "paper", "y0": 0, "y1": 1}
    return {"type": "line", **ends, "line": {"color": GREY, "width": width, "dash": dash}}


def rgb(colour: str) -> tuple[int, int, int]:
    """Take "#rrggbb" apart.

    >>> rgb("#0072B2")
    (0, 114, 178)
    """
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def packed(values: Floats) -> dict[str, str]:
    """Encode numbers as the typed array that Plotly reads."""
    data = values.astype("<f4").tobytes()
    return {"dtype": "f4", "bdata": base64.b64encode(data).decode("ascii")}


def unpacked(array: Mapping[str, str]) -> Floats:
    """Decode what `packed` encoded.

    >>> import numpy as np
    >>> unpacked(packed(np.array([0.5, 3.0]))).tolist()
    [0.5, 3.0]
    """
    return np.frombuffer(base64.b64decode(array["bdata"]), "<f4").astype(np.float64)


def layout(height: int, x: dict[str, Any], y: dict[str, Any]) -> dict[str, Any]:
    """Give the layout of a figure.

    The background is transparent and the text grey so that the page's own style sheet can decide
    about light, dark and paper.

    Args:
        height: Height in pixels; the width is that of the page.
        x, y: What differs from the common axis; a title is plain text.
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

    Args:
        values: All values to be drawn, >= 0.

    Returns:
        floor : float: Where to draw a zero: one decade below the smallest decade of the others.
        axis : dict: Type, range and ticks; the tick at `floor` says "0".

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

    >>> [tick_text(*n) for n in ((1, -1), (1, 0), (5, 2), (1, 5), (2, 6), (1, 10))]
    ['0.1', '1', '500', '100k', '2M', '10G']
    """
    for power, prefix in ((9, "G"), (6, "M"), (3, "k"), (0, "")):
        if decade >= power:
            return f"{step * 10 ** (decade - power)}{prefix}"
    return f"{step * 10.0**decade:g}"
