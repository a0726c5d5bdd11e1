"""Find a common factor of whole numbers, and the chance that they only seem to have one.

A smooth count is a multiple of d with the chance 1 / d; one that was rounded to a multiple of u,
with the chance ``gcd(d, u) / d``. Of m different counts k are multiples. All d are looked at, d
with the weight 1 / (d (d + 1)), whose sum is 1. So the chance that smooth counts show any factor as
good is at most ``d (d + 1) P(at least k of m)``, by the law of a sum of m trials.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dvsim.consistency.chance import tail

DIRECT = 10_000  # factors up to here are tried one by one, larger ones if two counts share them
KEPT = 50
LARGEST = 2**53  # a float holds whole numbers up to here


@dataclass(frozen=True)
class Factor:
    """A common factor.

    Parameters
    ----------
    factor
        The number.
    counts
        The different counts that are multiples of it, ascending.
    of
        How many different counts there are.
    log10_odds
        -log10 of the chance that smooth counts show any factor so well.
    """

    factor: int
    counts: tuple[int, ...]
    of: int
    log10_odds: float


def find_factor(counts: Mapping[int, int]) -> Factor | None:
    """Return the best common factor of counts; None of fewer than three.

    Parameters
    ----------
    counts
        Different counts above zero, each with the number that it was rounded to a multiple of: 1
        if it is exact.

    Examples
    --------
    >>> find_factor(dict.fromkeys([63, 126, 441, 630, 1449], 1)).factor
    63
    """
    distinct = sorted(count for count in counts if count < LARGEST)
    if len(distinct) < 3:
        return None
    numbers = np.array(distinct, dtype=np.int64)
    units = np.array([counts[count] for count in distinct], dtype=np.int64)
    shared = {math.gcd(a, b) for a, b in combinations(distinct, 2)} - {1}
    tried = np.array(sorted(shared | set(range(2, min(distinct[-1], DIRECT) + 1))), dtype=np.int64)
    chances = np.gcd(tried[:, None], units) / tried[:, None]  # factors x counts
    multiple = numbers % tried[:, None] == 0
    # a bound of the odds, which ranks factors well enough to work out a few exactly
    bound = (multiple * -np.log(chances)).sum(axis=1) - 2 * np.log(tried)
    best: Factor | None = None
    for at in np.argsort(-bound, kind="stable")[:KEPT]:
        factor, hits = int(tried[at]), multiple[at]
        if hits.sum() < 3:
            continue
        odds = -tail(chances[at], int(hits.sum())) - math.log10(factor * (factor + 1))
        if best is None or odds > best.log10_odds:
            whole = math.lcm(
                factor, math.gcd(*units[hits].tolist())
            )  # with what all are rounded to
            best = Factor(whole, tuple(map(int, numbers[hits])), len(distinct), odds)
    return best
