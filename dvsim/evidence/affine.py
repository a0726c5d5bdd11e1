"""Numbers that come nearest to measurements, affine costs among them: by least squares of logs.

So relative errors count, not seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dvsim.scenario.units import Law

DIGITS = 4  # of a number of a card, or a part of a law: more than any measurement has
PS_PER_S = 10**12
FS_PER_S = 10**15

Floats = npt.NDArray[np.float64]


def seconds(law: Law, size: int) -> float:
    """Return the cost of a message of `size` bytes in seconds."""
    return law.fixed_ps / PS_PER_S + law.per_byte_fs * size / FS_PER_S


def fit_law(sizes: Sequence[int], times_s: Sequence[float]) -> Law:
    """Return the affine law, no part of it negative, with the least squares of log errors.

    The start is the non-negative least squares solution of the relative errors. Laws without a
    part per message, and without one per byte, are tried as well: the best may lie on that edge.

    Args:
        sizes: Bytes of a message, at least 1.
        times_s: Seconds for one, above 0; as many.

    Raises:
        ValueError: If there is no point, or one that cannot be.
    """
    size = np.asarray(sizes, dtype=np.float64)
    time = np.asarray(times_s, dtype=np.float64)
    if not len(size) or len(size) != len(time) or (size < 1).any() or not (time > 0).all():
        raise ValueError(f"no law through sizes {list(sizes)} and times {list(times_s)}")
    fixed = float(np.exp(np.log(time).mean()))
    tried: list[tuple[float, float]] = [(fixed, 0.0)]
    if len(set(sizes)) > 1:
        tried.append((0.0, float(np.exp(np.log(time / size).mean()))))
        tried.append(_inside(size, time))

    def loss(parts: tuple[float, float]) -> float:
        return float(((np.log(parts[0] + parts[1] * size) - np.log(time)) ** 2).sum())

    fixed_s, slope_s = min(tried, key=loss)
    return Law(round(short(fixed_s * PS_PER_S)), round(short(slope_s * FS_PER_S)))


def _inside(size: Floats, time: Floats) -> tuple[float, float]:
    from scipy.optimize import nnls

    largest = size.max()
    columns = np.column_stack([np.ones_like(size), size / largest])
    start, _ = nnls(columns / time[:, None], np.ones_like(time))
    parts = np.maximum(start, 1e-6 * time.min()).tolist()  # a logarithm needs both above zero
    found = nearest(
        dict(zip("ab", parts, strict=True)),
        lambda at: (np.log(columns @ [at["a"], at["b"]]) - np.log(time)).tolist(),
    )
    return found["a"], found["b"] / float(largest)


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


def short(value: float) -> float:
    """Return a number with as many digits as a card gets."""
    return float(f"{value:.{DIGITS}g}")
