"""The topologies of a number of ports: what CAMINOS calls them, and their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from dvsim.fabric.topology.factors import factors
from dvsim.kinds.rivals.spec import MOST_PORTS, TopologyTable


class Shape(NamedTuple):
    """A topology of routers, each with as many ports.

    Attributes:
        config: As CAMINOS reads it.
        sides: What it is made of, for people.
        hops: Between routers, on the longest minimal path.
        classes: Kinds of links that CAMINOS tells apart, those to ports included.
    """

    config: str
    sides: str
    hops: int
    classes: int


class ImpossibleError(ValueError):
    """A topology does not come in this number of ports."""


def shape_of(table: TopologyTable) -> Shape:
    """Return the shape of a rival.

    Raises:
        ImpossibleError: With the nearest numbers of ports that are possible.
    """
    found = _shape(table, table.ports)
    if found is None:
        below = next((n for n in range(table.ports - 1, 1, -1) if _shape(table, n)), None)
        above = next((n for n in range(table.ports + 1, MOST_PORTS + 1) if _shape(table, n)), None)
        near = " or ".join(str(n) for n in (below, above) if n is not None)
        message = f"a {table.network} does not come in {table.ports}; the nearest is {near}"
        raise ImpossibleError(message)
    return found


def _shape(table: TopologyTable, ports: int) -> Shape | None:
    if table.network == "vortex":
        height = ports // table.angles
        possible = height >= 2 and height * table.angles == ports and not height & (height - 1)
        return Shape("", f"{height}x{table.angles}", 0, 0) if possible else None
    return SHAPES[table.network](table, ports)


def _torus(table: TopologyTable, ports: int) -> Shape | None:
    sides = factors(ports, table.dimensions, 3)  # a side of 2 would have its links twice
    if sides is None:
        return None
    config = f"Torus{{sides:{_list(sides)},servers_per_router:1}}"
    return Shape(config, _times(sides), sum(side // 2 for side in sides), len(sides) + 1)


def _hyperx(table: TopologyTable, ports: int) -> Shape | None:
    sides = factors(ports, 3, 2)
    if sides is None:
        return None
    *routers, own = sides
    config = f"Hamming{{sides:{_list(routers)},servers_per_router:{own}}}"
    return Shape(config, f"{_times(routers)}, {own} ports each", 2, 3)


def _fattree(table: TopologyTable, ports: int) -> Shape | None:
    sides = factors(ports, table.levels, 2)
    if sides is None:
        return None
    own, *down = sides
    up = sides[:-1]
    config = f"XGFT{{height:{len(down)},down:{_list(down)},up:{_list(up)},servers_per_leaf:{own}}}"
    return Shape(config, _times(sides), 2 * len(down), len(down) + 1)


def _dragonfly(table: TopologyTable, ports: int) -> Shape | None:
    """As many global links of a router as ports, and enough of a group to reach all others."""
    for own in range(1, 33):
        for group in range(2 * own, 4 * own + 1):
            groups, left = divmod(ports, own * group)
            if not left and 2 < groups <= group * own + 1 and not group * own * groups % 2:
                order = "Palmtree" if groups == group * own + 1 else "Random"
                config = (
                    f"Dragonfly{{global_ports_per_router:{own},servers_per_router:{own},"
                    f"group_size:{group},number_of_groups:{groups},global_arrangement:{order}}}"
                )
                return Shape(config, f"{groups} groups of {group}, {own} ports each", 3, 3)
    return None


def _slimfly(table: TopologyTable, ports: int) -> Shape | None:
    for field in PRIMES:
        degree = (3 * field - (1 if field % 4 == 1 else -1)) // 2
        for own in {degree // 2, ceil(degree / 2)}:
            if 2 * field**2 * own == ports:
                config = f"SlimFly{{prime:{field},servers_per_router:{own}}}"
                return Shape(config, f"q {field}, {own} ports each", 2, 3)
    return None


def _random(table: TopologyTable, ports: int) -> Shape | None:
    routers, left = divmod(ports, OWN)
    if left or routers <= DEGREE:
        return None
    config = f"RandomRegularGraph{{routers:{routers},degree:{DEGREE},servers_per_router:{OWN}}}"
    return Shape(config, f"{routers} of degree {DEGREE}", 3 if routers <= 64 else 4, 2)


OWN, DEGREE = 4, 8
"""Ports and links of a router of a random graph."""
PRIMES = (5, 7, 11, 13)
SHAPES = {
    "torus": _torus,
    "hyperx": _hyperx,
    "fattree": _fattree,
    "dragonfly": _dragonfly,
    "slimfly": _slimfly,
    "random": _random,
}


def _list(numbers: Sequence[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def _times(numbers: Sequence[int]) -> str:
    return "x".join(map(str, numbers))
