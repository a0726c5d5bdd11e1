"""Rates against the size of a message: as printed beside what was published, and counted alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dvsim.report.drawing import (
    DASHES,
    GREY,
    SYMBOLS,
    Drawing,
    layout,
    log_axis,
    marker,
    rgb,
    scatter,
    tall,
)
from dvsim.report.groups import Entry, Group, size_text, transport_text
from dvsim.report.published import Published
from dvsim.study.number_text import Amount, number_text
from dvsim.study.run import Run

MEGA = 1e6
MOST_TICKS = 8  # of sizes on an axis half a screen wide

Course = list[tuple[int, Amount]]
"""Message sizes with the value there, in order."""


def megabytes(run: Run) -> Amount:
    """Give the payload rate of a run in MB/s."""
    rate = run.payload_rate
    return Amount(rate.value / MEGA, rate.low / MEGA, rate.high / MEGA, "MB/s")


def scaling_drawings(groups: Sequence[Group], published: Published) -> list[Drawing]:
    """Draw how rates change with the size of a message; nothing where there is one size."""
    lines = lines_of(groups) if len(groups) > 1 else {}
    if not lines:
        return []
    colours = {label: entries[0][1].colour for label, entries in lines.items()}
    counted = {
        label: [(size, entry.run) for size, entry in entries if entry.run.rates]
        for label, entries in lines.items()
    }
    whole = {label: [(size, run.rate) for size, run in runs] for label, runs in counted.items()}
    carried = {
        label: [(size, megabytes(run)) for size, run in runs] for label, runs in counted.items()
    }
    text = "Every line counts whole messages over all receivers, so heights compare"
    steps = (
        "The same rates times the size of a message: where a line rises in step with the size, "
        "the cost is per message, and where it is flat, per byte"
    )
    titles = ("Whole messages, all receivers", "Bytes of messages, all receivers")
    return [
        printed_drawing(groups, lines, published),
        course_drawing(groups, whole, "scaling-messages", titles[0], "messages/s", text, colours),
        course_drawing(groups, carried, "scaling-bytes", titles[1], "MB/s", steps, colours),
    ]


def lines_of(groups: Sequence[Group]) -> dict[str, list[tuple[int, Entry]]]:
    """Give runs that differ in the size of a message only, by what they have in common.

    That is what was varied or their transport, with the start of their names where several share
    it.
    """
    lines: dict[tuple[str, str], dict[int, Entry]] = {}
    for group in groups:
        for entry in group.entries:
            start = entry.run.scenario.name.removesuffix(f"-{group.message_bytes}")
            varied = entry.run.scenario.whatif
            called = transport_text(entry.run) if varied is None else varied.says
            line = lines.setdefault((called, start), {})
            line[group.message_bytes] = entry  # of runs of one scenario the last, as on the page
    lines = {key: line for key, line in lines.items() if len(line) > 1}
    every = [called for called, _ in lines]
    return {
        called if every.count(called) == 1 else f"{called}, {start}": list(line.items())
        for (called, start), line in lines.items()
    }


def printed_drawing(
    groups: Sequence[Group], lines: dict[str, list[tuple[int, Entry]]], published: Published
) -> Drawing:
    """Draw the means of the columns as the paper prints them, with the published ones."""
    courses: dict[str, Course] = {}
    colours: dict[str, str] = {}
    known: list[tuple[int, float, str]] = []
    for label, entries in lines.items():
        for size, entry in entries:
            for column in entry.columns:
                estimate = entry.estimates.get((column, entry.reading, "mean"))
                key = (entry.run.scenario.name, column, "mean")
                if entry.judged and key in published:
                    known.append((size, published[key], f"{label} {column}"))
                if estimate is not None:
                    colours.setdefault(f"{label} {column}", entries[0][1].colour)
                    value = Amount(
                        estimate.value, estimate.low, estimate.high, f"{entry.reading}/s"
                    )
                    courses.setdefault(f"{label} {column}", []).append((size, value))
    traces = [
        hollow_trace(courses_of, label)
        for label in courses
        if (courses_of := [(size, value) for size, value, owner in known if owner == label])
    ]
    return course_drawing(
        groups,
        courses,
        "scaling-printed",
        "Mean rates as printed",
        "pieces/s or messages/s",
        "Each line is a column as the paper counts: pieces at one receiver on the Data Vortex, "
        "messages of the whole system on TCP",
        colours,
        traces,
    )


def course_drawing(
    groups: Sequence[Group],
    courses: dict[str, Course],
    name: str,
    title: str,
    unit: str,
    reading: str,
    colours: Mapping[str, str],
    beside: Sequence[dict[str, Any]] = (),
) -> Drawing:
    """Draw lines over the size of a message, with their intervals as bars."""
    values = [value.value for course in courses.values() for _, value in course if value.value > 0]
    values += [float(y) for trace in beside for y in trace["y"] if y > 0]
    low, high = min(values, default=1.0), max(values, default=10.0)
    traces = [*beside]
    for number, (label, course) in enumerate(courses.items()):
        traces.append(line_trace(label, course, colours[label], number, unit))
    described = "; ".join(
        f"{label}: "
        + " to ".join(
            f"{number_text(value.value)} at {size_text(size)}"
            for size, value in (course[0], course[-1])
        )
        for label, course in courses.items()
        if course
    )
    second = (
        "grey hollow marks were published; bars are 95 % intervals over replications"
        if beside
        else "bars are 95 % intervals over replications"
    )
    return Drawing(
        name=name,
        title=title,
        traces=traces,
        looks=layout(
            tall(len(courses) + bool(beside)) + 20,
            size_axis([group.message_bytes for group in groups]),
            log_axis(low / 1.4, high * 1.4) | {"title": unit},
        ),
        label=f"{title} against the size of a message, {unit}. {described}.",
        reading=f"{reading}. Both axes are logarithmic; {second}.",
    )


def size_axis(sizes: Sequence[int]) -> dict[str, Any]:
    """Give the axis of message sizes, with a name at every size or at every so many."""
    step = -(-len(sizes) // MOST_TICKS)
    shown = [size for index, size in enumerate(sizes) if index % step == 0]
    return {
        "type": "log",
        "title": "size of a message",
        "tickvals": shown,
        "ticktext": [size_text(size) for size in shown],
        "tickangle": 0 if len(shown) < 6 else -40,
    }


def line_trace(label: str, course: Course, colour: str, number: int, unit: str) -> dict[str, Any]:
    """Return the line of a course, with its intervals."""
    halves = [value.high - value.value for _, value in course]
    pale = f"rgba({', '.join(map(str, rgb(colour)))}, 0.6)"
    return scatter(
        label,
        [size for size, _ in course],
        [value.value for _, value in course],
        "lines+markers",
        error_y={"type": "data", "array": halves, "width": 3, "color": pale},
        line={"color": colour, "width": 2, "dash": DASHES[number % 3]},
        marker={"color": colour, "size": 7, "symbol": SYMBOLS[number % len(SYMBOLS)]},
        hovertemplate=f"%{{x:,}} B: %{{y:,.4g}} {unit}<extra>{escape(label)}</extra>",
    )


def hollow_trace(points: Sequence[tuple[int, float]], label: str) -> dict[str, Any]:
    """Return grey hollow marks for what was published of a column."""
    name = f"{label} published"
    return scatter(
        name,
        [size for size, _ in points],
        [value for _, value in points],
        marker=marker(GREY, 14, "circle-open"),
        hovertemplate=f"%{{x:,}} B: %{{y:,.4g}}<extra>{escape(name)}</extra>",
        showlegend=False,
    )
