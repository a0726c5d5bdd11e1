"""The answer to an open question: its sentence first, then its table and picture."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from dvsim.report.blocks import Block, Items, Text, under
from dvsim.report.drawing import COLOURS, SYMBOLS, Drawing, layout, line_at, log_axis, scatter
from dvsim.study.number_text import counted, estimate_text, times_text
from dvsim.study.table import Cell, Table, number
from dvsim.study.whatif import Answer, Part, answers

if TYPE_CHECKING:
    from dvsim.report.groups import Group

WIDE = 26  # characters of a label beside the figure: on a phone it must leave room
FARTHEST = 3.0  # times a mark or a part of it: bars of few replications may have no end
ROW = 46  # pixels for a variant


def answers_of(groups: Sequence[Group]) -> list[Answer]:
    """Return the answers that the runs of a page give to open questions."""
    return answers([entry.run for group in groups for entry in group.entries])


def all_answer(groups: Sequence[Group]) -> bool:
    """Say whether every run of a page belongs to an answer, so that the page has nothing else."""
    already = {id(run) for answer in answers_of(groups) for run in answer.runs}
    return all(id(entry.run) in already for group in groups for entry in group.entries)


def answer_blocks(answer: Answer) -> list[Block]:
    """Return an answer: its question, one sentence, table and picture, and what is assumed."""
    whatif, drawn = answer.whatif, answer_drawing(answer)
    meanings = "; ".join(f"{name}: {answer.heading(name)}" for name in whatif.also)
    return [
        Text(whatif.question, "question"),
        Text(answer.sentence(), "verdict"),
        answer_table(answer),
        *([Text(f"{meanings}.")] if meanings else []),
        *([] if drawn is None else [drawn]),
        *under("Assumed", [Items(whatif.assumed)] if whatif.assumed else []),
    ]


def answer_table(answer: Answer) -> Table:
    """Tabulate the outcomes of one answer: rates, ratios to the baseline, what limits."""
    rows = []
    for part in answer.parts:
        for index, outcome in enumerate(part.outcomes):
            rate, times = outcome.rate, outcome.ratio
            ratio = ("", "") if times is None else (times_text(times), times.value)
            rows.append(
                [
                    Cell("" if index else part.label, raw=part.label),
                    outcome.says,
                    Cell(estimate_text(rate.value, rate.half), "number", raw=rate.value),
                    Cell(ratio[0], "number", raw=ratio[1]),
                    *(_cell(answer, name, outcome.also(name)) for name in answer.whatif.also),
                    outcome.run.limit_text,
                ]
            )
    least, most = answer.replications
    spread = "; ± is half of the 95 % interval, of ratios with common random numbers"
    return Table(
        ["", "variant", answer.unit, "ratio", *answer.whatif.also, "limit"],
        rows,
        keys=2,
        name=f"answer-{answer.whatif.name.replace('/', '-')}",
        caption=f"Seed {answer.runs[0].seed}, {counted(least, most)}"
        + (spread if least > 1 else ", which says nothing about the spread between runs"),
    )


def _cell(answer: Answer, name: str, value: float) -> Cell:
    if math.isnan(value):
        return number(None)
    return Cell(answer.text(name, value), "number", raw=value)


def answer_drawing(answer: Answer) -> Drawing | None:
    """Draw the ratios of all variants, a mark for each scenario; None where there is no ratio."""
    traces = [_trace(part, index) for index, part in enumerate(answer.parts)]
    if not any(trace["x"] for trace in traces):
        return None
    labels = list(dict.fromkeys(label for trace in traces for label in trace["y"]))
    looks = layout(
        150 + ROW * len(labels),
        log_axis(*extent(traces)) | {"title": "times the baseline"},
        {"categoryorder": "array", "categoryarray": labels[::-1], "type": "category"},
    )
    looks["shapes"] = [line_at(1, 1, "dot")]
    looks["showlegend"] = len(traces) > 1
    base = answer.parts[0].outcomes[0].says
    name = f"ratios-{answer.whatif.name.replace('/', '-')}"
    described = "; ".join(
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
        f"Times the {answer.what} with {base}: {described}.",
        f"Each mark is the {answer.what} with a change over that with {base}, the dotted line, and "
        "its bar the 95 % interval over pairs of replications with the same seed. What lies on the "
        "line changes nothing; the scale is logarithmic.",
        traces,
        looks,
    )


def extent(traces: list[dict[str, Any]]) -> tuple[float, float]:
    """Return the ends of the axis: all marks, and their bars as far as `FARTHEST` of the marks.

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


def _trace(part: Part, index: int) -> dict[str, Any]:
    known = [(outcome, outcome.ratio) for outcome in part.outcomes if outcome.ratio is not None]
    look = {"color": COLOURS[index % len(COLOURS)], "symbol": SYMBOLS[index % len(SYMBOLS)]}
    return scatter(
        part.label,
        [times.value for _, times in known],
        ["<br>".join(textwrap.wrap(escape(outcome.says), WIDE)) for outcome, _ in known],
        error_x={"type": "data", "array": [times.half for _, times in known]},
        text=[escape(f"{times_text(times)}; {outcome.run.limit_text}") for outcome, times in known],
        hovertemplate="%{text}<extra></extra>",
        marker=look | {"size": 9},
    )
