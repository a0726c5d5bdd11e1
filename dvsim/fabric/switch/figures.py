"""Figures that follow from the counts of any run, of a switch or of a network."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.core.network import NetworkCounts
    from dvsim.core.vortex import Counts
    from dvsim.fabric.switch.traffic import Offer

Floats = npt.NDArray[np.float64]


class Figures(ABC):
    """What a run says by its counts alone; `SwitchRun` and `NetworkRun` are such."""

    offer: Offer
    counts: Counts | NetworkCounts
    notes: tuple[str, ...]

    @property
    @abstractmethod
    def throughput(self) -> float:
        """Packets delivered per slot and input, of a network on each plane."""

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
        """Packets that entered."""
        return self.counts.accepted

    @property
    def delivered(self) -> int:
        """Packets that left at their output."""
        return self.counts.delivered

    @property
    def in_flight(self) -> int:
        """Packets inside at the end."""
        return self.counts.in_flight

    @property
    def waiting(self) -> int:
        """Packets in the queues of the inputs at the end."""
        return self.counts.waiting

    @property
    def offered_at(self) -> Ints:
        """By input: of a switch [angle, height], behind the replication if there are several.

        Of a network it is [planes, ports].
        """
        return self._ports(self.counts.offered_at)

    @property
    def accepted_at(self) -> Ints:
        """By input, shaped as `offered_at`."""
        return self._ports(self.counts.accepted_at)

    @property
    def delivered_at(self) -> Ints:
        """By output, shaped as `offered_at`; exit ``any`` of a switch uses only angle 0."""
        return self._ports(self.counts.delivered_at)

    @property
    def wanted(self) -> Ints:
        """Descents wanted, by cylinder but the innermost; of a network [levels, cylinders]."""
        return self.counts.wanted[..., :-1]

    @property
    def deflections(self) -> Ints:
        """Descents blocked, shaped as `wanted`."""
        return self.counts.blocked[..., :-1]

    @property
    def blocked(self) -> Floats:
        """Share of the wanted descents that was blocked; 0 where none was wanted."""
        return self.deflections / np.maximum(self.wanted, 1)

    @property
    def acceptance(self) -> float:
        """Accepted / offered; not a number if nothing was offered."""
        return self.accepted / self.offered if self.offered else float("nan")

    @property
    def hops(self) -> Ints:
        """Histogram: packets delivered after so many nodes, entry nodes counted."""
        return self.counts.hops

    @property
    def latency(self) -> Ints:
        """Histogram: packets delivered so many slots after they arrived at their input."""
        return self.counts.latency

    @property
    def mean_hops(self) -> float:
        """Mean of `hops`; not a number if nothing was delivered."""
        return mean(self.hops)

    @property
    def mean_latency(self) -> float:
        """Mean of `latency`, in slots; not a number if nothing was delivered."""
        return mean(self.latency)

    def quantile(self, q: float) -> int:
        """Return the smallest latency that at least a share `q` of the packets does not exceed.

        Raises:
            ValueError: If `q` is not in [0, 1] or nothing was delivered.
        """
        if not 0 <= q <= 1:
            raise ValueError(f"q must be from 0 to 1, is {q}")
        packets = int(self.latency.sum())
        if not packets:
            raise ValueError("no packet was delivered: there is no quantile")
        least = max(1, int(np.ceil(q * packets)))
        return int(np.searchsorted(np.cumsum(self.latency), least))

    @abstractmethod
    def _summary(self) -> tuple[str, ...]:
        """Return the size of what was run, and the figures that only this kind of run has."""

    def _ports(self, counts: Ints) -> Ints:
        return counts

    def __repr__(self) -> str:
        offer, (shape, *more) = self.offer, self._summary()
        load = "" if offer.load is None else f" at load {offer.load:g}"
        parts = [f"{shape}, {offer.pattern}{load}", offer.injection, f"{self.slots} slots"]
        parts += [f"throughput {self.throughput:.4f}", f"acceptance {self.acceptance:.4f}", *more]
        marked = "" if self.settled else f"; NOT SETTLED: {'; '.join(self.notes)}"
        return f"<{type(self).__name__} {', '.join(parts)}{marked}>"

    def to_frame(self) -> pd.DataFrame:
        """Return the histograms as a table: packets by value, columns ``hops`` and ``latency``."""
        import pandas as pd

        columns = {"hops": pd.Series(self.hops), "latency": pd.Series(self.latency)}
        frame = pd.DataFrame(columns).fillna(0).astype(np.int64)
        return frame.rename_axis("value")


def mean(histogram: Ints) -> float:
    """Return the mean of a histogram whose index is the value; not a number if it is empty."""
    packets = int(histogram.sum())
    if not packets:
        return float("nan")
    return float(histogram @ np.arange(histogram.size)) / packets
