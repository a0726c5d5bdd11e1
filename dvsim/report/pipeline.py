"""The picture of the pipeline: a box for each station, filled as far as it is busy.

An SVG written by hand, one row of boxes for each lane, so that runs lie under each other and the
eye finds the column that is full.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

from dvsim.report.drawing import Drawing
from dvsim.report.lanes import Lane, Station, drawn_lanes, lanes_table
from dvsim.study.amounts import share_text
from dvsim.study.stages import SATURATED

BOX, GAP, HIGH, HEAD = 144, 24, 40, 26  # widths and heights of a lane, in units of the picture
LINE, LETTERS = 14, 25  # height of a line of notes, and letters that fit into one
LETTER = 8  # width of a letter of a heading, at most


def pipeline_drawing(lanes: Sequence[Lane], name: str, title: str) -> Drawing:
    """Draw lanes under each other.

    Parameters
    ----------
    lanes : sequence of Lane
        At least one; of more than `lanes.MOST_LANES` some are drawn.
    name, title : str
        Identifier and heading of the figure.
    """
    drawn = drawn_lanes(lanes)
    width = max(len(lane.stations) for lane in drawn) * (BOX + GAP) - GAP + 2
    width = max(width, *(LETTER * len(lane_title(lane)) for lane in drawn))
    parts, top = [], 0
    for lane in drawn:
        text, height = lane_svg(lane, top)
        parts.append(text)
        top += height
    said = "; ".join(lane_text(lane) for lane in drawn)
    svg = (
        f'<div class="wide"><svg class="pipeline" viewBox="0 0 {width} {top}" '
        f'style="max-width:{width}px;min-width:{round(width * 0.9)}px" aria-hidden="true">'
        f"{''.join(parts)}</svg></div>"
    )
    notes = any(station.notes for lane in drawn for station in lane.stations)
    below = (
        " Below a box stands what waited there: shares of the time, and the most bytes that lay "
        "there."
    )
    left = f" {len(drawn)} of {len(lanes)} runs are drawn." if len(drawn) < len(lanes) else ""
    return Drawing(
        name=name,
        title=title,
        svg=svg,
        label=f"Stages in the order in which a message meets them. {said}.",
        reading=(
            "Messages go from left to right; a box is filled as far as its busiest instance was at "
            "work, and the one with the thick frame is the busiest: hatched, it is the bottleneck."
            f"{below * notes}{left}"
        ),
        data=lanes_table(lanes, name).csv_uri,
    )


def lane_title(lane: Lane) -> str:
    """Name a lane with what limits it."""
    return f"{lane.name}: {lane.verdict}"


def lane_svg(lane: Lane, top: int) -> tuple[str, int]:
    """Draw one lane; return it with its height."""
    parts = [f'<text class="lane" x="1" y="{top + 16}">{escape(lane_title(lane))}</text>']
    lines = 0
    for place, station in enumerate(lane.stations):
        left = 1 + place * (BOX + GAP)
        middle = top + HEAD + HIGH // 2
        if place:
            parts.append(
                f'<path class="arrow" d="M{left - GAP + 3} {middle}H{left - 5}m-6 -4l6 4l-6 4"/>'
            )
        parts.append(box_svg(station, left, top + HEAD, busiest=station is lane.busiest))
        notes = [part for note in station.notes for part in textwrap.wrap(note, LETTERS)]
        parts += [
            f'<text class="note" x="{left}" y="{top + HEAD + HIGH + LINE * (line + 1)}">'
            f"{escape(note)}</text>"
            for line, note in enumerate(notes)
        ]
        lines = max(lines, len(notes))
    return "".join(parts), HEAD + HIGH + LINE * lines + 14


def box_svg(station: Station, left: int, top: int, *, busiest: bool) -> str:
    """Draw one station: its frame, how far it is filled, its name and its share."""
    share = station.busy
    if share is None:
        return (
            f'<rect class="box idle" x="{left}" y="{top}" width="{BOX}" height="{HIGH}" rx="3"/>'
            f'<text class="stage" x="{left + 7}" y="{top + 25}">{escape(station.name)}</text>'
        )
    full = busiest and share >= SATURATED
    filled = min(max(share, 0.0), 1.0) * BOX
    parts = [
        f'<rect class="fill{" full" * full}" x="{left}" y="{top}" width="{filled:.1f}" '
        f'height="{HIGH}" rx="3"/>'
    ]
    if full:  # a mark beside the colour, for those who do not see it
        strokes = "".join(
            f"M{left + at} {top + HIGH}L{left + at + 8} {top + HIGH - 8}"
            for at in range(2, BOX - 8, 8)
        )
        parts.append(f'<path class="hatch" d="{strokes}"/>')
    parts.append(
        f'<rect class="box{" busiest" * busiest}" x="{left}" y="{top}" width="{BOX}" '
        f'height="{HIGH}" rx="3"/>'
        f'<text class="stage" x="{left + 7}" y="{top + 16}">{escape(station.name)}</text>'
        f'<text class="share" x="{left + 7}" y="{top + 32}">{share_text(share)}</text>'
    )
    return "".join(parts)


def lane_text(lane: Lane) -> str:
    """Say a lane in words."""
    stations = ", ".join(
        " ".join(
            [station.name]
            + ([share_text(station.busy)] if station.busy is not None else [])
            + [f"({'; '.join(station.notes)})"] * bool(station.notes)
        )
        for station in lane.stations
    )
    return f"{lane.name}: {stations}; {lane.verdict}"
