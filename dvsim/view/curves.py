"""Metrics over what was varied: lines with the interval as a band, theory dashed."""

from __future__ import annotations

from typing import Any

from dvsim.view.axes import Group, Mark, Sweep
from dvsim.view.figure import (
    GREY,
    Axis,
    Figure,
    frame_of,
    lines,
    log_axis,
    reading,
)
from dvsim.view.metrics import SLOTS, metric_text, name_of, unit_of

SPREAD = 8  # largest by smallest value from which on their axis is logarithmic
WIDE = ("msg/s", "MB/s", "Mb/s", "ns", "us", SLOTS)  # units of what may span decades
FLOOR = 0.5  # a value that never falls below this share of its largest needs no zero on its axis
MOST_GROUPS = 6  # of which the stages are drawn, each in a figure


def curve_figures(sweep: Sweep, name: str) -> list[Figure]:
    """Draw every metric of a study that says something over the key along the axis.

    Args:
        sweep: The study in order; one that varied nothing has no curve.
        name: Start of the identifiers of the figures.
    """
    if sweep.key is None:
        return []
    return [curve_figure(sweep, metric, f"{name}-{metric}") for metric in sweep.study.drawn]


def curve_figure(sweep: Sweep, metric: str, name: str) -> Figure:
    """Draw one metric; beside the mean latency stands its 99 % quantile."""
    rows: list[dict[str, Any]] = []
    for group in sweep.groups:
        rows += rows_of(sweep, group, metric)
        if metric == "mean_latency":
            rows += [row | {"part": "99 %"} for row in rows_of(sweep, group, "p99")]
    for theory in sweep.theories(metric):
        part, _, rest = theory.name.partition(", ")
        line = theory.owner.name if theory.owner else rest or part
        look = {} if theory.owner else {"colour": GREY}
        rows += [
            {"line": line, "part": part, "x": _place(sweep, x), "y": y} | look
            for x, y in theory.course
        ]
    ends = [sweep.place(point) for group in sweep.groups for point in group.points]
    rows += [
        {"line": text, "part": "level", "x": _place(sweep, x), "y": value, "colour": GREY}
        for value, text in sweep.study.levels(metric, sweep.key)
        for x in (min(ends), max(ends))
    ]
    return swept_figure(sweep, metric, name, rows)


def swept_figure(sweep: Sweep, metric: str, name: str, rows: list[dict[str, Any]]) -> Figure:
    """Return a figure of rows of a metric over the key of a sweep."""
    study = sweep.study
    frame = frame_of(rows)
    heading = name_of(study, metric)
    heading = heading[0].upper() + heading[1:]
    count, shape = study.replications, "bands" if sweep.joined else "bars"
    interval = (
        "one replication gives no interval"
        if count == 1
        else f"{shape} are the 95 % interval over {count} replications"
    )
    title = f"{heading} against {sweep.key}"
    x, y = x_axis(sweep), y_axis(sweep, metric, [float(v) for v in frame["y"]])
    chart = lines(frame, x, y, joined=sweep.joined, bands=sweep.joined, beside=not sweep.numeric)
    weak = reading("unsettled") * (not sweep.settled)
    weak += reading("saturated") * bool((frame["part"] == "saturated").any())
    what = study.metric(metric).reading or heading
    told = reading("curve", what=what, interval=interval, weak=weak)
    heads = {"line": "line", "part": "part", "x": x.title, "y": y.title or metric}
    return Figure(name, title, frame, chart, told, heads=heads | {"low": "low", "high": "high"})


def rows_of(sweep: Sweep, group: Group, metric: str) -> list[dict[str, Any]]:
    """Return a metric along a line; what is saturated is a part of its own."""
    study = sweep.study

    def row(mark: Mark) -> dict[str, Any]:
        apart = mark.low < mark.high
        text = metric_text(study, metric, mark.value, mark.half)
        return {
            "line": group.name or name_of(study, metric),
            "part": "saturated" if mark.point in sweep.saturated else "simulated",
            "x": _place(sweep, mark.x),
            "y": mark.value,
            "low": mark.low if apart else float("nan"),
            "high": mark.high if apart else float("nan"),
            "open": int(sweep.weak(mark)),
            "text": f"{sweep.value_text(mark.point)}: {text}{sweep.standing(mark)}",
        }

    return [row(mark) for mark in sweep.marks(group, metric)]


def _place(sweep: Sweep, x: float) -> float | str:
    return x if sweep.numeric else sweep.text(sweep.key, sweep.values[int(x)])


def x_axis(sweep: Sweep) -> Axis:
    """Return the axis of the key: logarithmic for doublings, names where it has no numbers."""
    key = str(sweep.key)
    order = sweep.study.kind.orders.get(key)
    unit = sweep.study.key_units.get(key, "")
    named = f"{key} ({unit})" if unit and sweep.numeric and key != "message_bytes" else key
    named = ", ".join([named, *(f"with {name}" for name in sweep.companions)])
    title = (order and order.title) or named
    if not sweep.numeric:
        return Axis(title, "names")
    form = "bytes" if key == "message_bytes" else ""
    if sweep.logarithmic:
        ends = [float(value) for value in sweep.values]
        return Axis(title, "log", form, ends=(ends[0] / 1.1, ends[-1] * 1.1))
    return Axis(title, form=form, zero=key == "load")


def y_axis(sweep: Sweep, metric: str, values: list[float]) -> Axis:
    """Return the axis of a metric: from zero, but for what would be squeezed there."""
    unit = unit_of(sweep.study, metric)
    low, high = min(values, default=0.0), max(values, default=1.0)
    title = f"latency ({unit})" if unit == SLOTS else unit
    if unit in WIDE and low > 0 and high > SPREAD * low:
        return log_axis(title, values)
    return Axis(title, zero=not low > FLOOR * high)


def stage_figures(sweep: Sweep, name: str) -> list[Figure]:
    """Draw the utilisation of each stage along the first lines of a study."""
    if "stages" not in sweep.tables or sweep.key is None:
        return []
    figures = []
    for group in sweep.groups[:MOST_GROUPS]:
        table = sweep.tables["stages"]
        busy = {
            (str(stage), int(point)): float(share)
            for stage, point, share in zip(
                table["stage"], table["point"], table["utilisation"], strict=True
            )
        }
        frame = frame_of(
            {"line": stage, "x": _place(sweep, sweep.place(point)), "y": busy[stage, point]}
            for stage in dict.fromkeys(stage for stage, _ in busy)
            for point in group.points
            if (stage, point) in busy
        )
        y = Axis("share of the time at work", ends=(0, 1.02))
        title = f"Stages{f', {group.name}' * bool(group.name)}"
        chart = lines(frame, x_axis(sweep), y, joined=sweep.numeric)
        heads = {"line": "stage", "x": str(sweep.key), "y": "utilisation"}
        number = f"{name}-stages-{group.number}"
        figures.append(Figure(number, title, frame, chart, reading("stages"), heads=heads))
    return figures


def bottlenecks_text(sweep: Sweep) -> str:
    """Say which stages limit how many points."""
    table = sweep.tables["stages"].sort_values("utilisation", kind="stable", ascending=False)
    count = table.drop_duplicates("point").sort_values("point")["stage"].value_counts(sort=False)
    parts = [f"{stage} at {number} of {sweep.count}" for stage, number in count.items()]
    return f"Busiest stage: {', '.join(parts)} points."
