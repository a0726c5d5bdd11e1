"""An affine cost through measured times: relative errors count, not seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.scenario.units import Law

DIGITS = 4  # of a number of a card, or a part of a law: more than any measurement has
PS_PER_S = 10**12
FS_PER_S = 10**15

Floats = npt.NDArray[np.float64]


class Fitted(NamedTuple):
    """A law and what it was fitted to."""

    law: Law  # as a card has it
    # sizes, times_s: the points, in bytes and seconds; several may have the same size
    sizes: tuple[int, ...]
    times_s: tuple[float, ...]

    @property
    def constant(self) -> bool:
        """Whether all points have one size, which says nothing about others."""
        return len(set(self.sizes)) == 1

    def error(self, index: int) -> float:
        """Return by how much the law is above a point, relative to it."""
        return seconds(self.law, self.sizes[index]) / self.times_s[index] - 1


def seconds(law: Law, size: int) -> float:
    """Return the cost of a message of `size` bytes in seconds."""
    return law.fixed_ps / PS_PER_S + law.per_byte_fs * size / FS_PER_S


def fit_law(sizes: Sequence[int], times_s: Sequence[float]) -> Fitted:
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
    law = Law(round(short(fixed_s * PS_PER_S)), round(short(slope_s * FS_PER_S)))
    return Fitted(law, tuple(sizes), tuple(float(value) for value in time))


def _inside(size: Floats, time: Floats) -> tuple[float, float]:
    from scipy.optimize import least_squares, nnls

    largest = size.max()
    columns = np.column_stack([np.ones_like(size), size / largest])
    start, _ = nnls(columns / time[:, None], np.ones_like(time))
    floor = 1e-6 * time.min()  # a logarithm needs both parts above zero
    logs = np.log(np.maximum(start, floor))

    def errors(parts: Floats) -> Floats:
        return np.asarray(np.log(columns @ np.exp(parts)) - np.log(time))

    parts = np.exp(least_squares(errors, logs).x)
    return float(parts[0]), float(parts[1] / largest)


def short(value: float) -> float:
    """Return a number with as many digits as a card gets."""
    return float(f"{value:.{DIGITS}g}")
