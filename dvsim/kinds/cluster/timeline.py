"""The course of a run, second by second, on a timeline: levels of clients and of each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dvsim.emulation.trace.timeline import Event

if TYPE_CHECKING:
    from dvsim.emulation.trace.timeline import Timeline
    from dvsim.kinds.cluster.nodes import Passed, State

NS = 10**9


def note_second(
    timeline: Timeline,
    second: int,
    published: float,
    state: State,
    passed: Passed,
    *,
    stopped: bool,
) -> None:
    """Note what a second has left: rates of clients, and what waits and works on each node.

    Args:
        stopped: Publishers were stopped in it.
    """
    at = second * NS

    def level(component: str, name: str, value: float) -> None:
        timeline.add(component, name, "level", Event(at, at, name, {"value": float(value)}))

    level("clients", "published msg/s", published)
    level("clients", "consumed msg/s", passed.given)
    level("clients", "held by publishers", state.held)
    for node, busy in enumerate(passed.busy):
        component = f"node {node + 1}"
        level(component, "busy", busy)
        level(component, "waits for schedulers", state.processors[node])
        level(component, "waits for the log", state.logs[node])
        level(component, "queues", state.queues[node])
        level(component, "written B/s", state.uses[node].bytes)
    if stopped:
        timeline.add("clients", "alarm", "moment", Event(at, at, "alarm", {}))
