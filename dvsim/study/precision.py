"""How well what was asked is known: half of its 95 % interval as a share of its value.

What is asked of a system is its rate, of a study the first metric of its table that it has, at the
point where that is known least, of an open question the ratio of each variant to the baseline, of
a changed system beside the unchanged one the ratio of the two, of pairs of replications.

How many replications: a pilot says it where a precision is asked, looks where a verdict is.

**A precision.** A run that ends when its interval happens to be narrow covers the truth too seldom:
of those that end early by chance, hardly any does. So the number is not taken from the replications
that answer. A pilot of `PILOT`, with random numbers of its own, says how much they scatter; the
answer then has as many as `needed` says, and its intervals are Student's, of that number. Whatever
the pilot was like, they cover the truth as often as those of a number that was fixed beforehand:
of every metric, and of those that ended early, too.

**A verdict.** Replications are added until an interval lies on one side of a bound. So that a
verdict is wrong with at most 5 % over all its looks, an interval that decides has a confidence of
1 - 5 % / looks (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dvsim.study.changes import changes_of
from dvsim.study.number_text import ROUNDING, counted
from dvsim.study.whatif import Part, answers
from dvsim.table.compare import rate_ratio
from dvsim.table.estimate import CONFIDENCE, Estimate, estimate, share_of, student
from dvsim.table.result import Result

PILOT = 3
LEAST, MOST = 3, 30  # replications of an answer
MARGIN = 2.0
"""How much more than in the pilot they are taken to scatter: three replications show less than half
of it in one case of five."""


VERDICT_STEPS = (3, 4, 6, 10)
"""Replications after which the verdicts on claims are looked at; the last is the full run."""


def pilot_seed(seed: int) -> int:
    """Return the seed of the pilot of a seed.

    >>> pilot_seed(pilot_seed(7))
    7
    """
    return seed ^ 2**63


def needed(share: float, precision: float) -> int:
    """Return how many replications are asked for by what a pilot says.

    Args:
        share: Half of the 95 % interval of what is asked over its value, in the pilot.
        precision: What that share shall be.

    >>> [needed(share, 0.05) for share in (0.0, 0.02, 0.05, 0.1, 0.5)]
    [3, 3, 5, 13, 30]
    """
    scatter = MARGIN * share * math.sqrt(PILOT) / float(student(PILOT - 1))
    times = np.arange(LEAST, MOST)
    enough = times[scatter * student(times - 1) <= precision * np.sqrt(times)]
    return int(enough[0]) if len(enough) else MOST


def confidence_of(looks: Sequence[int]) -> float:
    """Return the confidence of an interval that decides a verdict, if it is looked at so often.

    >>> confidence_of((2, 4, 8, 16, 32)), confidence_of((80,))
    (0.99, 0.95)
    """
    return 1 - (1 - CONFIDENCE) / len(looks)


def deciding(known: Estimate, times: int, looks: Sequence[int]) -> Estimate:
    """Return an estimate of so many replications with the interval that decides a verdict.

    >>> wide = deciding(Estimate(10.0, 9.0, 11.0), 3, VERDICT_STEPS)
    >>> [round(end, 2) for end in wide]
    [10.0, 7.94, 12.06]
    """
    if times < 2:
        return known
    wider = float(student(times - 1, confidence_of(looks)) / student(times - 1))
    value, low, high = known
    return Estimate(value, value - (value - low) * wider, value + (high - value) * wider)


MOST_TEXTS = 3  # results of which each says what it reached


class Reached(NamedTuple):
    """How well the result of a scenario is known.

    Attributes:
        scenario: Its name.
        what: What was asked of it: ``rate``, ``ratio``, ``widest ratio``, the name of a metric.
        share: Half of the 95 % interval over the value; 0 where there is no value to be known.
        replications: How many there were.
        question: The open question, or the changed scenario, that it belongs to, if any.
    """

    scenario: str
    what: str
    share: float
    replications: int
    question: str = ""

    def text(self, asked: float) -> str:
        """Say it for people.

        >>> Reached("h3/dv-8", "rate", 0.0123, 3).text(0.05)
        'h3/dv-8: rate ± 1.2% with 3 replications'
        >>> Reached("h3/dv-8", "rate", 0.0712, 30).text(0.05)
        'h3/dv-8: rate ± 7.1% with 30 replications, not within 5%; about 61 would be'
        >>> Reached("h3/dv-8", "rate", 0.0, 3).text(0.05)
        'h3/dv-8: rate equal in 3 replications'
        """
        return _text([self], asked)


def _text(alike: Sequence[Reached], asked: float) -> str:
    first, times = alike[0], [each.replications for each in alike]
    known = f"± {100 * first.share:.2g}% with" if first.share > ROUNDING else "equal in"
    text = f"{first.question or first.scenario}: {first.what} {known} "
    text += counted(min(times), max(times))
    if first.share <= asked:
        return text
    enough = math.ceil(max(times) * (first.share / asked) ** 2)
    return f"{text}, not within {100 * asked:g}%; about {enough:,} would be"


def reached_texts(known: Sequence[Reached], asked: float) -> list[str]:
    """Return what was reached for people: each text once, of many only those not within.

    >>> some = [Reached(f"h3/dv-{n}", "rate", n / 1000, 3) for n in (8, 16, 32, 64)]
    >>> reached_texts(some, 0.05)[0]
    'h3/dv-8: rate ± 0.8% with 3 replications'
    >>> reached_texts(some, 0.1)
    ['all 4: within 10% with 3 replications']
    """
    questions: dict[tuple[str, str, float], list[Reached]] = {}
    for precision in known:
        questions.setdefault(
            (precision.question or precision.scenario, precision.what, precision.share), []
        ).append(precision)
    within = [alike for alike in questions.values() if alike[0].share <= asked]
    if len(within) <= MOST_TEXTS:
        return [_text(alike, asked) for alike in questions.values()]
    wide = [_text(alike, asked) for alike in questions.values() if alike not in within]
    times = [precision.replications for alike in within for precision in alike]
    which = f"the other {len(within)}" if wide else f"all {len(within)}"
    return [*wide, f"{which}: within {100 * asked:g}% with {counted(min(times), max(times))}"]


def reached(results: Sequence[Result]) -> list[Reached]:
    """Return how well each result is known, in order; of a question all as well as its worst."""
    together = _questions(results) | _pairs(results)
    reports = []
    for result in results:
        metric, share, question = together.get(id(result)) or (
            result.headline().name,
            max(shares_of(result)),
            "",
        )
        reports.append(Reached(result.scenario.name, metric, share, result.replications, question))
    return reports


def needs(results: Sequence[Result], precision: float) -> list[int]:
    """Return how many replications each result needs to be known so well, by a pilot.

    Of an open question each variant has as many as its own ratio needs, and its baseline the most.
    """
    own: dict[int, float] = {}
    for part in (part for answer in answers(results) for part in answer.parts):
        for outcome, each in zip(part.outcomes, _part(part), strict=True):
            own[id(outcome.run)] = max(each, own.get(id(outcome.run), 0.0))
    known = zip(results, reached(results), strict=True)
    return [needed(own.get(id(result), one.share), precision) for result, one in known]


def _part(part: Part) -> list[float]:
    own = [share_of(outcome.ratio) for outcome in part.outcomes]
    return [max(own), *own[1:]]


def _questions(results: Sequence[Result]) -> dict[int, tuple[str, float, str]]:
    widest: dict[int, tuple[str, float, str]] = {}
    for answer in answers(results):
        outcomes = [outcome for part in answer.parts for outcome in part.outcomes]
        worst = max(_part(part)[0] for part in answer.parts)
        runs = (id(outcome.run) for outcome in outcomes)
        widest |= dict.fromkeys(runs, ("widest ratio", worst, answer.whatif.name))
    return widest


def _pairs(results: Sequence[Result]) -> dict[int, tuple[str, float, str]]:
    widest: dict[int, tuple[str, float, str]] = {}
    for variant, base in pairs_among([result for result in results if result.sampled]):
        share = share_of(rate_ratio(base, variant))
        name = changes_of(variant.scenario).name
        widest[id(variant)] = ("ratio", share, name)
        if share >= widest.get(id(base), ("", 0.0, ""))[1]:
            widest[id(base)] = widest[id(variant)]
    return widest


def pairs_among(results: Sequence[Result]) -> list[tuple[Result, Result]]:
    """Return each changed result with the unchanged one of its scenario, where both are there."""
    changed = {id(result): bool(changes_of(result.scenario).said) for result in results}
    return [
        (result, base)
        for result in results
        for base in results
        if changed[id(result)]
        and not changed[id(base)]
        and base.scenario.name == result.scenario.name
    ]


def shares_of(result: Result) -> list[float]:
    """Return how well what answers is known at each point of a result."""
    known = [result.headline(point) for point in range(len(result.scenario.points))]
    return [share_of(estimate(own.values.values(), signed=own.signed)) for own in known]
