"""The answer to an open question as a picture: how many times the baseline each variant gives."""

from __future__ import annotations

import textwrap
from html import escape
from typing import Any

from dvsim.report.axes import GREY, layout, log_axis
from dvsim.report.drawing import Drawing
from dvsim.report.sweep import COLOURS, SYMBOLS
from dvsim.study.whatif import Answer, Part, limit_text
from dvsim.study.whatif_sentence import times_text

WIDE = 26  # characters of a label beside the figure: on a phone it must leave room
FARTHEST = 3.0  # times a mark or a part of it: bars of few replications may have no end
ROW = 46  # pixels for a variant


def answer_drawing(answer: Answer) -> Drawing | None:
    """Draw the ratios of all variants, a mark for each scenario; None where there is no ratio."""
    traces = [_trace(part, place) for place, part in enumerate(answer.parts)]
    if not any(trace["x"] for trace in traces):
        return None
    labels = list(dict.fromkeys(label for trace in traces for label in trace["y"]))
    looks = layout(
        150 + ROW * len(labels),
        log_axis(*extent(traces)) | {"title": "times the baseline"},
        {"categoryorder": "array", "categoryarray": labels[::-1], "type": "category"},
    )
    looks["shapes"] = [
        {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1}
        | {"line": {"color": GREY, "width": 1, "dash": "dot"}}
    ]
    looks["showlegend"] = len(traces) > 1
    base = answer.parts[0].outcomes[0].says
    name = f"ratios-{answer.whatif.name.replace('/', '-')}"
    said = "; ".join(
        f"{part.label}: "
        + ", ".join(
            f"{times_text(outcome.ratio)} with {outcome.says}"
            for outcome in part.outcomes
            if outcome.ratio is not None
        )
        for part in answer.parts
    )
    return Drawing(
        name,
        "What each change gives",
        f"Times the rate with {base}: {said}.",
        f"Each mark is the rate with a change over that with {base}, the dotted line, and its bar "
        "the 95 % interval over pairs of replications with the same seed. What lies on the line "
        "changes nothing; the scale is logarithmic.",
        traces,
        looks,
    )


def extent(traces: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the ends of the axis: all marks, and their bars as far as `FARTHEST` of the marks.

    Examples
    --------
    >>> extent([{"x": [2.0, 3.0], "error_x": {"array": [0.5, 2.0]}}])[1]
    5.0
    >>> extent([{"x": [2.0], "error_x": {"array": [50.0]}}])[1]
    6.0
    """
    pairs = [
        pair for trace in traces for pair in zip(trace["x"], trace["error_x"]["array"], strict=True)
    ]
    low = min(max(value - half, value / FARTHEST) for value, half in pairs)
    high = max(min(value + half, value * FARTHEST) for value, half in pairs)
    return min(0.9, low) / 1.1, max(1.1, high)


def _trace(part: Part, place: int) -> dict[str, Any]:
    known = [(one, one.ratio) for one in part.outcomes if one.ratio is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape(part.label),
        "x": [times.value for _, times in known],
        "y": ["<br>".join(textwrap.wrap(escape(one.says), WIDE)) for one, _ in known],
        "error_x": {"type": "data", "array": [times.half for _, times in known]},
        "text": [escape(f"{times_text(times)}; {limit_text(one)}") for one, times in known],
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "color": COLOURS[place % len(COLOURS)],
            "symbol": SYMBOLS[place % len(SYMBOLS)],
            "size": 9,
        },
    }
