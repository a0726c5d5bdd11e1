"""The way of a message: a lane of stations, how busy each one is, and what waits there.

The picture is an SVG written by hand, one row of boxes for each lane, so that runs lie under each
other and the eye finds the column that is full.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from dvsim.report.drawing import Drawing
from dvsim.report.groups import Entry, Group, size_text
from dvsim.report.html import csv_uri
from dvsim.report.spread import chosen_points
from dvsim.study.number_text import amount_text, share_text
from dvsim.study.stages import NO_STAGE, SATURATED, STAGES, Limit, stages_of
from dvsim.study.table import Cell, Table

if TYPE_CHECKING:
    from dvsim.report.axes import Sweep
    from dvsim.scenario.sampled import Path

BOX, GAP, HIGH, HEAD = 144, 24, 40, 26  # widths and heights of a lane, in units of the picture
LINE, LETTERS = 14, 25  # height of a line of notes, and letters that fit into one
LETTER = 8  # width of a letter of a heading, at most
MOST_LANES = 8  # in one picture; the table of stages has all

WAITS = {
    "sender": {
        "held_back_s": "held back by a full ring",
        "held_sram_s": "held back by a full SRAM",
        "held_counters_s": "waiting for counters",
    },
    "card": {"held_ring_s": "DMA held by a full ring"},
    "broker": {"blocked_s": "blocked by memory"},
}
"""Component -> counter of seconds -> what is waited for there."""

STORES = {
    "card": {
        "sram_peak_bytes": ("SRAM", ("sram",)),
        "ring_peak_bytes": ("ring", ("ring", "ring_buffers")),
    },
    "broker": {"memory_peak_bytes": ("queues", ("memory",)), "paged_bytes": ("on disk", ())},
}
"""Component -> counter of bytes -> what they lie in, and parameters whose product is its size."""

PATH = (
    *("publisher", "sending thread", "link", "link to the broker", "broker"),
    *("link between brokers", "storage", "link to the consumer", "receiving thread", "consumer"),
)
"""Stages of messaging over hosts, in the order in which a message meets them."""

NOTHING = 5e-4  # a share of the time below this is not worth a line


@dataclass(frozen=True)
class Station:
    """One stage on the way of a message.

    Attributes:
        name: As people call it.
        busy: Share of the time at work of its busiest instance; None where it is no server.
        waits: What waits there, and for which share of the time.
        bytes: What lies there, the most bytes of it, and the most that fit there.
    """

    name: str
    busy: float | None
    waits: Sequence[tuple[str, float]] = ()
    bytes: Sequence[tuple[str, float, float | None]] = ()

    @property
    def notes(self) -> list[str]:
        """What waits there, in words."""
        sentences = [
            f"{share_text(share)} {text}" for text, share in self.waits if share >= NOTHING
        ]
        for text, peak, size in self.bytes:
            if peak > 0:
                of = "" if size is None else f" of {amount_text(size, unit='B')}"
                sentences.append(f"{text} {amount_text(peak, unit='B')}{of}")
        return sentences


@dataclass(frozen=True)
class Lane:
    """The way of a message through one system, in the order in which it meets the stations."""

    name: str
    stations: Sequence[Station]
    cause: str | None = None  # of its limit, of runs that know more than the stages

    @property
    def busiest(self) -> Station | None:
        """The station that was at work for the longest."""
        servers = [station for station in self.stations if station.busy is not None]
        return max(servers, key=lambda station: station.busy or 0.0, default=None)

    @property
    def verdict(self) -> str:
        """Say what limits it, see `dvsim.study.stages.Limit`."""
        stage = self.busiest
        if stage is None or stage.busy is None:
            return "not counted"
        cause = self.cause or (stage.name if stage.busy >= SATURATED else NO_STAGE)
        return f"limit: {Limit(cause, stage.name, stage.busy)}"


def lanes_of(groups: Sequence[Group], path: Path) -> list[Lane]:
    """Give the lanes of all simulated runs over one transport, by message size."""
    return [
        lane_of(entry, f"{size_text(group.message_bytes)}, {entry.label}")
        for group in groups
        for entry in group.entries
        if entry.path == path and entry.made == "simulated"
    ]


def lane_of(entry: Entry, name: str) -> Lane:
    """Read the lane of one run from its counters; means over iterations and replications."""
    most: dict[tuple[str, str], float] = {}
    for (component, _, metric), estimate in entry.run.by_counter.items():
        most[component, metric] = max(most.get((component, metric), 0.0), estimate.value)
    shares = {stage.name: stage.utilisation for stage in stages_of(entry.run.counters)}
    length = most.get(("run", "simulated_s"), 0.0)
    names = ["sender", *STAGES]
    stations = []
    for stage in [*names, *sorted(set(shares) - set(names))]:
        waits = waits_of(stage, most, length)
        stores = stores_of(stage, most, entry)
        if stage in shares or waits:
            text = STAGES.get(stage, stage)
            stations.append(Station(text, shares.get(stage), waits, stores))
    limit = entry.run.limit
    return Lane(name, stations, None if limit is None else limit.cause)


def waits_of(
    stage: str, counted: Mapping[tuple[str, str], float], length: float
) -> list[tuple[str, float]]:
    """Give the shares of the run for which something waited at a stage, where it is counted."""
    return [
        (text, counted[stage, metric] / length)
        for metric, text in WAITS.get(stage, {}).items()
        if (stage, metric) in counted and length > 0
    ]


def stores_of(
    stage: str, counted: Mapping[tuple[str, str], float], entry: Entry
) -> list[tuple[str, float, float | None]]:
    """Give the most bytes that lay at a stage, and the most that fit."""
    card = entry.run.scenario.system.cards.get(stage)
    return [
        (
            text,
            counted[stage, metric],
            math.prod(card[key] for key in keys) if card is not None and keys else None,
        )
        for metric, (text, keys) in STORES.get(stage, {}).items()
        if (stage, metric) in counted
    ]


def lanes_of_study(sweep: Sweep) -> list[Lane]:
    """Give the lanes of the last point of each line of a study of messaging."""
    lanes, table = [], sweep.tables["stages"]
    for group in sweep.groups:
        point = group.points[-1]
        rows = table[table["point"] == point]
        stations = [
            Station(str(stage), float(busy))
            for stage, busy in zip(rows["stage"], rows["utilisation"], strict=True)
        ]
        stations.sort(key=lambda station: place_of(station.name))
        lanes.append(Lane(sweep.name_of(point), stations))
    return lanes


def place_of(stage: str) -> int:
    """Give the place of a stage on the path; "broker: accept" stands where "broker" does.

    >>> sorted(("consumer", "broker: accept", "link to the broker"), key=place_of)
    ['link to the broker', 'broker: accept', 'consumer']
    """
    row = stage if stage in PATH else stage.split(" ", maxsplit=1)[0].removesuffix(":")
    return PATH.index(row) if row in PATH else PATH.index("broker")


def lanes_table(lanes: Sequence[Lane], name: str) -> Table:
    """Tabulate every lane; the page takes it as the data of the picture."""
    rows: list[list[Cell]] = []
    for lane in lanes:
        for station in lane.stations:
            if station.busy is not None:
                rows.append(row_of(lane, station, "busy", station.busy, "1"))
            rows += [row_of(lane, station, text, share, "1") for text, share in station.waits]
            rows += [
                row_of(lane, station, f"{text}, most", peak, "B") for text, peak, _ in station.bytes
            ]
    return Table(["run", "stage", "what", "value", "unit"], rows, name=name)


def row_of(lane: Lane, station: Station, what: str, value: float, unit: str) -> list[Cell]:
    """Give one number of a lane as a row."""
    return [Cell(lane.name), Cell(station.name), Cell(what), Cell("", raw=value), Cell(unit)]


def pipeline_drawing(lanes: Sequence[Lane], name: str, title: str) -> Drawing:
    """Draw lanes under each other.

    Args:
        lanes: At least one; of more than `lanes.MOST_LANES` some are drawn.
        name, title: Identifier and heading of the figure.
    """
    drawn = [lanes[index] for index in chosen_points(len(lanes), MOST_LANES)]
    width = max(len(lane.stations) for lane in drawn) * (BOX + GAP) - GAP + 2
    width = max(width, *(LETTER * len(lane_title(lane)) for lane in drawn))
    parts, top = [], 0
    for lane in drawn:
        text, height = lane_svg(lane, top)
        parts.append(text)
        top += height
    described = "; ".join(lane_text(lane) for lane in drawn)
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
    omitted = f" {len(drawn)} of {len(lanes)} runs are drawn." if len(drawn) < len(lanes) else ""
    return Drawing(
        name=name,
        title=title,
        svg=svg,
        label=f"Stages in the order in which a message meets them. {described}.",
        reading=(
            "Messages go from left to right; a box is filled as far as its busiest instance was at "
            "work, and the one with the thick frame is the busiest: hatched, it is the bottleneck."
            f"{below * notes}{omitted}"
        ),
        data=csv_uri(lanes_table(lanes, name)),
    )


def lane_title(lane: Lane) -> str:
    """Name a lane with what limits it."""
    return f"{lane.name}: {lane.verdict}"


def lane_svg(lane: Lane, top: int) -> tuple[str, int]:
    """Draw one lane; return it with its height."""
    parts = [f'<text class="lane" x="1" y="{top + 16}">{escape(lane_title(lane))}</text>']
    lines = 0
    for index, station in enumerate(lane.stations):
        x = 1 + index * (BOX + GAP)
        middle = top + HEAD + HIGH // 2
        if index:
            parts.append(
                f'<path class="arrow" d="M{x - GAP + 3} {middle}H{x - 5}m-6 -4l6 4l-6 4"/>'
            )
        parts.append(box_svg(station, x, top + HEAD, busiest=station is lane.busiest))
        notes = [part for note in station.notes for part in textwrap.wrap(note, LETTERS)]
        parts += [
            f'<text class="note" x="{x}" y="{top + HEAD + HIGH + LINE * (line + 1)}">'
            f"{escape(note)}</text>"
            for line, note in enumerate(notes)
        ]
        lines = max(lines, len(notes))
    return "".join(parts), HEAD + HIGH + LINE * lines + 14


def box_svg(station: Station, x: int, top: int, *, busiest: bool) -> str:
    """Draw one station: its frame, how far it is filled, its name and its share."""
    share = station.busy
    if share is None:
        return (
            f'<rect class="box idle" x="{x}" y="{top}" width="{BOX}" height="{HIGH}" rx="3"/>'
            f'<text class="stage" x="{x + 7}" y="{top + 25}">{escape(station.name)}</text>'
        )
    full = busiest and share >= SATURATED
    filled = min(max(share, 0.0), 1.0) * BOX
    parts = [
        f'<rect class="fill{" full" * full}" x="{x}" y="{top}" width="{filled:.1f}" '
        f'height="{HIGH}" rx="3"/>'
    ]
    if full:  # a mark beside the colour, for those who do not see it
        strokes = "".join(
            f"M{x + at} {top + HIGH}L{x + at + 8} {top + HIGH - 8}" for at in range(2, BOX - 8, 8)
        )
        parts.append(f'<path class="hatch" d="{strokes}"/>')
    parts.append(
        f'<rect class="box{" busiest" * busiest}" x="{x}" y="{top}" width="{BOX}" '
        f'height="{HIGH}" rx="3"/>'
        f'<text class="stage" x="{x + 7}" y="{top + 16}">{escape(station.name)}</text>'
        f'<text class="share" x="{x + 7}" y="{top + 32}">{share_text(share)}</text>'
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
