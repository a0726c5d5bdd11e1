"""Estimates: the mean over replications of whatever was measured once in each, and its interval.

Every mean with a 95 % interval that dvsim prints, draws or keeps comes from here; ratios and
differences of two runs are in `dvsim.study.paired`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95

STUDENT = (
    12.706204736174694,
    4.302652729749462,
    3.1824463052837078,
    2.7764451051977934,
    2.5705818356363146,
    2.4469118511449786,
    2.364624251592784,
    2.306004135204166,
    2.262157162798205,
)
"""Student's t at 97.5 % for 1, 2, … degrees of freedom, as SciPy has it.

Nearly all runs have no more replications, and SciPy takes longer to import than small ones to run.
"""

Floats = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """A mean over replications and the ends of its 95 % interval, which are the mean itself of one.

    All three are not a number where nothing was measured.
    """

    value: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of the interval, as far as it reaches up."""
        return self.high - self.value

    @classmethod
    def around(cls, value: float, half: float) -> Estimate:
        """Return a value with an interval that reaches equally far down and up."""
        return cls(value, value - half, value + half)


def estimate(
    values: Iterable[float], confidence: float = CONFIDENCE, *, signed: bool = True
) -> Estimate:
    """Return the mean of a value over replications, with its interval.

    Replications whose value is not a number are left out. `signed`: whether it may be negative; the
    interval of what may not does not reach below 0.

    >>> [round(x, 3) for x in estimate([9.0, float("nan"), 11.0, 10.0])]
    [10.0, 7.516, 12.484]
    >>> estimate([2.0])
    Estimate(value=2.0, low=2.0, high=2.0)
    >>> [round(estimate([1.0, 3.0], signed=signed).low, 3) for signed in (True, False)]
    [-10.706, 0.0]
    """
    known = [value for value in values if value == value]  # noqa: PLR0124 - not a number
    if not known:
        return Estimate(np.nan, np.nan, np.nan)
    mean = float(np.mean(known))
    if len(known) == 1:
        return Estimate(mean, mean, mean)
    low, high = ends(mean, len(known), np.std(known, ddof=1), confidence, signed=signed)
    return Estimate(mean, float(low), float(high))


def ends(
    mean: npt.ArrayLike,
    n: npt.ArrayLike,
    deviation: npt.ArrayLike,
    confidence: float = CONFIDENCE,
    *,
    signed: npt.ArrayLike = True,
) -> tuple[Floats, Floats]:
    """Return the ends of Student's intervals of means: see `half_width` for `n` and `deviation`.

    The lower end is 0 at least of what is not `signed`, such as a rate, a time or a share; the
    upper end says how wide the interval of few replications is.
    """
    middle = np.asarray(mean, dtype=np.float64)
    half = half_width(n, deviation, confidence)
    low = middle - half
    cut = ~np.asarray(signed) & (middle >= 0)
    return np.where(cut, np.maximum(low, 0.0), low), middle + half


def half_width(
    n: npt.ArrayLike, deviation: npt.ArrayLike, confidence: float = CONFIDENCE
) -> Floats:
    """Return half of Student's interval of a mean: ``t((1 + confidence) / 2, n - 1) s / sqrt(n)``.

    Args:
        n: Replications.
        deviation: Standard deviation s over them, with n - 1 in the denominator; not a number
            counts as 0, since one replication says nothing about the spread between runs.
        confidence: Of the interval, 0.95 as a rule.
    """
    count = np.asarray(n, dtype=np.float64)
    spread = np.nan_to_num(np.asarray(deviation, dtype=np.float64))
    half = student(np.maximum(count - 1, 1), confidence) * spread / np.sqrt(count)
    return np.asarray(half, dtype=np.float64)


def student(freedom: npt.ArrayLike, confidence: float = CONFIDENCE) -> Floats:
    """Return how many standard errors half of an interval has; `freedom` need not be whole."""
    asked = np.asarray(freedom, dtype=np.float64)
    if confidence == CONFIDENCE and np.all(np.isin(asked, np.arange(1, len(STUDENT) + 1))):
        return np.array(STUDENT)[asked.astype(np.intp) - 1]
    from scipy.special import stdtrit  # scipy.stats takes ten times as long to import

    return np.asarray(stdtrit(asked, (1 + confidence) / 2), dtype=np.float64)


def middle_share(draws: Floats, axis: int = 0) -> Floats:
    """Return the quantiles between which 95 % of draws lie, shape (2, ...): a bootstrap's ends."""
    edge = (1 - CONFIDENCE) / 2
    return np.asarray(np.quantile(draws, [edge, 1 - edge], axis=axis), dtype=np.float64)
