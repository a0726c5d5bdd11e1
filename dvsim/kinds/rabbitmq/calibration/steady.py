"""The steady part of an iteration, in which every receiver is sent to: what a message takes there.

Before it, sockets and windows fill; after it, one receiver may have all of a shared machine. The
time in which all receivers get messages is cut by a tenth at either end. It is cut by time, since a
cut by messages is more likely to fall into a long burst than into a short one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from dvsim.evidence.statistics import Floats

FIRST, LAST = 0.1, 0.9  # shares of the time, between which an iteration is steady
FEW = 3  # rows with messages, of which none is steady
PARTS = 16  # of the steady part of a receiver: the scatter is between them
PS_PER_S = 10**12


class Pace(NamedTuple):
    """How fast one iteration was."""

    time_s: float  # seconds per message and receiver, while all receivers were sent to
    drift: float  # the same of the later half over that of the earlier half; 1 if it was steady
    # Logarithms of the time per message of parts of a receiver's messages, less their mean.
    scatter: tuple[float, ...]
    # Messages from one empty interval to the next, the mean; None if there are too few of either,
    # or of batches.
    burst: float | None


def paces(samples: pd.DataFrame, receivers: int, *, batches: bool) -> list[Pace]:
    """Return the pace of every iteration of a run, in order.

    Args:
        samples: See `dvsim.table.samples`.
        receivers: How many the system has, whatever the samples have.
        batches: Whether a row is a batch, which is a part of its own, and not an interval.
    """
    return [
        _pace(rows, receivers, batches=batches)
        for _, rows in samples.groupby(["replication", "iteration"], sort=True)
    ]


class _Arrivals(NamedTuple):
    edges_s: Floats
    until: Floats

    @property
    def first_s(self) -> float:
        return float(self.edges_s[np.searchsorted(self.until, 0, side="right") - 1])

    @property
    def last_s(self) -> float:
        return float(self.edges_s[np.searchsorted(self.until, self.until[-1])])

    @property
    def busy_rows(self) -> int:
        return int(np.count_nonzero(np.diff(self.until)))

    def between(self, begin_s: float, end_s: float) -> float:
        before, until = np.interp([begin_s, end_s], self.edges_s, self.until)
        return float(until - before)


def _arrivals(rows: pd.DataFrame) -> _Arrivals:
    start_s = rows["start_ps"].to_numpy() / PS_PER_S
    end_s = start_s + rows["duration_ps"].to_numpy() / PS_PER_S
    until = np.cumsum(rows["messages"].to_numpy(), dtype=np.float64)
    return _Arrivals(np.concatenate([start_s[:1], end_s]), np.concatenate([[0.0], until]))


def _pace(rows: pd.DataFrame, receivers: int, *, batches: bool) -> Pace:
    results = [_arrivals(item) for _, item in rows.groupby("receiver")]
    begin, end = _steady(results)
    middle = (begin + end) / 2
    early, late = (
        sum(item.between(*times) for item in results) for times in ((begin, middle), (middle, end))
    )
    scatter = [part for item in results for part in _scatter(item, begin, end, batches=batches)]
    time_s = (end - begin) * receivers / (early + late)
    burst = None if batches else _burst(results, begin, end)
    return Pace(time_s, early / late if late else 0.0, tuple(scatter), burst)


def _steady(arrivals: list[_Arrivals]) -> tuple[float, float]:
    begin, end = max(item.first_s for item in arrivals), min(item.last_s for item in arrivals)
    if begin < end and min(item.busy_rows for item in arrivals) > FEW:
        inner = begin + FIRST * (end - begin), begin + LAST * (end - begin)
        # a stall may be longer than all that it stands between
        if any(item.between(*inner) for item in arrivals):
            return inner
    return 0.0, max(float(item.edges_s[-1]) for item in arrivals)


def _burst(arrivals: list[_Arrivals], begin: float, end: float) -> float | None:
    messages, bursts = 0.0, 0
    for item in arrivals:
        inside = (item.edges_s >= begin) & (item.edges_s <= end)
        counts = np.diff(item.until[inside])
        messages += float(counts.sum())
        bursts += int(np.count_nonzero((counts[1:] > 0) & (counts[:-1] == 0)))
    return messages / bursts if bursts > FEW else None


def _scatter(arrivals: _Arrivals, begin: float, end: float, *, batches: bool) -> Floats:
    inside = (arrivals.edges_s >= begin) & (arrivals.edges_s <= end)
    edges_s, until = arrivals.edges_s[inside], arrivals.until[inside]
    if not batches and len(until) > 1:
        marks = np.linspace(until[0], until[-1], PARTS + 1)
        places = np.unique(np.searchsorted(until, marks))
        edges_s, until = edges_s[places], until[places]
    messages = np.diff(until)
    took = np.diff(edges_s)[messages > 0] / messages[messages > 0]
    logs = np.log(took)
    return np.asarray(logs - logs.mean() if len(logs) else logs, dtype=np.float64)
