"""Find a common factor of whole numbers, and the chance that they only seem to have one.

A smooth count is a multiple of d with the chance 1 / d; one that was rounded to a multiple of u,
with the chance ``gcd(d, u) / d``. Of m different counts k are multiples. All d are looked at, d
with the weight 1 / (d (d + 1)), whose sum is 1. So the chance that smooth counts show any factor as
good is at most ``d (d + 1) P(at least k of m)``, by the law of a sum of m trials.

Which columns hold whole numbers of something: themselves, or as multiples of a rate.

Whole numbers are counts, which is nothing to report. So is a grid of a power of 10, which cannot be
told from rounding, and one of a part of 1: a quantile of whole numbers is interpolated between two
of them, at a place that is a whole number of hundredths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dvsim.consistency.chance import tail
from dvsim.consistency.grid import Grid, find_grid, sort_out
from dvsim.consistency.types import REPORTED, Column

DIRECT = 10_000  # factors up to here are tried one by one, larger ones if two counts share them
KEPT = 50
LARGEST = 2**53  # a float holds whole numbers up to here


@dataclass(frozen=True)
class Factor:
    """A common factor.

    Args:
        factor: The number.
        counts: The different counts that are multiples of it, ascending.
        of: How many different counts there are.
        log10_odds: -log10 of the chance that smooth counts show any factor so well.
    """

    factor: int
    counts: tuple[int, ...]
    of: int
    log10_odds: float


def find_factor(counts: Mapping[int, int]) -> Factor | None:
    """Return the best common factor of counts; None of fewer than three.

    Args:
        counts: Different counts above zero, each with the number that it was rounded to a multiple
            of: 1 if it is exact.

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


@dataclass(frozen=True)
class Counted:
    """Columns of counts.

    Args:
        group, columns: Which.
        grid: Of what they are multiples; None of what is no finding, see above.
        factors: Common factor of the counts by `Column.kind`, where there is one, however weak.
    """

    group: str
    columns: tuple[Column, ...]
    grid: Grid | None
    factors: dict[int | str, Factor]


def find_counted(group: str, columns: Sequence[Column]) -> Iterator[Counted]:
    """Yield the columns of a group that hold counts, those on one grid together.

    All columns are looked at together, then those that are not on that grid one by one; each is a
    look, for which the odds are lowered.

    Args:
        group: How a text names the columns.
        columns: All columns of it.
    """
    filled = [column for column in columns if column.single_values()]
    whole = [column for column in filled if _is_whole(column)]
    if whole:
        factors = _factors(whole, None)
        yield Counted(group, tuple(whole), None, factors)
        strong = {kind for kind, item in factors.items() if item.log10_odds >= REPORTED}
        filled = [column for column in filled if column not in whole or column.kind not in strong]
    looks = math.log10(1 + len(filled))
    alone = [[column] for column in filled] if len(filled) > 1 else []
    remaining = filled
    for together in (filled, *alone):
        tried = [column for column in together if column in remaining]
        grid = _grid(tried)
        if grid is None or grid.log10_odds - looks < REPORTED:
            continue
        on = [column for column in tried if _is_on(column, grid)]
        remaining = [column for column in remaining if column not in on]
        if not on:
            continue
        lowered = replace(grid, log10_odds=grid.log10_odds - looks)
        yield Counted(group, tuple(on), None if is_plain(grid) else lowered, _factors(on, grid))


def is_plain(grid: Grid) -> bool:
    """Return whether a grid is a power of 10, or a part 1 / m of 1 up to 1 / 100."""
    power = 10.0 ** round(math.log10(grid.rate))
    part = 1 / round(1 / grid.rate) if 0.01 <= grid.rate <= 1 else power
    spread = max(grid.high / grid.low - 1, 1e-9)
    return any(abs(grid.rate / round_ - 1) <= spread for round_ in (power, part))


def _grid(columns: Sequence[Column]) -> Grid | None:
    pairs = [
        (number.value, column.place(number.value))
        for column in columns
        for number in column.single_values()
    ]
    values, places = np.array(pairs).reshape(-1, 2).T
    return find_grid(values, places)


def _is_whole(column: Column) -> bool:
    decimals = [number.decimals for number in column.single_values()]
    return 2 * sum(places <= 0 for places in decimals) >= len(decimals)


def _is_on(column: Column, grid: Grid) -> bool:
    on, between, off = sort_out(column, grid)
    return bool(on) and len(on) + len(between) >= len(off)


def _factors(columns: Sequence[Column], grid: Grid | None) -> dict[int | str, Factor]:
    counts: dict[int | str, dict[int, int]] = {}
    for column in columns:
        here = counts.setdefault(column.kind, {})
        for number in column.single_values():
            digit = column.place(number.value)
            if grid is not None:
                count = grid.multiple(number.value, digit)
            else:
                count = round(number.value) if number.decimals <= 0 else None
            if count is not None:
                unit = max(1, round(digit)) if grid is None else 1
                here[count] = max(unit, here.get(count, 1))
    results = {kind: find_factor(here) for kind, here in counts.items()}
    return {kind: factor for kind, factor in results.items() if factor is not None}
