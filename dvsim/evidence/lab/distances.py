"""Distances between a simulated distribution and one of which only some quantiles are known.

What is unknown between two quantiles is taken as it suits the model best: the Kolmogorov-Smirnov
distance is a bound from below.

Order statistics: where the quantiles of n independent samples of a distribution lie.

The k-th smallest of n samples of a continuous distribution F has F(x) distributed as
Beta(k, n + 1 - k) (David and Nagaraja, Order Statistics, 3rd ed., section 2.1); its distribution
function is the binomial tail P(Bin(n, u) >= k), so this is the binomial band, for ranks that need
not be whole. A quantile of share p by linear interpolation stands at rank k = 1 + p (n - 1).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dvsim.evidence.statistics import Floats
from dvsim.table.estimate import CONFIDENCE

LIMIT = 1.358  # times 1 / sqrt(n): 5 % point of the Kolmogorov distribution


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
            under = float(np.searchsorted(model, value - half, "left")) / model.size
            over = float(np.searchsorted(model, value + half, "right")) / model.size
            worst = max(worst, under - share, share - over)
    return worst


def band(model: Floats, share: float, count: int, half: float = 0.0) -> tuple[float, float] | None:
    """Return where a quantile of `count` measured samples would lie if the model were true.

    Args:
        model: Simulated samples, ascending, of all replications: many against `count`, or the band
            is too narrow by what they do not know themselves.
        share: 0 for the smallest, 1 for the largest.
        count: Samples, at least 1.
        half: Rounding of what was measured; widens the band.

    Returns:
        tuple or None: None where the simulated samples are too few to say: an end of the band lies
        beyond the smallest or the largest of them.
    """
    from scipy.special import betaincinv

    rank, tail = 1 + share * (count - 1), (1 - CONFIDENCE) / 2
    ends = betaincinv(rank, count + 1 - rank, [tail, 1 - tail]).tolist()
    if min(ends[0], 1 - ends[1]) * model.size < 1:
        return None
    low, high = np.quantile(model, ends).tolist()
    return low - half, high + half
