"""A switch while it runs: `Simulation`, made by `Switch.start`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints
from dvsim.core.vortex import DELIVERY, Vortex
from dvsim.fabric.switch.check import whole
from dvsim.fabric.switch.paths import paths_of
from dvsim.fabric.switch.result import SwitchRun
from dvsim.fabric.switch.stepping import Stepping
from dvsim.fabric.switch.traffic import Offer, params_of

if TYPE_CHECKING:
    from dvsim.fabric.switch.switch import Switch


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
            self._left.append(self.core.deliveries())
            self._refused.append(self.core.refused())
