"""The answer to an open question on the page: its sentence first, then its table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dvsim.report.drawing import Drawing
from dvsim.report.table import Cell, Table, number
from dvsim.report.whatif_figure import answer_drawing
from dvsim.study.measures import MEASURES
from dvsim.study.whatif import Answer, Outcome, answers, limit_text, rate_text
from dvsim.study.whatif_sentence import counted, times_text

if TYPE_CHECKING:
    from dvsim.report.prepare import Group


def answers_of(groups: Sequence[Group]) -> list[Answer]:
    """Return the answers that the runs of a page give to open questions."""
    return answers([entry.run for group in groups for entry in group.entries])


def answer_sentences(groups: Sequence[Group]) -> list[str]:
    """Tell each answer in one sentence; nothing where there is none."""
    return [answer.sentence() for answer in answers_of(groups)]


def answer_assumptions(groups: Sequence[Group]) -> list[str]:
    """Return what the answers rest on, each assumption once."""
    every = (text for answer in answers_of(groups) for text in answer.whatif.assumed)
    return list(dict.fromkeys(every))


def all_answer(groups: Sequence[Group]) -> bool:
    """Say whether every run of a page belongs to an answer, so that the page has nothing else."""
    told = {id(one.run) for answer in answers_of(groups) for one in outcomes(answer)}
    return all(id(entry.run) in told for group in groups for entry in group.entries)


def answer_tables(groups: Sequence[Group]) -> list[Table]:
    """Tabulate the figures of each answer."""
    return [answer_table(answer) for answer in answers_of(groups)]


def answer_drawings(groups: Sequence[Group]) -> list[Drawing]:
    """Draw each answer."""
    drawings = [answer_drawing(answer) for answer in answers_of(groups)]
    return [drawing for drawing in drawings if drawing is not None]


def outcomes(answer: Answer) -> Iterator[Outcome]:
    """Yield every outcome of an answer."""
    for part in answer.parts:
        yield from part.outcomes


def answer_table(answer: Answer) -> Table:
    """Tabulate the outcomes of one answer: rates, ratios to the baseline, what limits."""
    also, count = answer.whatif.also, answer.replications
    over = f"over {counted(*count)}" if count[1] > 1 else "of one replication"
    rows = []
    for part in answer.parts:
        for outcome in part.outcomes:
            times = outcome.ratio
            rows.append(
                [
                    Cell(part.label),
                    Cell(outcome.says),
                    Cell(rate_text(outcome.rate), "number", raw=outcome.rate.value),
                    Cell("", "number", raw="")
                    if times is None
                    else Cell(times_text(times), "number", raw=times.value),
                    *(_cell(outcome, name) for name in also),
                    Cell(limit_text(outcome)),
                ]
            )
    return Table(
        name=f"answer-{answer.whatif.name.replace('/', '-')}",
        caption=(
            f"{answer.whatif.title} Rates in {answer.unit}, {over}; ± is half of the 95 % interval "
            "over replications, ratios are of pairs with the same seed."
        ),
        head=[
            "message",
            "variant",
            "rate",
            "ratio",
            *(MEASURES[name].heading for name in also),
            "limit",
        ],
        rows=rows,
    )


def _cell(outcome: Outcome, name: str) -> Cell:
    """Make a cell of another measure; the CSV has its number."""
    value = outcome.also(name)
    if math.isnan(value):
        return number(None)
    return Cell(MEASURES[name].text(value), "number", raw=value)
