"""Which trees of switches there are: the shape of one plane, and the presets.

With radix R = 2 D, a leaf has D ports and D links up, every switch between the leaves and the top
the same, and the top R links down. L levels so have at most 2 D^L ports. With fewer, the top has
fewer switches, and a group of D^(L-1) ports has p = R / G links to each of them, G being the number
of such groups: so G must divide R, and p must divide D^(L-1).
"""

from __future__ import annotations

from typing import NamedTuple

from dvsim.errors import ArgumentError

PRESETS = {f"dv{200 + bits}": 1 << bits for bits in range(2, 17)}
"""Ports of each preset: dv202 has 2^2, dv216 has 2^16."""

MOST_LEVELS = 3
PRESET_RADIX = 64


class Tree(NamedTuple):
    """The shape of one plane."""

    radix: int  # inputs, and outputs, of every switch
    ports: int  # ports of the network
    switches: tuple[int, ...]  # switches of each level, the leaves first
    parallel: int  # links from a group of the level below to each switch of the top

    @property
    def levels(self) -> int:
        """Levels of switches."""
        return len(self.switches)

    @property
    def down(self) -> int:
        """Ports of a leaf."""
        return self.radix if self.levels == 1 else self.radix // 2

    def reach(self, level: int) -> int:
        """Return the ports below a group of a level: a packet goes no higher to reach them."""
        top = self.levels - 1
        return self.ports if level == top else (self.radix // 2) ** (level + 1)

    def links(self) -> list[list[int]]:
        """Return the links up and down from each level, [level][way]; down from leaves to ports."""
        half = self.radix // 2
        up = [count * half for count in self.switches[:-1]] + [0]
        return [
            [up[level], self.ports if level == 0 else up[level - 1]] for level in range(len(up))
        ]


def sizes(radix: int, levels: int) -> list[int]:
    """Return the numbers of ports that so many levels of switches of one radix can have."""
    if levels == 1:
        return [radix]
    child = (radix // 2) ** (levels - 1)
    groups = (count for count in range(2, radix + 1) if radix % count == 0)
    return [count * child for count in groups if child % (radix // count) == 0]


def tree(radix: int, levels: int, ports: int) -> Tree:
    """Return the shape of a plane.

    Raises:
        ValueError: If there is no such tree; the text has the nearest.
    """
    if levels > 1 and (radix % 2 or radix < 4):
        message = f"must be 1 with switches of {radix} ports, of which half cannot go up"
        raise ArgumentError("levels", f"{message}; is {levels}")
    allowed = sizes(radix, levels)
    if ports not in allowed:
        nearest = sorted(allowed, key=lambda size: (abs(size - ports), size))[:2]
        message = (
            f"must be {' or '.join(map(str, sorted(nearest)))}, the nearest that {levels} "
            f"level{'s' if levels > 1 else ''} of switches with {radix} ports can have; is {ports}"
        )
        raise ArgumentError("ports", message)
    half = radix // 2
    child = half ** (levels - 1)
    lower = [ports // half] * (levels - 1)
    return Tree(radix, ports, (*lower, ports // radix), radix * child // ports)


def levels_of(ports: int) -> int:
    """Return the levels of a preset: one up to 64 ports, two up to 2,048, three up to 65,536."""
    return next(levels for levels in range(1, MOST_LEVELS + 1) if ports <= sizes(64, levels)[-1])
