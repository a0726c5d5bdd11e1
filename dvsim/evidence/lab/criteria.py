"""The criteria: each case by its tolerances, and the cases against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dvsim.evidence.lab.compare import Compared, Row
from dvsim.evidence.lab.data import Tolerances
from dvsim.evidence.lab.ratios import Ratio

KINDS = {name: name for name in ("mean", "median")}
KINDS |= {"quantile": "quantiles", "tail": "tail", "empty": "zeros"}
"""What is judged of a case, with the word for people."""


@dataclass(frozen=True)
class Criterion:
    """One thing that was asked.

    Attributes:
        what: Of which case, or of which two.
        kind: A key of `KINDS`, ``ratio`` or ``order``.
        tolerance: Relative; of ``empty`` a difference of shares; None of an order.
        got: The relative error furthest away, with its sign; of ``empty`` how far the simulated
            share of zeros is above the measured one; None where there is no number: one of two is
            zero, or it is an order.
        statistic: Which one that is.
        passed: Whether all statistics of this kind are within tolerance.
    """

    what: str
    kind: str
    tolerance: float | None
    got: float | None
    statistic: str
    passed: bool


def of_case(case: Compared, tolerances: Tolerances) -> Iterator[Criterion]:
    """Yield the criteria of one case, those that it has."""
    for kind in KINDS:
        rows = [row for row in case.rows if row.kind == kind]
        if rows:
            worst = max(rows, key=_badness)
            passed = all(row.verdict == "pass" for row in rows)
            got = None if worst.log_error is None else math.expm1(worst.log_error)
            if kind == "empty" and case.zeros is not None:
                got = case.zeros.apart
            tolerance = getattr(tolerances, kind)
            yield Criterion(case.name, kind, tolerance, got, worst.statistic, passed)


def of_ratios(ratios: Sequence[Ratio], tolerance: float) -> Iterator[Criterion]:
    """Yield a criterion for each ratio, and for each order that is asked for."""
    for ratio in ratios:
        pair = f"{ratio.above} over {ratio.below}"
        got = ratio.simulated / ratio.lab - 1
        yield Criterion(pair, "ratio", tolerance, got, ratio.statistic, ratio.ratio_ok)
        if ratio.order_ok is not None:
            yield Criterion(pair, "order", None, None, ratio.statistic, ratio.order_ok)


def _badness(row: Row) -> tuple[bool, float]:
    error = math.inf if row.log_error is None else abs(row.log_error)
    return row.verdict == "fail", error
