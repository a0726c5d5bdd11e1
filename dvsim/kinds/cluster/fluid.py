"""Queues as amounts: what waits behind a server of limited pace, and how long it does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def waits(before: Floats, arrivals: Floats, served: Floats) -> Floats:
    """Return what waits after each step (Lindley's recursion, a running sum held up at 0).

    Args:
        before: What waited before the first; shape (nodes,).
        arrivals, served: What comes in each step, and what could be served; shape (steps, nodes).

    >>> waits(np.array([1.0]), np.array([[0.0], [0.0], [3.0]]), np.full((3, 1), 2.0)).ravel()
    array([0., 0., 1.])
    """
    walk = before + np.cumsum(arrivals - served, axis=0)
    return walk - np.minimum(np.minimum.accumulate(walk, axis=0), 0)


def passed(before: Floats, arrivals: Floats, waiting: Floats) -> Floats:
    """Return what is served in each step: what came, less what waits longer than before."""
    return arrivals - np.diff(waiting, axis=0, prepend=before[None, :])


def emptied(waiting: Floats, after: Floats, phases: Sequence[tuple[float, Floats]]) -> Floats:
    """Return the seconds until what waits is served by servers whose pace changes.

    Args:
        waiting: Shape (steps, nodes).
        after: When each step ends; shape (steps,).
        phases: When each phase ends, the last one never, and what is served in a second until then;
            rates have the shape (nodes,).

    >>> slow_then_fast = [(2.0, np.array([1.0])), (np.inf, np.array([4.0]))]
    >>> emptied(np.array([[1.0], [9.0]]), np.array([0.5, 1.0]), slow_then_fast).ravel()
    array([1., 3.])
    """
    remaining, taken = waiting, np.zeros_like(waiting)
    for end, rates in phases:
        served = np.minimum(remaining, rates * np.maximum(0.0, end - after)[:, None])
        taken = taken + served / rates
        remaining = remaining - served
    return taken


def quantiles(values: Floats, weights: Floats, shares: tuple[float, ...]) -> list[float]:
    """Return quantiles of values that stand for so many messages; not numbers if there are none.

    >>> quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 8.0, 1.0]), (0.5, 0.9, 1.0))
    [1.0, 2.0, 3.0]
    """
    total = weights.sum()
    if not total > 0:
        return [float("nan")] * len(shares)
    order = np.argsort(values, kind="stable")
    heap = np.cumsum(weights[order])
    places = np.searchsorted(heap, np.array(shares) * heap[-1] * (1 - 1e-12))
    return [float(values[order[min(place, len(order) - 1)]]) for place in places]
