"""The recorded run: packets on their way through the cylinders, slot by slot.

A page carries the nodes that each packet stood on; ``player.js`` draws them. The queue beside it is
a drawing of its own (`timeline`), with a cursor that the player moves.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar

from dvsim.study.number_text import joined
from dvsim.study.table import Cell, Table

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH, HEIGHT = 420, 230
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 14, 40
QUEUES = {
    "waiting": "waiting at the inputs",
    "in_flight": "inside the switch",
    "deflected": "deflected in the slot",
}
"""Column of the table -> what it is called; each line has a dash and a colour of its own."""
MOST_PACKETS = 200
MOST_SLOTS = 200
MOST_ROWS = 200  # of the table on the page; its CSV has all
LETTERS = {"enter": "e", "cross": "c", "deflect": "d", "descend": "n", "leave": "l", "lose": "x"}
"""One letter for each kind of step, as the player reads them."""


@dataclass(frozen=True)
class Shape:
    """The switch that was recorded: H heights, A angles, log2(H) + 1 cylinders."""

    height: int
    angles: int

    @property
    def cylinders(self) -> int:
        """C = log2(H) + 1."""
        return self.height.bit_length()


@dataclass(frozen=True)
class Step:
    """A packet after a slot: what happened to it, the node it stands on, and who deflected it."""

    slot: int
    event: str
    cylinder: int
    angle: int
    height: int
    by: int | None

    @property
    def node(self) -> str:
        """The node, as the graph of a switch names it."""
        return f"({self.cylinder}, {self.angle}, {self.height})"


@dataclass(frozen=True)
class Packet:
    """One packet: its number, the angle and height it goes to, and its steps."""

    number: int
    to: tuple[int, int]
    steps: tuple[Step, ...]

    @property
    def deflections(self) -> list[Step]:
        """The steps at which it could not descend."""
        return [step for step in self.steps if step.event == "deflect"]


@dataclass(frozen=True)
class Recording:
    """A recorded run as the page holds it.

    Attributes:
        name: Identifier of its element.
        title: Heading.
        data: JSON for the player, which cannot end the script element that holds it.
        first, last: Slots from which and to which it can be played.
        packets: Number of each packet and what the choice of packets says about it.
        chart: The queue over time, as SVG; empty where no queue was recorded.
        label, reading: What it shows, in words, and how to read it.
        deflections: Every deflection, or the first of many.
    """

    name: str
    title: str
    data: str
    first: int
    last: int
    packets: Sequence[tuple[int, str]]
    chart: str
    label: str
    reading: str
    deflections: Table
    form: ClassVar[str] = "recording"


def recording(
    name: str, title: str, shape: Shape, events: DataFrame, queues: DataFrame
) -> Recording | None:
    """Prepare a recorded run for the page.

    Args:
        name, title: Identifier of the element, and its heading.
        shape: Of the switch that was recorded.
        events: slot, packet, kind, cylinder, angle, height, to_angle, to_height, by: a row for each
            packet and slot; `by` is negative where no packet was in the way. At most the first
            `MOST_PACKETS` packets and `MOST_SLOTS` slots are shown.
        queues: slot, waiting, in_flight, deflected: packets at the end of each slot.

    Returns:
        Recording or None: None if nothing was recorded.
    """
    packets = packets_of(events)
    if not packets:
        return None
    first = min(packet.steps[0].slot for packet in packets)
    last = max(packet.steps[-1].slot for packet in packets)
    inside = queues[(queues["slot"] >= first) & (queues["slot"] <= last)]
    deflections = [step for packet in packets for step in packet.deflections]
    return Recording(
        name=name,
        title=title,
        data=script_data(shape, first, last, packets, inside),
        first=first,
        last=last,
        packets=[(packet.number, packet_text(packet)) for packet in packets],
        chart=timeline(f"{name}-queue", inside, first, last),
        label=label_text(shape, packets, first, last, len(deflections)),
        reading=READING,
        deflections=deflections_table(f"{name}-deflections", packets),
    )


READING = (
    "A dot is a packet: in every slot it moves one angle on, and either descends to the next "
    "cylinder inwards or stays on its own and crosses to another height; a diamond could not "
    "descend in this slot because another packet was in the way. Choose a packet, in the list or "
    "in the picture, to see its whole way, and drag the picture sideways to turn it. The lines "
    "beside it count all packets, the picture has those that were recorded."
)


def packets_of(events: DataFrame) -> list[Packet]:
    """Sort the rows of a recording into packets, each in order of slots."""
    if events.empty:
        return []
    limit = int(events["slot"].min()) + MOST_SLOTS
    rows = events[events["slot"] < limit].sort_values(["packet", "slot"], kind="stable")
    columns = ["slot", "kind", "cylinder", "angle", "height", "by", "packet"]
    steps: dict[int, list[Step]] = {}
    for slot, kind, cylinder, angle, height, by, packet in rows[columns].itertuples(index=False):
        if packet not in steps and len(steps) == MOST_PACKETS:
            break
        blocker = int(by) if by >= 0 else None
        step = Step(int(slot), str(kind), int(cylinder), int(angle), int(height), blocker)
        steps.setdefault(int(packet), []).append(step)
    ends = rows.drop_duplicates("packet")[["packet", "to_angle", "to_height"]]
    goals = {
        int(packet): (int(angle), int(height))
        for packet, angle, height in ends.itertuples(index=False)
    }
    return [Packet(number, goals[number], tuple(step)) for number, step in steps.items()]


def script_data(
    shape: Shape, first: int, last: int, packets: Sequence[Packet], queues: DataFrame
) -> str:
    """Write what the player reads: a node is one number, (cylinder * A + angle) * H + height."""
    content = {
        "height": shape.height,
        "angles": shape.angles,
        "cylinders": shape.cylinders,
        "first": first,
        "last": last,
        "packets": [
            {
                "id": packet.number,
                "to": list(packet.to),
                "slots": [step.slot for step in packet.steps],
                "events": "".join(LETTERS[step.event] for step in packet.steps),
                "nodes": [
                    (step.cylinder * shape.angles + step.angle) * shape.height + step.height
                    for step in packet.steps
                ],
                "by": {step.slot: step.by for step in packet.deflections if step.by is not None},
            }
            for packet in packets
        ],
        "queue": {
            name: queues[name].astype(int).tolist()
            for name in ("slot", "waiting", "in_flight", "deflected")
        },
    }
    text = json.dumps(content, separators=(",", ":"))
    # inside a script element only the end of it could be misread
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def packet_text(packet: Packet) -> str:
    """Say in a line how it went with a packet."""
    count = len(packet.deflections)
    end = packet.steps[-1].event
    fate = {"leave": "", "lose": ", lost"}.get(end, ", still inside")
    times = "1 deflection" if count == 1 else f"{count} deflections"
    return f"packet {packet.number}: enters in slot {packet.steps[0].slot}, {times}{fate}"


def label_text(
    shape: Shape, packets: Sequence[Packet], first: int, last: int, deflections: int
) -> str:
    """Describe the recording for those who cannot see it."""
    ends = [packet.steps[-1].event for packet in packets]
    fates = [f"{ends.count('leave')} reached their output"]
    if lost := ends.count("lose"):
        fates.append(f"{lost} {'was' if lost == 1 else 'were'} lost")
    if inside := sum(end not in ("leave", "lose") for end in ends):
        fates.append(f"{inside} {'was' if inside == 1 else 'were'} still inside at the end")
    return (
        f"The first {len(packets)} packets in a switch of {shape.height} heights, "
        f"{shape.angles} angles and {shape.cylinders} cylinders, slots {first} to {last}: "
        f"{joined(fates)}; {deflections} deflections."
    )


def counted(value: object) -> Cell:
    """Return a whole number as a cell, without signs between its digits."""
    return Cell(str(value), "number")


def deflections_table(name: str, packets: Sequence[Packet]) -> Table:
    """Tabulate who was deflected where, and by whom, in order of slots."""
    deflections = sorted(
        ((step, packet.number) for packet in packets for step in packet.deflections),
        key=lambda item: (item[0].slot, item[1]),
    )
    more = f" The first {MOST_ROWS} of {len(deflections):,}; the CSV has all." * (
        len(deflections) > MOST_ROWS
    )
    lines = [
        [
            step.slot,
            number,
            step.cylinder,
            step.angle,
            step.height,
            "" if step.by is None else step.by,
        ]
        for step, number in deflections
    ]
    return Table(
        name=name,
        caption=f"Deflections: the node is where the packet went instead of descending.{more}",
        head=["slot", "packet", "to cylinder", "angle", "height", "deflected by"],
        rows=[
            [*map(counted, values), Cell("a fault" if by == "" else f"packet {by}")]
            for *values, by in lines[:MOST_ROWS]
        ],
        csv_head=["slot", "packet", "cylinder", "angle", "height", "by"],
        csv_rows=lines,
    )


def timeline(name: str, queues: DataFrame, first: int, last: int) -> str:
    """Draw packets waiting, in flight and deflected over the slots `first` to `last`.

    Args:
        name: Identifier of the drawing; the player finds it and its cursor by it.
        queues: slot, waiting, in_flight, deflected.

    Returns:
        str: An SVG element, empty if there is no row. Its attributes ``data-left`` and
        ``data-right`` are the places of the first and the last slot, for the cursor.
    """
    if queues.empty:
        return ""
    most = nice(max(1.0, float(queues[list(QUEUES)].to_numpy().max())))
    floor = HEIGHT - BOTTOM
    span = max(last - first, 1)

    def across(slot: float) -> str:
        return rounded(LEFT + (slot - first) / span * (WIDTH - LEFT - RIGHT))

    def up(packets: float) -> str:
        return rounded(floor - packets / most * (floor - TOP))

    described = "; ".join(
        f"{text}: {int(queues[column].max())} at most, {int(queues[column].iloc[-1])} at the end"
        for column, text in QUEUES.items()
    )
    parts = [
        f'<svg id="{escape(name)}" class="timeline" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(f"Packets over the slots. {described}.")}" '
        f'data-left="{LEFT}" data-right="{WIDTH - RIGHT}">'
    ]
    for value in (0, most / 2, most):
        parts.append(
            f'<path class="grid" d="M{LEFT} {up(value)}H{WIDTH - RIGHT}"/>'
            f'<text x="{LEFT - 6}" y="{up(value)}" dy="4" text-anchor="end">{value:g}</text>'
        )
    for slot in dict.fromkeys((first, (first + last) // 2, last)):
        parts.append(
            f'<text x="{across(slot)}" y="{floor + 16}" text-anchor="middle">{slot}</text>'
        )
    parts.append(
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 6}" text-anchor="middle">'
        "slot</text>"
        f'<text x="{LEFT}" y="{TOP - 4}">packets</text>'
    )
    slots = queues["slot"].tolist()
    for column in QUEUES:
        points = " ".join(
            f"{across(slot)},{up(value)}"
            for slot, value in zip(slots, queues[column].tolist(), strict=True)
        )
        parts.append(f'<polyline class="{column}" points="{points}"/>')
    parts.append(
        f'<path class="cursor" d="M0 {TOP}V{floor}" transform="translate({LEFT} 0)"/></svg>'
    )
    return "".join(parts)


def rounded(value: float) -> str:
    """Write a coordinate with a tenth of a unit.

    >>> rounded(44.0), rounded(44.16)
    ('44', '44.2')
    """
    return f"{value:.1f}".removesuffix(".0")


def nice(value: float) -> float:
    """Round up to an even number of the next one, two or five: the end of an axis.

    >>> [nice(value) for value in (1, 3, 17, 20, 140)]
    [2.0, 4.0, 20.0, 20.0, 200.0]
    """
    decade = 10.0 ** max(math.floor(math.log10(value)), 0)
    return next(step * decade for step in (2, 4, 6, 10, 20) if step * decade >= value)
