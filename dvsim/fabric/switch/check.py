"""Checks of arguments; every text names the argument, what is allowed and what was given."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

from dvsim.errors import nearest

MOST_HEIGHT = 1 << 20


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:  # noqa: ANN401
    """Return a whole number from `low` to `high`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, is {value!r}") from None
    if number < low or (high is not None and number > high):
        span = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {span}, is {number}")
    return number


def share(name: str, value: Any) -> float:  # noqa: ANN401
    """Return a number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number from 0 to 1, is {value!r}") from None
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be from 0 to 1, is {number:g}")
    return number


def choice(name: str, value: Any, allowed: Collection[str]) -> str:  # noqa: ANN401
    """Return one of the `allowed` words."""
    if isinstance(value, str) and value in allowed:
        return value
    near = nearest(str(value), allowed)
    hint = f"; did you mean {near!r}?" if near else ""
    raise ValueError(f"{name} must be one of {', '.join(allowed)}, is {value!r}{hint}")


def power_of_two(name: str, value: Any) -> int:  # noqa: ANN401
    """Return a power of two from 2 to 2^20."""
    number = whole(name, value, -(1 << 62), 1 << 62)
    if 2 <= number <= MOST_HEIGHT and number & (number - 1) == 0:
        return number
    below = 1 << max(number, 1).bit_length() - 1
    nearest = sorted({min(max(near, 2), MOST_HEIGHT) for near in (below, 2 * below)})
    if number <= 2:
        nearest = nearest[:1]
    raise ValueError(
        f"{name} must be a power of two from 2 to {MOST_HEIGHT}, is {number}; "
        f"nearest {' or '.join(map(str, nearest))}"
    )
