"""The recorded packets of a switch as a timeline: each one overlaps with the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dvsim.emulation.trace.timeline import Event, Timeline

if TYPE_CHECKING:
    from pandas import DataFrame

    from dvsim.kinds.switch.spec import SwitchScenario

LEFT = "leave"  # how the way of a packet ends that has arrived
SLOT_PS = 1_000_000  # of a switch that has no clock: a microsecond is a slot
LEVELS = {
    "waiting": "packets waiting at the inputs",
    "in_flight": "packets in the switch",
    "deflected": "packets deflected in the slot",
}
"""Column of the queues -> the name of the counter."""


def add_record(
    timeline: Timeline, scenario: SwitchScenario, events: DataFrame, queues: DataFrame
) -> dict[str, Any]:
    """Add the packets and queues of a record, and return what is to be said of its time.

    Each packet is a span from the slot in which it enters to that after which it leaves; each
    cylinder shows, in turn, for which slots it held it. An arrow leads from the input of a packet
    to its output.
    """
    own = None if scenario.switch is None else scenario.switch.slot_ps
    slot_ps = own or SLOT_PS

    def at(slot: int) -> int:
        return slot * slot_ps // 1000

    for packet, steps in _packets(events):
        first, last = steps[0], steps[-1]
        deflected = sum(step["kind"] == "deflect" for step in steps)
        target = f"angle {first['to_angle']}, height {first['to_height']}"
        facts = {"to": target, "deflections": deflected, "end": str(last["kind"])}
        whole = Event(at(first["slot"]), at(last["slot"] + 1), f"packet {packet}", facts)
        timeline.add("packets", "packet", "span", whole)
        entered = at(first["slot"]), at(first["slot"] + 1)
        node = f"angle {first['angle']}, height {first['height']}"
        arrow = ((timeline.arrow(), entered[0]),)
        sent = Event(*entered, f"packet {packet}", {"to": target}, arrow)
        timeline.add("inputs", node, "work", sent)
        if last["kind"] == LEFT:
            out = at(last["slot"] + 1)
            gets = Event(out, out, f"packet {packet}", {"from": node}, (), arrow[0][0])
            timeline.add("outputs", target, "moment", gets)
        for begin, end, cylinder in _stays(steps):
            stay = Event(at(begin), at(end), f"packet {packet}", {"cylinder": cylinder})
            timeline.add(f"cylinder {cylinder}", "packet", "span", stay)
    for row in queues.to_dict(orient="records"):
        now = at(int(row["slot"]))
        for column, name in LEVELS.items():
            timeline.add(
                "queues", name, "level", Event(now, now, name, {"value": int(row[column])})
            )
    clock = f"{slot_ps / 1000:g} ns is a slot" + ("" if own else ", by convention: it has no clock")
    return {"clock": clock, "slots": len(queues)}


def _packets(events: DataFrame) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """Yield each packet with what happened to it, in order."""
    steps: dict[int, list[dict[str, Any]]] = {}
    for row in events.to_dict(orient="records"):
        steps.setdefault(int(row["packet"]), []).append({str(key): row[key] for key in row})
    yield from sorted(steps.items())


def _stays(steps: list[dict[str, Any]]) -> Iterator[tuple[int, int, int]]:
    """Yield slots begin .. end - 1 for which a packet was in a cylinder."""
    begin, cylinder = int(steps[0]["slot"]), int(steps[0]["cylinder"])
    for step in steps[1:]:
        if int(step["cylinder"]) != cylinder:
            yield begin, int(step["slot"]), cylinder
            begin, cylinder = int(step["slot"]), int(step["cylinder"])
    yield begin, int(steps[-1]["slot"]) + 1, cylinder
