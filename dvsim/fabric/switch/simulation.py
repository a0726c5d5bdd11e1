"""A switch that runs: its steps, whether it has settled, and its results so far."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints
from dvsim.core.vortex import DELIVERY, Totals, Vortex
from dvsim.fabric.switch.check import whole
from dvsim.fabric.switch.result import SwitchRun
from dvsim.fabric.switch.traffic import Offer, params_of
from dvsim.fabric.switch.wiring import paths_of
from dvsim.scenario.types import GREW

if TYPE_CHECKING:
    from dvsim.fabric.switch.switch import Switch


MOST = 20  # batches that are kept; then pairs are joined
FEWEST = 4
GROWTH = 0.01  # of what was offered
APART = 0.01  # of the mean
ERRORS = 5.0  # standard errors
CHANCE = 0.002  # that queues which only wander are said to grow
LATE_GROWTH = 0.05  # from the second quarter to the last: what is settling grows less


@dataclass
class Batches:
    """Packets delivered in batches of equal length since the last reset.

    A batch is `length` slots; when there are too many, two become one. So boundaries depend on the
    number of slots alone, not on how the run was cut into calls or resumed.

    `queued` has by batch the packets in inner queues, summed over slots: a number for each kind of
    queue, so that a few that grow do not hide among many that do not.
    """

    length: int = 16
    delivered: list[int] = field(default_factory=list)
    waiting_before: int = 0
    queued: list[npt.NDArray[np.int64]] = field(default_factory=list)

    @property
    def end(self) -> int:
        """Slots since the reset at which the present batch is full."""
        return (len(self.delivered) + 1) * self.length

    def close(self, delivered: int, queued: npt.ArrayLike = ()) -> None:
        """Close a batch; `delivered` and `queued` count from the reset."""
        left = [*self.delivered, delivered - sum(self.delivered)]
        waited = [*self.queued, np.asarray(queued, dtype=np.int64) - sum(self.queued)]
        length = self.length
        if len(left) == MOST:
            left = [sum(left[k : k + 2]) for k in range(0, MOST, 2)]
            waited = [waited[k] + waited[k + 1] for k in range(0, MOST, 2)]
            length *= 2
        self.delivered, self.queued, self.length = left, waited, length  # all, or none at Ctrl-C

    def notes(self, slots: int, offered: int, waiting: int) -> tuple[str, ...]:
        """Return why the run has not settled; nothing if it has."""
        notes = []
        growth = waiting - self.waiting_before
        if growth > GROWTH * offered:
            notes.append(f"{GREW} by {growth} packets, {growth / offered:.1%} of what was offered")
        elif grown := self._grown():
            notes.append(f"{GREW} inside, by {grown:.0%} from the second quarter to the last")
        if len(self.delivered) < FEWEST:
            return (*notes, f"too short to judge: {slots} slots, at least {FEWEST * 16}")
        batches = np.array(self.delivered, dtype=float)
        mean, half = float(batches.mean()), batches.size // 2
        moved = float(batches[-half:].mean() - batches[:half].mean())
        if abs(moved) > max(APART * mean, ERRORS * (2 * _variance(batches) / half) ** 0.5):
            notes.append(f"throughput moved by {moved / mean:+.1%} between the halves of the run")
        rest = batches[1:]
        start = float(batches[0] - rest.mean())
        if abs(start) > max(APART * mean * batches.size, ERRORS * _variance(rest) ** 0.5):
            notes.append(f"the start moves the mean by {start / mean / batches.size:+.1%}: warm up")
        return tuple(notes)

    def _grown(self) -> float:
        from scipy.special import stdtrit  # scipy.stats takes ten times as long to import

        count, quarter = len(self.queued), len(self.queued) // 4
        if count < 2 * FEWEST:
            return 0.0
        means = np.array(self.queued) / self.length
        steps = np.diff(means, axis=0)
        error = steps.std(axis=0, ddof=1) / len(steps) ** 0.5
        sure = steps.mean(axis=0) > -stdtrit(len(steps) - 1, CHANCE) * np.maximum(error, 1e-9)
        before = means[quarter : 2 * quarter].mean(axis=0)
        grown = means[-quarter:].mean(axis=0) / np.maximum(before, 1e-9) - 1
        return float(np.max(grown, where=sure & (grown > LATE_GROWTH), initial=0.0))


def _variance(batches: npt.NDArray[np.float64]) -> float:
    return float(np.mean(np.diff(batches) ** 2)) / 2


CALL_S = 0.04  # at most so long in the core, so that Ctrl-C is answered
CAREFUL_NODES = 1_000_000  # node updates of the first call, before the speed is known


class Core(Protocol):
    """What can be run."""

    def run(self, slots: int) -> None:
        """Run so many slots."""

    def reset(self) -> None:
        """Set all counts to zero."""

    def slots(self) -> int:
        """Return the slots since the last reset, also after an interrupt."""

    def totals(self) -> Totals:
        """Return how it is going."""


class Stepping:
    """A core and the slot that it is in; the batches say later whether it has settled.

    Args:
        core: What is run.
        offer: What is offered to it.
        nodes: Nodes of it, to guess how long a slot takes.
    """

    def __init__(self, core: Core, offer: Offer, nodes: int) -> None:
        self.offer = offer
        self.counted_from = 0
        self.batches = Batches()
        self._core = core
        self._chunk = max(1, CAREFUL_NODES // nodes)

    @property
    def now(self) -> int:
        """The present slot."""
        return self.counted_from + self._core.slots()

    def run(self, slots: int) -> None:
        """Run so many slots.

        Raises:
            KeyboardInterrupt: On Ctrl-C, between two slots; the simulation can go on from there.
            MemoryError: If there is no memory for longer histograms or queues.
        """
        self._close_batch()
        self._clear()
        end = self.now + whole("slots", slots, 0)
        while self.now < end:
            self._call(end)

    def measure(self, slots: int, warmup: int) -> None:
        """Run warm-up slots, which do not count, and then the slots that do."""
        self.run(warmup)
        self.reset()
        self.run(slots)

    def reset(self) -> None:
        """Set all counts to zero, as after a warm-up; packets and queues stay."""
        waiting = self._core.totals().waiting
        now = self.now
        self._core.reset()
        self.counted_from = now
        self.batches = Batches(waiting_before=waiting)

    def _call(self, end: int) -> None:
        batch_end = self.counted_from + self.batches.end
        chunk = min(end, batch_end, self.now + self._chunk) - self.now
        begin = time.perf_counter()
        self._step(chunk)
        elapsed = time.perf_counter() - begin
        if elapsed > CALL_S:
            self._chunk = max(1, int(chunk * CALL_S / elapsed))
        elif elapsed < CALL_S / 4 and chunk == self._chunk:
            self._chunk *= 2

    def _step(self, slots: int) -> None:
        try:
            self._advance(slots)
        finally:  # Ctrl-C is raised when the core has run the slots
            self._close_batch()
            self._collect()

    def _close_batch(self) -> None:
        # done anew before the next run if Ctrl-C comes in it: with a full batch that is not closed
        # each step would have no slots, for ever
        if self._core.slots() == self.batches.end:
            self.batches.close(self._core.totals().delivered, self._queued())

    def _queued(self) -> npt.ArrayLike:
        return ()

    def _advance(self, slots: int) -> None:
        self._core.run(slots)

    def _only_given(self, action: str) -> None:
        if self.offer.injection != "given":
            raise ValueError(f"{action} needs injection 'given', is {self.offer.injection!r}")

    def _clear(self) -> None:
        """Forget what earlier calls have handed out."""

    def _collect(self) -> None:
        """Take what a call of the core hands out."""


class Deliveries(NamedTuple):
    """Packets that left, one per place of the arrays."""

    handle: Ints
    slot: Ints
    output: Ints
    hops: Ints


class Simulation(Stepping):
    """A switch with its packets; `Switch.start` makes one.

    >>> from dvsim.fabric.switch import Switch
    >>> simulation = Switch(height=4, angles=3).start(injection="given")
    >>> simulation.give(input=0, output=5, handle=77)
    >>> simulation.run(20)
    >>> simulation.deliveries().handle
    array([77])
    """

    def __init__(self, switch: Switch, offer: Offer, threads: int) -> None:
        self.switch = switch
        self.threads = threads
        self.core = Vortex(params_of(switch, offer), threads)
        super().__init__(self.core, offer, switch.nodes * offer.replications)
        self._left: list[npt.NDArray[Any]] = []
        self._refused: list[Ints] = []

    def result(self) -> SwitchRun:
        """Return what was counted since the last reset."""
        counts = self.core.counts()
        return SwitchRun(
            switch=self.switch,
            offer=self.offer,
            warmup=self.counted_from,
            counts=counts,
            notes=self.batches.notes(counts.slots, counts.offered, counts.waiting),
            paths=paths_of(self.core.events(), self.switch.height) if self.offer.watch else [],
        )

    def give(self, input: int, output: int, handle: int) -> None:
        """Offer a packet in the next slot, with injection ``given``.

        Args:
            input, output: Ports.
            handle: A number of the caller's, by which `deliveries` and `refused` name the packet.

        Raises:
            ValueError: If a port does not exist, or a packet is offered at this input already.
        """
        self._only_given("give")
        height = self.switch.height
        port = whole("input", input, 0, self.switch.angles * height - 1)
        if port // height not in self.switch.injecting:
            raise ValueError(f"input {port} is at an angle that does not inject")
        to = whole("output", output, 0, self.switch.outputs - 1)
        if not self.core.give(port, to, whole("handle", handle, -(1 << 63), (1 << 63) - 1)):
            raise ValueError(f"input {port} has a packet for slot {self.now} already")

    def deliveries(self) -> Deliveries:
        """Return what left in the last call of `run`, with injection ``given``."""
        self._only_given("deliveries")
        delivered = np.concatenate(self._left or [np.zeros(0, dtype=DELIVERY)])
        output = delivered["angle"] * self.switch.height + delivered["height"]
        return Deliveries(delivered["handle"], delivered["slot"], output, delivered["hops"])

    def refused(self) -> Ints:
        """Return the handles refused in the last call of `run`, with injection ``given``."""
        self._only_given("refused")
        return np.concatenate(self._refused or [np.zeros(0, dtype=np.int64)])

    def __repr__(self) -> str:
        return f"<Simulation of {self.switch!r} at slot {self.now}>"

    def _clear(self) -> None:
        self._left, self._refused = [], []

    def _collect(self) -> None:
        if self.offer.injection == "given":
            left, refused = self.core.deliveries(), self.core.refused()
            self._left, self._refused = [*self._left, left], [*self._refused, refused]
