"""What saturates first and last: lines of points over the load offered to a switch or network.

A point is *saturated* if its switch queues packets, refuses none, and delivers fewer than it is
offered. Its queues then grow for as long as the run lasts, and its throughput is the most that the
line can carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dvsim.study.amounts import estimate_text

SHORT = 0.02  # of the load; what is delivered falls as much short of it at least
MOST = 4  # lines that are named
UNIT = "packets per slot and input"


class Offered(NamedTuple):
    """One point: `line` names what else was varied, `half` is of the interval of the throughput."""

    line: str
    load: float
    throughput: float
    half: float
    refused: float

    @property
    def saturated(self) -> bool:
        """Whether it delivers less than what is offered, beyond chance."""
        missing = self.load - self.throughput
        return self.refused == 0 and missing > max(SHORT * self.load, self.half)


def sentence(points: Sequence[Offered]) -> str:
    """Say which line saturates last and what each carries then; nothing if none saturates.

    >>> points = [Offered("brc", 0.3, 0.24, 0.002, 0), Offered("random", 0.3, 0.25, 0.002, 0)]
    >>> sentence(points)
    'Saturates last: random, 0.2500 ± 0.0020; then brc, 0.2400 ± 0.0020 packets per slot and input.'
    """
    lines = list(dict.fromkeys(point.line for point in points))
    carried: dict[str, Offered] = {}
    for point in points:
        if point.saturated and point.throughput > _most(carried.get(point.line)):
            carried[point.line] = point
    if not carried:
        return ""
    ordered = sorted(carried.values(), key=_most, reverse=True)
    texts = [estimate_text(one.throughput, one.half) for one in ordered]
    if len(lines) == 1:
        return f"Saturates at {texts[0]} {UNIT}."
    told = [f"{one.line}, {text}" for one, text in zip(ordered, texts, strict=True)]
    last = f"{told[-1]} {UNIT}" if len(told) <= MOST else f"first {told[-1]} {UNIT}"
    listed = "; then ".join([*told[: min(len(told) - 1, MOST - 1)], last])
    keeping = [line for line in lines if line not in carried]
    if not keeping:
        return f"Saturates last: {listed}."
    load = max(point.load for point in points if point.line in keeping)
    named = ", ".join(keeping[:MOST]) + (" and more" if len(keeping) > MOST else "")
    return f"Not saturated up to load {load:g}: {named}. The others: {listed}."


def _most(point: Offered | None) -> float:
    return -1.0 if point is None else point.throughput
