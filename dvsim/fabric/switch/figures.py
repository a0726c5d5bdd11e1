"""Figures that follow from the counts of any run, of a switch or of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.core.network import NetworkCounts
    from dvsim.core.vortex import Counts

Floats = npt.NDArray[np.float64]


class Figures:
    """What a run says by its counts alone; `SwitchRun` and `NetworkRun` are such."""

    counts: Counts | NetworkCounts
    notes: tuple[str, ...]

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

    def _repr_html_(self) -> str:
        """Show the run in a notebook, with the histogram of its latency."""
        from dvsim.study.notebook import block, histogram

        picture = histogram(self.latency, "latency in slots")
        return block(repr(self).strip("<>"), self.notes, picture)

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
