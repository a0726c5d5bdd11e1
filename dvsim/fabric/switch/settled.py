"""Has a run settled? Queues that still grow and batch means that are apart say that it has not."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

MOST = 20  # batches that are kept; then pairs are joined
FEWEST = 4
GROWTH = 0.01  # of what was offered
APART = 0.01  # of the mean
ERRORS = 5.0  # standard errors


@dataclass
class Batches:
    """Packets delivered in batches of equal length since the last reset.

    A batch is `length` slots; when there are too many, two become one. So boundaries depend on the
    number of slots alone, not on how the run was cut into calls or resumed.
    """

    length: int = 16
    delivered: list[int] = field(default_factory=list)
    waiting_before: int = 0

    @property
    def end(self) -> int:
        """Slots since the reset at which the present batch is full."""
        return (len(self.delivered) + 1) * self.length

    def close(self, delivered: int) -> None:
        """Close a batch; `delivered` counts from the reset."""
        self.delivered.append(delivered - sum(self.delivered))
        if len(self.delivered) == MOST:
            pairs = zip(self.delivered[::2], self.delivered[1::2], strict=True)
            self.delivered = [first + second for first, second in pairs]
            self.length *= 2

    def notes(self, slots: int, offered: int, waiting: int) -> tuple[str, ...]:
        """Return why the run has not settled; nothing if it has."""
        notes = []
        growth = waiting - self.waiting_before
        if growth > GROWTH * offered:
            notes.append(
                f"queues grew by {growth} packets, {growth / offered:.1%} of what was offered"
            )
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


def _variance(batches: npt.NDArray[np.float64]) -> float:
    """Return the variance of a batch, from neighbours, so that a trend does not hide in it."""
    return float(np.mean(np.diff(batches) ** 2)) / 2
