"""Which switches and cards make a network; every text says what is allowed and what was given."""

from __future__ import annotations

from dvsim.errors import ArgumentError
from dvsim.fabric.network.tree import Tree
from dvsim.fabric.switch.switch import Switch
from dvsim.scenario.card import load_card
from dvsim.scenario.types import Card

MOST_PORTS = 1 << 24
MOST_LANES = 65536  # switches of a level times angles, see vortex.h
MOST_ADDRESSES = 1 << 39  # heights, angles and ports: 24 bits of 63 must be left for times


def vortex_card(card: str | Card) -> Card:
    """Return a card, by its name if it is one; ValueError if it is of another kind."""
    loaded = card if isinstance(card, Card) else load_card(card)
    if loaded.kind != "vortex":
        message = f"must be of kind 'vortex', {loaded.name!r} is of kind {loaded.kind!r}"
        raise ArgumentError("card", message)
    return loaded


def radix_of(switch: Switch) -> int:
    """Return the ports of a switch; ValueError if it has not as many inputs as outputs."""
    if switch.faults:
        message = f"has no faults, this one has {len(switch.faults)}"
        raise ArgumentError("switch", message, "the switch of a network")
    most = 1 if switch.exit == "any" else switch.angles
    if len(switch.injecting) != most:
        wanted = "one injecting angle" if switch.exit == "any" else "all angles injecting"
        message = (
            f"has as many inputs as outputs: with exit {switch.exit!r} "
            f"{wanted}, not {len(switch.injecting)} of {switch.angles}"
        )
        raise ArgumentError("switch", message, "the switch of a network")
    return switch.outputs


def check_size(shape: Tree, switch: Switch) -> None:
    """Raise ValueError for a plane that the core cannot run."""
    if shape.ports > MOST_PORTS:
        raise ArgumentError("ports", f"must be at most {MOST_PORTS}, is {shape.ports}")
    address = switch.height * (1 << (switch.angles - 1).bit_length()) * shape.ports
    if address > MOST_ADDRESSES:
        message = f"{shape.ports} ports leave no room in a packet for the time"
        raise ArgumentError("ports", message, "the switches are too large for a network:")
    lanes = max(shape.switches) * switch.angles
    if lanes > MOST_LANES:
        message = (
            f"may have {MOST_LANES // switch.angles} switches of {switch.angles} angles, "
            f"these {shape.ports} ports need {max(shape.switches)}"
        )
        raise ArgumentError("ports", message, "a level")
