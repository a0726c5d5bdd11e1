"""The answer to an open question on the page: its paragraph first, and the table of its figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dvsim.report.drawing import Drawing
from dvsim.report.table import Cell, Table, number
from dvsim.report.whatif_figure import answer_drawing
from dvsim.results.measures import MEASURES
from dvsim.results.whatif import Answer, Outcome, answers, limit_text, times_text

if TYPE_CHECKING:
    from dvsim.report.prepare import Group


def answers_of(groups: Sequence[Group]) -> list[Answer]:
    """Return the answers that the runs of a page give to open questions."""
    return answers([entry.run for group in groups for entry in group.entries])


def answer_sentences(groups: Sequence[Group]) -> list[str]:
    """Tell each answer, its gist first, then what it rests on; nothing where there is none."""
    said = []
    for answer in answers_of(groups):
        assumed = f"Assumed: {' '.join(answer.whatif.assumed)}"
        said += [answer.gist(), answer.figures(), assumed]
    return said


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
    over = f"over {count} replications" if count > 1 else "of one replication"
    rows = []
    for part in answer.parts:
        for outcome in part.outcomes:
            times = outcome.ratio
            rows.append(
                [
                    Cell(part.label),
                    Cell(outcome.says),
                    number(outcome.rate.value),
                    number(outcome.rate.half if answer.replications > 1 else None),
                    Cell("", "number", raw="")
                    if times is None
                    else Cell(times_text(times), "number", raw=times.value),
                    *(_cell(outcome, name) for name in also),
                    Cell(limit_text(outcome).removeprefix("limit: ")),
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
            "with",
            "rate",
            "±",
            "ratio",
            *(MEASURES[name].heading for name in also),
            "what limits",
        ],
        rows=rows,
    )


def _cell(outcome: Outcome, name: str) -> Cell:
    """Make a cell of another measure; the CSV has its number."""
    value = outcome.also(name)
    if math.isnan(value):
        return number(None)
    return Cell(MEASURES[name].text(value), "number", raw=value)
