"""The findings about grids and factors, in words; and any finding as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dvsim.consistency.factors import Factor
from dvsim.consistency.grid import Grid, sort_out
from dvsim.consistency.types import SINGLE, Column, Examination, Finding

SMOOTH = "the values are smooth: the place of each within a cell of the grid is uniform"
TIMES = {1.0: "s", 1e-3: "ms", 1e-6: "us", 1e-9: "ns"}
SHOWN = 10  # counts that a text lists


def grid_finding(group: str, columns: Sequence[Column], of: int, grid: Grid) -> Finding:
    """Return the finding that columns are on a grid.

    Args:
        group: What they are.
        columns: Those on the grid.
        of: How many columns the group has.
        grid: The grid.
    """
    on, between, off = (
        {number.value for column in columns for number in sort_out(column, grid)[kind]}
        for kind in range(3)
    )
    spread = (grid.high - grid.low) / 2
    step, unit = _unit(1 / grid.rate)
    interval = _rounded(1 / grid.rate / step, spread / grid.rate**2 / step)
    evidence = [
        f"{len(on)} of {len(on | between | off)} different values are multiples of "
        + _rounded(grid.rate, spread)
        + (f", within {grid.jitter:g} of themselves" if grid.jitter > SINGLE else "")
    ]
    if between or off:
        evidence.append(
            f"{len(between)} of the {len(between | off)} others lie between two multiples, where "
            "linear interpolation for their count and quantile puts them"
        )
    evidence.append(f"as rates of one event in an interval: intervals of {interval} {unit}")
    which = f"column {columns[0].name}" if len(columns) == 1 else f"{len(columns)} columns"
    which = "all columns" if len(columns) == of > 1 else which
    return Finding(
        "grid",
        f"{group}, {which}",
        f"the values are whole multiples of {grid.rate:.6g}",
        tuple(evidence),
        grid.log10_odds,
        SMOOTH,
        "each value is a whole number of events in an interval of this length, "
        "or of several in a multiple of it",
    )


def factor_finding(
    group: str, columns: Sequence[Column], grid: Grid | None, factor: Factor, looks: float
) -> Finding:
    """Return the finding that counts have a common factor.

    Args:
        group: What they are.
        columns: Those of one kind.
        grid: What one count is; None where the values are counts themselves.
        factor: The factor.
        looks: log10 of how many sets of counts were looked at.
    """
    names = ", ".join(column.name for column in columns)
    shown = ", ".join(str(count // factor.factor) for count in factor.counts[:SHOWN])
    rest = len(factor.counts) - SHOWN
    more = f" and {rest} more" if rest > 0 else ""
    step, unit = _unit(1 / factor.factor)
    whole = grid is None
    other = (
        f", or are read with this step; as rates, one in {1 / factor.factor / step:.6g} {unit}"
        if whole
        else ""
    )
    return Finding(
        "factor",
        f"{group}, {names}",
        f"the {'values' if whole else 'counts per interval'} are multiples of {factor.factor}",
        (
            f"{len(factor.counts)} of {factor.of} different ones are, {factor.factor} x "
            f"{shown}{more}",
        ),
        factor.log10_odds - looks,
        f"counts are smooth: one is a multiple of {factor.factor} by 1 in {factor.factor}; "
        "every factor was looked at",
        f"events come in sets of {factor.factor}{other}",
    )


def lines(finding: Finding) -> Iterator[str]:
    """Yield a finding as text: what, evidence, strength, meaning."""
    yield f"{finding.strength}: {finding.where}: {finding.what}"
    yield f"  evidence: {'; '.join(finding.evidence)}"
    chance = "none" if math.isinf(finding.log10_odds) else f"1 in 10^{finding.log10_odds:.1f}"
    yield f"  chance of an accident: {chance}, if {finding.null}"
    yield f"  it would mean: {finding.meaning}"


def summary(examined: Examination) -> Iterator[str]:
    """Yield how many findings there are; of none, what was looked at and looked for."""
    many = len(examined.findings)
    if many:
        yield f"{many} finding{'s' * (many != 1)}"
        return
    columns = f"{examined.columns} column{'s' * (examined.columns != 1)}"
    yield f"0 findings in {columns} with {examined.numbers:,} numbers"
    yield f"  looked for: {'; '.join(examined.checks)}"
    if examined.left_out:
        yield f"  not looked for: {'; '.join(examined.left_out)}"


def _rounded(value: float, error: float) -> str:
    """Return a number to the place of its error, which is appended.

    >>> _rounded(199.960007, 0.0000014), _rounded(12.0, 0.0)
    ('199.960007 ± 0.000002', '12')
    """
    if error < abs(value) * 1e-12:
        return f"{value:.12g}"
    decimals = max(0, -math.floor(math.log10(error)))
    up = math.ceil(error * 10**decimals) / 10**decimals
    return f"{value:.{decimals}f} ± {up:.{decimals}f}"


def _unit(seconds: float) -> tuple[float, str]:
    return next((one for one in TIMES.items() if float(f"{seconds:.3g}") >= one[0]), (1e-9, "ns"))
