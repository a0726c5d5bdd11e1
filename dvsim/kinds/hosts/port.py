"""A port: packets on the wire and over the slot of the card, and the interrupts at the end."""

from __future__ import annotations

from collections.abc import Callable

import simpy

from dvsim.core.stage import PS_PER_S, Clock
from dvsim.kinds.hosts.hop import Arrive, Batch, Hop, Turns
from dvsim.scenario.types import Card

PING_PIECES = 64  # of a message, which show how it overlaps with itself
BURST = 2**16  # bytes that a flow carries in one event; packets are counted inside


def payload(card: Card) -> int:
    """Return the bytes of messages in a full packet."""
    return int(card["packet"])


def packet_ps(card: Card, count: int) -> float:
    """Return the picoseconds of a packet with `count` bytes of messages.

    The wire and the slot of the card work at the same time: the slower one decides.
    """
    whole = (count + card["packet_overhead"]) * PS_PER_S
    return float(max(whole / card["rate"], whole / card["slot_rate"] + card["packet_cost"]))


def carry_cost(card: Card) -> Callable[[Batch], float]:
    """Return what it costs to carry the bytes of a batch, full packets and a rest."""
    full, rest_of = packet_ps(card, payload(card)), payload(card)

    def cost(batch: Batch) -> float:
        packets, rest = divmod(batch.bytes, rest_of)
        return packets * full + (packet_ps(card, rest) if rest else 0.0)

    return cost


def ping_grain(card: Card, frame: int) -> int:
    """Return the bytes that a single message is carried in: packets, of a long one several."""
    return max(payload(card), frame // PING_PIECES)


class Interrupts:
    """Tells the receiver of what has arrived: `latency` later, and not more often than allowed."""

    def __init__(self, clock: Clock, card: Card, onward: Arrive) -> None:
        self._clock, self._onward = clock, onward
        self._latency: int = card["latency"]
        self._gap: int = card["moderation"]
        self._next = self._held = 0

    def arrive(self, count: int) -> None:
        """Take bytes that have left the wire."""
        if not self._gap:
            self._after(self._latency, lambda _: self._onward(count))
            return
        self._held += count
        if self._held == count:  # nothing was held before: an interrupt is due
            wait = max(self._next - self._clock.ps, 0)
            self._after(wait + self._latency, self._interrupt)

    def _interrupt(self, _: simpy.Event) -> None:
        held, self._held = self._held, 0
        self._next = self._clock.ps - self._latency + self._gap
        self._onward(held)

    def _after(self, delay: int, call: Callable[[simpy.Event], None]) -> None:
        event = self._clock.timeout(delay)
        assert event.callbacks is not None  # it has just been made
        event.callbacks.append(call)


def link(
    clock: Clock, kind: str, card: Card, frame: int, into: Hop, port: Turns, *, grain: int = BURST
) -> Hop:
    """Make the hop over a link into another hop; streams over one port take turns.

    Args:
        grain: Bytes that are carried in one event: a packet shows how a message overlaps with
            itself.
    """
    interrupts = Interrupts(clock, card, into.arrive)
    packet = payload(card)
    limit = max(packet, grain // packet * packet)
    return Hop(
        clock, kind, frame, limit, carry_cost(card), interrupts.arrive, shared=port, into=into
    )
