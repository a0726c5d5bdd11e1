"""What a run of a switch has counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dvsim.core.vortex import Counts
from dvsim.core.vortex_params import Ints
from dvsim.switch.paths import Path
from dvsim.switch.traffic import Offer

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.switch.switch import Switch

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SwitchRun:
    """Counts of the slots since the warm-up, over all replications unless said otherwise.

    Parameters
    ----------
    switch, offer
        What was run.
    warmup
        Slots before the counting began.
    counts
        As the core gives them.
    notes
        Why the run has not settled; empty if it has.
    paths
        Of the watched packets, from the first slot on.
    """

    switch: Switch
    offer: Offer
    warmup: int
    counts: Counts
    notes: tuple[str, ...]
    paths: list[Path]

    @property
    def settled(self) -> bool:
        """False if queues still grew or the throughput still moved: see `notes`."""
        return not self.notes

    @property
    def slots(self) -> int:
        """Slots that count."""
        return self.counts.slots

    @property
    def offered(self) -> int:
        """Packets that arrived at inputs; with ``saturate`` one per slot and input."""
        return self.counts.offered

    @property
    def accepted(self) -> int:
        """Packets that entered the switch."""
        return self.counts.accepted

    @property
    def delivered(self) -> int:
        """Packets that left at their output."""
        return self.counts.delivered

    @property
    def lost(self) -> int:
        """Packets that faults lost on the way."""
        return self.counts.lost

    @property
    def refused(self) -> int:
        """Packets that found no free node and are gone; 0 where they wait instead."""
        return int(self.refused_at.sum())

    @property
    def in_flight(self) -> int:
        """Packets in the switch at the end."""
        return self.counts.in_flight

    @property
    def waiting(self) -> int:
        """Packets in the queues at the end."""
        return self.counts.waiting

    @property
    def offered_at(self) -> Ints:
        """By input, [angle, height]; [replication, angle, height] if there are several."""
        return self._ports(self.counts.offered_at)

    @property
    def accepted_at(self) -> Ints:
        """By input, shaped as `offered_at`."""
        return self._ports(self.counts.accepted_at)

    @property
    def refused_at(self) -> Ints:
        """By input, shaped as `offered_at`."""
        gone = self.offer.injection in ("drop", "given")
        return (self.offered_at - self.accepted_at) * int(gone)

    @property
    def delivered_at(self) -> Ints:
        """By output, shaped as `offered_at`; exit ``any`` uses only angle 0."""
        return self._ports(self.counts.delivered_at)

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
    def acceptance(self) -> float:
        """Accepted / offered; not a number if nothing was offered."""
        return self.accepted / self.offered if self.offered else float("nan")

    @property
    def hops(self) -> Ints:
        """Histogram: packets delivered after so many nodes, the entry node counted."""
        return self.counts.hops

    @property
    def latency(self) -> Ints:
        """Histogram: packets delivered so many slots after they arrived at their input."""
        return self.counts.latency

    @property
    def mean_hops(self) -> float:
        """Mean of `hops`; not a number if nothing was delivered."""
        return _mean(self.hops)

    @property
    def mean_latency(self) -> float:
        """Mean of `latency`, in slots; not a number if nothing was delivered."""
        return _mean(self.latency)

    def quantile(self, q: float) -> int:
        """Return the smallest latency that at least a share `q` of the packets does not exceed.

        Raises
        ------
        ValueError
            If `q` is not in [0, 1] or nothing was delivered.
        """
        if not 0 <= q <= 1:
            raise ValueError(f"q must be from 0 to 1, is {q}")
        if not self.delivered:
            raise ValueError("no packet was delivered: there is no quantile")
        least = max(1, int(np.ceil(q * self.delivered)))
        return int(np.searchsorted(np.cumsum(self.latency), least))

    @property
    def wanted(self) -> Ints:
        """Descents wanted, for each cylinder but the innermost."""
        return self.counts.wanted[:-1]

    @property
    def deflections(self) -> Ints:
        """Descents blocked, for each cylinder but the innermost."""
        return self.counts.blocked[:-1]

    @property
    def blocked(self) -> Floats:
        """Share of the wanted descents that was blocked, by cylinder; 0 where none was wanted."""
        return self.deflections / np.maximum(self.wanted, 1)

    @property
    def occupancy(self) -> Floats:
        """Mean packets per node, for each cylinder."""
        nodes = self.switch.angles * self.switch.height * self.offer.replications
        return self.counts.present / max(1, self.slots * nodes)

    def to_frame(self) -> pd.DataFrame:
        """Return the histograms as a table: packets by value, columns ``hops`` and ``latency``."""
        import pandas as pd

        columns = {"hops": pd.Series(self.hops), "latency": pd.Series(self.latency)}
        frame = pd.DataFrame(columns).fillna(0).astype(np.int64)
        return frame.rename_axis("value")

    def __repr__(self) -> str:
        load = "" if self.offer.load is None else f" at load {self.offer.load:g}"
        parts = [
            f"{self.switch.height} x {self.switch.angles}, {self.offer.traffic}{load}",
            self.offer.injection,
            f"{self.slots} slots",
            f"throughput {self.throughput:.4f}",
            f"acceptance {self.acceptance:.4f}",
            f"mean hops {self.mean_hops:.2f}",
        ]
        marked = "" if self.settled else f"; NOT SETTLED: {'; '.join(self.notes)}"
        return f"<SwitchRun {', '.join(parts)}{marked}>"

    def _ports(self, counts: Ints) -> Ints:
        return counts[0] if self.offer.replications == 1 else counts

    def _per_input(self, packets: int, replications: int) -> float:
        return packets / max(1, self.slots * self.switch.inputs * replications)


def _mean(histogram: Ints) -> float:
    packets = int(histogram.sum())
    if not packets:
        return float("nan")
    return float(histogram @ np.arange(histogram.size)) / packets
