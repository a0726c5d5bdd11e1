"""Has a run settled? Queues that still grow and batch means that are apart say that it has not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import stats

from dvsim.scenario.types import GREW

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
        self.delivered.append(delivered - sum(self.delivered))
        self.queued.append(np.asarray(queued, dtype=np.int64) - sum(self.queued))
        if len(self.delivered) == MOST:
            self.delivered = [sum(self.delivered[k : k + 2]) for k in range(0, MOST, 2)]
            self.queued = [self.queued[k] + self.queued[k + 1] for k in range(0, MOST, 2)]
            self.length *= 2

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
        count, quarter = len(self.queued), len(self.queued) // 4
        if count < 2 * FEWEST:
            return 0.0
        means = np.array(self.queued) / self.length
        steps = np.diff(means, axis=0)
        error = steps.std(axis=0, ddof=1) / len(steps) ** 0.5
        sure = steps.mean(axis=0) > stats.t.isf(CHANCE, len(steps) - 1) * np.maximum(error, 1e-9)
        before = means[quarter : 2 * quarter].mean(axis=0)
        grown = means[-quarter:].mean(axis=0) / np.maximum(before, 1e-9) - 1
        return float(np.max(grown, where=sure & (grown > LATE_GROWTH), initial=0.0))


def _variance(batches: npt.NDArray[np.float64]) -> float:
    return float(np.mean(np.diff(batches) ** 2)) / 2
