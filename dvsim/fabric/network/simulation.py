"""A network while it runs: `NetworkSimulation`, made by `Network.start`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints
from dvsim.core.network import COMPLETION, NetworkCore
from dvsim.fabric.network.offer import params_of
from dvsim.fabric.network.result import NetworkRun
from dvsim.fabric.switch.check import whole
from dvsim.fabric.switch.simulation import Stepping
from dvsim.fabric.switch.traffic import Offer

if TYPE_CHECKING:
    from dvsim.fabric.network.network import Network


class Completions(NamedTuple):
    """Bursts that have arrived whole, one per place of the arrays, in the order of their end.

    Bursts that end in the same slot come in the order in which they were sent. `first_slot` and
    `last_slot` are the slots in which their first and last word reached the port.
    """

    handle: Ints
    first_slot: Ints
    last_slot: Ints


class NetworkSimulation(Stepping):
    """A network with its packets.

    >>> from dvsim.fabric.network import Network
    >>> simulation = Network("dv203").start(injection="given")
    >>> simulation.send(source=0, to=5, words=1000, handle=77)
    >>> simulation.run_until(1_000)  # 63 slots of 16 words, and the way
    71
    >>> simulation.completions().handle
    array([77])
    """

    def __init__(self, network: Network, offer: Offer, threads: int) -> None:
        self.network = network
        self.core = NetworkCore(params_of(network, offer), threads)
        super().__init__(self.core, offer, network.nodes)
        self._until = False
        self._completed: list[npt.NDArray[Any]] = []

    def run_until(self, slots: int) -> int:
        """Run to the end of the slot in which a burst is completed, with injection ``given``.

        Args:
            slots: At most so many.

        Returns:
            int: The slots that were run; the simulation is then in slot `now`.

        Raises:
            ValueError: With another injection.
            KeyboardInterrupt, MemoryError: As `run`.
        """
        self._only_given("run_until")
        self._close_batch()
        self._clear()
        begin = self.now
        end = begin + whole("slots", slots, 0)
        self._until = True
        try:
            while self.now < end and not self._completed:
                self._call(end)
        finally:
            self._until = False
        return self.now - begin

    def result(self) -> NetworkRun:
        """Return what was counted since the last reset."""
        counts = self.core.counts()
        return NetworkRun(
            network=self.network,
            offer=self.offer,
            warmup=self.counted_from,
            counts=counts,
            notes=self.batches.notes(counts.slots, counts.offered, counts.waiting),
        )

    def send(
        self, source: int, to: int, words: int, handle: int, slots: Ints | None = None
    ) -> None:
        """Send a burst from the present slot on, with injection ``given``.

        Word k of all that a port sends goes by plane (port + k) mod planes; each plane takes one
        word of a port per slot and keeps the order of its bursts.

        Args:
            source, to: Ports.
            words: At least 1.
            handle: A number of the caller's, by which `completions` names the burst.
            slots: Array of as many int64 as there are words: gets the slot in which each word is
                delivered. The caller keeps it until the burst is completed.

        Raises:
            ValueError: If `slots` is another array, there is no such port, or more bursts are on
                their way than can be told apart (4 million at 65,536 ports, more at fewer).
            MemoryError: If there is no memory for more bursts.
        """
        self._only_given("send")
        last = self.network.ports - 1
        source, to = whole("source", source, 0, last), whole("to", to, 0, last)
        words = whole("words", words, 1, 1 << 56)
        if slots is not None and (
            slots.dtype != np.int64 or slots.shape != (words,) or not slots.flags.c_contiguous
        ):
            raise ValueError(f"slots must be {words} int64, is {slots.dtype} {slots.shape}")
        handle = whole("handle", handle, -(1 << 63), (1 << 63) - 1)
        if not self.core.send(source, to, words, handle, slots):
            raise ValueError("more bursts are on their way than can be told apart")

    def completions(self) -> Completions:
        """Return the bursts completed in the last call of `run` or `run_until`."""
        self._only_given("completions")
        done = np.concatenate(self._completed or [np.zeros(0, dtype=COMPLETION)])
        return Completions(done["handle"], done["first_slot"], done["last_slot"])

    def __repr__(self) -> str:
        return f"<NetworkSimulation of {self.network!r} at slot {self.now}>"

    def _queued(self) -> Ints:
        return self.core.counts().queue_sum.ravel()

    def _advance(self, slots: int) -> None:
        if self._until:
            self.core.run_until(slots)
        else:
            super()._advance(slots)

    def _clear(self) -> None:
        self._completed = []

    def _collect(self) -> None:
        if self.offer.injection == "given":
            done = self.core.completions()
            if done.size:
                self._completed.append(done)
