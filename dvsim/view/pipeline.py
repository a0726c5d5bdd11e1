"""The way of a message: a lane of stations, how busy each one is, and what waits there.

Runs lie under each other, a row of boxes each, so that the eye finds the column that is full.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from dvsim.study.number_text import amount_text, share_text
from dvsim.table.stages import NO_STAGE, SATURATED, STAGES, Limit, stages_of
from dvsim.view.figure import BLUE, GREY, VERMILION, Figure, reading
from dvsim.view.groups import Entry, Group, size_text
from dvsim.view.spread import chosen_points

if TYPE_CHECKING:
    from dvsim.scenario.sampled import Path
    from dvsim.view.axes import Sweep

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
        """Say what limits it, see `dvsim.table.stages.Limit`."""
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
    for (component, _, metric), estimate in entry.run.by_metric.items():
        most[component, metric] = max(most.get((component, metric), 0.0), estimate.value)
    shares = {stage.name: stage.utilisation for stage in stages_of(entry.run.values)}
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


def pipeline_figure(lanes: Sequence[Lane], name: str, title: str) -> Figure:
    """Draw lanes under each other: boxes filled as far as they are busy, with what waits below.

    Args:
        lanes: At least one; of more than `MOST_LANES` some are drawn.
        name, title: Identifier and heading of the figure.
    """
    import altair as alt

    drawn = [lanes[index] for index in chosen_points(len(lanes), MOST_LANES)]
    rows, top = [], 0
    for lane in drawn:
        deep = 0
        for at, station in enumerate(lane.stations):
            notes = [part for note in station.notes for part in textwrap.wrap(note, LETTERS)]
            deep = max(deep, len(notes))
            share = station.busy
            most = station is lane.busiest
            limits = most and share is not None and share >= SATURATED
            left, said = at * (BOX + GAP), "" if share is None else share_text(share)
            rows.append(
                {"line": lane.name, "text": station.name, "note": "\n".join(notes)}
                | {"busy": share, "said": f"{said}, the limit" if limits else said}
                | {"look": "limit" if limits else "busiest" if most else "busy"}
                | {"title": "" if at else lane_title(lane), "x": left, "x2": left + BOX}
                | {"fill": left + BOX * min(max(share or 0.0, 0.0), 1.0), "y": top + HEAD}
                | {"y2": top + HEAD + HIGH, "top": top + 12}
                | {"dash": int(share is None), "arrow": int(at > 0)}
            )
        top += HEAD + HIGH + LINE * deep + 18
    width = max(len(lane.stations) for lane in drawn) * (BOX + GAP) - GAP + 2
    width = max(width, *(LETTER * len(lane_title(lane)) for lane in drawn))
    x = {"scale": alt.Scale(domain=[-2, width]), "axis": None}
    y = {"scale": alt.Scale(domain=[top, 0]), "axis": None}
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("x:Q", **x), y=alt.Y("y:Q", **y), tooltip=["line:N", "text:N", "said:N", "note:N"]
    )
    looks = alt.Scale(domain=["busy", "busiest", "limit"], range=[BLUE, BLUE, VERMILION])
    widths = alt.Scale(domain=["busy", "busiest", "limit"], range=[1, 2.5, 2.5])
    fill = base.mark_rect(opacity=0.35).encode(
        x2="fill:Q", y2="y2:Q", color=alt.Color("look:N", scale=looks, legend=None)
    )
    frame = base.mark_rect(filled=False, stroke=GREY, cornerRadius=3).encode(
        x2="x2:Q",
        y2="y2:Q",
        strokeWidth=alt.StrokeWidth("look:N", scale=widths, legend=None),
        strokeDash=alt.condition("datum.dash == 1", alt.value([4, 3]), alt.value([1, 0])),
    )
    text = {"align": "left", "baseline": "top", "fontSize": 12, "lineBreak": "\n"}
    arrow = base.transform_filter("datum.arrow == 1").mark_text(
        text="→", dx=-GAP / 2, dy=HIGH / 2, align="center", baseline="middle", fontSize=16
    )
    layers = [
        fill,
        frame,
        arrow,
        base.mark_text(dx=6, dy=5, fontWeight="bold", **text).encode(text="text:N"),
        base.mark_text(dx=6, dy=22, **text).encode(text="said:N"),
        base.mark_text(dx=1, dy=HIGH + 5, **{**text, "fontSize": 11}).encode(text="note:N"),
        base.mark_text(fontWeight="bold", align="left", fontSize=13).encode(
            y=alt.Y("top:Q", **y), text="title:N"
        ),
    ]
    omitted = f" {len(drawn)} of {len(lanes)} runs are drawn." if len(drawn) < len(lanes) else ""
    described = "; ".join(lane_text(lane) for lane in drawn)
    return Figure(
        name,
        title,
        pd.DataFrame(rows),
        alt.layer(*layers).properties(width=width, height=top),
        reading("pipeline", omitted=omitted),
        f"Stages in the order in which a message meets them. {described}.",
        {"line": "run", "text": "stage", "busy": "busy", "note": "waits and bytes"},
    )


def lane_title(lane: Lane) -> str:
    """Name a lane with what limits it."""
    return f"{lane.name}: {lane.verdict}"


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
