"""The values of a key between two bounds, for a bisection."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from dvsim.contract.kind import Keys, Order
from dvsim.errors import Argument, ScenarioError, nearest

FINEST = 1e-9  # tolerance; many roundings of a number above 0 and at most 1
TOLERANCE = {"share": 0.001, "scaled": 0.01}  # absolute, and relative


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
class Scaled:
    """All numbers above 0; two are as near as can be if their ratio is within the tolerance."""

    low: float
    high: float
    tolerance: float

    def middle(self, low: float, high: float) -> float | None:
        """Return the geometric mean of two numbers, in four digits: people read it."""
        middle = float(f"{math.sqrt(low * high):.4g}")
        return middle if high > low * (1 + self.tolerance) and low < middle < high else None


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


def axis_of(
    key: str, between: tuple[float, float] | None, tolerance: float | None, keys: Keys
) -> Axis:
    """Return the axis of a key.

    Args:
        key: Short name of a key of a scenario.
        between: Bounds; None for those of the key.
        tolerance: Of a key that is no whole number: absolute of a share, relative of anything else.
            None takes that of `TOLERANCE`.
        keys: Those that have an order.
    """
    if key not in keys:
        message = f"'{key}' has no order to search in; one of {', '.join(keys)}"
        raise ScenarioError.at(Argument("key"), message, hint=nearest(key, keys))
    order = keys[key]
    ends = between or order.between
    if ends is None:
        raise ScenarioError.at(Argument("between"), f"missing; '{key}' needs a range to search in")
    near = TOLERANCE.get(order.kind, 1.0) if tolerance is None else tolerance
    faults = [Argument("between").fault(fault) for fault in _wrong(key, order, *ends)]
    if order.kind in TOLERANCE and not FINEST <= near < 1:
        message = f"{near:g} is not from {FINEST:g} on and below 1"
        faults.append(Argument("tolerance").fault(message))
    if faults:
        raise ScenarioError(faults)
    low, high = ends
    if order.kind == "share":
        return Continuous(low, high, near)
    if order.kind == "scaled":
        return Scaled(low, high, near)
    return Whole(int(low), int(high), powers=order.kind == "powers")


def _wrong(key: str, order: Order, low: float, high: float) -> Iterator[str]:
    if not low < high:
        yield f"{low:g} is not below {high:g}"
    if order.kind in ("share", "scaled"):
        if not (low >= order.least and high <= order.most):
            yield f"a {key} is from {order.least:g} to {order.most:g}, not from {low:g} to {high:g}"
        return
    for bound in (low, high):
        if not math.isfinite(bound) or bound != int(bound):
            yield f"'{key}' is a whole number, not {bound:g}"
        elif abs(bound) > order.most:
            yield f"'{key}' must be at most {order.most}, not {bound:g}"
        elif order.kind == "powers" and (bound < 2 or int(bound) & (int(bound) - 1)):
            yield f"a {key} is a power of two from 2 on, not {bound:g}"
        elif bound < order.least:
            yield f"'{key}' must be at least {order.least}, not {bound:g}"
