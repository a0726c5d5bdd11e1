"""Ratios and order between cases: whether the simulation gives the same.

Those who ask what-if decide on ratios and on where one line crosses another, so both are
looked at by themselves: sizes of one series, and two series at one size.

The naive rival: a latency and bytes over a rate, through the same measured means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from dvsim.evidence.affine import fit_law, seconds
from dvsim.evidence.lab.compare import Compared
from dvsim.evidence.statistics import agrees

MEANS = ("mean", "50%")


@dataclass(frozen=True)
class Ratio:
    """One case over another: measured and simulated.

    Attributes:
        above, below: Their names.
        statistic: Of which the ratio is: the mean, or the median where a file has none.
        ratio_ok: Within tolerance.
        order_ok: Whether the same one is larger; None where the measured ones are within tolerance.
    """

    above: str
    below: str
    statistic: str
    lab: float
    simulated: float
    ratio_ok: bool
    order_ok: bool | None


@dataclass(frozen=True)
class Crossover:
    """Between which two sizes two series change their order; None where they do not."""

    first: str
    second: str
    lab: tuple[int, int] | None
    simulated: tuple[int, int] | None

    @property
    def places(self) -> list[str]:
        """Where they do in the laboratory, and where in the simulation, for people."""
        both = (self.lab, self.simulated)
        return ["nowhere" if at is None else f"between {at[0]:,} and {at[1]:,} B" for at in both]


def between_sizes(cases: Sequence[Compared], tolerance: float) -> list[Ratio]:
    """Return each size over the next smaller one of its series."""
    return [
        ratio
        for series in by_series(cases).values()
        for small, large in pairwise(series)
        for ratio in _ratio(large, small, tolerance)
    ]


def between_series(cases: Sequence[Compared], tolerance: float) -> list[Ratio]:
    """Return series over series, at each size that both have."""
    return [
        ratio
        for item, other in _pairs(cases)
        for first in item
        for second in other
        if first.message_bytes == second.message_bytes
        for ratio in _ratio(first, second, tolerance)
    ]


def crossovers(cases: Sequence[Compared], tolerance: float) -> list[Crossover]:
    """Return where two series change their order, if they do so in either."""
    results = []
    for item, other in _pairs(cases):
        beside = {case.message_bytes: case for case in other}
        ratios = [
            (case.message_bytes, ratio)
            for case in item
            if case.message_bytes in beside
            for ratio in _ratio(case, beside[case.message_bytes], tolerance)
        ]
        lab = _change([(size, ratio.lab) for size, ratio in ratios])
        simulated = _change([(size, ratio.simulated) for size, ratio in ratios])
        if lab or simulated:
            names = [", ".join(filter(None, series[0].series)) for series in (item, other)]
            results.append(Crossover(names[0], names[1], lab, simulated))
    return results


def by_series(cases: Sequence[Compared]) -> dict[tuple[str, ...], list[Compared]]:
    """Return cases that differ by size only, ascending."""
    results: dict[tuple[str, ...], list[Compared]] = {}
    for case in sorted(cases, key=lambda item: item.message_bytes):
        family = re.sub(r"[-_]?\d+$", "", case.scenario)  # h3/fdr of h3/fdr-8
        results.setdefault((*case.series, family), []).append(case)
    return results


def _pairs(cases: Sequence[Compared]) -> Iterator[tuple[list[Compared], list[Compared]]]:
    for item, other in combinations(by_series(cases).values(), 2):
        first, second = item[0].series, other[0].series
        alike = len(first) == len(second) and first[0] == second[0] and first[-1] == second[-1]
        if alike and first != second:
            yield item, other


def _ratio(above: Compared, below: Compared, tolerance: float) -> Iterator[Ratio]:
    for statistic in MEANS:
        upper, lower = above.row(statistic), below.row(statistic)
        if upper is None or lower is None:
            continue
        numbers = (upper.lab, upper.simulated, lower.lab, lower.simulated)
        if min(numbers) > 0:
            lab, simulated = upper.lab / lower.lab, upper.simulated / lower.simulated
            near = agrees(lab, 1.0, tolerance)
            order = None if near else (math.log(lab) > 0) == (math.log(simulated) > 0)
            ok = agrees(simulated, lab, tolerance)
            yield Ratio(above.name, below.name, statistic, lab, simulated, ok, order)
        return


def _change(ratios: Sequence[tuple[int, float]]) -> tuple[int, int] | None:
    for (low, before), (high, after) in pairwise(ratios):
        if (before > 1) != (after > 1):
            return low, high
    return None


@dataclass(frozen=True)
class Baseline:
    """Mean absolute log errors of means.

    Attributes:
        simulated, naive: Of the simulation and of the law, over the same cases.
        cases: How many.
        fitted_to: ``fitted`` cases, which leaves the others to judge by; or ``all``, if nobody has
            said which were fitted: then the law has seen what it is judged by.
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
            predicted = seconds(law, case.message_bytes)
            if predicted > 0:  # of times below a picosecond the law is 0
                naive.append(abs(math.log(predicted / _time(case, row.lab))))
                own.append(abs(row.log_error))
    if not naive:
        return None
    size = len(naive)
    return Baseline(sum(own) / size, sum(naive) / size, size, "fitted" if stated else "all")


def _time(case: Compared, value: float) -> float:
    return value if case.unit == "s" else case.per_message / value
