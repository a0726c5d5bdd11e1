"""Numbers of cards that come nearest to measurements: least squares of logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def nearest(
    start: Mapping[str, float],
    misses: Callable[[dict[str, float]], Sequence[float]],
    **how: Any,  # noqa: ANN401 - as of scipy.optimize.least_squares
) -> dict[str, float]:
    """Return the numbers, all above 0, at which squares of misses have the least sum.

    Args:
        start: Where the search begins.
        misses: From numbers to the logarithms of simulated over measured.
        how: Steps and tolerances.

    >>> found = nearest({"x": 3.0}, lambda numbers: [math.log(numbers["x"] / 5)])
    >>> round(found["x"], 6)
    5.0
    """
    from scipy.optimize import least_squares

    def numbers(logs: Sequence[float]) -> dict[str, float]:
        return dict(zip(start, map(math.exp, logs), strict=True))

    logs = [math.log(value) for value in start.values()]
    return numbers(least_squares(lambda at: misses(numbers(at)), logs, **how).x)
