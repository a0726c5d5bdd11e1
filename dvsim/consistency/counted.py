"""Which columns hold whole numbers of something: themselves, or as multiples of a rate.

Whole numbers are counts, which is nothing to report. So is a grid of a power of 10, which cannot be
told from rounding, and one of a part of 1: a quantile of whole numbers is interpolated between two
of them, at a place that is a whole number of hundredths.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dvsim.consistency.between import sort_out
from dvsim.consistency.factors import Factor, find_factor
from dvsim.consistency.grid import Grid, find_grid
from dvsim.consistency.types import REPORTED, Column


@dataclass(frozen=True)
class Counted:
    """Columns of counts.

    Parameters
    ----------
    group, columns
        Which.
    grid
        Of what they are multiples; None of what is no finding, see above.
    factors
        Common factor of the counts by `Column.kind`, where there is one, however weak.
    """

    group: str
    columns: tuple[Column, ...]
    grid: Grid | None
    factors: dict[int | str, Factor]


def find_counted(group: str, columns: Sequence[Column]) -> Iterator[Counted]:
    """Yield the columns of a group that hold counts, those on one grid together.

    All columns are looked at together, then those that are not on that grid one by one; each is a
    look, for which the odds are lowered.

    Parameters
    ----------
    group
        How a text names the columns.
    columns
        All columns of it.
    """
    filled = [column for column in columns if column.single_values()]
    whole = [column for column in filled if _is_whole(column)]
    if whole:
        factors = _factors(whole, None)
        yield Counted(group, tuple(whole), None, factors)
        strong = {kind for kind, one in factors.items() if one.log10_odds >= REPORTED}
        filled = [column for column in filled if column not in whole or column.kind not in strong]
    looks = math.log10(1 + len(filled))
    alone = [[column] for column in filled] if len(filled) > 1 else []
    left = filled
    for together in (filled, *alone):
        tried = [column for column in together if column in left]
        grid = _grid(tried)
        if grid is None or grid.log10_odds - looks < REPORTED:
            continue
        on = [column for column in tried if _is_on(column, grid)]
        left = [column for column in left if column not in on]
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
    """Return whether most values are whole numbers; others may be quantiles between them."""
    decimals = [number.decimals for number in column.single_values()]
    return 2 * sum(places <= 0 for places in decimals) >= len(decimals)


def _is_on(column: Column, grid: Grid) -> bool:
    """Return whether most values of a column are on a grid, or interpolated between multiples."""
    on, between, off = sort_out(column, grid)
    return bool(on) and len(on) + len(between) >= len(off)


def _factors(columns: Sequence[Column], grid: Grid | None) -> dict[int | str, Factor]:
    """Return the common factor of the counts of each kind; without a grid, of whole numbers."""
    counts: dict[int | str, dict[int, int]] = {}
    for column in columns:
        here = counts.setdefault(column.kind, {})
        for number in column.single_values():
            place = column.place(number.value)
            if grid is not None:
                count = grid.multiple(number.value, place)
            else:
                count = round(number.value) if number.decimals <= 0 else None
            if count is not None:
                unit = max(1, round(place)) if grid is None else 1
                here[count] = max(unit, here.get(count, 1))
    found = {kind: find_factor(here) for kind, here in counts.items()}
    return {kind: factor for kind, factor in found.items() if factor is not None}
