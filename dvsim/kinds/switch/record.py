"""A short run of a switch that is kept slot by slot, and that run as a timeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dvsim.core.vortex import EVENTS
from dvsim.emulation.trace.timeline import Event, Timeline
from dvsim.kinds.switch.metrics import EVENT_COLUMNS, QUEUE_COLUMNS
from dvsim.kinds.switch.points import switch_of, traffic_of
from dvsim.kinds.switch.spec import SwitchScenario

LEFT = "leave"  # how the way of a packet ends that has arrived
SLOT_PS = 1_000_000  # of a switch that has no clock: a microsecond is a slot
LEVELS = {
    "waiting": "packets waiting at the inputs",
    "in_flight": "packets in the switch",
    "deflected": "packets deflected in the slot",
}
"""Column of the queues -> the name of the counter."""


def recorded(scenario: SwitchScenario, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Run the first point from an empty switch on and return its events and queues.

    It is the beginning of replication 1, warm-up included. Both tables are empty where the
    scenario records nothing.
    """
    events = pd.DataFrame(columns=list(EVENT_COLUMNS)).astype(dict(EVENT_COLUMNS))
    queues = pd.DataFrame(columns=list(QUEUE_COLUMNS)).astype(dict(QUEUE_COLUMNS))
    setting, record = scenario.at(0), scenario.record
    if record is None or setting.switch is None:
        return events, queues
    switch = switch_of(setting.switch)
    run = switch.start(traffic_of(setting.traffic), seed, watch=record.packets)
    rows, before = [], 0
    for slot in range(record.slots):
        run.run(1)
        counts = run.core.counts()
        blocked = int(counts.blocked[:-1].sum())
        rows.append((slot, counts.waiting, counts.in_flight, blocked - before))
        before = blocked
    queues = pd.DataFrame(rows, columns=list(QUEUE_COLUMNS)).astype(dict(QUEUE_COLUMNS))
    raw = run.core.events()
    columns = {name: raw[name] for name in EVENT_COLUMNS if name != "kind"}
    events = pd.DataFrame(columns | {"kind": np.array(EVENTS, dtype=object)[raw["kind"]]})
    return events[list(EVENT_COLUMNS)].astype(dict(EVENT_COLUMNS)), queues


def add_record(
    timeline: Timeline, scenario: SwitchScenario, events: pd.DataFrame, queues: pd.DataFrame
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


def _packets(events: pd.DataFrame) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    steps: dict[int, list[dict[str, Any]]] = {}
    for row in events.to_dict(orient="records"):
        steps.setdefault(int(row["packet"]), []).append({str(key): row[key] for key in row})
    yield from sorted(steps.items())


def _stays(steps: list[dict[str, Any]]) -> Iterator[tuple[int, int, int]]:
    begin, cylinder = int(steps[0]["slot"]), int(steps[0]["cylinder"])
    for step in steps[1:]:
        if int(step["cylinder"]) != cylinder:
            yield begin, int(step["slot"]), cylinder
            begin, cylinder = int(step["slot"]), int(step["cylinder"])
    yield begin, int(steps[-1]["slot"]) + 1, cylinder
