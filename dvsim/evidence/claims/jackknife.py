"""How far chance may have decided a claim: its value with replications left out.

A value may be a ratio of means, the largest of several or a quantile, so it has no formula for its
interval. The jackknife (Quenouille 1949, Tukey 1958) leaves out one replication after the other:
with the values v_i of n - 1 replications each, the variance of the value of all n is
``(n - 1) / n * sum((v_i - mean(v))**2)``. Of a plain mean that is the interval of Student.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from dvsim.evidence.claims.figures import Evidence, Missing
from dvsim.evidence.claims.source import Claim, Entry
from dvsim.study.number_text import four_digits
from dvsim.study.precision import VERDICT_STEPS, deciding
from dvsim.table.estimate import Estimate, half_width


class Spread(NamedTuple):
    """A 95 % interval over replications."""

    # low, high: its ends; None of what is true or false
    low: float | None = None
    high: float | None = None
    interval: str = "-"  # for people
    edge: bool = False  # whether it reaches over an edge of the claimed range
    open: bool = False  # whether that which decides does, see `dvsim.study.precision`


def jackknife(value: float, others: Sequence[float]) -> float:
    """Return half of the 95 % interval of a value.

    Args:
        value: Of all replications; it is the middle of the interval.
        others: Without the first replication, without the second, …; at least two.

    The mean of 1, 2 and 6: 3 with a standard deviation of 2.6458, so t s / sqrt(n) = 6.572.

    >>> round(jackknife(3.0, [(2 + 6) / 2, (1 + 6) / 2, (1 + 2) / 2]), 3)
    6.572
    """
    n = len(others)
    mean = math.fsum(others) / n
    variance = (n - 1) / n * math.fsum((other - mean) ** 2 for other in others)
    return float(half_width(n, math.sqrt(n * variance)))


def spread(claim: Claim, entry: Entry, evidence: Evidence, value: float) -> Spread:
    """Return the interval of a value; none if there is one replication only, or some have none."""
    numbers = evidence.replications(entry.scenarios)
    if len(numbers) < 2 or entry.emulated:
        return Spread()
    try:
        if claim.op == "true":
            alone = [entry.evaluate(evidence.of({number})).value for number in numbers]
            good = sum(item == 1.0 for item in alone)
            mixed = 0 < good < len(numbers)
            return Spread(None, None, f"in {good} of {len(numbers)}", mixed, mixed)
        remaining = [
            entry.evaluate(evidence.of(set(numbers) - {number})).value for number in numbers
        ]
    except Missing:
        return Spread()
    others = [item for item in remaining if item is not None]
    if len(others) < len(remaining):
        return Spread()
    half = jackknife(value, others)
    known = Estimate.around(value, half)
    wide = deciding(known, len(numbers), VERDICT_STEPS)
    _, low, high = known
    text = f"{four_digits(low)} to {claim.text_of(high)}"
    if four_digits(low) == four_digits(high):
        text = "same in all" if half == 0 else claim.text_of(value)
    holds = claim.holds(value)
    edge, open_ = (any(claim.holds(end) != holds for end in ends) for ends in (known[1:], wide[1:]))
    return Spread(low, high, text, edge, open_)
