"""What can be broken in a switch."""

from __future__ import annotations

from typing import NamedTuple

from dvsim.core.vortex import FAULTS
from dvsim.errors import ArgumentError
from dvsim.fabric.switch.check import choice, whole


class Fault(NamedTuple):
    """Something broken at the node (cylinder, angle, height).

    ``kind`` is one of

    - ``node``: dead. Nothing enters it; a packet whose way along its cylinder leads there is lost.
    - ``down``: the link to the next cylinder is dead; every packet is deflected.
    - ``stay``: the link along its own cylinder is dead; a packet that stays is lost.
    - ``block``: its deflection line is stuck at "taken"; every packet is deflected.
    - ``free``: its deflection line is stuck at "free"; a packet that descends into a taken node
      is lost.
    """

    kind: str
    cylinder: int
    angle: int
    height: int


def check_fault(
    fault: Fault | tuple[str, int, int, int], cylinders: int, angles: int, heights: int
) -> Fault:
    """Return a fault of a switch of that shape; ValueError if it has no such node or link."""
    try:
        kind, cylinder, angle, height = fault
    except (TypeError, ValueError):
        message = f"is (kind, cylinder, angle, height), is {fault!r}"
        raise ArgumentError("faults", message, "a fault") from None
    choice("the kind of a fault", kind, FAULTS, "faults")
    cylinder = whole("the cylinder of a fault", cylinder, 0, cylinders - 1, "faults")
    angle = whole("the angle of a fault", angle, 0, angles - 1, "faults")
    height = whole("the height of a fault", height, 0, heights - 1, "faults")
    if cylinder == cylinders - 1 and kind in ("down", "block", "free"):
        message = f"is of the way down, which cylinder {cylinder}, the innermost, lacks"
        raise ArgumentError("faults", message, f"fault {kind!r}")
    return Fault(kind, cylinder, angle, height)
