"""Numbers that are where they cannot be: printed twice, of another column, of one sample.

Each test counts coincidences. Two unrelated numbers of one kind are taken to differ by up to
`ALIKE` either way, so that they agree within a relative e with the chance ``e / ALIKE``; with N
pairs to look at, k agreements within e have at most the chance ``(N e / ALIKE)**k / k!``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dvsim.consistency.chance import poisson_tail, tail
from dvsim.consistency.grid import Grid
from dvsim.consistency.relations import averages, halves
from dvsim.consistency.types import SINGLE, Column, Finding, Line
from dvsim.sheets.sheet import Printed

ALIKE = 0.1
CLOSE = 1e-4  # numbers further apart than this are not called the same


@dataclass(frozen=True)
class _Pair:
    apart: float
    line: Line
    heading: str
    column: Column


def find_repeated(table: str, lines: Sequence[Line]) -> Iterator[Finding]:
    """Yield numbers that are printed as two statistics of one column."""
    half = halves(lines)
    looks, same = 0, []
    for entry, other in combinations(lines, 2):
        if entry.message_bytes != other.message_bytes or entry.statistic == other.statistic:
            continue
        for heading in entry.cells.keys() & other.cells.keys():
            a, b = entry.cells[heading], other.cells[heading]
            looks += 1
            if a.value == b.value != 0:
                same.append((2 * half[heading] / abs(a.value), entry, other, heading))
    for chance, entry, other, heading in sorted(same, key=lambda item: item[0]):
        yield Finding(
            "repeated",
            f"{table}, {heading}",
            f"one number is printed as {entry.statistic} and as {other.statistic} of {heading}",
            (f"{entry.label} and {other.label}: {entry.cells[heading].value:,.10g}",),
            -math.log10(chance * looks / ALIKE),
            f"two statistics of one column differ by up to {ALIKE:.0%} either way; "
            f"{looks} pairs were looked at",
            "one of the two is a mistake of copying",
        )


def find_copied(table: str, lines: Sequence[Line], columns: Sequence[Column]) -> Iterator[Finding]:
    """Yield the columns of a table that carry the mean or spread of a column of another name."""
    looks, pairs = 0, []
    for line in lines:
        for heading, cell in line.cells.items():
            for column in columns:
                number = column.statistics.get(line.statistic)
                related = _same_name(heading, column.group)
                if number is None or related or column.message_bytes != line.message_bytes:
                    continue
                looks += 1
                apart = abs(cell.value / number.value - 1) if number.value else math.inf
                if apart <= CLOSE:
                    pairs.append(_Pair(max(apart, SINGLE), line, heading, column))
    pairs.sort(key=lambda pair: pair.apart)
    scored = [
        (-poisson_tail(looks * pair.apart / ALIKE, k) - math.log10(len(pairs)), k)
        for k, pair in enumerate(pairs, 1)
    ]
    if not scored:
        return
    odds, kept = max(scored)
    pairs = pairs[:kept]
    yield Finding(
        "copied",
        f"{table}, {', '.join(sorted({pair.heading for pair in pairs}))}",
        f"{kept} numbers of the table are those of other columns",
        tuple(_evidence(pair, lines) for pair in pairs),
        odds,
        f"means and spreads of like things differ by up to {ALIKE:.0%} either way; "
        f"{looks} pairs were looked at",
        "the table shows another measurement under this heading",
    )


def find_single(
    table: str, lines: Sequence[Line], grids: Sequence[tuple[str, Grid]]
) -> Iterator[Finding]:
    """Yield means that are on the grid of single samples, where a mean of many cannot be."""
    half = halves(lines)
    parts_of = averages(list(half))
    cells: list[tuple[str, Printed, float]] = []
    for line in lines:
        if line.statistic != "mean":
            continue
        for heading, cell in line.cells.items():
            parts = [line.cells[part].value for part in parts_of.get(heading, ())]
            follows = parts and abs(sum(parts) / len(parts) - cell.value) <= 2 * half[heading]
            if cell.value > 0 and not follows and "diff" not in heading.lower():
                cells.append((f"{heading} of {line.label}", cell, half[heading]))
    for group, grid in grids:
        hits, chances = [], []
        for label, cell, place in cells:
            slack = max(place, SINGLE * cell.value) + cell.value * (grid.high / grid.low - 1)
            number = round(cell.value / grid.rate)
            chances.append(min(1.0, 2 * slack / grid.rate))
            if number > 0 and abs(cell.value - number * grid.rate) <= slack:
                hits.append(f"{label}: {cell.value:,.10g} = {number} x {grid.rate:,.8g}")
        yield Finding(
            "single",
            f"{table}, means",
            f"{len(hits)} of {len(cells)} means are on the grid of single samples of {group}",
            tuple(hits),
            -tail(np.array(chances), len(hits)) - math.log10(len(grids)),
            "a mean of many samples is smooth: its place within a cell of the grid is uniform",
            "these are single samples or quantiles, such as medians, and no means",
        )


def _evidence(pair: _Pair, lines: Sequence[Line]) -> str:
    line, column = pair.line, pair.column
    own, its = line.cells[pair.heading].value, column.statistics[line.statistic].value
    text = f"{pair.heading} of {line.label} {own:,.10g}: "
    text += f"{column.group} {column.name} has {its:,.10g}"
    for other in lines:
        cell = other.cells.get(pair.heading)
        twin = column.statistics.get(other.statistic)
        if other is line or other.message_bytes != line.message_bytes or not (cell and twin):
            continue
        if abs(cell.value / twin.value - 1) > CLOSE:
            text += f", but the {other.statistic} {cell.value:,.10g} is not its {twin.value:,.10g}"
            near = _nearest(cell.value, column)
            text += f" (near its {near})" if near else ""
    return text


def _nearest(value: float, column: Column) -> str | None:
    for name, number in column.statistics.items():
        if name not in {"count", "mean", "std"} and abs(number.value - value) < 0.01 * value:
            return f"{name}, {number.value:,.10g}"
    return None


def _same_name(heading: str, group: str) -> bool:
    first = re.split("[ _]", heading.lower())[0]
    words = group.lower().replace("_", "-").split("-")
    return first in {group.lower(), words[0], "".join(word[:1] for word in words)}
