"""The way of a message as a lane of stations: how busy each one is, and what waits there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dvsim.report.prepare import Entry, Group, size_text
from dvsim.report.spread import chosen_points
from dvsim.report.table import Cell, Table
from dvsim.study.amounts import amount_text, share_text
from dvsim.study.stages import NO_STAGE, SATURATED, STAGES, Limit, stages_of

if TYPE_CHECKING:
    from dvsim.report.sweep import Sweep

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
"""Component -> counter of bytes -> what they lie in, and parameters whose product is its room."""

PATH = (
    "publisher",
    "sending thread",
    "link",
    "link to the broker",
    "broker",
    "link between brokers",
    "storage",
    "link to the consumer",
    "receiving thread",
    "consumer",
)
"""Stages of messaging over hosts, in the order in which a message meets them."""

NOTHING = 5e-4  # a share of the time below this is not worth a line


@dataclass(frozen=True)
class Station:
    """One stage on the way of a message.

    Attributes
    ----------
    name : str
        As people call it.
    busy : float or None
        Share of the time at work of its busiest instance; None where it is no server.
    waits : sequence of (str, float)
        What waits there, and for which share of the time.
    bytes : sequence of (str, float, float or None)
        What lies there, the most bytes of it, and the room for them.
    """

    name: str
    busy: float | None
    waits: Sequence[tuple[str, float]] = ()
    bytes: Sequence[tuple[str, float, float | None]] = ()

    @property
    def notes(self) -> list[str]:
        """What waits there, in words."""
        said = [f"{share_text(share)} {text}" for text, share in self.waits if share >= NOTHING]
        for text, peak, room in self.bytes:
            if peak > 0:
                of = "" if room is None else f" of {amount_text(room, unit='B')}"
                said.append(f"{text} {amount_text(peak, unit='B')}{of}")
        return said


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
        found = self.busiest
        if found is None or found.busy is None:
            return "not counted"
        cause = self.cause or (found.name if found.busy >= SATURATED else NO_STAGE)
        return f"limit: {Limit(cause, found.name, found.busy)}"


def lanes_of(groups: Sequence[Group], *, vortex: bool) -> list[Lane]:
    """Give the lanes of all simulated runs over one transport, by message size."""
    return [
        lane_of(entry, f"{size_text(group.message_bytes)}, {entry.label}")
        for group in groups
        for entry in group.entries
        if entry.is_vortex == vortex and entry.made == "simulated"
    ]


def lane_of(entry: Entry, name: str) -> Lane:
    """Read the lane of one run from its counters; means over iterations and replications."""
    most: dict[tuple[str, str], float] = {}
    for (component, reading, metric), found in entry.estimates.items():
        if reading == "counter":
            key = (component.split(".", maxsplit=1)[0], metric)
            most[key] = max(most.get(key, 0.0), found.value)
    shares = {stage.name: stage.utilisation for stage in stages_of(entry.run.counters)}
    length = most.get(("run", "simulated_s"), 0.0)
    names = ["sender", *STAGES] if entry.is_vortex else list(STAGES)
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
    """Give the most bytes that lay at a stage, and the room there."""
    card = entry.run.scenario.system.cards.get(stage)
    return [
        (
            text,
            counted[stage, metric],
            math.prod(card[one] for one in room) if card is not None and room else None,
        )
        for metric, (text, room) in STORES.get(stage, {}).items()
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

    Examples
    --------
    >>> sorted(("consumer", "broker: accept", "link to the broker"), key=place_of)
    ['link to the broker', 'broker: accept', 'consumer']
    """
    found = stage if stage in PATH else stage.split(" ", maxsplit=1)[0].removesuffix(":")
    return PATH.index(found) if found in PATH else PATH.index("broker")


def drawn_lanes(lanes: Sequence[Lane]) -> list[Lane]:
    """Choose the lanes that are drawn, evenly where there are too many."""
    return [lanes[place] for place in chosen_points(len(lanes), MOST_LANES)]


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
    return Table(name, "", ["run", "stage", "what", "value", "unit"], rows)


def row_of(lane: Lane, station: Station, what: str, value: float, unit: str) -> list[Cell]:
    """Give one number of a lane as a row."""
    return [Cell(lane.name), Cell(station.name), Cell(what), Cell("", raw=value), Cell(unit)]
