"""Samples as lines on a screen: the rate of a column over time, smoothed and decimated.

A run may hold a hundred thousand poll intervals, a screen has a thousand pixels. What must
survive the reduction are the bursts, since the largest sample is a published statistic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dvsim.study.summary import column_rates, column_samples, moving_average

if TYPE_CHECKING:
    from dvsim.study.run import Run

Floats = npt.NDArray[np.float64]

PS_PER_S = 1e12


def column_series(run: Run, column: str, reading: str) -> tuple[Floats, Floats]:
    """Give the rate of one published column over time, from the first replication.

    Iterations that make up the column follow each other on the time axis, as they do in the
    published statistics.

    Parameters
    ----------
    run : Run
        The run; its `samples` hold one row per poll interval or batch.
    column : str
        A key of `run.scenario.probe.columns`.
    reading : {"pieces", "messages"}
        What is counted.

    Returns
    -------
    time : ndarray of float, shape (n,)
        Start of each sample, in seconds.
    rate : ndarray of float, shape (n,)
        Counts per second.
    """
    for _, rows in column_samples(run.samples, run.scenario.probe.columns[column]):
        start = rows["start_ps"].to_numpy(dtype=np.float64) / PS_PER_S
        end = start + rows["duration_ps"].to_numpy(dtype=np.float64) / PS_PER_S
        begins = np.diff(rows["iteration"].to_numpy(), prepend=-1) != 0
        # an iteration begins where the one before it ended
        lengths = np.maximum.reduceat(end, np.flatnonzero(begins))
        offsets = np.concatenate(([0.0], np.cumsum(lengths)[:-1]))
        return start + offsets[np.cumsum(begins) - 1], column_rates(rows, reading)
    return np.empty(0), np.empty(0)


def active(time: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Keep the samples in which something arrived."""
    mask = rate > 0
    return time[mask], rate[mask]


def decimate(time: Floats, rate: Floats, limit: int) -> tuple[Floats, Floats]:
    """Reduce to at most `limit` points: the largest sample of each of `limit` equal bins.

    Bins hold equal numbers of consecutive samples (to within one). Each kept point is a real
    sample at its real time, and the overall maximum is always among them.

    Parameters
    ----------
    time, rate : ndarray of float, shape (n,)
        The series, in order of time.
    limit : int
        Points to keep at most, >= 1.

    Returns
    -------
    time, rate : ndarray of float, shape (min(n, limit),)

    Examples
    --------
    >>> import numpy as np
    >>> t, r = decimate(np.arange(6.0), np.array([1.0, 9.0, 2.0, 2.0, 0.0, 7.0]), 3)
    >>> t.tolist(), r.tolist()
    ([1.0, 2.0, 5.0], [9.0, 2.0, 7.0])
    """
    size = len(rate)
    if size <= limit:
        return time, rate
    edges = (np.arange(limit + 1) * size) // limit
    width = int(np.diff(edges).max())
    index = edges[:-1, None] + np.arange(width)
    inside = index < edges[1:, None]
    table = np.where(inside, rate[np.minimum(index, size - 1)], -np.inf)
    keep = edges[:-1] + table.argmax(axis=1)
    return time[keep], rate[keep]


def smooth(time: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Average over a window of active samples; each average stands at its samples' mean time.

    Only whole windows count, so that the ends are as well averaged as the middle.
    """
    if not len(rate):
        return time, rate
    window = average_window(len(rate))
    return moving_average(time, window), moving_average(rate, window)


def average_window(samples: int) -> int:
    """Choose the window of the moving average: 2 % of the active samples, but 5 to 200 of them.

    The paper says that its plots show a moving average over active polls, not over how many.
    """
    return min(max(samples // 50, 5), 200)


def thin(time: Floats, rate: Floats, limit: int) -> tuple[Floats, Floats]:
    """Keep at most `limit` evenly spread points of a smooth line, first and last included."""
    if len(rate) <= limit:
        return time, rate
    keep = np.linspace(0, len(rate) - 1, limit).round().astype(np.intp)
    return time[keep], rate[keep]
