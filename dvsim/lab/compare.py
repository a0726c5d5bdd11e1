"""One case beside its run: quantiles with bands, moments, distances."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from dvsim.consistency.types import share_of
from dvsim.lab.distance import LIMIT, GTest, g_test, ks_bound, up_to, wasserstein_bound
from dvsim.lab.match import Pair
from dvsim.lab.order import band
from dvsim.lab.types import Floats, Tolerances, close

Split = Literal["fitted", "held out", "not stated"]
MOMENTS = ("mean", "std")
TAIL = 0.99
Verdict = Literal["pass", "fail", "info"]


@dataclass(frozen=True)
class Row:
    """One statistic.

    Attributes
    ----------
    statistic
        ``mean``, ``std``, ``min``, ``50%`` …
    lab, simulated, low, high
        Measured; simulated, with its 95 % interval over replications; 1/s or s.
    ratio, log_error
        Simulated over measured, and its logarithm; None where one of both is zero.
    band
        Where the measured one lies with 95 % if the simulation is true; None if that is not known.
    outside
        Whether it does not.
    kind
        Which tolerance judges it: ``mean``, ``median``, ``quantile``, ``tail``, ``empty``; else
        empty.
    verdict
        ``info`` where none does.
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
    """How far the distributions are apart; bounds from below, see `dvsim.lab.distance`.

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
    """A case beside its run."""

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
    model: Floats | None = field(default=None, repr=False)

    def row(self, statistic: str) -> Row | None:
        """Return the row of a statistic."""
        return next((row for row in self.rows if row.statistic == statistic), None)


def compare(pair: Pair, split: Split, tolerances: Tolerances) -> Compared:
    """Compare a case with what was simulated beside it."""
    case, simulated = pair
    rows = tuple(
        _row(pair, name, value, tolerances)
        for name, value in case.statistics.items()
        if name in simulated.statistics
    )
    return Compared(
        name=case.name,
        where=case.where,
        scenario=simulated.scenario,
        what=simulated.what,
        unit="s" if case.metric.endswith("latency") else "1/s",
        metric=case.metric,
        series=case.series,
        message_bytes=simulated.message_bytes,
        size_stated=case.message_bytes is not None,
        sample=str(case.sample),
        count=case.count,
        replications=simulated.replications,
        split=split,
        rows=rows,
        distances=_distances(pair, rows),
        notes=case.notes + simulated.notes,
        per_message=simulated.per_message,
        loop=simulated.loop,
        model=simulated.model,
    )


def kind_of(statistic: str) -> str:
    """Return which tolerance judges a statistic; empty for none.

    Minimum, maximum and standard deviation hang on single samples or on the tail.

    Examples
    --------
    >>> [kind_of(name) for name in ("mean", "50%", "95%", "99%", "max", "std")]
    ['mean', 'median', 'quantile', 'tail', '', '']
    """
    share = share_of(statistic)
    if statistic == "mean" or share == 0.5:
        return "mean" if statistic == "mean" else "median"
    if share is None or share in (0.0, 1.0):
        return ""
    return "tail" if share >= TAIL else "quantile"


def _row(pair: Pair, statistic: str, lab: float, tolerances: Tolerances) -> Row:
    case, simulated = pair
    value, low, high = simulated.statistics[statistic]
    share, model = share_of(statistic), simulated.model
    limits = None
    if share is not None and model is not None and case.count:
        limits = band(model, share, case.count, case.half)
    kind = kind_of(statistic)
    if kind and share is not None and model is not None and min(lab, value) == 0 < max(lab, value):
        kind = "empty"
    error = math.log(value / lab) if lab > 0 and value > 0 else None
    return Row(
        statistic=statistic,
        lab=lab,
        simulated=value,
        low=low,
        high=high,
        ratio=value / lab if lab > 0 else None,
        log_error=error,
        band=limits,
        outside=None if limits is None else not limits[0] <= lab <= limits[1],
        kind=kind,
        verdict=_verdict(kind, lab, value, share, model, tolerances),
    )


def _verdict(
    kind: str,
    lab: float,
    value: float,
    share: float | None,
    model: Floats | None,
    tolerances: Tolerances,
) -> Verdict:
    if not kind:
        return "info"
    if kind == "empty" and share is not None and model is not None:
        return "pass" if abs(up_to(model, 0.0) - share) <= tolerances.empty else "fail"
    if lab > 0 and value > 0:
        return "pass" if close(value, lab, getattr(tolerances, kind)) else "fail"
    return "pass" if lab == value else "fail"


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
