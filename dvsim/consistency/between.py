"""Tell quantiles that linear interpolation puts between two multiples of a grid.

The quantile of share p of n samples has the place (n - 1) p in their order. If that is no whole
number, most tools take the sample before it and add the fraction w of the way to the next one.
Between a g and (a + j) g that is ``(a + w j) g``: no multiple, but known up to whole a and small j.
"""

from __future__ import annotations

from dvsim.consistency.grid import Grid
from dvsim.consistency.types import Column, Printed

FURTHEST = 5
"""Neighbours in the order of samples are at most so many multiples apart."""


def sort_out(column: Column, grid: Grid) -> tuple[list[Printed], list[Printed], list[Printed]]:
    """Return the values of a column on a grid, interpolated between its multiples, and neither.

    Parameters
    ----------
    column
        Of statistics or samples; samples are never interpolated.
    grid
        The grid.
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
