"""Means over replications, their ratios and differences, each with its 95 % interval.

Replication r of a seed has the same random numbers in every simulated run, since streams are named
by the component that draws them. So two such runs are held against each other pair by pair, and
what both owe to the draws cancels: Student's interval over the pairs, which holds whether it does
or not. Runs that share no draws are independent: Welch's interval. Ratios are taken on the log
scale, where twice and half are equally far from 1, so their intervals are not symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

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

Each = Mapping[int, float]
"""A value by replication."""

Kind = Literal["ratio", "difference"]

NARROWEST = 0.2
"""Least share of Welch's interval that one of pairs has, unless all pairs are equal.

Where a stage that is always busy pins a ratio, nearly all pairs are alike, and the rare one that
is not is missing in a few replications: Student's interval of 10 real pairs of h3/dv-2048, two
sockets against one, covers in 63 of 100 cases, so widened in 99 (``bench/pairs.py``).
"""
WIDE = 0.25  # half an interval from which on it is told that a ratio reaches further up than down

MOST_LOG = 709.0  # of a number that a float has
TINY = 1e-9  # what rounding leaves of nothing
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


def estimates(
    group: npt.NDArray[np.integer[Any]], values: Floats, signed: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats, npt.NDArray[np.integer[Any]]]:
    """Return `estimate` of many values at once: means, both ends, and over how many they are.

    Args:
        group: Of each value what it is one of, from 0.
        values: In the order of replications.
        signed: Of each group whether it may be negative.
    """
    known = ~np.isnan(values)
    times = np.bincount(group[known], minlength=len(signed))
    sorted_values = values[known][np.argsort(group[known], kind="stable")]
    starts = np.cumsum(times) - times
    mean, deviation = np.full((2, len(signed)), np.nan)
    for n in np.unique(times[times > 0]):
        same = np.flatnonzero(times == n)
        rows = sorted_values[starts[same][:, np.newaxis] + np.arange(n)]
        mean[same] = rows.mean(axis=1)
        deviation[same] = rows.std(axis=1, ddof=1) if n > 1 else np.nan
    low, high = ends(mean, np.maximum(times, 1), deviation, signed=signed)
    return mean, low, high, times


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


class Change(NamedTuple):
    """What became of a value.

    Attributes:
        kind: ``ratio``: this value over that of the first run; ``difference``: less that of the
            first.
        value: Of ratios with an interval the geometric mean over replications, else that of the
            means.
        low, high: The 95 % interval; None where none can be given.
        by: ``paired`` if it is of pairs of replications, ``Welch`` of two independent runs; empty
            without an interval.
    """

    kind: Kind
    value: float
    low: float | None = None
    high: float | None = None
    by: Literal["paired", "Welch", ""] = ""

    @property
    def half(self) -> float:
        """Half of the interval, as far as it reaches up; 0 without one."""
        return 0.0 if self.high is None else self.high - self.value

    def text(self, unit: float = 1.0) -> str:
        """Write it for people: a difference has a sign and is divided by a unit.

        >>> Change("ratio", 1.0163, 1.0043, 1.0285, "paired").text()
        '1.016 ± 1.2%'
        >>> Change("ratio", 3.0, 1.5, 6.0, "Welch").text(), Change("ratio", 0.406).text()
        ('3.0 (1.5 to 6.0)', '0.406')
        >>> Change("difference", -0.0123, -0.0153, -0.0093, "paired").text()
        '-0.0123 ± 0.0030'

        Where all replications are equal nothing is known of others: an interval of 0 is left out.
        """
        if self.kind == "difference":
            value = self.value / unit
            half = 0.0 if self.high is None else self.high / unit - value
            if half <= TINY * abs(value):
                return f"{value:+.3g}"
            decimals = _decimals(half)
            return f"{value:+,.{decimals}f} ± {half:,.{decimals}f}"
        if self.low is None or self.high is None:
            return f"{self.value:.3g}"
        share = self.high / self.value - 1
        if share <= TINY:
            return f"{self.value:.4g}"
        if share <= WIDE:
            decimals = _decimals(share * self.value)
            return f"{self.value:,.{decimals}f} ± {100 * share:.{_decimals(100 * share)}f}%"
        low, high = (f"{end:,.{_decimals(end)}f}" for end in (self.low, self.high))
        return f"{self.value:,.{_decimals(self.value)}f} ({low} to {high})"


def change(
    first: Each, other: Each, kind: Kind, *, common: bool, confidence: float = CONFIDENCE
) -> Change | None:
    """Return how one run differs from the first.

    Args:
        first, other: The value in each replication of both.
        kind: Ratio or difference.
        common: Whether replication r of both had the same random numbers.
        confidence: Of the interval.

    Returns:
        Change or None: None where there is nothing to compare, or to divide by. With common random
        numbers the interval is of the replications that both have; where these are fewer than two,
        or share none, it is Welch's of all. There is none of one replication, or of a ratio where a
        value is not above 0.

    Welch, B. L. (1947), Biometrika 34, 28-35, with the degrees of freedom of Satterthwaite.

    >>> found = change({1: 10.0, 2: 20.0}, {1: 11.0, 2: 22.0, 3: 20.0}, "ratio", common=True)
    >>> f"{found.value:.3f} {found.low:.3f} {found.high:.3f}"
    '1.100 1.100 1.100'
    """
    if not first or not other:
        return None
    base, values = (np.array(list(each.values())) for each in (first, other))
    if kind == "ratio" and base.mean() == 0:
        return None
    means = float(base.mean()), float(values.mean())
    plain = Change(kind, means[1] / means[0] if kind == "ratio" else means[1] - means[0])
    numbers = [number for number in first if number in other] if common else []
    paired = len(numbers) > 1
    if paired:
        base, values = (np.array([each[n] for n in numbers]) for each in (first, other))
    if min(len(base), len(values)) < 2:
        return plain
    if kind == "ratio":
        if not (np.all(base > 0) and np.all(values > 0)):
            return plain
        base, values = np.log(base), np.log(values)
    middle = float(values.mean() - base.mean())
    half = (_paired if paired else _welch)(base, values, confidence)
    ends = [middle, middle - half, middle + half]
    if kind == "ratio":
        ends = [math.exp(end) if end < MOST_LOG else math.inf for end in ends]
    value, low, high = ends
    return Change(kind, value, low, high, "paired" if paired else "Welch")


def share_of(known: Estimate | Change | None) -> float:
    """Return half of an interval as a share of its value; 0 where there is no value to be known.

    >>> share_of(Estimate(-10.0, -12.0, -8.0)), share_of(Change("ratio", 2.0)), share_of(None)
    (0.2, 0.0, 0.0)
    """
    nothing = known is None or not known.value or math.isnan(known.value)
    return 0.0 if known is None or nothing else known.half / abs(known.value)


def ratio(values: Each, base: Each, *, common: bool = True) -> Change | None:
    """Return how many times the base they are, as `change` has it.

    None if there is nothing to divide by. `common`: whether replication r of both had the same
    random numbers.
    """
    times = change(base, values, "ratio", common=common)
    return None if times is None or min(*base.values(), *values.values()) <= 0 else times


def _decimals(size: float) -> int:
    return max(0, 1 - math.floor(math.log10(size))) if size > TINY else 0


def _paired(base: Floats, values: Floats, confidence: float) -> float:
    spread = float(np.std(values - base, ddof=1))
    if spread <= TINY * float(np.abs([base, values]).max()):
        return 0.0
    half = float(half_width(len(base), spread, confidence))
    return max(half, NARROWEST * _welch(base, values, confidence))


def _welch(base: Floats, values: Floats, confidence: float) -> float:
    counts = np.array([len(base), len(values)])
    shares = np.array([np.var(base, ddof=1), np.var(values, ddof=1)]) / counts
    together = float(shares.sum())
    if together == 0:
        return 0.0
    freedom = together**2 / float((shares**2 / (counts - 1)).sum())
    return float(student(freedom, confidence)) * math.sqrt(together)
