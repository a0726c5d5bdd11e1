"""Bounds of mean and spread that quantiles permit, and the columns that are outside of them.

n samples in ascending order have ranks 0 … n - 1. A quantile q of share p lies between the samples
of ranks ``floor((n - 1) p)`` and ``ceil((n - 1) p)``; other definitions are at most one rank away,
which is granted. So each sample has a lower and an upper bound, and

- the mean lies between the means of all lower and all upper bounds;
- for a given mean, the sum of squares is least when all samples are as near to one value c as
  their bounds allow, ``clip(c, lower, upper)``, and greatest when the samples with the greatest
  ``lower + upper`` are at their upper bounds and the others at their lower ones, as the square is
  convex. Both give exact bounds of the standard deviation;
- the maximum is at most ``mean + std (n - 1) / sqrt(n)`` (Samuelson, JASA 63, 1968).

The bounds are widened by the printed place and by `SLACK`; beyond that there is no chance: what
lies outside is a contradiction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dvsim.consistency.types import Column, Finding, Floats
from dvsim.sheets.headings import share_of

SLACK = 1e-4  # relative: sums of a million 32-bit floats are not better


@dataclass(frozen=True)
class _Cells:
    many: Floats
    low: Floats
    high: Floats


def find_contradictions(column: Column) -> Iterator[Finding]:
    """Yield what contradicts itself in the statistics of one column; at most one finding.

    Later tests need what earlier ones look at, so the first that fails is the finding.
    """
    where = f"{column.group} {column.name}"
    quantiles = column.quantiles
    half = _halves(column)
    names = {share_of(name): name for name in column.statistics}
    values = [(share, number.value) for share, number in quantiles.items()]
    for (share, value), (above, next_value) in pairwise(values):
        if value > next_value + half(value) + half(next_value):
            yield _certain(
                "order",
                where,
                f"{names[above]} is below {names[share]}",
                (f"{names[share]} {value:,.10g}, {names[above]} {next_value:,.10g}",),
                "quantiles ascend with their share",
            )
            return
    mean, std, count = column.statistics.get("mean"), column.statistics.get("std"), column.count
    if mean is None or not values:
        return
    cells = _cells(values, count, half) if count else None
    if cells is None:
        low = values[0][1] if values[0][0] == 0 else -math.inf
        high = values[-1][1] if values[-1][0] == 1 else math.inf
    else:
        low = float((cells.many * cells.low).sum() / cells.many.sum())
        high = float((cells.many * cells.high).sum() / cells.many.sum())
    slack = half(mean.value) + SLACK * abs(mean.value)
    if not low - slack <= mean.value <= high + slack:
        yield _certain(
            "mean",
            where,
            "the mean is not one that the quantiles permit",
            (f"mean {mean.value:,.10g}; the quantiles permit {low:,.10g} to {high:,.10g}",),
            "samples lie between the quantiles on either side of their rank",
        )
        return
    if std is None or cells is None or count is None or count < 2:
        return
    most_std = std.value * (1 + SLACK) + half(std.value)
    limit = mean.value + slack + most_std * (count - 1) / math.sqrt(count)
    largest = quantiles.get(1.0)
    if largest is not None and largest.value - half(largest.value) > limit:
        yield _certain(
            "max",
            where,
            "the maximum cannot be reached with this mean, spread and count",
            (f"max {largest.value:,.10g}; mean + std (n - 1) / sqrt(n) is {limit:,.10g}",),
            "one sample of n is at most (n - 1) / sqrt(n) standard deviations above the mean",
        )
        return
    least, most = _spread(cells, mean.value, slack)
    slack = half(std.value) + SLACK * std.value
    if not least - slack <= std.value <= most + slack:
        evidence = [f"std {std.value:,.10g}; these permit {least:,.10g} to {most:,.10g}"]
        zero = max((share for share, value in values if value == 0), default=0.0)
        if zero and mean.value > 0 and values[0][1] >= 0:
            fewer = std.value**2 / (std.value**2 + mean.value**2)
            evidence.append(
                f"share of zeros: at least {zero:.0%} by the quantiles, at most {fewer:.1%} by "
                "mean and std (Cauchy-Schwarz)"
            )
        yield _certain(
            "std",
            where,
            "the standard deviation is not one that mean and quantiles permit",
            tuple(evidence),
            "samples lie between the quantiles on either side of their rank",
        )


def _halves(column: Column) -> Callable[[float], float]:
    """Return how far a number of the column may be from the true one: half of its last place.

    All numbers of a column have the same decimals, or the same number of significant digits.
    """
    numbers = [number for name, number in column.statistics.items() if name != "count"]
    given = replace(column, decimals=max((number.decimals for number in numbers), default=0))
    return lambda value: given.place(value) / 2


def _certain(kind: str, where: str, what: str, evidence: tuple[str, ...], null: str) -> Finding:
    meaning = "a number is misprinted, or the numbers are of different sets of samples"
    return Finding(kind, where, what, evidence, math.inf, null + "; no chance is involved", meaning)


def _cells(values: list[tuple[float, float]], count: int, half: Callable[[float], float]) -> _Cells:
    upto, since = [], []  # (rank, value): samples up to it are below, since it above
    for share, value in values:
        position = (count - 1) * share
        exact = share in {0.0, 1.0}
        below = math.floor(position + 1e-9) - (not exact)
        above = math.ceil(position - 1e-9) + (not exact)
        upto.append((below, value + half(value)))
        since.append((above, value - half(value)))
    edges = {0, count} | {rank + 1 for rank, _ in upto} | {rank for rank, _ in since}
    starts = sorted(edge for edge in edges if 0 <= edge <= count)
    many, low, high = [], [], []
    for first, end in pairwise(starts):
        many.append(float(end - first))
        low.append(max((value for rank, value in since if rank <= first), default=-math.inf))
        high.append(min((value for rank, value in upto if rank >= end - 1), default=math.inf))
    return _Cells(np.array(many), np.array(low), np.array(high))


def _spread(cells: _Cells, mean: float, slack: float) -> tuple[float, float]:
    count = float(cells.many.sum())
    least, most = math.inf, 0.0
    for centre in (mean - slack, mean, mean + slack):
        below, above = _least(cells, centre), _most(cells, centre)
        least = min(least, math.sqrt(below / count))
        most = max(most, math.sqrt(above / (count - 1)))
    return least, most


def _least(cells: _Cells, mean: float) -> float:
    finite = np.concatenate((cells.low, cells.high, [mean]))
    finite = finite[np.isfinite(finite)]
    low, high = float(finite.min()), float(finite.max())
    for _ in range(100):
        middle = (low + high) / 2
        filled = np.clip(middle, cells.low, cells.high)
        if (cells.many * filled).sum() < mean * cells.many.sum():
            low = middle
        else:
            high = middle
    filled = np.clip(high, cells.low, cells.high)
    return float((cells.many * (filled - mean) ** 2).sum())


def _most(cells: _Cells, mean: float) -> float:
    if not np.isfinite(cells.low).all() or not np.isfinite(cells.high).all():
        return math.inf
    wanted = mean * cells.many.sum() - (cells.many * cells.low).sum()
    squares = float((cells.many * (cells.low - mean) ** 2).sum())
    for at in np.argsort(-(cells.low + cells.high), kind="stable"):
        width = float(cells.high[at] - cells.low[at])
        if width <= 0 or wanted <= 0:
            continue
        moved = min(float(cells.many[at]), wanted / width)
        wanted -= moved * width
        rise = float(cells.high[at] - mean) ** 2 - float(cells.low[at] - mean) ** 2
        squares += moved * rise
    return squares
