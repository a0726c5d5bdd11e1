"""The figures of a page as SVG for papers, drawn by matplotlib from the same traces.

A figure on paper has the points, colours and words of the one on the page: both are drawn from one
`Drawing`. Equal figures give equal bytes: identifiers have a fixed salt, and there is no date.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from html import unescape
from typing import Any

from dvsim.errors import DvsimError
from dvsim.report.drawing import Drawing, unpacked
from dvsim.report.html import resource

DASHES = {
    "solid": "-",
    "dash": (0, (5, 3)),
    "dot": (0, (1, 2)),
    "dashdot": (0, (5, 2, 1, 2)),
    "longdashdot": (0, (9, 3, 1, 3)),
}
MARKERS = {"circle": "o", "square": "s", "triangle-up": "^", "triangle-down": "v", "x": "x"}
MARKERS |= {"diamond": "D", "pentagon": "p", "hexagon": "h", "line-ew": "_"}
STYLE: Any = {
    "svg.hashsalt": "dvsim",
    "svg.fonttype": "none",  # text stays text: it can be searched, and set in the paper's font
    "text.parse_math": False,  # a dollar in a name is a dollar
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid.axis": "y",
    "axes.grid": True,
    "grid.color": "0.9",
    "legend.frameon": False,
    "legend.fontsize": 7,
}
INKS = {"ink": "#000000", "soft": "#444444", "link": "#0072B2", "bad": "#D55E00"}
WIDTH, HEIGHT = 5.0, 3.2  # inches: one column and a half
PIXELS = 0.6  # of the page for a point on paper
MOST_NAMES = 3  # of the legend in one row
LETTERS, MARK = 84, 6  # that fit into one row of it; room of a mark, in letters


def can_be_printed(drawing: Drawing) -> bool:
    """Whether a figure is flat: what turns in space stays on the page."""
    return all(trace["type"] != "scatter3d" for trace in drawing.traces)


def check_printer() -> None:
    """Refuse figures for papers where nothing can draw them.

    Raises:
        DvsimError: If matplotlib is not installed.
    """
    try:
        import matplotlib as mpl
    except ImportError as error:
        message = "figures for papers need matplotlib: pip install 'vortexsim[figures]'"
        raise DvsimError(message) from error
    del mpl


def figure_svg(drawing: Drawing) -> bytes:
    """Draw a figure of a page as SVG.

    Args:
        drawing: A flat one, see `can_be_printed`.

    Raises:
        DvsimError: If matplotlib is not installed.
    """
    if drawing.svg:
        return standalone(drawing.svg)
    check_printer()
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    spec = drawing.spec
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for trace in spec["data"]:
            draw_trace(axes, trace)
        set_axis(axes.xaxis, spec["layout"]["xaxis"])
        set_axis(axes.yaxis, spec["layout"]["yaxis"])
        handles, names = axes.get_legend_handles_labels()
        if len(names) > 1:
            columns = max(1, min(MOST_NAMES, LETTERS // (max(map(len, names)) + MARK)))
            figure.legend(handles, names, loc="outside lower center", ncols=columns)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Title": drawing.title})
    return buffer.getvalue()


def draw_trace(axes: Any, trace: Mapping[str, Any]) -> None:  # noqa: ANN401 - matplotlib has no types
    """Draw one trace of a page."""
    if trace.get("visible", True) is not True:  # on the page the legend switches it on
        return
    x, y = values(trace["x"]), values(trace["y"])
    line, marker = trace.get("line", {}), trace.get("marker", {})
    if trace.get("fill") == "toself":
        colour, opacity = colour_of(trace["fillcolor"])
        axes.fill(x, y, color=colour, alpha=opacity, linewidth=0)
        return
    how: dict[str, Any] = {
        "alpha": trace.get("opacity", 1.0),
        "color": colour_of(line.get("color") or marker.get("color") or "#000000")[0],
        "linestyle": "none",
    }
    if "lines" in trace["mode"]:
        how["linestyle"] = DASHES[line.get("dash", "solid")]
        how["linewidth"] = line.get("width", 2) * PIXELS
        how["drawstyle"] = "steps-post" if line.get("shape") == "hv" else "default"
        axes.plot(x, y, **how)
    symbols: list[str] = []
    if "markers" in trace["mode"]:
        given = marker.get("symbol", "circle")
        symbols = given if isinstance(given, list) else [given] * len(x)
        for symbol in dict.fromkeys(symbols):
            chosen = [index for index, other in enumerate(symbols) if other == symbol]
            across, up = [x[index] for index in chosen], [y[index] for index in chosen]
            axes.plot(across, up, linestyle="none", **mark_looks(marker, symbol))
    for side in ("x", "y"):
        bars = trace.get(f"error_{side}")
        if bars and x:
            ends = [values(bars.get(end, bars["array"])) for end in ("arrayminus", "array")]
            looks = {"fmt": "none", "ecolor": how["color"], "elinewidth": 0.7, "capsize": 1.5}
            axes.errorbar(x, y, **{f"{side}err": ends}, **looks)
    if trace.get("showlegend", True):  # one entry with line and mark, whatever was drawn apart
        looks = mark_looks(marker, symbols[0]) if symbols else {}
        axes.plot([], [], **how | looks, label=unescape(trace.get("name", "")))


def mark_looks(marker: Mapping[str, Any], symbol: str) -> dict[str, Any]:
    """Give a mark the shape, the size and the colour that it has on the page."""
    colour = colour_of(marker["color"])[0]
    return {
        "marker": MARKERS[symbol.removesuffix("-open")],
        "markersize": marker.get("size", 6) * PIXELS,
        "markerfacecolor": "none" if symbol.endswith("-open") else colour,
        "markeredgecolor": colour,
        "markeredgewidth": 0.8,
    }


def set_axis(axis: Any, looks: Mapping[str, Any]) -> None:  # noqa: ANN401
    """Give an axis the scale, the range, the ticks and the title that it has on the page."""
    from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

    name = axis.axis_name
    low, high = looks.get("range", (None, None))
    if looks.get("type") == "log":
        getattr(axis.axes, f"set_{name}scale")("log")
        low, high = (None if end is None else math.pow(10, end) for end in (low, high))
    getattr(axis.axes, f"set_{name}lim")(low, high)
    if looks.get("rangemode") == "tozero" and low is None:
        getattr(axis.axes, f"set_{name}lim")(0, None)
    if "tickvals" in looks:
        axis.set_minor_locator(NullLocator())
        axis.set_major_locator(FixedLocator(looks["tickvals"]))
        axis.set_ticklabels([unescape(text) for text in looks["ticktext"]])
        if looks.get("tickangle"):
            axis.set_tick_params(rotation=-looks["tickangle"])
    elif "%" in looks.get("tickformat", ""):
        axis.set_major_formatter(PercentFormatter(1))
    axis.set_label_text(unescape(looks.get("title", {}).get("text", "")))


def values(given: Any) -> list[float]:  # noqa: ANN401 - a list, or an array as `drawing.packed` wrote it
    """Take coordinates as numbers; a gap is not a number."""
    if isinstance(given, Mapping):
        return [float(value) for value in unpacked(given)]
    return [math.nan if value is None else float(value) for value in given]


def colour_of(text: str) -> tuple[str, float]:
    """Take a colour apart into "#rrggbb" and opacity.

    >>> colour_of("rgba(0, 114, 178, 0.2)"), colour_of("#0072B2")
    (('#0072b2', 0.2), ('#0072B2', 1.0))
    """
    if not text.startswith("rgba"):
        return text, 1.0
    red, green, blue, opacity = re.findall(r"[\d.]+", text)
    return "#" + bytes(map(int, (red, green, blue))).hex(), float(opacity)


def standalone(html: str) -> bytes:
    """Make a drawing of the page a file of its own: with its name space, and colours for paper."""
    start = html.index("<svg")
    svg = html[start : html.index("</svg>") + len("</svg>")]
    head = '<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"'
    body = svg.removeprefix("<svg")
    index = body.index(">") + 1
    style = re.sub(r"var\(--(\w+)\)", lambda variable: INKS[variable[1]], resource("pipeline.css"))
    return f"{head}{body[:index]}<style>{style}</style>{body[index:]}\n".encode()
