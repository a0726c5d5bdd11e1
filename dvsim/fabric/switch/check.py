"""Checks of arguments; every text names the argument, what is allowed and what was given.

Where a value is inside of an argument, `name` says which, and `argument` where.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

from dvsim.errors import ArgumentError, nearest

MOST_HEIGHT = 1 << 20


def whole(
    name: str,
    value: Any,  # noqa: ANN401
    low: int,
    high: int | None = None,
    argument: str = "",
) -> int:
    """Return a whole number from `low` to `high`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(
            argument or name, f"must be a whole number, is {value!r}", name
        ) from None
    if number < low or (high is not None and number > high):
        span = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ArgumentError(argument or name, f"must be {span}, is {number}", name)
    return number


def share(name: str, value: Any, argument: str = "") -> float:  # noqa: ANN401
    """Return a number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        message = f"must be a number from 0 to 1, is {value!r}"
        raise ArgumentError(argument or name, message, name) from None
    if not 0 <= number <= 1:
        raise ArgumentError(argument or name, f"must be from 0 to 1, is {number:g}", name)
    return number


def choice(name: str, value: Any, allowed: Collection[str], argument: str = "") -> str:  # noqa: ANN401
    """Return one of the `allowed` words."""
    if isinstance(value, str) and value in allowed:
        return value
    near = nearest(str(value), allowed)
    hint = f"; did you mean {near!r}?" if near else ""
    message = f"must be one of {', '.join(allowed)}, is {value!r}{hint}"
    raise ArgumentError(argument or name, message, name)


def power_of_two(name: str, value: Any) -> int:  # noqa: ANN401
    """Return a power of two from 2 to 2^20."""
    number = whole(name, value, value)
    if 2 <= number <= MOST_HEIGHT and number & (number - 1) == 0:
        return number
    below = 1 << max(number, 1).bit_length() - 1
    nearest = sorted({min(max(near, 2), MOST_HEIGHT) for near in (below, 2 * below)})
    if number <= 2:
        nearest = nearest[:1]
    message = f"must be a power of two from 2 to {MOST_HEIGHT}, is {number}"
    raise ArgumentError(name, f"{message}; nearest {' or '.join(map(str, nearest))}")
