"""A figure as the page holds it: element and script, heading, and words for those who need them."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure on the page.

    Attributes
    ----------
    name : str
        Identifier of its element; fixed, so that equal runs give equal pages.
    title : str
        Heading.
    label : str
        What it shows, for those who cannot see it.
    reading : str
        Two sentences on how to read it.
    traces : sequence of mapping
        As Plotly has them.
    looks : mapping
        Its layout, `height` included.
    svg : str
        Instead of traces: a picture that was drawn by hand.
    data : str
        Address of its numbers as CSV; empty where the page makes them from the figure itself.
    buttons : sequence of str
        Named one by one: Plotly's default bar also offers to upload the figure to a service.
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
