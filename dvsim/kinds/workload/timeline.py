"""Replays as a timeline for Perfetto: what each rank did when, and an arrow for each message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dvsim.emulation.trace.timeline import PS_PER_NS, Event, Timeline
from dvsim.kinds.workload.check import CALC, NAMES, SEND

if TYPE_CHECKING:
    from dvsim.kinds.workload.replay import Replay


def add_replay(timeline: Timeline, replay: Replay) -> None:
    """Add the operations of all ranks to a timeline; a receive begins when its message is there."""
    graph, course = replay.graph, replay.course
    begin, end = course.begin // PS_PER_NS, course.end // PS_PER_NS
    order = course.begin.argsort(kind="stable")
    ranks = (graph.first.searchsorted(order, side="right") - 1).tolist()
    arrows = {
        int(operation): timeline.arrow() for operation in order if graph.kind[operation] == SEND
    }
    critical = set(replay.way.tolist())
    for operation, rank in zip(order.tolist(), ranks, strict=True):
        kind, first, last = int(graph.kind[operation]), int(begin[operation]), int(end[operation])
        facts: dict[str, float | int | str] = {"critical": int(operation in critical)}
        sends: tuple[tuple[int, int], ...] = ()
        name, gets = NAMES[kind], 0
        if kind != CALC:
            facts |= {"peer": int(graph.peer[operation]), "bytes": int(graph.size[operation]),
                      "tag": int(graph.tag[operation])}  # fmt: skip
            name = f"{name} {'to' if kind == SEND else 'from'} {graph.peer[operation]}"
            if kind == SEND:
                sends = ((arrows[operation], first),)
            elif course.pair[operation] >= 0:
                send = int(course.pair[operation])
                facts["posted at ns"] = first
                first = max(first, int(course.handled[send]) // PS_PER_NS)
                gets = arrows[send]
        event = Event(first, max(first, last), name, facts, sends, gets)
        beside = graph.agent and graph.cpu[operation] == graph.agent
        timeline.add(f"rank {rank}", "one-sided" if beside else NAMES[kind], "span", event)
