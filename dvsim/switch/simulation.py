"""A switch while it runs: `Simulation`, made by `Switch.start`."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core.vortex import DELIVERY, Vortex
from dvsim.core.vortex_params import Ints
from dvsim.switch.check import whole
from dvsim.switch.paths import paths_of
from dvsim.switch.result import SwitchRun
from dvsim.switch.settled import Batches
from dvsim.switch.traffic import Offer, params_of

if TYPE_CHECKING:
    from dvsim.switch.switch import Switch

CALL_S = 0.04  # at most so long in the core, so that Ctrl-C is answered
CAREFUL_NODES = 1_000_000  # node updates of the first call, before the speed is known


class Deliveries(NamedTuple):
    """Packets that left, one per place of the arrays."""

    handle: Ints
    slot: Ints
    output: Ints
    hops: Ints


class Simulation:
    """A switch with its packets; `Switch.start` makes one, `Switch.resume` reads one.

    Examples
    --------
    >>> from dvsim.switch import Switch
    >>> simulation = Switch(height=4, angles=3).start(injection="given")
    >>> simulation.give(input=0, output=5, handle=77)
    >>> simulation.run(20)
    >>> simulation.deliveries().handle
    array([77])
    """

    def __init__(self, switch: Switch, offer: Offer, threads: int) -> None:
        self.switch = switch
        self.offer = offer
        self.threads = threads
        self.now = 0
        self.counted_from = 0
        self.batches = Batches()
        self.core = Vortex(params_of(switch, offer), threads)
        self._chunk = max(1, CAREFUL_NODES // (switch.nodes * offer.replications))
        self._left: list[npt.NDArray[Any]] = []
        self._refused: list[Ints] = []

    def run(self, slots: int) -> None:
        """Run so many slots.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, between two slots; the simulation can go on from there.
        MemoryError
            If there is no memory for longer histograms.
        """
        end = self.now + whole("slots", slots, 0)
        self._left, self._refused = [], []
        while self.now < end:
            batch_end = self.counted_from + self.batches.end
            chunk = min(end, batch_end, self.now + self._chunk) - self.now
            begin = time.perf_counter()
            self._step(chunk)
            elapsed = time.perf_counter() - begin
            if elapsed > CALL_S:
                self._chunk = max(1, int(chunk * CALL_S / elapsed))
            elif elapsed < CALL_S / 4 and chunk == self._chunk:
                self._chunk *= 2

    def reset(self) -> None:
        """Set all counts to zero, as after a warm-up; packets and queues stay."""
        waiting = self.core.totals().waiting
        self.core.reset()
        self.counted_from = self.now
        self.batches = Batches(waiting_before=waiting)

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

        Parameters
        ----------
        input, output
            Ports.
        handle
            A number of the caller's, by which `deliveries` and `refused` name the packet.

        Raises
        ------
        ValueError
            If a port does not exist, or a packet is offered at this input already.
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
        left = np.concatenate(self._left or [np.zeros(0, dtype=DELIVERY)])
        output = left["angle"] * self.switch.height + left["height"]
        return Deliveries(left["handle"], left["slot"], output, left["hops"])

    def refused(self) -> Ints:
        """Return the handles refused in the last call of `run`, with injection ``given``."""
        self._only_given("refused")
        return np.concatenate(self._refused or [np.zeros(0, dtype=np.int64)])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint, whole or not at all, from which `Switch.resume` goes on.

        Raises
        ------
        ValueError
            With watched packets or injection ``given``, which are not kept.
        OutputError
            If the file cannot be written.
        """
        from dvsim.switch.checkpoint import save

        save(self, path)

    def __repr__(self) -> str:
        return f"<Simulation of {self.switch!r} at slot {self.now}>"

    def _step(self, slots: int) -> None:
        """Run slots of one batch in one call of the core."""
        try:
            self.core.run(slots)
        except BaseException:  # most often Ctrl-C, raised when the core had run the slots
            self._ran(self.counted_from + self.core.totals().slots - self.now)
            raise
        self._ran(slots)

    def _ran(self, slots: int) -> None:
        """Take note of what a call of the core has done."""
        if slots == 0:
            return
        self.now += slots
        if self.now - self.counted_from == self.batches.end:
            self.batches.close(self.core.totals().delivered)
        if self.offer.injection == "given":
            self._left.append(self.core.deliveries())
            self._refused.append(self.core.refused())

    def _only_given(self, what: str) -> None:
        if self.offer.injection != "given":
            raise ValueError(f"{what} needs injection 'given', is {self.offer.injection!r}")
