"""The values of a key between two bounds, for a bisection."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from dvsim.errors import Fault, ScenarioError
from dvsim.scenario.bounds import COUNT
from dvsim.scenario.find import nearest

SHARES = ("load", "duty")
WHOLES = ("angles", "height", "injecting", "burst", "planes", "link", "slots", "warmup")
FINEST = 1e-9  # tolerance; many roundings of a number above 0 and at most 1
BETWEEN: dict[str, tuple[float, float]] = {
    "load": (0, 1),
    "duty": (0, 1),
    "angles": (1, 16),
    "height": (2, 1024),
}
"""Where to look when nothing else is said."""


class Axis(Protocol):
    """Values in order."""

    @property
    def low(self) -> float:
        """The lower bound."""

    @property
    def high(self) -> float:
        """The upper bound."""

    def middle(self, low: float, high: float) -> float | None:
        """Return a value between two, None if they are as near as can be."""


@dataclass(frozen=True)
class Continuous:
    """All numbers; two are as near as can be within the tolerance."""

    low: float
    high: float
    tolerance: float

    def middle(self, low: float, high: float) -> float | None:
        """Return the mean of two numbers."""
        return (low + high) / 2 if high - low > self.tolerance else None


@dataclass(frozen=True)
class Whole:
    """Whole numbers, or the powers of two among them."""

    low: int
    high: int
    powers: bool = False

    def middle(self, low: float, high: float) -> int | None:
        """Return the whole number, or the power of two, in the middle."""
        first, last = int(low), int(high)
        if self.powers:
            exponent = (first.bit_length() + last.bit_length()) // 2 - 1
            return 1 << exponent if first < 1 << exponent < last else None
        middle = (first + last) // 2
        return middle if first < middle else None


def axis_of(key: str, between: tuple[float, float] | None, tolerance: float) -> Axis:
    """Return the axis of a key.

    Parameters
    ----------
    key
        Short name of a key of a scenario of a switch or network.
    between
        Bounds; None for those of `BETWEEN`.
    tolerance
        Of a key that is no whole number.

    Raises
    ------
    ScenarioError
        If there is no such key, or the bounds are none.
    """
    known = (*SHARES, *WHOLES)
    if key not in known:
        message = f"'{key}' has no order to search in; one of {', '.join(known)}"
        raise ScenarioError([Fault("--vary", None, "", message, nearest(key, known))])
    bounds = between or BETWEEN.get(key)
    if bounds is None:
        message = f"missing; '{key}' needs a range to search in"
        raise ScenarioError([Fault("--between", None, "", message)])
    low, high = bounds
    faults = []
    if not low < high:
        faults.append(Fault("--between", None, "", f"{low:g} is not below {high:g}"))
    if key in SHARES:
        if not (low >= 0 and high <= 1):
            message = f"a {key} is from 0 to 1, not from {low:g} to {high:g}"
            faults.append(Fault("--between", None, "", message))
        if not FINEST <= tolerance < 1:
            message = f"{tolerance:g} is not from {FINEST:g} on and below 1"
            faults.append(Fault("--tolerance", None, "", message))
    for bound in bounds if key in WHOLES else ():
        if not math.isfinite(bound) or bound != int(bound):
            faults.append(Fault("--between", None, "", f"'{key}' is a whole number, not {bound:g}"))
        elif abs(bound) > COUNT:
            message = f"'{key}' must be at most {COUNT}, not {bound:g}"
            faults.append(Fault("--between", None, "", message))
        elif key == "height" and (bound < 2 or int(bound) & (int(bound) - 1)):
            message = f"a height is a power of two from 2 on, not {bound:g}"
            faults.append(Fault("--between", None, "", message))
    if faults:
        raise ScenarioError(faults)
    if key in SHARES:
        return Continuous(low, high, tolerance)
    return Whole(int(low), int(high), powers=key == "height")
