"""Points that are spread evenly over ranges: a scrambled Sobol sequence, as in ``sobol:64``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.study.arguments import check_asked
from dvsim.study.sweeps.axis import Axis

MOST = 1_000_000  # points of a sweep
_METHODS = ("sobol",)


@dataclass(frozen=True)
class Sobol:
    """As many points, a power of two, spread evenly over axes: a scrambled Sobol sequence.

    The same seed gives the same points.
    """

    axes: tuple[Axis, ...]
    count: int
    seed: int

    def points(self) -> Iterator[dict[str, str]]:
        """Yield the values of each point by key."""
        for shares in sobol(len(self.axes), self.count, self.seed).tolist():
            yield {axis.key: axis.at(at) for axis, at in zip(self.axes, shares, strict=True)}


def sobol(columns: int, count: int, seed: int) -> npt.NDArray[np.float64]:
    """Return points of a scrambled Sobol sequence, shape (count, columns), from 0 to below 1."""
    from scipy.stats import qmc

    check_asked(seed=seed)
    return np.asarray(qmc.Sobol(columns, scramble=True, rng=seed).random(count))


def sample_size(text: str) -> int:
    """Return the number of points of ``sobol:64``."""
    match = re.fullmatch(r"(\w+):(\d{1,9})", text.strip())
    if match is None or match[1] not in _METHODS:
        near = nearest(text.partition(":")[0], _METHODS)
        message = "is no way to sample; write sobol:64"
        hint = f"{near}:64" if near and match is None else None
        raise ScenarioError.at(Argument("sample"), message, text, hint=hint)
    count = int(match[2])
    return power_of_two(Argument("sample"), text, count, f"{match[1]}:")


def power_of_two(argument: Argument, text: str, count: int, before: str = "") -> int:
    """Return a number that must be a power of two, from 2 to the most there can be."""
    if count < 2 or count > MOST or count & (count - 1):
        near = 1 << min((max(count, 2) - 1).bit_length(), 19)  # the next one up
        message = f"{count} is no power of two from 2 to {2**19:,}"
        raise ScenarioError.at(argument, message, text, hint=f"{before}{near}")
    return count
