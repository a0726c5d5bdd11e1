"""The answer to an open question: its sentence first, then its table and picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dvsim.study.number_text import counted, estimate_text, times_text
from dvsim.study.table import Cell, Table, number
from dvsim.study.whatif import Answer, answers
from dvsim.view.blocks import Block, Items, Text, under
from dvsim.view.figure import Figure, forest, frame_of, log_axis, reading

if TYPE_CHECKING:
    from dvsim.view.groups import Group

FARTHEST = 3.0  # times a mark: bars of few replications may have no end


def answers_of(groups: Sequence[Group]) -> list[Answer]:
    """Return the answers that the runs of a page give to open questions."""
    return answers([entry.run for group in groups for entry in group.entries])


def all_answer(groups: Sequence[Group]) -> bool:
    """Say whether every run of a page belongs to an answer, so that the page has nothing else."""
    already = {id(run) for answer in answers_of(groups) for run in answer.runs}
    return all(id(entry.run) in already for group in groups for entry in group.entries)


def answer_blocks(answer: Answer) -> list[Block]:
    """Return an answer: its question, one sentence, table and picture, and what is assumed."""
    whatif, drawn = answer.whatif, answer_figure(answer)
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


def answer_figure(answer: Answer) -> Figure | None:
    """Draw the ratios of all variants, a mark for each scenario; None where there is no ratio."""
    rows = [
        {"line": part.label, "y": outcome.says, "x": times.value}
        | {"low": max(times.value - times.half, times.value / FARTHEST)}
        | {"high": min(times.value + times.half, times.value * FARTHEST)}
        | {"text": f"{times_text(times)}; {outcome.run.limit_text}"}
        for part in answer.parts
        for outcome in part.outcomes
        if (times := outcome.ratio) is not None
    ]
    if not rows:
        return None
    frame = frame_of(rows)
    base = answer.parts[0].outcomes[0].says
    ends = [0.9, 1.1, *frame["low"], *frame["high"]]
    words = "; ".join(f"{row['line']}, {row['y']}: {row['text']}" for row in rows)
    return Figure(
        f"ratios-{answer.whatif.name.replace('/', '-')}",
        "What each change gives",
        frame,
        forest(frame, log_axis("times the baseline", ends), at=1),
        reading("whatif", what=answer.what, base=base),
        f"Times the {answer.what} with {base}: {words}.",
        {"line": "scenario", "y": "change", "x": "ratio", "low": "low", "high": "high"},
    )
