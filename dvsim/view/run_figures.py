"""Figures of runs: rates over time, quantiles beside what was published, rates over sizes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.scenario.sampled import Path
from dvsim.study.number_text import Amount
from dvsim.table.samples import column_rates, column_samples, moving_average
from dvsim.view.figure import (
    COLOURS,
    GREY,
    Axis,
    Figure,
    Floats,
    colour,
    frame_of,
    lines,
    log_axis,
    log_axis_with_zero,
    reading,
)
from dvsim.view.groups import Entry, Group, paths_of, size_text, transport_text
from dvsim.view.published import Rows, verdicts_on

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation
    from dvsim.table.result import Result

PS_PER_S = 1e12
POINTS_PER_LINE = 1000  # as many as a screen is wide
POINTS_PER_PAGE = 12_000  # about 300 kB in the page
AVERAGE_POINTS = 200
STATISTICS = ("mean", "25%", "50%", "75%", "90%", "95%", "99%", "max")
PARTS = ("simulated", "second", "third")  # strokes of the columns of a run


def column_series(run: Result, column: str, reading: str) -> tuple[Floats, Floats]:
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
    for _, rows in column_samples(run.sides["samples"], run.scenario.probe.columns[column]):
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
    return time[rate > 0], rate[rate > 0]


def decimate(time: Floats, rate: Floats, limit: int) -> tuple[Floats, Floats]:
    """Reduce to at most `limit` points: the largest sample of each of `limit` equal bins.

    Bins hold equal numbers of consecutive samples (to within one). Each kept point is a real
    sample at its real time, and the overall maximum is always among them: bursts are published.

    >>> import numpy as np
    >>> t, r = decimate(np.arange(6.0), np.array([1.0, 9.0, 2.0, 2.0, 0.0, 7.0]), 3)
    >>> t.tolist(), r.tolist()
    ([1.0, 2.0, 5.0], [9.0, 2.0, 7.0])
    """
    size = len(rate)
    if size <= limit:
        return time, rate
    edges = (np.arange(limit + 1) * size) // limit
    keep = np.array([a + int(rate[a:b].argmax()) for a, b in pairwise(edges.tolist())])
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


def points_per_line(groups: Sequence[Group]) -> int:
    """Share the page's points between lines, so that many runs still fit one page."""
    count = sum(len(entry.columns) for group in groups for entry in group.entries)
    return min(POINTS_PER_LINE, max(POINTS_PER_PAGE // max(count, 1) - AVERAGE_POINTS, 60))


def rate_figure(group: Group, limit: int = POINTS_PER_LINE) -> Figure:
    """Draw the rates of all runs of one message size over time, raw and smoothed.

    The axis is logarithmic, since bursts and averages lie decades apart. Empty samples have no
    place on it; their share stands beside the name of the line.

    Args:
        group: Runs of one message size.
        limit: Points of each raw line at most; each stands for the largest of its neighbours.
    """
    import altair as alt

    rows, windows = [], set()
    for entry in group.entries:
        for index, column in enumerate(entry.columns):
            time, rate = column_series(entry.run, column, entry.reading)
            raw = active(time, rate)
            if not len(raw[1]):
                continue
            empty = 1 - len(raw[1]) / len(rate)
            line = f"{entry.label} {column}, {empty:.0%} empty"
            windows.add(average_window(len(raw[1])))
            look = {"line": line, "colour": entry.colour if not index else None}
            for part, (times, rates) in (
                ("samples", decimate(*raw, limit)),
                ("moving average", thin(*smooth(*raw), AVERAGE_POINTS)),
            ):
                rows += [
                    look | {"part": part, "x": a, "y": b}
                    for a, b in zip(_short(times), _short(rates), strict=True)
                ]
    units = dict.fromkeys(f"{entry.reading}/s" for entry in group.entries)
    size = size_text(group.message_bytes)
    frame = frame_of(rows)
    y = log_axis(" or ".join(units), frame["y"])
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=Axis("time (s), first replication", zero=True).channel(alt.X, "x"),
        y=y.channel(alt.Y, "y"),
        color=colour(frame),
    )
    samples = base.transform_filter("datum.part == 'samples'").mark_circle(size=9, opacity=0.35)
    average = base.transform_filter("datum.part != 'samples'").mark_line(strokeWidth=2.4)
    chart = alt.layer(samples, average).properties(width="container", height=340)
    counted = "; ".join(f"{entry.label} counts {entry.reading}" for entry in group.entries)
    window = (
        " to ".join(str(number) for number in dict.fromkeys((min(windows), max(windows))))
        if windows
        else ""
    )
    told = (
        reading("rates", limit=limit, window=window, counted=counted)
        if rows
        else reading("rates_none")
    )
    averages = frame[frame["part"] != "samples"].assign(part="simulated")
    said = "; ".join(
        f"{line}: moving average {own['y'].min():,.4g} to {own['y'].max():,.4g}"
        for line, own in averages.groupby("line", sort=False)
    )
    words = f"Rates over time at {size}, {y.title}. {said or 'Nothing arrived'}."
    heads = {"line": "line", "part": "part", "x": "time (s)", "y": y.title}
    return Figure(f"rate-{group.message_bytes}", size, frame, chart, told, words, heads)


def _short(values: Floats) -> list[float]:
    return [float(f"{value:.5g}") for value in values.tolist()]


def quantile_figure(entry: Entry, published: Rows, name: str) -> Figure:
    """Draw the mean and the quantiles of every column of one run.

    Args:
        entry: The run.
        published: Comparisons with published values; those of other runs are ignored.
        name: Identifier of the figure.
    """
    scenario = entry.run.scenario.name
    printed: Rows = published if entry.judged else {}
    rows: list[dict[str, Any]] = []
    for index, column in enumerate(entry.columns):
        look = {"line": column, "colour": entry.colour if not index else None}
        for statistic in STATISTICS:
            found = entry.estimate(column, entry.reading, statistic)
            if found is None:
                continue
            rows.append(
                look | {"part": entry.made, "x": statistic, "y": found.value}
                | {"low": found.low, "high": found.high}
            )  # fmt: skip
            if (known := printed.get((scenario, column, statistic))) is not None:
                told = {"part": "published", "x": statistic, "y": known.published, "open": 1}
                rows.append(look | told)
    frame = frame_of(rows)
    y = log_axis_with_zero(f"{entry.reading}/s", frame["y"])
    size = size_text(entry.run.scenario.workload.message_bytes)
    drawn = frame.assign(value=frame["y"])
    for column in ("y", "low", "high"):
        drawn[column] = drawn[column].clip(lower=y.floor)
    chart = lines(drawn, Axis("", "names"), y, joined=False, beside=True)
    title = f"{size}, {entry.label}"
    heads = {"line": "column", "part": "part", "x": "statistic", "value": y.title}
    heads |= {"low": "low", "high": "high"}
    return Figure(name, title, drawn, chart, reading("quantiles", made=entry.made), heads=heads)


def qq_figures(groups: Sequence[Group], validation: Validation | None, rows: Rows) -> list[Figure]:
    """Draw one figure for each transport that was compared with published columns."""
    if validation is None:
        return []
    return [
        qq_figure(found, f"qq-{path.short}", path.label, f"{path.readings[0]}/s")
        for path in paths_of(groups)
        if (found := columns_of(groups, validation, rows, path))
    ]


def columns_of(
    groups: Sequence[Group], validation: Validation, rows: Rows, path: Path
) -> list[tuple[str, int, list[Any]]]:
    """Give each judged column: its name, the number of its size, its statistics above zero."""
    found = []
    for number, group in enumerate(groups):
        for entry in group.entries:
            if entry.path != path:
                continue
            for column in verdicts_on(entry, validation):
                keys = [(entry.run.scenario.name, column, statistic) for statistic in STATISTICS]
                chosen = [rows[key] for key in keys if key in rows]
                chosen = [row for row in chosen if row.published > 0 and row.simulated > 0]
                if chosen:
                    found.append((f"{size_text(group.message_bytes)} {column}", number, chosen))
    return found


def qq_figure(
    columns: Sequence[tuple[str, int, list[Any]]], name: str, title: str, unit: str
) -> Figure:
    """Draw the statistics of some columns on two equal logarithmic axes."""
    every = [row for _, _, rows in columns for row in rows]
    ends = [value for row in every for value in (row.published, row.simulated)]
    x = log_axis(f"published, {unit}", ends)
    y = log_axis(f"simulated, {unit}", ends)
    judged = [row for row in every if row.verdict != "info"]
    widest = max((row.tolerance for row in judged), default=0.0)
    passed = sum(row.verdict == "pass" for row in judged)
    worst = max(every, key=lambda row: abs(row.log_error))
    found = (
        f"{passed} of {len(judged)} statistics with a declared tolerance are within it; the "
        f"furthest from the line is {worst.statistic} of {size_text(worst.message_bytes)} "
        f"{worst.column}, simulated {worst.simulated / worst.published:.2f} times what was "
        "published"
    )
    frame = frame_of(
        {
            "line": f"{label}, {own[0].split}",
            "x": row.published,
            "y": row.simulated,
            "low": row.low if isfinite(row.low) else row.simulated,
            "high": row.high if isfinite(row.high) else row.simulated,
            "open": int(own[0].split == "fitted"),
            "text": f"{row.statistic}: {row.simulated:,.4g} for {row.published:,.4g}",
            "colour": COLOURS[number % len(COLOURS)],
        }
        for label, number, own in columns
        for row in own
    )
    chart = lines(frame, x, y, joined=False, height=400, under=equality(x, y, widest))
    told = reading("qq", widest=widest, found=found)
    words = f"Q-Q of {len(every)} statistics, {title}, in {unit}. {found}."
    heads = {"line": "column", "text": "statistic", "x": "published", "y": "simulated"}
    heads |= {"low": "low", "high": "high"}
    full = f"{title}: simulated against published"
    return Figure(name, full, frame, chart, told, words, heads)


def equality(x: Axis, y: Axis, tolerance: float = 0.0) -> list[Any]:
    """Return the line on which both axes are equal, and the area within a tolerance."""
    import altair as alt

    low, high = x.ends or (1.0, 10.0)
    factor = 1 + tolerance
    values = [
        {"x": end, "y": end, "low": end / factor, "high": end * factor} for end in (low, high)
    ]
    base = alt.Chart(alt.Data(values=values)).encode(x=x.channel(alt.X, "x"))
    area = base.mark_area(opacity=0.16, color=GREY, clip=True)
    line = base.mark_line(color=GREY, strokeDash=[5, 4], strokeWidth=1.5)
    return [
        area.encode(y=y.channel(alt.Y, "low"), y2="high:Q"),
        line.encode(y=y.channel(alt.Y, "y")),
    ]


def scaling_figures(groups: Sequence[Group], published: Rows) -> list[Figure]:
    """Draw how rates change with the size of a message; nothing where there is one size."""
    courses = lines_of(groups) if len(groups) > 1 else {}
    if not courses:
        return []
    rows: dict[str, list[dict[str, Any]]] = {"printed": [], "messages": [], "bytes": []}
    for label, entries in courses.items():
        own = entries[0][1].colour
        for size, entry in entries:
            for index, column in enumerate(entry.columns):
                look = {"line": f"{label} {column}", "x": size, "colour": None if index else own}
                mean = entry.estimate(column, entry.reading, "mean")
                key = (entry.run.scenario.name, column, "mean")
                if entry.judged and key in published:
                    beside = {"part": "published", "y": published[key].published, "open": 1}
                    rows["printed"].append(look | beside)
                if mean is not None:
                    ends = {"low": mean.low, "high": mean.high}
                    rows["printed"].append(look | {"y": mean.value} | ends)
            if entry.run.headline().values:
                for name, value in (("messages", entry.run.rate), ("bytes", megabytes(entry.run))):
                    ends = {"low": value.low, "high": value.high}
                    look = {"line": label, "x": size, "y": value.value, "colour": own}
                    rows[name].append(look | ends)
    titles = {
        "printed": ("Mean rates as printed", "pieces/s or messages/s"),
        "messages": ("Whole messages, all receivers", "messages/s"),
        "bytes": ("Bytes of messages, all receivers", "MB/s"),
    }
    sizes = [float(group.message_bytes) for group in groups]
    x = Axis("size of a message", "log", "bytes", ends=(min(sizes) / 1.3, max(sizes) * 1.3))
    figures = []
    for name, (title, unit) in titles.items():
        frame = frame_of(row for row in rows[name] if row["y"] > 0)
        chart = lines(frame, x, log_axis(unit, frame["y"]))
        told = reading(f"scaling_{name}")
        heads = {"line": "line", "part": "part", "x": x.title, "y": unit}
        heads |= {"low": "low", "high": "high"}
        figures.append(Figure(f"scaling-{name}", title, frame, chart, told, heads=heads))
    return figures


def megabytes(run: Result) -> Amount:
    """Give the payload rate of a run in MB/s."""
    rate = run.amount("payload_rate")
    return Amount(rate.value / 1e6, rate.low / 1e6, rate.high / 1e6, "MB/s")


def lines_of(groups: Sequence[Group]) -> dict[str, list[tuple[int, Entry]]]:
    """Give runs that differ in the size of a message only, by what they have in common.

    That is what was varied or their transport, with the start of their names where several share
    it.
    """
    found: dict[tuple[str, str], dict[int, Entry]] = {}
    for group in groups:
        for entry in group.entries:
            start = entry.run.scenario.name.removesuffix(f"-{group.message_bytes}")
            varied = entry.run.scenario.whatif
            called = transport_text(entry.run) if varied is None else varied.says
            line = found.setdefault((called, start), {})
            line[group.message_bytes] = entry  # of runs of one scenario the last, as on the page
    found = {key: line for key, line in found.items() if len(line) > 1}
    every = [called for called, _ in found]
    return {
        called if every.count(called) == 1 else f"{called}, {start}": list(line.items())
        for (called, start), line in found.items()
    }
