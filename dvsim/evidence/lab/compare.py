"""One case beside its run: quantiles with bands, moments, distances.

The share of samples that are zero: measured and simulated, and what a difference means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dvsim.evidence.lab.data import Case, Sample, Tolerances
from dvsim.evidence.lab.distances import LIMIT, GTest, band, g_test, ks_bound, wasserstein_bound
from dvsim.evidence.lab.match import Pair
from dvsim.evidence.statistics import Floats, agrees, log_error, share_of, zero_share_bounds

Split = Literal["fitted", "held out", "not stated"]
MOMENTS = ("mean", "std")
TAIL = 0.99
ROUNDING = 1e-9  # of a difference of two shares
Verdict = Literal["pass", "fail", "info"]


@dataclass(frozen=True)
class Row:
    """One statistic.

    Attributes:
        statistic: ``mean``, ``std``, ``min``, ``50%`` …
        lab, simulated, low, high: Measured; simulated, with its 95 % interval over replications;
            1/s or s.
        ratio, log_error: Simulated over measured, and its logarithm; None where one of both is
            zero.
        band: Where the measured one lies with 95 % if the simulation is true; None if that is not
            known.
        outside: Whether it does not.
        kind: Which tolerance judges it: ``mean``, ``median``, ``quantile``, ``tail``, ``empty``;
            else empty.
        verdict: ``info`` where none does.
    """

    statistic: str
    lab: float
    simulated: float
    low: float
    high: float
    ratio: float | None
    log_error: float | None
    band: tuple[float, float] | None
    outside: bool | None
    kind: str
    verdict: Verdict


@dataclass(frozen=True)
class Distances:
    """How far the distributions are apart; bounds from below, see `dvsim.evidence.lab.distances`.

    `ks_limit` is what chance allows with 95 %; `wasserstein` is relative to the measured mean, or
    to the median.
    """

    ks: float
    ks_limit: float | None
    g: GTest | None
    wasserstein: float | None
    mean_log_error: float | None


@dataclass(frozen=True)
class Compared:
    """A case beside its run; `zeros` where the share of zeros is judged."""

    name: str
    where: str
    scenario: str
    what: str
    unit: str
    metric: str
    series: tuple[str, ...]
    message_bytes: int
    size_stated: bool
    sample: str
    count: int | None
    replications: int
    split: Split
    rows: tuple[Row, ...]
    distances: Distances | None
    notes: tuple[str, ...]
    per_message: float
    loop: str
    zeros: Zeros | None = None
    model: Floats | None = field(default=None, repr=False)

    def row(self, statistic: str) -> Row | None:
        """Return the row of a statistic."""
        return next((row for row in self.rows if row.statistic == statistic), None)


def compare(pair: Pair, split: Split, tolerances: Tolerances) -> Compared:
    """Return a case beside what was simulated, statistic by statistic."""
    case, simulated = pair
    zeros = None if simulated.model is None else zeros_of(case, simulated.model)
    rows = tuple(
        _row(pair, name, value, tolerances, zeros)
        for name, value in case.statistics.items()
        if name in simulated.statistics
    )
    empty = [row for row in rows if row.kind == "empty"] if zeros else []
    notes = (
        [zeros.text(case.sample)] if zeros and any(item.verdict == "fail" for item in empty) else []
    )
    return Compared(
        name=case.name,
        where=case.where,
        scenario=simulated.scenario,
        what=simulated.what,
        unit=case.unit,
        metric=case.metric,
        series=case.series,
        message_bytes=simulated.message_bytes,
        size_stated=case.message_bytes is not None or case.own_unit is not None,
        sample=str(case.sample),
        count=case.count,
        replications=simulated.replications,
        split=split,
        rows=rows,
        distances=_distances(pair, rows),
        notes=(*case.notes, *simulated.notes, *notes),
        per_message=simulated.per_message,
        loop=simulated.loop,
        zeros=zeros if empty else None,
        model=simulated.model,
    )


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


def _row(
    pair: Pair, statistic: str, lab: float, tolerances: Tolerances, zeros: Zeros | None
) -> Row:
    case, simulated = pair
    value, low, high = simulated.statistics[statistic]
    share, model = share_of(statistic), simulated.model
    limits = None
    if share is not None and model is not None and case.count:
        limits = band(model, share, case.count, case.half)
    kind = kind_of(statistic)
    if kind and share is not None and zeros is not None and min(lab, value) == 0 < max(lab, value):
        kind = "empty"
    return Row(
        statistic=statistic,
        lab=lab,
        simulated=value,
        low=low,
        high=high,
        ratio=value / lab if lab > 0 else None,
        log_error=log_error(value, lab),
        band=limits,
        outside=None if limits is None else not limits[0] <= lab <= limits[1],
        kind=kind,
        verdict=_verdict(kind, lab, value, zeros, tolerances),
    )


def _verdict(
    kind: str, lab: float, value: float, zeros: Zeros | None, tolerances: Tolerances
) -> Verdict:
    if not kind:
        return "info"
    if kind == "empty" and zeros is not None:
        return "pass" if abs(zeros.apart) <= tolerances.empty + ROUNDING else "fail"
    return "pass" if agrees(value, lab, getattr(tolerances, kind)) else "fail"


def _distances(pair: Pair, rows: tuple[Row, ...]) -> Distances | None:
    case, model = pair.case, pair.simulated.model
    quantiles = case.quantiles
    inner = [share for share in quantiles if 0 < share < 1]
    errors = [abs(row.log_error) for row in rows if row.log_error is not None and row.kind]
    if model is None or not inner:
        return None
    middle = case.statistics.get("mean") or case.statistics.get("50%") or 0.0
    area = wasserstein_bound(model, quantiles)
    mean = case.statistics.get("mean")
    if mean is not None:  # |E X - E Y| is a bound as well
        area = max(area, abs(mean - float(model.mean())))
    return Distances(
        ks=ks_bound(model, quantiles, case.half),
        ks_limit=LIMIT / math.sqrt(case.count) if case.count else None,
        g=g_test(model, quantiles, case.count) if case.count else None,
        wasserstein=area / middle if middle > 0 else None,
        mean_log_error=sum(errors) / len(errors) if errors else None,
    )


@dataclass(frozen=True)
class Zeros:
    """Shares of samples that are zero, 0 to 1.

    Attributes:
        simulated: Of all simulated samples.
        low, high: Of the measured ones: equal if the samples are there, else what their quantiles
            allow.
    """

    simulated: float
    low: float
    high: float

    @property
    def apart(self) -> float:
        """How far the simulated share is above (or below, negative) what was measured."""
        return self.simulated - min(max(self.simulated, self.low), self.high)

    def text(self, sample: Sample) -> str:
        """Return the difference in words."""
        low, high = (f"{100 * share:.3g}" for share in (self.low, self.high))
        measured = f"{low} %" if low == high else f"{low} to {high} %"
        simulated = f"{100 * self.simulated:.3g} %"
        if sample.kind != "interval":
            return f"{simulated} of the simulated samples are zero, {measured} of yours"
        if self.apart > 0:
            return (
                f"the model sends in bursts: {simulated} of its intervals are empty, "
                f"{measured} of yours"
            )
        return (
            f"your data come in bursts: {measured} of your intervals are empty, "
            f"{simulated} of those of the model"
        )


def zeros_of(case: Case, model: Floats) -> Zeros:
    """Return the shares of zeros of a case and of simulated samples."""
    simulated = float(np.mean(model == 0))
    if case.values is not None:
        measured = float(np.mean(case.values == 0))
        return Zeros(simulated, measured, measured)
    return Zeros(simulated, *zero_share_bounds(case.statistics))
