"""The fabric between senders and receivers, by the cycle-accurate core, at one of two fidelities.

``cycle``
    Every word of every burst goes through the switches, slot by slot, in step with the SimPy clock:
    bursts of several senders meet where they do. The card takes each word in the slot in which it
    comes out (models/host/receiver.h).
``flow``
    A burst is a linear flow; its latency and rate come from a cycle-level measurement of the same
    network with as many senders at work, made once (`dvsim.fabric.network.bursts`). So it is in the
    card
    (models/card/card.h).

``auto`` takes ``cycle`` for an iteration of at most `MOST_UPDATES` node updates, if the card can be
simulated word by word (`dvsim.scenario.word_card`), else ``flow``.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import simpy

from dvsim.core import Arrival, WordArrival
from dvsim.core.arrays import Ints
from dvsim.core.stage import Clock, Happening, Process
from dvsim.fabric.network import Network
from dvsim.fabric.network.bursts import BurstTable, Flow, bursts_of
from dvsim.scenario.types import Card
from dvsim.scenario.word_card import beyond_words

MOST_UPDATES = 1 << 28  # 1.4 million words in a network of 8 ports
STRIDE = 1 << 16  # slots at a time where nothing else is to happen


class Fabric(Protocol):
    """What carries bursts of 64-bit words from a sender's port to a receiver's SRAM."""

    fidelity: str

    def send(self, number: int, words: int) -> simpy.Event:
        """Send a burst along flow `number` (0 ..); the event's value says how it arrives.

        At flow fidelity an `Arrival`, at cycle fidelity a `WordArrival`. The event may come as soon
        as it is known, which is before or when the last word is there.
        """

    @property
    def table(self) -> BurstTable:
        """The cycle-level measurement of one burst, alone and with others."""


def fabric_of(
    clock: Clock,
    card: Card,
    receivers: int,
    words: int,
    fidelity: str,
    *,
    senders: int | None = None,
    ordered: bool = False,
) -> Fabric:
    """Return the fabric of a card, with one flow to each receiver.

    Args:
        clock: Simulated time.
        card: Of kind "vortex".
        receivers: Senders are at the first ports, their receivers at those that follow.
        words: How many words an iteration sends, for ``auto``.
        fidelity: ``cycle``, ``flow`` or ``auto``.
        senders: Ports that share the flows out among them, in turn; None for one each.
        ordered: Whether a port holds a word back until all before it have come. A burst ends when
            it would have ended anyway (`dvsim.fabric.network.disorder`), so at ``flow`` nothing is
            different.
    """
    network = network_of(card)
    ports = senders or receivers
    flows = tuple(Flow(number % ports, ports + number) for number in range(receivers))
    table = bursts_of(network, flows)
    if fidelity == "auto":
        updates = words * network.nodes // network.planes  # a plane takes a word per slot
        by_words = updates <= MOST_UPDATES and beyond_words(card) is None
        fidelity = "cycle" if by_words else "flow"
    if fidelity == "cycle":
        return CycleFabric(clock, network, table, ordered=ordered)
    return FlowFabric(clock, table)


def network_of(card: Card) -> Network:
    """Return the smallest preset with a port for each node of a card."""
    bits = max(2, (card["nodes"] - 1).bit_length())
    return Network(f"dv{200 + bits}", card=card)


class FlowFabric:
    """Bursts as linear flows; those from one port follow each other, as its planes keep order."""

    fidelity = "flow"

    def __init__(self, clock: Clock, table: BurstTable) -> None:
        self.table = table
        self._clock = clock
        self._ends: dict[int, int] = {}  # of the last burst of each port, picoseconds
        self._free: dict[int, int] = {}  # when a port has sent all its words

    def send(self, number: int, words: int) -> simpy.Event:
        """See `Fabric.send`; the event comes at once."""
        now, source = self._clock.ps, self.table.flows[number].source
        begin = max(now, self._free.get(source, 0))
        at_work = 1
        for port, end in self._ends.items():
            at_work += end > now and port != source
        first_ps, last_ps = self.table.times_ps(at_work, words)
        self._ends[source] = begin + last_ps
        self._free[source] = begin + self.table.sending_ps(at_work, words)
        return Happening(self._clock).happen(Arrival(now, begin + first_ps, begin + last_ps))


class CycleFabric:
    """Every word through every switch, in step with the clock.

    The network runs ahead of the clock up to the next event, never beyond it: what that event sends
    enters with the slot that begins then or after.
    """

    fidelity = "cycle"

    def __init__(
        self, clock: Clock, network: Network, table: BurstTable, *, ordered: bool = False
    ) -> None:
        self.table = table
        self._clock = clock
        self._ordered = ordered
        self._slot_ps = network.slot_ps
        self._simulation = network.start(injection="given")
        self._ahead = 0  # slots of the clock that the network, idle, has not run
        # by handle: when, who waits, and the slots of the words
        self._sent: dict[int, tuple[int, simpy.Event, Ints]] = {}
        self._handles = 0
        self._wake = clock.event()
        clock.process(self._run())

    def send(self, number: int, words: int) -> simpy.Event:
        """See `Fabric.send`; the event comes with the last word."""
        if not self._sent:  # nothing under way: skip the slots in which nothing moved
            self._ahead = -(-self._clock.ps // self._slot_ps) - self._simulation.now
            self._wake.succeed()
        flow, done = self.table.flows[number], self._clock.event()
        slots = np.empty(words, dtype=np.int64)
        self._simulation.send(flow.source, flow.to, words, self._handles, slots)
        self._sent[self._handles] = (self._clock.ps, done, slots)
        self._handles += 1
        return done

    @property
    def _now(self) -> int:
        return self._simulation.now + self._ahead

    def _run(self) -> Process:
        while True:
            if not self._sent:
                self._wake = self._clock.event()
                yield self._wake
            yield self._clock.timeout(max(0, self._now * self._slot_ps - self._clock.ps))
            next_ps = min(self._clock.peek(), (self._now + STRIDE) * self._slot_ps)
            slots = -(-int(next_ps) // self._slot_ps) - self._now
            if slots > 0:
                self._simulation.run_until(slots)
                yield self._clock.timeout(max(0, self._now * self._slot_ps - self._clock.ps))
                self._complete()

    def _complete(self) -> None:
        for handle in self._simulation.completions().handle:
            sent_ps, event, slots = self._sent.pop(int(handle))
            slots = np.maximum.accumulate(slots) if self._ordered else slots
            event.succeed(WordArrival(slots, self._ahead + 1, self._slot_ps, sent_ps))
