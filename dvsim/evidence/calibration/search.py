"""A bounded local search from several starts, and how well it knows what it has found."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dvsim.evidence.statistics import Floats

JUMP = math.log(3.0)  # the other starts lie within this factor of the first
EDGE = math.log(1.25)  # of the first simplex
NEAR = 1.05  # a start that ends within this factor of the least loss has found the same
STEP = math.log(1.2)  # at which a profile looks

Loss = Callable[[Floats], float]


class End(NamedTuple):
    """Where one start has led: logarithms and loss."""

    at: Floats
    loss: float


class Outcome(NamedTuple):
    """The best end, all ends (that of the first start first), and the evaluations spent."""

    best: End
    ends: tuple[End, ...]
    evaluations: int

    @property
    def near(self) -> list[End]:
        """The ends that have found the least loss, nearly."""
        return [end for end in self.ends if end.loss <= NEAR * self.best.loss]


class Known(NamedTuple):
    """How well one parameter is known."""

    # down, up: loss with the parameter over, and times, 1.2, all others as found; over the least
    # loss
    down: float
    up: float
    # largest over smallest value among the starts that have found the least loss, nearly; None if
    # only one has
    ratio: float | None

    @property
    def weak(self) -> bool:
        """Whether the data hardly say what it is: a profile that is flat, or ends apart."""
        return min(self.down, self.up) < 1.02 or (self.ratio or 1.0) > 1.5


def search(
    loss: Loss,
    start: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    *,
    starts: int,
    budget: int,
    seed: int,
) -> Outcome:
    """Return where the simplex of Nelder and Mead leads, from the start and others around it.

    Args:
        loss: The same number for the same logarithms: its draws must be common to all evaluations.
        start, low, high: Logarithms.
        starts, budget: How many, and how often `loss` is called in all; at least starts *
            (parameters + 1).
        seed: Of the other starts.
    """
    from scipy.optimize import minimize

    rng = np.random.default_rng(seed)
    floor, ceiling = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    first = np.clip(np.asarray(start, dtype=np.float64), floor, ceiling)
    each = budget // starts
    ends, spent = [], 0
    for number in range(starts):
        jump = rng.uniform(-JUMP, JUMP, len(first)) if number else 0.0
        begin = np.clip(first + jump, floor, ceiling)
        edges = np.where(begin + EDGE <= ceiling, EDGE, -EDGE)
        simplex = np.vstack([begin, begin + np.diag(edges)])
        tried: list[End] = []

        def noted(at: Floats, tried: list[End] = tried) -> float:
            tried.append(End(np.array(at, dtype=np.float64), float(loss(at))))
            return tried[-1].loss

        minimize(
            noted,
            begin,
            method="Nelder-Mead",
            bounds=list(zip(floor, ceiling, strict=True)),
            options={
                "maxfev": each,
                "initial_simplex": np.clip(simplex, floor, ceiling),
                "xatol": 0.005,
                "fatol": 1e-4,
            },
        )
        # minimize forgets what it tried last when the budget ends
        ends.append(min(tried, key=lambda end: end.loss))
        spent += len(tried)
    return Outcome(min(ends, key=lambda end: end.loss), tuple(ends), spent)


def known(loss: Loss, outcome: Outcome) -> list[Known]:
    """Return how well each parameter is known; calls `loss` twice for each."""
    best = outcome.best
    same = np.array([end.at for end in outcome.near])
    ratios = np.exp(same.max(axis=0) - same.min(axis=0))
    several = len(same) > 1
    least = max(best.loss, 1e-12)
    results = []
    for index, ratio in enumerate(ratios):
        step = np.zeros_like(best.at)
        step[index] = STEP
        down, up = (loss(best.at + sign * step) / least for sign in (-1, 1))
        results.append(Known(down, up, float(ratio) if several else None))
    return results
