"""How many replications: a pilot says it where a precision is asked, looks where a verdict is.

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

import numpy as np

from dvsim.table.estimate import CONFIDENCE, Estimate, student

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
