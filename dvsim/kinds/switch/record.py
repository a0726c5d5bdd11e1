"""A short run of a switch that is kept slot by slot: events of a few packets, and the queues."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dvsim.core.vortex import EVENTS
from dvsim.kinds.switch.metrics import EVENT_COLUMNS, QUEUE_COLUMNS
from dvsim.kinds.switch.points import switch_of, traffic_of
from dvsim.kinds.switch.spec import SwitchScenario


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
