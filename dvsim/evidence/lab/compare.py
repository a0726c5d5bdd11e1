"""Cases beside their runs: one row a statistic, with band and verdict, and what is between cases.

Those who ask what-if decide on ratios and on where one line crosses another, so both are
looked at by themselves: sizes of one series, and two series at one size.

The naive rival: a latency and bytes over a rate, through the same measured means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from dvsim.evidence.affine import fit_law, seconds
from dvsim.evidence.lab.data import Case, Tolerances
from dvsim.evidence.lab.distances import LIMIT, GTest, band, g_test, ks_bound, wasserstein_bound
from dvsim.evidence.lab.match import Pair
from dvsim.evidence.lab.simulated import Simulated
from dvsim.evidence.statistics import agrees, log_error, share_of, zero_share_bounds

Split = Literal["fitted", "held out", "not stated"]
Verdict = Literal["pass", "fail", "info"]
MEANS = ("mean", "50%")
MOMENTS = ("mean", "std")
TAIL = 0.99
ROUNDING = 1e-9  # of a difference of two shares
KINDS = {"mean": "mean", "median": "median", "quantile": "quantiles", "tail": "tail"}
KINDS |= {"empty": "zeros"}
"""What is judged of a case, with the word for people."""


@dataclass(frozen=True)
class Row:
    """One statistic, in 1/s or s."""

    statistic: str
    lab: float
    simulated: float
    low: float  # of the simulated one, 95 % over replications
    high: float
    ratio: float | None  # simulated over measured; None where that is zero
    log_error: float | None  # None where one of both is zero
    band: tuple[float, float] | None  # the measured one lies here with 95 % if the model is true
    outside: bool | None
    kind: str  # of `KINDS`: which tolerance judges it; else empty
    verdict: Verdict


@dataclass(frozen=True)
class Distances:
    """How far two distributions are apart; bounds from below, see distances.py."""

    ks: float
    ks_limit: float | None  # what chance allows with 95 %
    g: GTest | None
    wasserstein: float | None  # relative to the measured mean, or to the median
    mean_log_error: float | None


@dataclass(frozen=True)
class Zeros:
    """Shares of samples that are zero, 0 to 1: simulated, and bounds of the measured one."""

    simulated: float
    low: float
    high: float

    @property
    def apart(self) -> float:
        """How far the simulated share is above (or below, negative) what was measured."""
        return self.simulated - min(max(self.simulated, self.low), self.high)


@dataclass(frozen=True, eq=False)
class Compared:
    """A case beside what was simulated; `zeros` where their share is judged."""

    name: str
    case: Case
    simulated: Simulated
    split: Split
    rows: tuple[Row, ...]
    distances: Distances | None
    zeros: Zeros | None

    def row(self, *statistics: str) -> Row | None:
        """Return the row of the first of these statistics that there is."""
        known = {row.statistic: row for row in self.rows}
        return next((known[name] for name in statistics if name in known), None)

    def table(self) -> dict[str, Any]:
        """Return it as JSON types, without the samples."""
        case, own = self.case, self.simulated
        return {
            **{"name": self.name, "where": case.where, "scenario": own.scenario, "what": own.what},
            **{"unit": case.unit, "metric": case.metric, "message_bytes": own.message_bytes},
            **{"sample": str(case.sample), "count": case.count, "split": self.split},
            **{"replications": own.replications, "loop": own.loop},
            "notes": [*case.notes, *own.notes],
            "rows": [asdict(row) for row in self.rows],
            "distances": self.distances and asdict(self.distances),
            "zeros": self.zeros and asdict(self.zeros),
        }


def compare(pair: Pair, split: Split, tolerances: Tolerances) -> Compared:
    """Return a case beside what was simulated, statistic by statistic."""
    case, simulated = pair
    model = simulated.model
    zeros = None
    if model is not None:
        bounds = zero_share_bounds(case.statistics)
        if case.values is not None:
            bounds = (float(np.mean(case.values == 0)),) * 2
        zeros = Zeros(float(np.mean(model == 0)), *bounds)
    rows = []
    for name, lab in case.statistics.items():
        if name not in simulated.statistics:
            continue
        value, low, high = simulated.statistics[name]
        share, limits, verdict = share_of(name), None, "info"
        if share is not None and model is not None and case.count:
            limits = band(model, share, case.count, case.half)
        kind = kind_of(name)
        if kind and share is not None and zeros and min(lab, value) == 0 < max(lab, value):
            kind = "empty"
            verdict = "pass" if abs(zeros.apart) <= tolerances.empty + ROUNDING else "fail"
        elif kind:
            verdict = "pass" if agrees(value, lab, getattr(tolerances, kind)) else "fail"
        outside = None if limits is None else not limits[0] <= lab <= limits[1]
        ratio, error = value / lab if lab > 0 else None, log_error(value, lab)
        known = (lab, value, low, high, ratio, error, limits, outside, kind)
        rows.append(Row(name, *known, verdict))  # type: ignore[arg-type]
    zeros = zeros if any(row.kind == "empty" for row in rows) else None
    return Compared(case.name, case, simulated, split, tuple(rows), _distances(pair, rows), zeros)


def kind_of(statistic: str) -> str:
    """Return which tolerance judges a statistic; empty for none.

    Minimum, maximum and standard deviation hang on single samples or on the tail.

    >>> [kind_of(name) for name in ("mean", "50%", "95%", "99%", "max", "std")]
    ['mean', 'median', 'quantile', 'tail', '', '']
    """
    share = share_of(statistic)
    if statistic == "mean" or share == 0.5:
        return "mean" if statistic == "mean" else "median"
    if share is None or share in (0.0, 1.0):
        return ""
    return "tail" if share >= TAIL else "quantile"


def _distances(pair: Pair, rows: Sequence[Row]) -> Distances | None:
    case, model = pair.case, pair.simulated.model
    quantiles, count = case.quantiles, case.count
    if model is None or not any(0 < share < 1 for share in quantiles):
        return None
    errors = [abs(row.log_error) for row in rows if row.log_error is not None and row.kind]
    mean = case.statistics.get("mean")
    middle = mean or case.statistics.get("50%") or 0.0
    area = wasserstein_bound(model, quantiles)
    if mean is not None:  # |E X - E Y| is a bound as well
        area = max(area, abs(mean - float(model.mean())))
    return Distances(
        ks=ks_bound(model, quantiles, case.half),
        ks_limit=LIMIT / math.sqrt(count) if count else None,
        g=g_test(model, quantiles, count) if count else None,
        wasserstein=area / middle if middle > 0 else None,
        mean_log_error=sum(errors) / len(errors) if errors else None,
    )


@dataclass(frozen=True)
class Criterion:
    """One thing that was asked."""

    what: str  # of which case, or of which two
    kind: str  # of `KINDS`, ``ratio`` or ``order``
    tolerance: float | None  # relative; of ``empty`` a difference of shares; None of an order
    # The relative error furthest away; of ``empty`` how far the simulated share of zeros is above
    # the measured one; None where there is no number: one of two is zero, or it is an order.
    got: float | None
    statistic: str  # which one that is
    passed: bool  # all statistics of this kind


@dataclass(frozen=True)
class Ratio:
    """One case over another: of their means, or of their medians where a file has no means."""

    above: str
    below: str
    statistic: str
    lab: float
    simulated: float
    ratio_ok: bool
    order_ok: bool | None  # the same one is larger; None where the measured ones are too near


@dataclass(frozen=True)
class Crossover:
    """Between which two sizes two series change their order; None where they do not."""

    first: str
    second: str
    lab: tuple[int, int] | None
    simulated: tuple[int, int] | None


@dataclass(frozen=True)
class Baseline:
    """Mean absolute log errors of the means of some cases."""

    simulated: float
    naive: float
    cases: int
    fitted_to: str  # ``fitted`` cases; or ``all``: then the law has seen what it is judged by


def criteria(
    cases: Iterable[Compared], ratios: Iterable[Ratio], tolerances: Tolerances
) -> Iterator[Criterion]:
    """Yield what is asked of each case, then a ratio and an order for each that has one."""
    for case in cases:
        for kind in KINDS:
            rows = [row for row in case.rows if row.kind == kind]
            if not rows:
                continue
            worst = max(
                rows,
                key=lambda row: (
                    row.verdict == "fail",
                    math.inf if row.log_error is None else abs(row.log_error),
                ),
            )
            got = None if worst.log_error is None else math.expm1(worst.log_error)
            if kind == "empty" and case.zeros is not None:
                got = case.zeros.apart
            passed = all(row.verdict == "pass" for row in rows)
            yield Criterion(
                case.name, kind, getattr(tolerances, kind), got, worst.statistic, passed
            )
    for ratio in ratios:
        pair, name = f"{ratio.above} over {ratio.below}", ratio.statistic
        got = ratio.simulated / ratio.lab - 1
        yield Criterion(pair, "ratio", tolerances.ratio, got, name, ratio.ratio_ok)
        if ratio.order_ok is not None:
            yield Criterion(pair, "order", None, None, name, ratio.order_ok)


def between(
    cases: Sequence[Compared], tolerance: float
) -> tuple[tuple[Ratio, ...], tuple[Crossover, ...]]:
    """Return each size over the next smaller one, series over series, and where these cross."""
    together = by_series(cases)
    ratios = [
        ratio
        for series in together.values()
        for small, large in pairwise(series)
        for ratio in _ratio(large, small, tolerance)
    ]
    crossovers = []
    for item, other in combinations(together.values(), 2):
        first, second = item[0].case.series, other[0].case.series
        alike = len(first) == len(second) and first[0] == second[0] and first[-1] == second[-1]
        if not alike or first == second:
            continue
        both = [
            (above.simulated.message_bytes, ratio)
            for above in item
            for below in other
            if above.simulated.message_bytes == below.simulated.message_bytes
            for ratio in _ratio(above, below, tolerance)
        ]
        ratios += [ratio for _, ratio in both]
        sizes = dict(both).items()
        lab = _change([(size, ratio.lab) for size, ratio in sizes])
        simulated = _change([(size, ratio.simulated) for size, ratio in sizes])
        if lab or simulated:
            names = [", ".join(filter(None, series)) for series in (first, second)]
            crossovers.append(Crossover(names[0], names[1], lab, simulated))
    return tuple(ratios), tuple(crossovers)


def by_series(cases: Sequence[Compared]) -> dict[tuple[str, ...], list[Compared]]:
    """Return cases that differ by size only, ascending."""
    results: dict[tuple[str, ...], list[Compared]] = {}
    for case in sorted(cases, key=lambda item: item.simulated.message_bytes):
        family = re.sub(r"[-_]?\d+$", "", case.simulated.scenario)  # h3/fdr of h3/fdr-8
        results.setdefault((*case.case.series, family), []).append(case)
    return results


def _ratio(above: Compared, below: Compared, tolerance: float) -> Iterator[Ratio]:
    for statistic in MEANS:
        upper, lower = above.row(statistic), below.row(statistic)
        if upper is None or lower is None:
            continue
        if min(upper.lab, upper.simulated, lower.lab, lower.simulated) > 0:
            lab, simulated = upper.lab / lower.lab, upper.simulated / lower.simulated
            near = agrees(lab, 1.0, tolerance)
            order = None if near else (math.log(lab) > 0) == (math.log(simulated) > 0)
            ok = agrees(simulated, lab, tolerance)
            yield Ratio(above.name, below.name, statistic, lab, simulated, ok, order)
        return


def _change(ratios: Sequence[tuple[int, float]]) -> tuple[int, int] | None:
    steps = pairwise(ratios)
    return next(((a[0], b[0]) for a, b in steps if (a[1] > 1) != (b[1] > 1)), None)


def baseline(cases: Sequence[Compared]) -> Baseline | None:
    """Return how well a law does, None where no series has means of two sizes to fit it to."""
    stated = any(case.split == "fitted" for case in cases)
    own: list[float] = []
    naive: list[float] = []
    groups: dict[tuple[str, ...], list[tuple[Compared, int, Row]]] = {}
    for case in cases:  # runs of one kind share a law
        if (row := case.row("mean")) is not None:
            item = (case, case.simulated.message_bytes, row)
            groups.setdefault(case.case.series[:-1], []).append(item)
    for group in groups.values():

        def time(case: Compared, row: Row) -> float:
            return row.lab if case.case.unit == "s" else case.simulated.per_message / row.lab

        used = [(case, size, row) for case, size, row in group if row.lab > 0]
        used = [item for item in used if item[0].split == "fitted" or not stated]
        sizes = [size for _, size, _ in used]
        if len(set(sizes)) < 2:
            continue
        law = fit_law(sizes, [time(case, row) for case, _, row in used]).law
        for case, size, row in group:
            if (case.split == "fitted" and stated) or row.log_error is None:
                continue
            predicted = seconds(law, size)
            if predicted > 0:  # of times below a picosecond the law is 0
                naive.append(abs(math.log(predicted / time(case, row))))
                own.append(abs(row.log_error))
    if not naive:
        return None
    count = len(naive)
    return Baseline(sum(own) / count, sum(naive) / count, count, "fitted" if stated else "all")
