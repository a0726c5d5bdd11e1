"""Running a core in short calls, so that Ctrl-C is answered; for switches and for networks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from dvsim.core.vortex import Totals
from dvsim.fabric.switch.check import whole
from dvsim.fabric.switch.settled import Batches

if TYPE_CHECKING:
    import numpy.typing as npt

    from dvsim.fabric.switch.traffic import Offer

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
        self.now = 0
        self.counted_from = 0
        self.batches = Batches()
        self._core = core
        self._chunk = max(1, CAREFUL_NODES // nodes)

    def run(self, slots: int) -> None:
        """Run so many slots.

        Raises:
            KeyboardInterrupt: On Ctrl-C, between two slots; the simulation can go on from there.
            MemoryError: If there is no memory for longer histograms or queues.
        """
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
        self._core.reset()
        self.counted_from = self.now
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
            ran = self._advance(slots)
        except BaseException:  # most often Ctrl-C, raised when the core had run the slots
            self._ran(self.counted_from + self._core.slots() - self.now)
            raise
        self._ran(ran)

    def _ran(self, slots: int) -> None:
        if slots == 0:
            return
        self.now += slots
        if self.now - self.counted_from == self.batches.end:
            self.batches.close(self._core.totals().delivered, self._queued())
        self._collect()

    def _queued(self) -> npt.ArrayLike:
        return ()

    def _advance(self, slots: int) -> int:
        self._core.run(slots)
        return slots

    def _only_given(self, action: str) -> None:
        if self.offer.injection != "given":
            raise ValueError(f"{action} needs injection 'given', is {self.offer.injection!r}")

    def _clear(self) -> None:
        """Forget what earlier calls have handed out."""

    def _collect(self) -> None:
        """Take what a call of the core hands out."""
