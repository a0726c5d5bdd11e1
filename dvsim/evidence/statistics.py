"""Statistics by name, and what they say of others: for all of this room."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dvsim.sheets.headings import STATISTICS, quantiles_of, share_of

Floats = npt.NDArray[np.float64]

ENOUGH = 10_000  # samples from which on the 99.9th percentile is one


def statistic(samples: Floats, name: str) -> float:
    """Return a statistic of samples, ascending or not; the deviation of a single one is 0."""
    if name == "mean":
        return float(samples.mean())
    if name == "std":
        return float(samples.std(ddof=1)) if samples.size > 1 else 0.0
    if name in {"min", "max"}:
        return float(samples.min() if name == "min" else samples.max())
    share = share_of(name)
    if share is None:
        raise ValueError(f"'{name}' is no statistic of samples")
    return float(np.quantile(samples, share))


def statistics_of(samples: Floats) -> dict[str, float]:
    """Return mean, deviation, extremes and quantiles of samples."""
    names = ["mean", "min", *(["std"] if samples.size > 1 else []), *STATISTICS[4:-1]]
    names += ["99.9%"] if samples.size >= ENOUGH else []
    return {name: statistic(samples, name) for name in (*names, "max")}


def zero_share_bounds(statistics: Mapping[str, float]) -> tuple[float, float]:
    """Return the least and largest share of zero samples that quantiles allow.

    A quantile of zero says that at least this share of the samples is zero, one above zero that
    at most this share is. For p90 = 0 and p95 > 0 that is 0.90 to 0.95; for a minimum above zero
    it is 0 to 0.
    """
    low, high = 0.0, 1.0
    for share, value in quantiles_of(statistics).items():
        low, high = (low, min(high, share)) if value > 0 else (max(low, share), high)
    return low, high


def active_rate_bounds(statistics: Mapping[str, float]) -> tuple[float, float]:
    """Return the least and largest mean rate of the active samples that a column allows, in 1/s.

    With a share a of samples above zero, their mean is ``mean / a``. The quantiles bound a from
    either side, see `zero_share_bounds`; and by Cauchy and Schwarz it is at least
    ``mean**2 / (mean**2 + std**2)``, so no mean is above ``mean + std**2 / mean``.

    >>> active_rate_bounds({"mean": 8.0, "std": 24.0, "50%": 0.0, "75%": 0.0, "90%": 1.0})
    (32.0, 80.0)
    """
    mean, least, most = statistics["mean"], *zero_share_bounds(statistics)
    scattered = mean + statistics["std"] ** 2 / mean
    return mean / (1 - least), min(mean / (1 - most), scattered) if most < 1 else scattered


def logs_apart(groups: Iterable[Sequence[float]]) -> tuple[float | None, int]:
    """Return the standard deviation of logarithms within groups, and its degrees of freedom.

    Every group has a mean of its own, which is how the law is taken out. None if no group has two
    values.
    """
    return deviation_within(
        logs - logs.mean()
        for logs in (np.log(np.asarray(group, dtype=np.float64)) for group in groups)
        if logs.size
    )


def deviation_within(groups: Iterable[Sequence[float] | Floats]) -> tuple[float | None, int]:
    """Return the standard deviation within groups whose means are 0, and its degrees of freedom."""
    squares, freedom = 0.0, 0
    for group in groups:
        if len(group) > 1:
            squares += sum(float(value) ** 2 for value in group)
            freedom += len(group) - 1
    return (math.sqrt(squares / freedom) if freedom else None), freedom
