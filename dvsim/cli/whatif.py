"""Answers to open questions as text: one sentence, then its table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dvsim.cli.plain_text import wrapped
from dvsim.cli.terminal import tell
from dvsim.study.amounts import counted, estimate_text, times_text
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.study.points import PointsStudy
    from dvsim.study.run import Run
    from dvsim.study.statistics import Estimate
    from dvsim.study.whatif import Answer

INDENT = "  "


def told(runs: Sequence[Run | PointsStudy]) -> list[Run | PointsStudy]:
    """Print what runs answer together, and return those that belong to no answer."""
    rest = list(runs)
    for answer in _answers(runs):
        tell(answer_lines(answer), indent=len(INDENT))
        within = [outcome.run for part in answer.parts for outcome in part.outcomes]
        rest = [run for run in rest if run not in within]
    return rest


def answers_json(runs: Sequence[Run | PointsStudy]) -> dict[str, Any]:
    """Return the answers as JSON types; nothing where there is none."""
    answers = [_json(answer) for answer in _answers(runs)]
    return {"answers": answers} if answers else {}


def answer_lines(answer: Answer) -> Iterator[str | Table]:
    """Yield an answer: the question, one sentence, the table, what is assumed, where it is."""
    whatif = answer.whatif
    yield f"{whatif.name}: {whatif.title}"
    yield from wrapped(whatif.question)
    yield ""
    yield from wrapped(answer.sentence())
    yield ""
    head = ["", "variant", answer.unit, "ratio", *whatif.also, "limit"]
    yield Table(head, [*_rows(answer)], range(2, len(head) - 1), keys=2)
    run = answer.parts[0].outcomes[0].run
    many = answer.replications[0] > 1
    meaning = "± is half of the 95 % interval over them, of ratios with common random numbers"
    yield f"{INDENT}seed {run.seed}, {counted(*answer.replications)}" + (
        f"; {meaning}" if many else ", which says nothing about the spread between runs"
    )
    yield from wrapped("; ".join(f"{name}: {answer.heading(name)}" for name in whatif.also))
    for number, text in enumerate(whatif.assumed):
        yield from wrapped(("" if number else "Assumed: ") + text)
    if run.folder is not None:
        yield f"{INDENT}kept in {run.folder.parents[2]}"
    yield ""


def _answers(runs: Sequence[Run | PointsStudy]) -> list[Answer]:
    from dvsim.study.whatif import answers

    return answers(runs)


def _rows(answer: Answer) -> Iterator[list[str]]:
    """Yield a row for each outcome."""
    from dvsim.study.whatif import limit_text

    for part in answer.parts:
        for index, outcome in enumerate(part.outcomes):
            yield [
                "" if index else part.label,
                outcome.says,
                estimate_text(outcome.rate.value, outcome.rate.half),
                "" if outcome.ratio is None else times_text(outcome.ratio),
                *(_cell(answer, name, outcome.also(name)) for name in answer.whatif.also),
                limit_text(outcome),
            ]


def _cell(answer: Answer, name: str, value: float) -> str:
    return "-" if math.isnan(value) else answer.text(name, value)


def _json(answer: Answer) -> dict[str, Any]:
    whatif = answer.whatif
    outcomes = [
        {
            "scenario": outcome.run.scenario.name,
            "member": part.label,
            "with": outcome.says,
            "rate": _interval(outcome.rate),
            "ratio": _interval(outcome.ratio),
            "limit": None if outcome.limit is None else outcome.limit.cause,
            "busy": None if outcome.limit is None else outcome.limit.busy,
            **{name: _finite(outcome.also(name)) for name in whatif.also},
        }
        for part in answer.parts
        for outcome in part.outcomes
    ]
    return {
        "name": whatif.name,
        "question": whatif.question,
        "answer": answer.sentence(),
        "unit": answer.unit,
        "outcomes": outcomes,
        "assumed": list(whatif.assumed),
    }


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value


def _interval(given: Estimate | None) -> dict[str, float] | None:
    return None if given is None else {"value": given.value, "half": given.half}
