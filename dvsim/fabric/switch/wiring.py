"""The wiring of a switch, and the paths of packets through it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints
from dvsim.core.vortex import EVENTS, reversed_heights

# Where a packet goes that stays on its cylinder: the crossing G_c of heights.
#
# Cylinder c has settled the c highest bits of a packet's height. A packet that stays keeps them and
# has bit c (most significant first) flipped and the bits below permuted. With u the height written
# backwards and R = u >> c, the three crossings are
#
# - ``brc``     R -> R + 1 modulo H / 2^c ("bit-reversed counter"): one cycle through all heights
# - ``xor``     R -> R xor 1: the packet swings between two heights
# - ``random``  R -> pi(R), a random permutation that flips bit 0

GOLDEN = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1
_CROSS = 0x63726F7373  # "cross"


def splitmix(start: int, first: int, count: int) -> npt.NDArray[np.uint64]:
    """Return numbers `first` .. of the SplitMix64 sequence that starts at `start` [1]_.

    .. [1] Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    index = np.arange(first, first + count, dtype=np.uint64)
    x = index * np.uint64(GOLDEN) + np.uint64(start & _WORD)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def random_order(height: int, seed: int) -> npt.NDArray[np.uint32]:
    """Draw the permutations of crossing ``random`` from the seed of a run.

    Returns:
        array of 2 * height - 2 numbers: The next R of each R of cylinder 0, then of cylinder 1, and
        so on to the last but one.
    """
    start = int(splitmix(seed ^ _CROSS, 0, 1)[0])
    drawn, cylinders = 0, []
    while height >= 2:
        half = height // 2
        odd = _shuffled(half, splitmix(start, drawn, half))
        even = _shuffled(half, splitmix(start, drawn + half, half))
        drawn += height
        cylinders.append(np.stack([2 * odd + 1, 2 * even], axis=1).ravel())
        height = half
    return np.concatenate(cylinders).astype(np.uint32)


def crossing_of(
    crossing: str, height: int, cylinder: int, order: npt.NDArray[np.uint32] | None
) -> Ints:
    """Return the height to which a packet that stays on a cylinder crosses, for each height."""
    values = height >> cylinder
    u = reversed_heights(np.arange(height, dtype=np.int64), height)
    settled, value = u & ((1 << cylinder) - 1), u >> cylinder
    if values == 1:  # the ring of the innermost cylinder keeps the height
        after = value
    elif crossing == "brc":
        after = (value + 1) % values
    elif crossing == "xor":
        after = value ^ 1
    else:
        if order is None:
            raise ValueError("crossing random needs its permutations")
        after = order[2 * height - 2 * values :].astype(np.int64)[value]
    return reversed_heights(after << cylinder | settled, height)


def _shuffled(count: int, draws: npt.NDArray[np.uint64]) -> Ints:
    remaining = np.arange(count, 0, -1, dtype=np.uint64)
    chosen = ((draws >> np.uint64(32)) * remaining >> np.uint64(32)).tolist()
    values = list(range(count))
    for last, other in zip(range(count - 1, -1, -1), chosen, strict=True):
        values[last], values[other] = values[other], values[last]
    return np.array(values, dtype=np.int64)


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
