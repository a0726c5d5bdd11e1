"""How well what was asked is known: half of its 95 % interval as a share of its value.

What is asked of a system is its rate, of a study the first metric of its table at the point where
it is known least, of an open question the ratio of each variant to the baseline, of pairs of
replications.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dvsim.results.points import PointsStudy
from dvsim.results.run import Run, runs_of
from dvsim.results.statistics import Estimate, estimate
from dvsim.results.whatif import answers

STEPS = (3, 5, 8, 12, 18, 30)
"""Replications after which it is looked at; with more looks, more of them would end by chance."""


class Reached(NamedTuple):
    """How well the result of a scenario is known.

    Attributes
    ----------
    scenario
        Its name.
    what
        What was asked of it: ``rate``, ``widest ratio``, the name of a metric.
    share
        Half of the 95 % interval over the value; 0 where there is no value to be known.
    replications
        How many there were.
    question
        The open question that it belongs to, if any.
    """

    scenario: str
    what: str
    share: float
    replications: int
    question: str = ""

    def text(self, asked: float) -> str:
        """Say it for people.

        Examples
        --------
        >>> Reached("h3/dv-8", "rate", 0.0123, 3).text(0.05)
        'h3/dv-8: rate ± 1.2% with 3 replications'
        >>> Reached("h3/dv-8", "rate", 0.0712, 30).text(0.05)
        'h3/dv-8: rate ± 7.1% with 30 replications, not within 5%'
        """
        said = f"{self.question or self.scenario}: {self.what} ± {100 * self.share:.2g}%"
        said += f" with {self.replications} replications"
        return said if self.share <= asked else f"{said}, not within {100 * asked:g}%"


def reached(results: Sequence[Run | PointsStudy]) -> list[Reached]:
    """Return how well each result is known, in order; of a question all as well as its worst."""
    together = _questions(results)
    found = []
    for one in results:
        name = one.scenario.name
        what, share, question = together.get(name) or (*_alone(one), "")
        found.append(Reached(name, what, share, one.replications, question))
    return found


def wider(results: Sequence[Run | PointsStudy], share: float) -> list[bool]:
    """Return for each result whether it is known less well than a share."""
    return [one.share > share for one in reached(results)]


def _questions(results: Sequence[Run | PointsStudy]) -> Mapping[str, tuple[str, float, str]]:
    """Return what is known of the runs of open questions, by the name of the run."""
    found: dict[str, tuple[str, float, str]] = {}
    for answer in answers(runs_of(results)):
        outcomes = [outcome for part in answer.parts for outcome in part.outcomes]
        worst = max(_share(outcome.ratio) for outcome in outcomes)
        names = (outcome.run.scenario.name for outcome in outcomes)
        found |= dict.fromkeys(names, ("widest ratio", worst, answer.whatif.name))
    return found


def _alone(one: Run | PointsStudy) -> tuple[str, float]:
    if isinstance(one, Run):
        return "rate", _share(estimate(one.rates.values()))
    metric = one.SHOWN[0]
    table = one.table()
    pairs = zip(table[metric].tolist(), table[f"± {metric}"].tolist(), strict=True)
    return metric, max(_share(Estimate.around(value, half)) for value, half in pairs)


def _share(known: Estimate | None) -> float:
    """Return half of an interval over its value; 0 of nothing, and of what is not a number."""
    if known is None or not known.value > 0:
        return 0.0
    return known.half / known.value
