"""How long a slot of a card's fabric is."""

from __future__ import annotations

from dvsim.scenario.types import Card

WORD_BYTES = 8
PS_PER_S = 10**12


def slot_of(card: Card, planes: int | None = None) -> int:
    """Return the slot of a vortex card in picoseconds, at least 1.

    A port puts one word into each plane in a slot, so that all planes together carry the port's
    rate: slot = planes x 8 B / port_rate, with the card's planes or the given number of them.
    """
    return max(
        1, round((planes or int(card["planes"])) * WORD_BYTES * PS_PER_S / float(card["port_rate"]))
    )
