"""Distances between a simulated distribution and one of which only some quantiles are known.

What is unknown between two quantiles is taken as it suits the model best: the Kolmogorov-Smirnov
and the Wasserstein distance are bounds from below.

Order statistics: where the quantiles of n independent samples of a distribution lie.

The k-th smallest of n samples of a continuous distribution F has F(x) distributed as
Beta(k, n + 1 - k) (David and Nagaraja, Order Statistics, 3rd ed., section 2.1); its distribution
function is the binomial tail P(Bin(n, u) >= k), so this is the binomial band, for ranks that need
not be whole. A quantile of share p by linear interpolation stands at rank k = 1 + p (n - 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dvsim.evidence.statistics import Floats
from dvsim.table.estimate import CONFIDENCE

LIMIT = 1.358  # times 1 / sqrt(n): 5 % point of the Kolmogorov distribution
FEW = 5.0  # expected samples that a bin of the G-test needs


class GTest(NamedTuple):
    """A likelihood-ratio test: G, degrees of freedom, and the chance of a larger G."""

    g: float
    freedom: int
    p: float


def below(model: Floats, value: float) -> float:
    """Return the share of samples below a value, those equal to it left out."""
    return float(np.searchsorted(model, value, "left")) / model.size


def up_to(model: Floats, value: float) -> float:
    """Return the share of samples up to a value, the distribution function."""
    return float(np.searchsorted(model, value, "right")) / model.size


def ks_bound(model: Floats, quantiles: Mapping[float, float], half: float = 0.0) -> float:
    """Return the largest |F(q_p) - p|; with samples that repeat, the least that it can be.

    Minimum and maximum say nothing here: F is 0 or 1 beyond any finite sample.

    Args:
        model: Simulated samples, ascending.
        quantiles: Measured ones by share.
        half: Their rounding.

    >>> import numpy as np
    >>> model = np.arange(1.0, 101.0)
    >>> round(ks_bound(model, {0.5: 60.5}), 3), ks_bound(model, {0.5: 50.0})
    (0.1, 0.0)
    """
    worst = 0.0
    for share, value in quantiles.items():
        if 0 < share < 1:
            under, over = below(model, value - half), up_to(model, value + half)
            worst = max(worst, under - share, share - over)
    return worst


def wasserstein_bound(model: Floats, quantiles: Mapping[float, float]) -> float:
    """Return the least area between the two distribution functions, in the unit of the samples.

    Between two shares the measured quantile function lies between two numbers; what the simulated
    one is outside of them is the least that it is wrong by:
    integral of max(0, q_lower - Q(p), Q(p) - q_upper) dp.

    >>> import numpy as np
    >>> model = np.linspace(0, 1, 1001)
    >>> wasserstein_bound(model, {0.0: 0.0, 0.5: 0.5, 1.0: 1.0})
    0.0
    >>> round(wasserstein_bound(model, {0.0: 1.0, 1.0: 2.0}), 2)
    0.5
    """
    shares = np.array(list(quantiles))
    values = np.array(list(quantiles.values()))
    if shares.size < 2:
        return 0.0
    middles = (np.arange(model.size) + 0.5) / model.size
    inside = (middles > shares[0]) & (middles < shares[-1])
    index = np.searchsorted(shares, middles[inside], "right") - 1
    lower, upper = values[index], values[index + 1]
    area = np.maximum(0.0, np.maximum(lower - model[inside], model[inside] - upper))
    return float(area.sum() / model.size)


def g_test(model: Floats, quantiles: Mapping[float, float], count: int) -> GTest | None:
    """Return a test whether the bins between measured quantiles hold as many simulated samples.

    How many of `count` measured samples lie between two of their quantiles is known exactly,
    count (p2 - p1); G = 2 sum O ln(O / E), chi-squared with one degree of freedom less than bins
    (Sokal and Rohlf, Biometry, 3rd ed., section 17.1). The simulation is taken as the truth.

    Args:
        model: Simulated samples, ascending.
        quantiles: Measured ones by share. Where several are equal, or all samples of the model are
            the same number, the share of the bin is not known: those are left out.
        count: Measured samples.

    Returns:
        GTest or None: None with fewer than two bins of `FEW` expected samples.
    """
    from scipy.special import chdtrc

    values = list(quantiles.values())
    edges = [
        (share, up_to(model, value))
        for share, value in quantiles.items()
        if 0 < share < 1 and values.count(value) == 1 and value != values[0]
    ]
    bins: list[tuple[float, float]] = []  # measured and simulated shares
    begin, start = 0.0, 0.0
    for share, simulated in [*edges, (1.0, 1.0)]:
        bins.append((share - begin, simulated - start))
        begin, start = share, simulated
    bins = merged([(item * count, two * count) for item, two in bins])
    if len(bins) < 2:
        return None
    g = 2 * sum(seen * math.log(seen / expected) for seen, expected in bins if seen > 0)
    freedom = len(bins) - 1
    return GTest(g, freedom, float(chdtrc(freedom, max(g, 0.0))))


def merged(bins: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return bins of seen and expected samples, joined until each expects `FEW`.

    >>> merged([(4, 6), (3, 1), (3, 9), (1, 2)])
    [(4.0, 6.0), (7.0, 12.0)]
    """
    joined: list[tuple[float, float]] = []
    seen = expected = 0.0
    for item, two in bins:
        seen, expected = seen + item, expected + two
        if expected >= FEW:
            joined.append((seen, expected))
            seen = expected = 0.0
    if (seen or expected) and joined:
        last = joined.pop()
        joined.append((last[0] + seen, last[1] + expected))
    return joined


def ranks(share: float, count: int) -> tuple[float, float]:
    """Return the shares between which the quantile of `count` samples lies with 95 %.

    Args:
        share: 0 for the smallest, 1 for the largest.
        count: Samples, at least 1.

    Of 100 samples the median lies between the 40.3rd and the 59.7th percentile, the largest has
    F = u ** (1 / 100) for u of 2.5 and 97.5 %:

    >>> [round(x, 3) for x in ranks(0.5, 100)], [round(x, 4) for x in ranks(1.0, 100)]
    ([0.403, 0.597], [0.9638, 0.9997])
    """
    from scipy.special import betaincinv

    rank = 1 + share * (count - 1)
    tail = (1 - CONFIDENCE) / 2
    low, high = betaincinv(rank, count + 1 - rank, [tail, 1 - tail])
    return float(low), float(high)


def band(model: Floats, share: float, count: int, half: float = 0.0) -> tuple[float, float] | None:
    """Return where a quantile of `count` measured samples would lie if the model were true.

    Args:
        model: Simulated samples, ascending, of all replications: many against `count`, or the band
            is too narrow by what they do not know themselves.
        share, count: See `ranks`.
        half: Rounding of what was measured; widens the band.

    Returns:
        tuple or None: None where the simulated samples are too few to say: an end of the band lies
        beyond the smallest or the largest of them.
    """
    ends = ranks(share, count)
    if min(ends[0], 1 - ends[1]) * model.size < 1:
        return None
    low, high = np.quantile(model, ends).tolist()
    return low - half, high + half
