"""What a run of a network has counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dvsim.core.arrays import Ints
from dvsim.core.network import NetworkCounts
from dvsim.fabric.switch.figures import Figures, Floats
from dvsim.fabric.switch.traffic import Offer

if TYPE_CHECKING:
    from dvsim.fabric.network.network import Network


class Queues(NamedTuple):
    """Queues at the links from each level up and down, [levels, 2]; down from leaves: to ports."""

    peak: Ints  # the longest queue that a packet has joined, itself counted
    # Mean packets per link that have passed it and want to enter, those that enter at once
    # counted.
    mean: Floats


class Error(NamedTuple):
    """How far a run at flow fidelity is from the cycle level, on one plane of `ports` ports."""

    # Relative errors of the mean latency and of the throughput.
    latency: float
    throughput: float
    ports: int  # fewer than those of the network if that would have taken too long


@dataclass(frozen=True, eq=False, repr=False)
class NetworkRun(Figures):
    """Counts of the slots since the warm-up, over all planes unless said otherwise.

    `hops` counts the nodes of all switches that a packet visits. `latency` is in slots, from the
    arrival at a port to the delivery at the other, links included.
    """

    # What was run.
    network: Network
    offer: Offer
    warmup: int  # slots before the counting began
    counts: NetworkCounts  # as the core gives them
    notes: tuple[str, ...]  # why the run has not settled; empty if it has
    # ``cycle``, or ``flow`` where the counts are expected and not counted; `queues` are 0 then.
    fidelity: str = "cycle"
    error: Error | None = None  # of a run at flow fidelity; None for ``cycle``, which is exact

    @property
    def refused(self) -> int:
        """Packets that found no free node at their leaf and are gone; 0 where they wait."""
        return self.offered - self.accepted if self.offer.injection == "drop" else 0

    @property
    def lost(self) -> int:
        """0: the switches of a network have no faults."""
        return 0

    @property
    def throughput(self) -> float:
        """Packets delivered per slot, port and plane."""
        return self.delivered / max(1, self.slots * self.network.ports * self.network.planes)

    @property
    def occupancy(self) -> Floats:
        """Mean packets per node, [levels, cylinders]."""
        switch, network = self.network.switch, self.network
        nodes = np.array(network.switches) * network.planes * switch.angles * switch.height
        shares: Floats = self.counts.present / np.maximum(1, self.slots * nodes)[:, np.newaxis]
        return shares

    @property
    def queues(self) -> Queues:
        """Queues behind the links."""
        links = np.array(self.network.tree.links()) * self.network.planes * self.slots
        return Queues(self.counts.queue_peak, self.counts.queue_sum / np.maximum(1, links))

    def _summary(self) -> tuple[str, ...]:
        lines = (
            f"{self.network.ports} ports x {self.network.planes}",
            f"mean latency {self.mean_latency:.2f}",
        )
        error = self.error
        if error is None:
            return lines
        sample = "" if error.ports == self.network.ports else f" at {error.ports} ports"
        flow = f"flow: latency within {error.latency:.1%}, throughput within {error.throughput:.1%}"
        return (*lines, f"{flow}{sample}")
