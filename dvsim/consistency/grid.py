"""Find the rate of which values are whole multiples, and the chance that they only seem to be.

A count n in an interval T is a rate n / T: sampled so, every rate is a multiple of g = 1 / T. For a
candidate frequency f = 1 / g a value x with tolerance t (rounding, see below) is *on the grid* when
``abs(x f - n) <= t f`` for a whole n >= 1. If x is smooth, its place within a cell of the grid is
uniform, and this happens with the chance ``p = 2 t f``.

The search is exact. The set of f for which x is on the grid is one interval per n,
``n / (x + t) <= f <= n / (x - t)``; a sweep over the ends of all intervals of all values finds the
frequencies that lie in most of them, each interval with the weight -log p. Such a frequency can be
taken at the left end of an interval of one of the values, the anchor. So the chance that smooth
values give any frequency as good is at most the number of intervals times the chance that as many
of the *other* values are on the grid: the law of a sum of trials with chances p. Values near one
another say little of a coarse grid: of those with the same n one is taken.

The tolerance is half of the last printed place, or 2**-24 of the value (a 32-bit float), or,
against an interval that is not quite constant, one of the `JITTER` of the value; each is a look.

Tell quantiles that linear interpolation puts between two multiples of a grid.

The quantile of share p of n samples has the place (n - 1) p in their order. If that is no whole
number, most tools take the sample before it and add the fraction w of the way to the next one.
Between a g and (a + j) g that is ``(a + w j) g``: no multiple, but known up to whole a and small j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dvsim.consistency.chance import tail
from dvsim.consistency.types import SINGLE, Column, Floats
from dvsim.sheets.sheet import Printed

JITTER = (SINGLE, 1e-5, 1e-4, 1e-3)
REACH = 10_000  # the finest grid has so many multiples up to the median,
INTERVALS = 300_000  # and so many up to all values together
LARGEST_CHANCE = 0.25  # a grid is not finer than that a value is on it by such a chance
KEPT_PER_OCTAVE = 5
MOST = 96  # values that are looked at


@dataclass(frozen=True)
class Grid:
    """Values as multiples of a rate.

    Args:
        rate, low, high: The rate and the range that all values on the grid allow, in the unit of
            the values.
        jitter: Relative tolerance beyond the printed place.
        log10_odds: -log10 of the chance that smooth values seem to be on any grid so well.
    """

    rate: float
    low: float
    high: float
    jitter: float
    log10_odds: float

    def tolerance(self, value: float, digit: float) -> float:
        """Return how far a value of which the last place is known may be from its multiple."""
        return max(digit / 2, self.jitter * value) + abs(value) * (self.high / self.low - 1)

    def multiple(self, value: float, digit: float) -> int | None:
        """Return which multiple a value is; None if it is none, or zero, or that is not known."""
        number, tolerance = round(value / self.rate), self.tolerance(value, digit)
        on = number > 0 and abs(value - number * self.rate) <= tolerance < self.rate / 2
        return number if on else None


def find_grid(values: Floats, places: Floats) -> Grid | None:
    """Return the best grid of values above zero; None if there is nothing to look at.

    Args:
        values: In any order, shape (n,); equal ones are looked at once, of many some `MOST`.
        places: Last printed place of each, shape (n,).

    Returns:
        Grid or None: Also one that is no better than chance: see its `log10_odds`.
    """
    order = np.lexsort((-places, values))  # of equal values the one known worst comes first
    distinct, first = np.unique(values[order], return_index=True)
    half = places[order][first] / 2
    if len(distinct) > MOST:
        kept = some(len(distinct), MOST)
        distinct, half = distinct[kept], half[kept]
    if len(distinct) < 3:
        return None
    best: Grid | None = None
    before = np.zeros(0)
    for jitter in JITTER:
        tolerances = np.maximum(half, jitter * distinct)
        if np.array_equal(tolerances, before):
            continue  # the printed places hide this jitter and the last one alike
        before = tolerances
        median = float(np.median(distinct))
        bottom = 2 / float(distinct[-1])
        top = min(
            REACH / median,
            INTERVALS / float(distinct.sum()),
            LARGEST_CHANCE / (2 * float(np.median(tolerances))),
        )
        if top <= bottom:
            continue
        looks = math.log10(float(distinct.sum()) * (top - bottom)) + math.log10(len(JITTER))
        for frequency in _stabbed(distinct, tolerances, bottom, top):
            result = _scored(distinct, tolerances, frequency, looks)
            if result is not None and (best is None or result[0] > best.log10_odds):
                odds, low, high = result
                best = Grid(2 / (low + high), 1 / high, 1 / low, jitter, odds)
    return best


def some(of: int, many: int) -> list[int]:
    """Return `many` of the first `of` numbers, ascending: always the same, but in no regular steps.

    Every fourth of consecutive whole numbers would be on a grid.
    """
    return sorted(np.random.default_rng(of).choice(of, many, replace=False).tolist())


def _stabbed(values: Floats, tolerances: Floats, bottom: float, top: float) -> list[float]:
    lefts, rights, weights = [], [], []
    for value, tolerance in zip(values, tolerances, strict=True):
        numbers = np.arange(max(1, math.ceil(bottom * value)), math.floor(top * value) + 1)
        chances = 2 * tolerance * numbers / value
        numbers, chances = numbers[chances < 0.5], chances[chances < 0.5]
        lefts.append(numbers / (value + tolerance))
        rights.append(numbers / (value - tolerance))
        weights.append(-np.log(chances))
    remaining, right, weight = (np.concatenate(parts) for parts in (lefts, rights, weights))
    ends = np.concatenate((remaining, right))
    order = np.argsort(ends, kind="stable")  # lefts come before rights of the same place
    ends = ends[order]
    cover = np.cumsum(np.concatenate((weight, -weight))[order])
    starts = np.flatnonzero(order[:-1] < len(remaining))
    covered, octave = cover[starts], np.floor(np.log2(ends[starts]))
    results = []
    for first, last in pairwise([0, *(np.flatnonzero(np.diff(octave)) + 1), len(starts)]):
        for at in starts[first + _largest(covered[first:last], KEPT_PER_OCTAVE)]:
            results.append(float(ends[at] + ends[at + 1]) / 2)
    return results


def _largest(numbers: Floats, many: int) -> npt.NDArray[np.int64]:
    if len(numbers) <= many:
        return np.argsort(-numbers, kind="stable")
    enough = np.flatnonzero(numbers >= np.partition(numbers, -many)[-many])
    return enough[np.argsort(-numbers[enough], kind="stable")[:many]]


def _scored(
    values: Floats, tolerances: Floats, frequency: float, looks: float
) -> tuple[float, float, float] | None:
    numbers = np.rint(values * frequency)
    first = np.flatnonzero(numbers != np.append(0.0, numbers[:-1]))  # they ascend; none of zero
    value, tolerance, number = values[first], tolerances[first], numbers[first]
    chances = 2 * tolerance * frequency
    informative = chances < 0.5
    value, tolerance, number, chances = (
        part[informative] for part in (value, tolerance, number, chances)
    )
    hit = np.abs(value * frequency - number) < tolerance * frequency
    if hit.sum() < 3:
        return None
    anchor = int(np.flatnonzero(hit)[np.argmin(chances[hit])])
    odds = -(tail(np.delete(chances, anchor), int(hit.sum()) - 1) + looks)
    low = float((number[hit] / (value[hit] + tolerance[hit])).max())
    high = float((number[hit] / (value[hit] - tolerance[hit])).min())
    return odds, low, high


FURTHEST = 5
"""Neighbours in the order of samples are at most so many multiples apart."""


def sort_out(column: Column, grid: Grid) -> tuple[list[Printed], list[Printed], list[Printed]]:
    """Return the values of a column on a grid, interpolated between its multiples, and neither.

    Args:
        column: Of statistics or samples; samples are never interpolated.
        grid: The grid.
    """
    on, between, off = [], [], []
    shares = {number: share for share, number in column.quantiles.items()}
    for number in column.single_values():
        slack = 2 * grid.tolerance(number.value, column.place(number.value)) / grid.rate
        if grid.multiple(number.value, column.place(number.value)) is not None:
            on.append(number)
        elif number in shares and _interpolated(
            number.value / grid.rate, shares[number], column.count, slack
        ):
            between.append(number)
        else:
            off.append(number)
    return on, between, off


def _interpolated(multiple: float, share: float, count: int | None, slack: float) -> bool:
    if count is None or share in {0.0, 1.0}:
        return False
    weight = (count - 1) * share % 1
    rests = ((multiple - weight * apart) % 1 for apart in range(1, FURTHEST + 1))
    return any(min(rest, 1 - rest) <= slack for rest in rests)
