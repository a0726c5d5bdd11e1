"""A figure as the page holds it: element and script, heading, and words for those who need them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from dvsim.report.series import Floats

CONFIG = {
    "responsive": True,
    "displaylogo": False,
    "plotlyServerURL": "",
}
START = '<script type="application/json" class="traces">'
BUTTONS = ("zoom2d", "pan2d", "resetScale2d", "toImage")


@dataclass(frozen=True)
class Drawing:
    """A figure on the page.

    Attributes
    ----------
    name : str
        Identifier of its element; fixed, so that equal runs give equal pages.
    title : str
        Heading.
    html : str
        Element and script, ready to be placed.
    label : str
        What it shows, for those who cannot see it.
    reading : str
        Two sentences on how to read it.
    data : str
        Address of its numbers as CSV; empty where the page makes them from the figure itself.
    """

    name: str
    title: str
    html: str
    label: str
    reading: str
    data: str = ""


def draw(
    name: str,
    traces: Sequence[Mapping[str, Any]],
    looks: Mapping[str, Any],
    buttons: Sequence[str] = BUTTONS,
) -> str:
    """Write a figure as an element that holds its data; figure.js draws it when it is looked at.

    Plotly escapes the angle brackets of every text in it, so no title can end the script.
    """
    from plotly.io.json import to_json_plotly

    # named one by one: the default bar also offers to upload the figure to a service
    config = CONFIG | {"modeBarButtons": [list(buttons)]}
    figure = {"data": list(traces), "layout": dict(looks), "config": config}
    data: str = to_json_plotly(figure, engine="json")
    return (
        f'<div class="figure" id="{escape(name)}" style="height:{looks["height"]}px">'
        f"{START}{data}</script></div>"
    )


def spec_of(drawing: Drawing) -> dict[str, Any]:
    """Read the data and the layout of a figure that `draw` wrote."""
    text = drawing.html.partition(START)[2].partition("</script>")[0]
    spec: dict[str, Any] = json.loads(text)
    return spec


def coordinates(x: Floats, y: Floats) -> dict[str, Any]:
    """Give the coordinates of a trace in single precision: seven digits in a third of the text."""
    return {"x": packed(x), "y": packed(y)}


def packed(values: Floats) -> dict[str, str]:
    """Encode numbers as the typed array that Plotly reads."""
    data = values.astype("<f4").tobytes()
    return {"dtype": "f4", "bdata": base64.b64encode(data).decode("ascii")}


def unpacked(array: Mapping[str, str]) -> Floats:
    """Decode what `packed` encoded.

    Examples
    --------
    >>> import numpy as np
    >>> unpacked(packed(np.array([0.5, 3.0]))).tolist()
    [0.5, 3.0]
    """
    return np.frombuffer(base64.b64decode(array["bdata"]), "<f4").astype(np.float64)
