"""The slowest of several publishers ends a batch: how much slower it is than one of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def slowest_sigma(count: int) -> float:
    """Return the standard deviation of the largest of `count` standard normal numbers.

    >>> [round(slowest_sigma(count), 3) for count in (1, 2, 8)]
    [1.0, 0.826, 0.611]
    """
    first = _of_largest(lambda z: z, count)
    return math.sqrt(_of_largest(lambda z: z * z, count) - first * first)


def slowest_mean(count: int, sigma: float) -> float:
    """Return the mean of the largest of `count` log-normal numbers of median 1.

    >>> round(slowest_mean(1, 0.5), 4) == round(math.exp(0.125), 4)
    True
    """
    return _of_largest(lambda z: np.exp(sigma * z), count)


def _of_largest(function: Callable[[np.ndarray], np.ndarray], count: int) -> float:
    """Return the mean of a function of the largest of `count` standard normal numbers."""
    from scipy.stats import norm

    z = np.linspace(-10.0, 14.0, 24_001)
    density = count * norm.pdf(z) * norm.cdf(z) ** (count - 1)
    return float(np.trapezoid(function(z) * density, z))
