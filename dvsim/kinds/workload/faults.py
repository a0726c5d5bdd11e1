"""Faults of network and cards in a replay, in words: ``dead plane=3``, ``slow port=5 by=4``.

======================================= ==========================================================
``dead plane=K``                        no word goes by it; the planes that are left take all
``dead port=P plane=K``                 the same, of the cables between a port and a plane
``dead level=L switch=S up=U plane=K``  the same, of the cable from up link U of a switch, which
                                        are counted as in docs/network.md, to the level above
``dead port=P``                         the port takes messages and passes on none
``slow port=P by=F``                    PIO, DMA and port of a card take F times as long
``lossy port=P chance=X again=TIME``    a word that leaves or enters is lost by chance; what was
                                        lost is sent again so long after the rest has come
======================================= ==========================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.scenario.quantity import UnitError, read, whole

if TYPE_CHECKING:
    from dvsim.fabric.network.tree import Tree

FORMS: Mapping[str, tuple[str, ...]] = {
    "dead": ("plane=", "port=", "plane= port=", "level= plane= switch= up="),
    "slow": ("by= port=",),
    "lossy": ("chance= port=", "again= chance= port="),
}
"""What a fault can be, and which keys it has then, in the order of the alphabet."""

FACTORS = ("by=", "chance=", "again=")
"""How much is wrong, not what."""

AGAIN = "10 us"
MOST_SLOWER, MOST_CHANCE = 1000.0, 0.5


@dataclass
class Faults:
    """What is wrong in a fabric; nothing by default."""

    # Cables that are dead: port and plane.
    cuts: list[tuple[int, int]] = field(default_factory=list)
    # Cables between switches that are dead: level, switch, up link of it, plane.
    links: list[tuple[int, int, int, int]] = field(default_factory=list)
    dead: set[int] = field(default_factory=set)  # ports that pass on nothing
    # Of some ports: how many times as long they take, and the chance that a word is lost.
    slow: dict[int, float] = field(default_factory=dict)
    chance: dict[int, float] = field(default_factory=dict)
    again_ps: int = 1  # from a loss until it is sent again
    told: tuple[str, ...] = ()  # as they were given

    @property
    def wrap(self) -> bool:
        """Whether ports lose anything."""
        return bool(self.dead or self.chance)


def faults_of(given: Iterable[str], planes: int, tree: Tree) -> Faults:
    """Return faults that were given in words, of a network of that shape."""
    faults = Faults(told=tuple(given))
    first: dict[tuple[str, ...], str] = {}
    for text in faults.told:
        own = tuple(sorted(word for word in text.split() if not word.startswith(FACTORS)))
        if own in first:
            _refuse(text, f"is given twice, first as '{first[own]}'")
        first[own] = text
        _add(faults, text, planes, tree)
    left = {port: set(range(planes)) for port, _ in faults.cuts}
    for port, plane in faults.cuts:
        left[port].discard(plane)
    alive = {port: mine for port, mine in left.items() if port not in faults.dead}
    for port, mine in alive.items():
        if not mine:
            _refuse(
                " and ".join(faults.told), f"port {port} has no plane left; say: dead port={port}"
            )
        for other, theirs in alive.items():
            if not mine & theirs:
                _refuse(" and ".join(faults.told), f"ports {port} and {other} share no plane")
    return faults


def _add(faults: Faults, text: str, planes: int, tree: Tree) -> None:
    kind, *words = text.split()
    if kind not in FORMS:
        _refuse(text, f"must begin with {', '.join(FORMS)}", nearest(kind, FORMS))
    keys = dict(word.partition("=")[::2] for word in words)
    if " ".join(f"{key}=" for key in sorted(keys)) not in FORMS[kind] or len(keys) < len(words):
        _refuse(text, f"{kind} wants {' or '.join(FORMS[kind])}")
    port = _number(text, "port", keys, tree.ports) if "port" in keys else -1
    if kind == "dead" and "plane" in keys:
        plane = _number(text, "plane", keys, planes)
        if "up" in keys:
            faults.links.append((*_link(text, keys, tree), plane))
        else:
            faults.cuts += [(own, plane) for own in ([port] if port >= 0 else range(tree.ports))]
    elif kind == "dead":
        faults.dead.add(port)
    elif kind == "slow":
        faults.slow[port] = _factor(text, keys["by"], 1.0, MOST_SLOWER)
    else:
        faults.chance[port] = _factor(text, keys["chance"], 0.0, MOST_CHANCE)
        try:
            again = whole(read(keys.get("again", AGAIN), "time"), keys.get("again", AGAIN), "time")
        except UnitError as error:
            _refuse(text, f"again: {error.message}")
        faults.again_ps = max(faults.again_ps, again)


def _link(text: str, keys: Mapping[str, str], tree: Tree) -> tuple[int, int, int]:
    if tree.levels == 1:
        _refuse(text, f"{tree.ports} ports have one switch on a plane, and no cable to another")
    level = _number(text, "level", keys, tree.levels - 1)
    switch = _number(text, "switch", keys, tree.switches[level], "switches")
    return level, switch, _number(text, "up", keys, tree.down, "up links")


def _number(text: str, key: str, keys: Mapping[str, str], count: int, plural: str = "") -> int:
    given = keys[key]
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 9 else count
    if number >= count:
        _refuse(text, f"the {plural or f'{key}s'} are 0 to {count - 1}; no {key} {given}")
    return number


def _factor(text: str, given: str, least: float, most: float) -> float:
    try:
        value = float(given)
    except ValueError:
        value = -1.0
    if not least <= value <= most:
        _refuse(text, f"must be a number from {least:g} to {most:g}, is {given}")
    return value


def _refuse(text: str, message: str, hint: str | None = None) -> NoReturn:
    raise ScenarioError.at(Argument("faults"), message, text, hint=hint)
