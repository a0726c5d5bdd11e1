"""The 95 % Student interval over replications, for whatever was measured once in each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95


def half_width(
    n: npt.ArrayLike, deviation: npt.ArrayLike, confidence: float = CONFIDENCE
) -> npt.NDArray[np.float64]:
    """Return half of the interval of a mean: ``t((1 + confidence) / 2, n - 1) s / sqrt(n)``.

    Parameters
    ----------
    n
        Replications.
    deviation
        Standard deviation s over them, with n - 1 in the denominator; not a number counts as 0,
        since one replication says nothing about the spread between runs.
    confidence
        Of the interval, 0.95 as a rule.
    """
    from scipy.special import stdtrit

    count = np.asarray(n, dtype=np.float64)
    spread = np.nan_to_num(np.asarray(deviation, dtype=np.float64))
    half: Any = stdtrit(np.maximum(count - 1, 1), (1 + confidence) / 2) * spread / np.sqrt(count)
    return np.asarray(half, dtype=np.float64)


def lower_end(value: npt.ArrayLike, half: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the lower end of an interval: 0 at least for what is not negative itself."""
    middle = np.asarray(value, dtype=np.float64)
    low = middle - np.asarray(half, dtype=np.float64)
    return np.where(middle >= 0, np.maximum(low, 0.0), low)
