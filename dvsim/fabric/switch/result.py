"""What a run of a switch has counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dvsim.core.arrays import Ints
from dvsim.core.vortex import Counts
from dvsim.fabric.switch.figures import Figures, Floats
from dvsim.fabric.switch.traffic import Offer
from dvsim.fabric.switch.wiring import Path

if TYPE_CHECKING:
    from dvsim.fabric.switch.switch import Switch


@dataclass(frozen=True, eq=False, repr=False)
class SwitchRun(Figures):
    """Counts of the slots since the warm-up, over all replications unless said otherwise."""

    # What was run.
    switch: Switch
    offer: Offer
    warmup: int  # slots before the counting began
    counts: Counts  # as the core gives them
    notes: tuple[str, ...]  # why the run has not settled; empty if it has
    paths: list[Path]  # of the watched packets, from the first slot on

    @property
    def lost(self) -> int:
        """Packets that faults lost on the way."""
        return self.counts.lost

    @property
    def refused(self) -> int:
        """Packets that found no free node and are gone; 0 where they wait instead."""
        return int(self.refused_at.sum())

    @property
    def refused_at(self) -> Ints:
        """By input, shaped as `offered_at`."""
        gone = self.offer.injection in ("drop", "given")
        return (self.offered_at - self.accepted_at) * int(gone)

    @property
    def lost_at(self) -> Ints:
        """By the output they were addressed to, shaped as `delivered_at`."""
        return self._ports(self.counts.lost_at)

    @property
    def throughput(self) -> float:
        """Packets delivered per slot and input."""
        return self._per_input(self.delivered, self.offer.replications)

    @property
    def throughputs(self) -> Floats:
        """`throughput` of each replication."""
        delivered = self.counts.delivered_at.sum(axis=(1, 2))
        return np.array([self._per_input(int(packets), 1) for packets in delivered])

    @property
    def occupancy(self) -> Floats:
        """Mean packets per node, for each cylinder."""
        nodes = self.switch.angles * self.switch.height * self.offer.replications
        return self.counts.present / max(1, self.slots * nodes)

    def _summary(self) -> tuple[str, ...]:
        return f"{self.switch.height} x {self.switch.angles}", f"mean hops {self.mean_hops:.2f}"

    def _ports(self, counts: Ints) -> Ints:
        return counts[0] if self.offer.replications == 1 else counts

    def _per_input(self, packets: int, replications: int) -> float:
        return packets / max(1, self.slots * self.switch.inputs * replications)
