"""Bursts as linear flows: how long they take through a network, measured on the cycle level.

A burst of w words along one of k flows that are at work together arrives like a line: its first
word after `first` slots, its last after ``fixed + per_word * w``. Both are measured by sending
bursts of two sizes along the first k flows at once; how far the line is from the cycle level is
measured with three other sizes and kept as `error`. Planes are alike, so one of them stands for a
network that is too large to be run as a whole.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dvsim.fabric.network.network import Network

SHORT, LONG = 32, 512  # slots' worth of words that the line goes through
PROBES = (1, 100, 2000)  # slots' worth of words at which it is held against the cycle level
MOST_UPDATES = 1 << 33  # node updates of the longest probe
MOST_NODES = 1 << 20  # of a network that is run with all its planes
EXACT = 16  # flows at work up to which each number of them is measured; beyond, powers of two


class Flow(NamedTuple):
    """Words from one port to another."""

    source: int
    to: int


class Line(NamedTuple):
    """Times of a burst, in slots from the slot in which it is sent to the end of the last one."""

    first: float
    fixed: float
    per_word: float


class BurstTable:
    """Lines of one network, for each number of flows at work; made on demand.

    Args:
        network: The network; its planes are alike.
        flows: Who sends to whom.
    """

    def __init__(self, network: Network, flows: tuple[Flow, ...]) -> None:
        self.network = network
        self.flows = flows
        self._slot_ps = network.slot_ps
        self._lines: dict[int, Line] = {}
        self._errors: dict[int, float] = {}
        self._sample = network if network.nodes <= MOST_NODES else _one_plane(network)

    def line(self, at_work: int) -> Line:
        """Return the line of a burst while `at_work` flows send.

        Beyond `EXACT` it is that of the next power of two, and of all: rather too slow than too
        fast.
        """
        if at_work > EXACT:
            at_work = min(1 << (at_work - 1).bit_length(), len(self.flows))
        line = self._lines.get(at_work)
        if line is None:
            first, short = self._measured(at_work, SHORT)
            _, long = self._measured(at_work, LONG)
            per_slot = (long - short) / (LONG - SHORT)
            line = Line(first, short - per_slot * SHORT, per_slot / self.network.planes)
            self._lines[at_work] = line
        return line

    def times_ps(self, at_work: int, words: int) -> tuple[int, int]:
        """Return when the first and the last word of a burst are there, in ps after its start."""
        line, slot_ps = self.line(min(at_work, len(self.flows))), self._slot_ps
        first = round(line.first * slot_ps)
        return first, max(first, round((line.fixed + line.per_word * words) * slot_ps))

    def sending_ps(self, at_work: int, words: int) -> int:
        """Return for how long a burst keeps the port that sends it."""
        per_word = self.line(min(at_work, len(self.flows))).per_word
        return round(per_word * words * self._slot_ps)

    @property
    def latency_ps(self) -> int:
        """Time of a first word through the network that nothing else uses."""
        return self.times_ps(1, 1)[0]

    def rate(self, at_work: int) -> float:
        """Return the payload rate of one flow while `at_work` flows send, in bytes/s."""
        return 8e12 / (self.line(at_work).per_word * self.network.slot_ps)

    def error(self, at_work: int) -> float:
        """Return how far the line is from the cycle level, as a share of the time of a burst.

        The largest of `PROBES`, for the time of the last word. Probes that would take more than
        `MOST_UPDATES` node updates are left out.
        """
        if at_work in self._errors:
            return self._errors[at_work]
        line, worst = self.line(at_work), 0.0
        for slots in PROBES:
            if slots * self._sample.nodes > MOST_UPDATES:
                continue
            _, last = self._measured(at_work, slots)
            ends = line.fixed + line.per_word * slots * self.network.planes
            worst = max(worst, abs(ends - last) / last)
        self._errors[at_work] = worst
        return worst

    def _measured(self, at_work: int, slots: int) -> tuple[float, float]:
        simulation, words = self._sample.start(injection="given"), slots * self._sample.planes
        for number, flow in enumerate(self.flows[:at_work]):
            simulation.send(flow.source, flow.to, words, number)
        first, last = np.zeros(at_work), np.zeros(at_work)
        missing = at_work
        while missing:
            simulation.run_until(words)
            done = simulation.completions()
            first[done.handle], last[done.handle] = done.first_slot + 1, done.last_slot + 1
            missing -= len(done.handle)
        return float(first.mean()), float(last.mean())


def _one_plane(network: Network) -> Network:
    tree = network.tree
    return Network(
        switch=network.switch, levels=tree.levels, ports=tree.ports, planes=1, link=network.link
    )


@lru_cache(maxsize=16)
def bursts_of(network: Network, flows: tuple[Flow, ...]) -> BurstTable:
    """Return the table of a network and its flows; equal ones share it."""
    return BurstTable(network, flows)
