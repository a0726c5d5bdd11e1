"""Metrics over what was varied: lines with the interval as a band, theory dashed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log
from typing import Any

from dvsim.report.axes import Group, Mark, Sweep, Theory
from dvsim.report.drawing import GREY, Drawing, layout, log_axis, marker, rgb, scatter, tall
from dvsim.report.groups import size_text
from dvsim.report.metrics import SLOTS, metric_text, name_of, unit_of
from dvsim.study.number_text import number_text

SPREAD = 8  # largest by smallest latency from which on their axis is logarithmic
WIDE = ("msg/s", "MB/s", "Mb/s", "ns", "us")  # units of what may span decades, likewise
FLOOR = 0.5  # a rate that never falls below this share of its largest needs no zero on its axis
MOST_LETTERS = 40  # of names that stand in one line
MOST_TICKS = 6  # gaps between names on an axis half a screen wide
BESIDE = 0.6  # of the room of a value, for marks that stand side by side


def curve_drawings(sweep: Sweep, name: str) -> list[Drawing]:
    """Draw every metric of a study that says something over the key along the axis.

    Args:
        sweep: The study in order; one that varied nothing has no curve.
        name: Start of the identifiers of the figures.
    """
    if sweep.key is None:
        return []
    return [curve_drawing(sweep, metric, f"{name}-{metric}") for metric in sweep.study.drawn]


def curve_drawing(sweep: Sweep, metric: str, name: str) -> Drawing:
    """Draw one metric; beside the mean latency stands its 99 % quantile."""
    lines = [(group, sweep.marks(group, metric)) for group in sweep.groups]
    lines = [(group, marks) for group, marks in lines if marks]
    traces: list[dict[str, Any]] = []
    theories = sweep.theories(metric)
    tails = []
    if metric == "mean_latency":
        tails = [(group, sweep.marks(group, "p99")) for group, _ in lines]
    for group, marks in lines:
        if sweep.joined:
            traces += band(group, sides(sweep, marks)[0])
    for group, marks in tails:
        traces += simulated(sweep, group, marks, "p99")
    traces += [theory_trace(sweep, theory) for theory in theories]
    for group, marks in lines:
        traces += simulated(sweep, group, marks, metric)
    published = sweep.study.levels(metric, sweep.key)
    traces += [level(sweep, value, text) for value, text in published]
    drawn = [mark.value for _, marks in [*lines, *tails] for mark in marks]
    drawn += [value for theory in theories for _, value in theory.course]
    drawn += [value for value, _ in published]
    entries = len(lines) + len(published) + sum(theory.owner is None for theory in theories)
    looks = layout(tall(entries), x_axis(sweep), y_axis(sweep, metric, drawn))
    return Drawing(
        name=name,
        title=f"{heading(sweep, metric)} against {sweep.key}",
        traces=traces,
        looks=looks,
        label=label_text(sweep, metric, lines),
        reading=reading_text(
            sweep, metric, [theory.name for theory in theories], published=bool(published)
        ),
    )


def band(group: Group, marks: Sequence[Mark]) -> list[dict[str, Any]]:
    """Return the interval over replications as an area; none where there is no interval."""
    if all(mark.low == mark.high for mark in marks):
        return []
    back = list(reversed(marks))
    shade = f"rgba({', '.join(str(part) for part in rgb(group.colour))}, 0.2)"
    trace = scatter(
        "",
        [mark.x for mark in (*marks, *back)],
        [mark.high for mark in marks] + [mark.low for mark in back],
        "lines",
        line={"width": 0},
        fill="toself",
        fillcolor=shade,
        hoverinfo="skip",
        showlegend=False,
        legendgroup=f"g{group.number}",
    )
    del trace["name"]
    return [trace]


def heading(sweep: Sweep, metric: str) -> str:
    """Name a metric at the beginning of a sentence."""
    name = name_of(sweep.study, metric)
    return name[0].upper() + name[1:]


def sides(sweep: Sweep, marks: Sequence[Mark]) -> tuple[list[Mark], list[Mark]]:
    """Return the marks that make the line, and those that are saturated."""
    apart = [mark for mark in marks if mark.point in sweep.saturated]
    return [mark for mark in marks if mark.point not in sweep.saturated], apart


def simulated(
    sweep: Sweep, group: Group, marks: Sequence[Mark], metric: str
) -> list[dict[str, Any]]:
    """Give a line with a mark at every point, and apart from it the points that are saturated."""
    line, apart = sides(sweep, marks)
    traces = [line_trace(sweep, group, line, metric)] if line or not apart else []
    if apart:
        beyond = line_trace(sweep, group, apart, metric)
        beyond["line"] = beyond["line"] | {"width": 1, "dash": "dot"}
        beyond["error_y"] = error_bars(apart)
        shown = not traces and beyond["showlegend"]
        traces.append(beyond | {"name": f"{beyond['name']}, saturated", "showlegend": shown})
    return traces


def line_trace(sweep: Sweep, group: Group, marks: Sequence[Mark], metric: str) -> dict[str, Any]:
    """Return a line with a mark at every point, open where the run has not settled."""
    study = sweep.study
    tail = metric == "p99"
    named = filter(None, [group.name, "99 %" if tail else ""])
    name = ", ".join(named) or name_of(study, metric)
    symbols = [group.symbol + "-open" * sweep.weak(mark) for mark in marks]
    width, dash = (1.2, "dot") if tail else (2.2, "solid")
    texts = [
        f"{sweep.value_text(mark.point)}: {metric_text(study, metric, mark.value, mark.half)}"
        + sweep.standing(mark)
        for mark in marks
    ]
    trace = scatter(
        name,
        [mark.x + shift(sweep, group) for mark in marks],
        [mark.value for mark in marks],
        "lines+markers" if sweep.joined else "markers",
        legendgroup=f"g{group.number}",
        line={"color": group.colour, "width": width, "dash": dash},
        marker=marker(group.colour, 5 if tail else 8, symbols),
        text=[escape(text) for text in texts],
        hovertemplate=f"%{{text}}<extra>{escape(name)}</extra>",
        showlegend=not tail,
    )
    if not sweep.joined:
        trace["error_y"] = error_bars(marks)
    return trace


def error_bars(marks: Sequence[Mark]) -> dict[str, Any]:
    """Give the intervals of marks as bars."""
    return {"type": "data", "array": [mark.half for mark in marks], "width": 4}


def theory_trace(sweep: Sweep, theory: Theory) -> dict[str, Any]:
    """Return what theory says: dashed, in the colour of its line, or grey if it has none."""
    owner = theory.owner
    colour = GREY if owner is None else owner.colour
    moved = 0.0 if owner is None else shift(sweep, owner)
    trace = scatter(
        theory.name,
        [x + moved for x, _ in theory.course],
        [value for _, value in theory.course],
        "lines" if sweep.numeric and len(theory.course) > 1 else "markers",
        line={"color": colour, "width": 1.8, "dash": "dash"},
        marker={"color": colour, "size": 20, "symbol": "line-ew-open", "line": {"width": 2}},
        hovertemplate=f"%{{y:.4g}}<extra>{escape(theory.name)}</extra>",
    )
    if owner is None:
        return trace
    return trace | {"legendgroup": f"g{owner.number}", "showlegend": False}


def level(sweep: Sweep, value: float, text: str) -> dict[str, Any]:
    """Return a published level: a long-dashed grey line from end to end."""
    places = [sweep.place(point) for group in sweep.groups for point in group.points]
    ends = [min(places), max(places)]
    look = {"color": GREY, "width": 1.5, "dash": "longdashdot"}
    shown = f"{value:.4g}<extra>{escape(text)}</extra>"
    return scatter(text, ends, [value, value], "lines", line=look, hovertemplate=shown)


def shift(sweep: Sweep, group: Group) -> float:
    """Set marks of one value side by side, where the values are no numbers."""
    if sweep.numeric:
        return 0.0
    count = len(sweep.groups)
    return (group.number - (count - 1) / 2) * BESIDE / count


def x_axis(sweep: Sweep) -> dict[str, Any]:
    """Give the axis of the key: logarithmic for doublings, names where it has no numbers."""
    key = str(sweep.key)
    order = sweep.study.kind.orders.get(key)
    named = ", ".join([key, *(f"with {name}" for name in sweep.companions)])
    title = (order and order.title) or named
    axis: dict[str, Any] = {"title": title}
    texts = [escape(sweep.text(key, value)) for value in sweep.values]
    if not sweep.numeric:
        edge = len(texts) - 0.5
        return axis | {
            "tickvals": list(range(len(texts))),
            "ticktext": texts,
            "range": [-0.5, edge],
            # a slanted name ends at its place, so that the last one does not leave the figure
            "tickangle": -40 if sum(map(len, texts)) > MOST_LETTERS else 0,
        }
    if key == "load":
        return axis | {"rangemode": "tozero"}
    return axis | ({"type": "log"} if sweep.logarithmic else {}) | spaced_ticks(sweep)


def spaced_ticks(sweep: Sweep) -> dict[str, Any]:
    """Give names to the values on the axis, to as many as stand there without touching."""
    values = [float(value) for value in sweep.values]
    sizes = sweep.key == "message_bytes"
    texts = [size_text(int(value)) if sizes else sweep.text(sweep.key, value) for value in values]
    places = [log(value) for value in values] if sweep.logarithmic else values
    letters = max(map(len, texts)) + 2
    apart = (places[-1] - places[0]) * min(1.0, max(letters / MOST_LETTERS, 1 / MOST_TICKS))
    shown = [0]
    for number, at in enumerate(places):
        if at - places[shown[-1]] >= apart:
            shown.append(number)
    return {
        "tickvals": [sweep.values[number] for number in shown],
        "ticktext": [escape(texts[number]) for number in shown],
        "tickangle": 0,
    }


def y_axis(sweep: Sweep, metric: str, values: Sequence[float]) -> dict[str, Any]:
    """Give the axis of a metric: from zero, but for what would be squeezed there."""
    unit = unit_of(sweep.study, metric)
    low, high = min(values, default=0.0), max(values, default=1.0)
    if unit in WIDE and low > 0 and high > SPREAD * low:
        return log_axis(low / 1.15, high * 1.15) | {"title": unit}
    if unit == SLOTS and low > 0 and high > SPREAD * low:
        return log_axis(low / 1.15, high * 1.15) | {"title": f"latency ({unit})"}
    title = f"latency ({unit})" if unit == SLOTS else unit
    squeezed = low > FLOOR * high
    return {"title": title} | ({} if squeezed else {"rangemode": "tozero"})


def label_text(sweep: Sweep, metric: str, lines: Sequence[tuple[Group, Sequence[Mark]]]) -> str:
    """Say what a figure shows, for those who cannot see it."""
    parts = []
    for group, marks in lines:
        ends = [marks[0]] if len(marks) == 1 else [marks[0], marks[-1]]
        text = " to ".join(
            f"{number_text(mark.value)} at {sweep.value_text(mark.point)}" for mark in ends
        )
        parts.append(f"{group.name}: {text}" if group.name else text)
    return f"{heading(sweep, metric)} against {sweep.key}. {'; '.join(parts)}."


def reading_text(sweep: Sweep, metric: str, theories: Sequence[str], published: bool) -> str:
    """Say in two sentences how to read the figure, and in more which points are weak."""
    count = sweep.study.replications
    shape = "bands" if sweep.joined else "bars"
    interval = (
        "one replication gives no interval"
        if count == 1
        else f"{shape} are the 95 % interval over {count} replications"
    )
    weak = " Open marks have not settled: there the value depends on how long the run was."
    beyond = " Marks beyond the end of a line are saturated: they deliver less than is offered."
    dashed = " and ".join(dict.fromkeys(name.partition(",")[0] for name in theories))
    beside = [f"dashed is {dashed}, computed without simulating the switch"] * bool(theories)
    beside += ["dash-dotted grey is what was published"] * published
    second = "; ".join(beside or ["nothing stands beside it: marks are simulated, lines join them"])
    first = f"{sweep.study.metric(metric).reading or heading(sweep, metric)}; {interval}."
    return (
        f"{first} {second[0].upper()}{second[1:]}."
        f"{weak * (not sweep.settled)}{beyond * bool(sweep.saturated)}"
    )
