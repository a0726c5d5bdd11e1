"""The way of a packet through the switch, node by node."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

from dvsim.core.vortex import EVENTS


class Step(NamedTuple):
    """What happened in a slot, and the node where the packet stands after it.

    ``event`` is ``enter``, ``cross`` (it stayed because its bit was wrong, or went on along the
    innermost cylinder), ``deflect`` (it stayed because it could not descend), ``descend``,
    ``leave`` or ``lose``. ``by`` is the packet that deflected it, None if there was none.
    """

    slot: int
    cylinder: int
    angle: int
    height: int
    event: str
    by: int | None


class Path(NamedTuple):
    """The steps of one packet; `source` and `destination` are port numbers.

    Packets are numbered from 0 in the order in which they entered.
    """

    packet: int
    source: int
    destination: int
    steps: list[Step]

    @property
    def hops(self) -> int:
        """Nodes visited so far."""
        return sum(step.event not in ("leave", "lose") for step in self.steps)

    @property
    def deflections(self) -> int:
        """How often it was deflected so far."""
        return sum(step.event == "deflect" for step in self.steps)


def paths_of(events: npt.NDArray[Any], height: int) -> list[Path]:
    """Sort the events of the core into paths, by packet."""
    paths: dict[int, Path] = {}
    for slot, packet, by, kind, cylinder, angle, at, to_angle, to_height in events.tolist():
        path = paths.get(packet)
        if path is None:  # its first event is that it enters
            path = Path(packet, angle * height + at, to_angle * height + to_height, [])
            paths[packet] = path
        step = Step(slot, cylinder, angle, at, EVENTS[kind], by if by >= 0 else None)
        path.steps.append(step)
    return [paths[packet] for packet in sorted(paths)]
