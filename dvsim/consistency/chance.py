"""Chances of many independent trials, in log10: they go far below the smallest float."""

from __future__ import annotations

import math

import numpy as np

from dvsim.consistency.types import Floats


def tail(chances: Floats, hits: int) -> float:
    """Return log10 of the chance of at least `hits` successes in independent trials.

    Args:
        chances: Chance of each trial, shape (n,); the law of their sum is Poisson's binomial.
        hits: From 0 on; more than n is impossible.

    >>> round(10 ** tail(np.array([0.5, 0.5]), 1), 12)
    0.75
    """
    if hits <= 0:
        return 0.0
    clipped = np.clip(chances, 1e-300, 1.0)
    with np.errstate(divide="ignore"):
        yes, no = np.log(clipped), np.log1p(-clipped)
    # law[k] = log P(k successes so far); the last entry gathers all from `hits` on
    law = np.full(hits + 1, -np.inf)
    law[0] = 0.0
    for hit, miss in zip(yes, no, strict=True):
        done = law[-1]
        shifted = np.concatenate(([-np.inf], law[:-1] + hit))
        law = np.logaddexp(law + miss, shifted)
        law[-1] = np.logaddexp(done, shifted[-1])
    return min(0.0, float(law[-1]) / math.log(10))


def poisson_tail(expected: float, hits: int) -> float:
    """Return log10 of an upper bound of P(Poisson(expected) >= hits): expected**hits / hits!."""
    if hits <= 0:
        return 0.0
    bound = hits * math.log(expected) - math.lgamma(hits + 1)
    return min(0.0, bound / math.log(10))
