"""What results look like in a notebook: a title, what was asked, a table, a small picture.

Everything is plain HTML without scripts, so that it survives in a saved notebook, and text
from scenario files is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 40
_WIDTH, _HEIGHT = 360, 90  # of a picture, in CSS pixels
_MOST_BARS = 60


def block(title: str, notes: Sequence[str], *parts: str) -> str:
    """Return a block of HTML.

    Args:
        title, notes: Text, which is escaped: a headline, and lines below it.
        *parts: HTML of tables and pictures.

    >>> block("a < b", ["seed 1"])
    '<div><strong>a &lt; b</strong><br/><small>seed 1</small></div>'
    """
    lines = [f"<strong>{escape(title)}</strong>"]
    lines += [f"<small>{escape(note)}</small>" for note in notes if note]
    return "<div>" + "<br/>".join(lines) + "".join(parts) + "</div>"


def table(frame: pd.DataFrame, *, index: bool = False) -> str:
    """Return a table as HTML, long ones with their first and last rows."""
    text: str = frame.to_html(
        index=index, max_rows=MOST_ROWS, border=0, na_rep="-", float_format=number, justify="right"
    )
    return text


def number(value: float) -> str:
    """Return a number with at most four decimal places, and thousands apart.

    >>> [number(x) for x in (12345.678, 0.25, 3.0, 0.00001, float("nan"))]
    ['12,345.7', '0.25', '3', '1e-05', '-']
    """
    if np.isnan(value):
        return "-"
    if value == 0 or abs(value) >= 1e-3:
        digits = 1 if abs(value) >= 1000 else 4
        text = f"{value:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def histogram(counts: npt.NDArray[np.int64], label: str) -> str:
    """Return a histogram as inline SVG; nothing if there is nothing in it.

    Args:
        counts: Shape (values,): how often each value 0, 1, … came.
        label: What the values are, with unit.
    """
    filled = np.flatnonzero(counts)
    if not filled.size:
        return ""
    first, last = int(filled[0]), int(filled[-1])
    width = -(-(last - first + 1) // _MOST_BARS)  # values of one bar
    edges = np.arange(first, last + 1, width)
    heights = np.add.reduceat(counts[: last + 1], edges) / counts[first : last + 1].sum()
    step = _WIDTH / len(edges)
    bars = "".join(
        f'<rect x="{n * step:.1f}" y="{_HEIGHT * (1 - share / heights.max()):.1f}" '
        f'width="{max(step - 1, 0.5):.1f}" height="{_HEIGHT * share / heights.max():.1f}">'
        f"<title>{edge}{f' to {edge + width - 1}' if width > 1 else ''}: {share:.3%}</title></rect>"
        for n, (edge, share) in enumerate(zip(edges.tolist(), heights.tolist(), strict=True))
    )
    label_text = escape(f"{label}: {first} to {last}")
    return (
        f'<figure style="margin:.5em 0"><svg role="img" aria-label="{label_text}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" fill="#0072b2">{bars}</svg><figcaption><small>{label_text}</small>'
        "</figcaption></figure>"
    )
