"""Averages, differences and ratios of a table that do not follow from the numbers beside them.

What a column is of is read from its heading and from the other rows. ``rabbit_avg`` is the average
of the other columns that begin with ``rabbit``. A column called difference, ratio or percent may be
of any two others; the pair that fits most rows is taken for the rule, if so good a fit is no
accident, and the rows that break it are the finding. Every printed number may be half of its last
place away from the true one, and the tolerance of a row is what these add up to.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np

from dvsim.consistency.chance import tail
from dvsim.consistency.types import REPORTED, Finding, Line

_AVERAGE = re.compile(r"(.+)[_ ](?:avg|average|mean)", re.IGNORECASE)
_OF_TWO = re.compile(
    r"(?:.*[_ ])?(?:(difference|diff|delta)|(ratio|speedup)|(percent|percentage|pct))",
    re.IGNORECASE,
)
Rule = Callable[[float, float], float]
_RULES: tuple[Mapping[str, Rule], ...] = (
    {"{a} - {b}": lambda a, b: a - b},
    {"{a} / {b}": lambda a, b: a / b},
    {
        "100 {a} / {b}": lambda a, b: 100 * a / b,
        "100 ({a} - {b}) / {b}": lambda a, b: 100 * (a - b) / b,
        "100 ({a} - {b}) / {a}": lambda a, b: 100 * (a - b) / a,
    },
)


def has_derived(headings: Sequence[str]) -> bool:
    """Return whether some heading says that it is made of others in its row."""
    return any(_OF_TWO.fullmatch(name) for name in headings) or bool(averages(headings))


def halves(lines: Sequence[Line]) -> dict[str, float]:
    """Return half of the last printed place of each heading, over all rows."""
    places: dict[str, int] = {}
    for line in lines:
        for heading, number in line.cells.items():
            places[heading] = max(places.get(heading, number.decimals), number.decimals)
    return {heading: 0.5 * 10.0**-decimals for heading, decimals in places.items()}


def find_relations(table: str, lines: Sequence[Line]) -> Iterator[Finding]:
    """Yield what does not follow in a table, one finding per column that should.

    Args:
        table: How a text names it.
        lines: Its rows.
    """
    half = halves(lines)
    yield from _wrong_averages(table, lines, half)
    for heading in half:
        match = _OF_TWO.fullmatch(heading)
        if match is not None:
            rules = next(rule for rule, hit in zip(_RULES, match.groups(), strict=True) if hit)
            yield from _wrong_relation(table, lines, half, heading, rules)


def averages(headings: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns of averages, each with the two or more columns that it is of."""
    results = {}
    for heading in headings:
        match = _AVERAGE.fullmatch(heading)
        if match is None or _OF_TWO.fullmatch(heading):
            continue
        alike = [
            other
            for other in headings
            if other != heading
            and other.startswith(match[1] + heading[len(match[1])])
            and not _OF_TWO.fullmatch(other)
            and not _AVERAGE.fullmatch(other)
        ]
        if len(alike) >= 2:
            results[heading] = alike
    return results


def _wrong_averages(
    table: str, lines: Sequence[Line], half: Mapping[str, float]
) -> Iterator[Finding]:
    """Yield the averages that are none, where most others, also of their column, are plain means.

    Else ``latency_mean`` beside ``latency_p50`` and ``latency_p99`` would be a wrong average.
    """
    right: dict[str, int] = {}
    wrong: dict[str, list[str]] = {}
    for heading, of in averages(list(half)).items():
        for line in lines:
            if not all(name in line.cells for name in (heading, *of)):
                continue
            printed, parts = line.cells[heading].value, [line.cells[name].value for name in of]
            slack = half[heading] + max(half[name] for name in of)
            means = [math.fsum(parts) / len(parts)]
            if line.statistic == "std":  # variances may have been averaged
                means.append(math.sqrt(math.fsum(x * x for x in parts) / len(parts)))
            if any(abs(printed - mean) <= slack * (1 + 1e-9) for mean in means):
                right[heading] = right.get(heading, 0) + 1
                continue
            beside = " and ".join(f"{x:,.10g}" for x in parts)
            text = f"{line.label}: {printed:,.10g} is printed, but {beside} have the mean "
            text += f"{means[0]:,.10g}"
            if not min(parts) - slack <= printed <= max(parts) + slack:
                text += ", and it does not even lie between them"
            wrong.setdefault(heading, []).append(text)
    others = sum(right.values())
    if others < 2 or others <= sum(map(len, wrong.values())):
        return
    for heading, evidence in wrong.items():
        if heading in right:
            yield Finding(
                "average",
                f"{table}, {heading}",
                f"{heading} is not the average of its columns in {len(evidence)} of its rows",
                (*evidence, f"all {others} other averages of the table are plain means"),
                math.inf,
                "an average is the plain mean of its columns, each rounded as printed",
                "the number was taken from somewhere else; what was made of it is wrong as well",
            )


def _wrong_relation(
    table: str,
    lines: Sequence[Line],
    half: Mapping[str, float],
    heading: str,
    rules: Mapping[str, Rule],
) -> Iterator[Finding]:
    rows = [line for line in lines if heading in line.cells]
    best: tuple[float, str, list[Line]] | None = None
    others = [name for name in half if name != heading and not _OF_TWO.fullmatch(name)]
    tried = len(rules) * len(others) * (len(others) - 1)
    for a, b in permutations(others, 2):
        for text, rule in rules.items():
            chances, broken = _held(rows, half, heading, (a, b), rule)
            kept = len(chances) - len(broken)
            if kept < 2 or 2 * kept <= len(chances):
                continue
            odds = -tail(np.array(chances), kept) - math.log10(tried)
            if best is None or odds > best[0]:
                best = odds, text.format(a=a, b=b), broken
    if best is not None and best[0] >= REPORTED and best[2]:
        odds, rule_text, broken = best
        yield Finding(
            "relation",
            f"{table}, {heading}",
            f"{heading} is {rule_text} in the other rows, but not in {len(broken)}",
            tuple(f"{line.label}: {line.cells[heading].value:,.10g} is printed" for line in broken),
            odds,
            "no pair of columns has to do with this one, and the rows that fit do so by accident",
            "the number was computed from others than those printed, or is misprinted",
        )


def _held(
    rows: Sequence[Line], half: Mapping[str, float], heading: str, pair: tuple[str, str], rule: Rule
) -> tuple[list[float], list[Line]]:
    chances, broken = [], []
    for line in rows:
        if not all(name in line.cells for name in pair):
            continue
        printed = line.cells[heading].value
        a, b = (line.cells[name].value for name in pair)
        try:
            corners = [
                rule(a + i * half[pair[0]], b + j * half[pair[1]]) for i in (-1, 1) for j in (-1, 1)
            ]
        except ZeroDivisionError:
            continue
        low, high = min(corners) - half[heading], max(corners) + half[heading]
        chances.append(min(1.0, (high - low) / max(abs(printed), high - low)))
        slack = 1e-9 * max(abs(low), abs(high))
        if not low - slack <= printed <= high + slack:
            broken.append(line)
    return chances, broken
