"""The naive rival: a latency and bytes over a rate, through the same measured means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dvsim.lab.compare import Compared
from dvsim.results.law import fit_law, seconds


@dataclass(frozen=True)
class Baseline:
    """Mean absolute log errors of means.

    Attributes
    ----------
    simulated, naive
        Of the simulation and of the law, over the same cases.
    cases
        How many.
    fitted_to
        ``fitted`` cases, which leaves the others to judge by; or ``all``, if nobody has said
        which were fitted: then the law has seen what it is judged by.
    """

    simulated: float
    naive: float
    cases: int
    fitted_to: str


def baseline(cases: Sequence[Compared]) -> Baseline | None:
    """Return how well a law does, None where no series has means of two sizes to fit it to."""
    stated = any(case.split == "fitted" for case in cases)
    own: list[float] = []
    naive: list[float] = []
    groups: dict[tuple[str, ...], list[Compared]] = {}
    for case in cases:  # runs of one kind share a law
        groups.setdefault(case.series[:-1], []).append(case)
    for group in groups.values():
        means = [(case, row) for case in group if (row := case.row("mean")) is not None]
        used = [(case, row) for case, row in means if case.split == "fitted" or not stated]
        used = [(case, row) for case, row in used if row.lab > 0]
        if len({case.message_bytes for case, _ in used}) < 2:
            continue
        law = fit_law(
            [case.message_bytes for case, _ in used], [_time(case, row.lab) for case, row in used]
        ).law
        for case, row in means:
            if (case.split == "fitted" and stated) or row.log_error is None:
                continue
            told = seconds(law, case.message_bytes)
            naive.append(abs(math.log(told / _time(case, row.lab))))
            own.append(abs(row.log_error))
    if not naive:
        return None
    size = len(naive)
    return Baseline(sum(own) / size, sum(naive) / size, size, "fitted" if stated else "all")


def _time(case: Compared, value: float) -> float:
    """Return seconds for a message: a latency, or what is left between two of a rate."""
    return value if case.unit == "s" else case.per_message / value
