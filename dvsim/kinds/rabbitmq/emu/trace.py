"""Timelines of emulated runs, from what the programs of the first iteration have left.

Cards: the calls of each thread and the depths that vicrun traced, and from the statistics of the
bridges what was in flight, and rates. Over TCP: the batches. All in the time of this machine since
the job began.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from dvsim.emulation.stats import Stats
from dvsim.emulation.trace.timeline import Event, Timeline, ordinal
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.emu.left import BATCHES, BRIDGE, CARDS

NS_PER_US, NS_PER_S, PS_PER_NS = 1000, 10**9, 1000
ARRIVALS = "arrivals"
RATES = {"messages": "messages off the card", "published": "published", "confirmed": "confirmed"}
"""Column of a bridge's statistics -> what it is per second."""


def add_left(timeline: Timeline, folder: Path, receivers: int) -> None:
    """Add what the programs of an iteration have left in a folder."""
    try:
        if (folder / BATCHES).exists():
            _add_batches(timeline, pd.read_csv(folder / BATCHES))
        else:
            _add_all(timeline, folder, receivers)
    except (OSError, ValueError) as error:
        raise RunFailed(f"the cards have left no trace: {error}") from error
    except (KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise RunFailed(f"the trace lacks a valid {error}") from error


def _add_all(timeline: Timeline, folder: Path, receivers: int) -> None:
    traced = json.loads((folder / CARDS).read_text("ascii"))
    _add_cards(timeline, traced["traceEvents"], receivers)
    zero_ns = int(traced["metadata"]["start_monotonic_ns"])
    for receiver in range(1, receivers + 1):
        record = folder / BRIDGE.format(receiver=receiver)
        _add_bridge(timeline, _card(receivers + receiver - 1, receivers), Stats(record), zero_ns)
    stride = int(traced["metadata"]["every_nth_event"])
    if stride > 1:
        timeline.notes.append(f"calls and packets: every {ordinal(stride)} of the busiest card")


def _card(number: int, receivers: int) -> str:
    whose = "sender" if number < receivers else "bridge"
    return f"{whose}.{number % receivers + 1} (card {number})"


def _add_cards(timeline: Timeline, events: list[dict[str, Any]], receivers: int) -> None:
    sent, got = _arrows(timeline, events)
    shown = (event for event in events if "ts" in event and event["ph"] not in ("s", "f"))
    for one in sorted(shown, key=lambda event: float(event["ts"])):
        component, args = _card(one["pid"], receivers), one["args"]
        begin = round(one["ts"] * NS_PER_US)
        if one["ph"] == "X":
            end = begin + round(one["dur"] * NS_PER_US)
            row, calls = f"thread {one['tid']}", sent.get((one["pid"], one["tid"]), deque())
            while calls and calls[0][1] < begin:
                calls.popleft()  # its call was left out
            own = []
            while calls and calls[0][1] <= end:
                own.append(calls.popleft())
            event = Event(begin, end, one["name"], args, tuple(own))
            timeline.add(component, row, "work", event)
        elif one["ph"] == "C":
            event = Event(begin, begin, one["name"], args)
            timeline.add(component, one["name"], "level", event)
        else:
            event = Event(begin, begin, one["name"], args, gets=got.get(id(one), 0))
            timeline.add(component, ARRIVALS, "moment", event)


def _arrows(
    timeline: Timeline, events: list[dict[str, Any]]
) -> tuple[dict[tuple[int, int], deque[tuple[int, int]]], dict[int, int]]:
    """Return where arrows begin and end: by card and thread in order of time, and by arrival.

    vicrun writes an arrival, then both ends of the arrow to it.
    """
    sent: dict[tuple[int, int], list[tuple[int, int]]] = {}
    got: dict[int, int] = {}
    arrival: dict[str, Any] | None = None
    for event in events:
        if event["ph"] == "i":
            arrival = event
        elif event["ph"] == "s" and arrival is not None:
            number = got[id(arrival)] = timeline.arrow()
            at = round(event["ts"] * NS_PER_US)
            sent.setdefault((event["pid"], event["tid"]), []).append((number, at))
    ordered = {key: deque(sorted(some, key=lambda arrow: arrow[1])) for key, some in sent.items()}
    return ordered, got


def _add_bridge(timeline: Timeline, component: str, stats: Stats, zero_ns: int) -> None:
    for row in stats.traffic.to_dict(orient="records"):
        at = max(0, stats.first_ns + int(row["start_ns"]) - zero_ns)
        for name, value in _levels(row):
            timeline.add(component, name, "level", Event(at, at, name, {"value": value}))


def _levels(row: dict[Any, Any]) -> Iterator[tuple[str, float]]:
    yield "messages in flight to the broker", int(row["in_flight"])
    yield "connections that the broker blocks", int(row["blocked"])
    for column, name in RATES.items():
        yield f"{name} per s", round(int(row[column]) * NS_PER_S / max(1, int(row["duration_ns"])))


def _add_batches(timeline: Timeline, batches: pd.DataFrame) -> None:
    for row in batches.to_dict(orient="records"):
        begin, took = int(row["start_ps"]) // PS_PER_NS, int(row["duration_ps"]) // PS_PER_NS
        messages = int(row["messages"])
        event = Event(begin, begin + took, "batch", {"messages": messages})
        timeline.add("publishers", "batch", "span", event)
