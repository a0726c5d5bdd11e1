"""Rates over time as in the figures of the paper: raw samples, and their moving average.

A run may hold a hundred thousand poll intervals, a screen has a thousand pixels. What must
survive the reduction are the bursts, since the largest sample is a published statistic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.report.drawing import DASHES, Drawing, Floats, layout, log_axis, scatter
from dvsim.report.groups import Entry, Group, size_text
from dvsim.study.number_text import number_text
from dvsim.study.summary import column_rates, column_samples, moving_average

if TYPE_CHECKING:
    from dvsim.study.run import Run

PS_PER_S = 1e12
POINTS_PER_TRACE = 4000  # more than a screen is wide
POINTS_PER_PAGE = 200_000  # about 2 MB in the page
AVERAGE_POINTS = 1000
ROOM_BELOW = 5  # a stray sample of one piece must not press everything else together


def column_series(run: Run, column: str, reading: str) -> tuple[Floats, Floats]:
    """Give the rate of one published column over time, from the first replication.

    Iterations that make up the column follow each other on the time axis, as they do in the
    published statistics.

    Args:
        run: The run; its `samples` hold one row per poll interval or batch.
        column: A key of `run.scenario.probe.columns`.
        reading: What is counted.

    Returns:
        time : ndarray of float, shape (n,): Start of each sample, in seconds.
        rate : ndarray of float, shape (n,): Counts per second.
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

    Args:
        time, rate: The series, in order of time.
        limit: Points to keep at most, >= 1.

    Returns:
        time, rate : ndarray of float, shape (min(n, limit),)

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


def points_per_trace(groups: Sequence[Group]) -> int:
    """Share the page's points between raw traces, so that many runs still fit one page."""
    traces = sum(len(entry.columns) for group in groups for entry in group.entries)
    share = POINTS_PER_PAGE // max(traces, 1) - AVERAGE_POINTS
    return min(POINTS_PER_TRACE, max(share, 200))


@dataclass(frozen=True)
class Line:
    """One column over time: its non-empty samples, and their moving average."""

    entry: Entry
    column: str
    dash: str
    raw: tuple[Floats, Floats]
    smooth: tuple[Floats, Floats]
    empty: float

    @property
    def text(self) -> str:
        """The line in words."""
        rate = self.raw[1]
        name = f"{self.entry.label} {self.column}"
        if not len(rate):
            return f"{name}: nothing arrived"
        return (
            f"{name}: {number_text(float(rate.mean()))} {self.entry.reading}/s on average over "
            f"non-empty samples, {number_text(float(rate.max()))} at most, "
            f"{self.empty:.0%} of samples empty"
        )


def lines_of(group: Group) -> list[Line]:
    """Read the samples of every column of a group."""
    lines = []
    for entry in group.entries:
        for index, column in enumerate(entry.columns):
            time, rate = column_series(entry.run, column, entry.reading)
            raw, dash = active(time, rate), DASHES[index % len(DASHES)]
            empty = 1 - len(raw[1]) / len(rate) if len(rate) else 1.0
            lines.append(Line(entry, column, dash, raw, smooth(*raw), empty))
    return lines


def rate_drawing(group: Group, limit: int) -> Drawing:
    """Draw the rates of all runs of one message size over time, raw and smoothed.

    The axis is logarithmic, since bursts and averages lie decades apart. Empty samples have no
    place on it; the text beside the figure says how many there are.

    Args:
        group: Runs of one message size.
        limit: Points of each raw trace at most; each stands for the largest of its neighbours.
    """
    lines = lines_of(group)
    drawn = [line for line in lines if len(line.raw[1])]
    low = min((float(line.smooth[1].min()) for line in drawn), default=10.0) / ROOM_BELOW
    high = max((float(line.raw[1].max()) for line in drawn), default=100.0)
    units = dict.fromkeys(f"{entry.reading}/s" for entry in group.entries)
    x = {"title": "time (s), first replication", "rangemode": "tozero"}
    y = log_axis(low, high) | {"title": " or ".join(units)}
    # the averages come last, to lie on top of every raw line
    traces = [raw_trace(line, limit) for line in drawn] + [smooth_trace(line) for line in drawn]
    name = f"rate-{group.message_bytes}"
    size = size_text(group.message_bytes)
    return Drawing(
        name=name,
        title=size,
        traces=traces,
        looks=layout(400, x, y),
        label=f"Rates over time at {size}. {'; '.join(line.text for line in lines)}.",
        reading=reading_text(group, drawn, limit, low),
    )


def raw_trace(line: Line, limit: int) -> dict[str, Any]:
    """Return the thin line of a column: its non-empty samples, the largest of each bin."""
    look = {"color": line.entry.colour, "width": 0.8}
    points = decimate(*line.raw, limit)
    return line_trace(line, points) | {"line": look, "opacity": 0.35, "showlegend": False}


def smooth_trace(line: Line) -> dict[str, Any]:
    """Return the thick line of a column: the moving average of its non-empty samples."""
    look = {"color": line.entry.colour, "width": 2.2, "dash": line.dash}
    return line_trace(line, thin(*line.smooth, AVERAGE_POINTS)) | {"line": look}


def line_trace(line: Line, points: tuple[Floats, Floats]) -> dict[str, Any]:
    """Return what the raw line and the smoothed line of a column have in common."""
    name = f"{line.entry.label} {line.column}"
    shown = f"%{{x:.3f}} s: %{{y:,.0f}} {line.entry.reading}/s<extra>{escape(name)}</extra>"
    return scatter(name, *points, "lines", legendgroup=escape(name), hovertemplate=shown)


def reading_text(group: Group, drawn: Sequence[Line], limit: int, low: float) -> str:
    """Say in two sentences how to read the figure, and then what was left out of it."""
    if not drawn:
        return "Nothing arrived in these runs, so there is nothing to draw."
    windows = sorted(average_window(len(line.raw[1])) for line in drawn)
    window = " to ".join(str(number) for number in dict.fromkeys((windows[0], windows[-1])))
    counted = "; ".join(counting_text(entry) for entry in group.entries)
    text = (
        "Each thin line joins the samples in which something arrived, and the thick line of its "
        f"colour is their moving average over {window} such samples; empty samples have no place "
        "on a logarithmic axis. "
        f"Two heights compare only where both count the same thing: {counted}."
    )
    if any(len(line.raw[1]) > limit for line in drawn):
        text += (
            f" Lines of more than {limit:,} samples show the largest of each of {limit:,} bins: "
            "every burst stays visible, weaker samples between bursts do not."
        )
    if any(line.raw[1].min() < low for line in drawn):
        text += " Thin lines that leave the figure at the bottom reach down to weaker samples."
    return text


def counting_text(entry: Entry) -> str:
    """Say what a run counts and how much of the time it counts nothing."""
    shares = [entry.value(column, entry.reading, "empty") for column in entry.columns]
    known = [share for share in shares if share is not None]
    empty = f", with {sum(known) / len(known):.0%} of samples empty" if any(known) else ""
    return f"{entry.label} counts {entry.reading}{empty}"
