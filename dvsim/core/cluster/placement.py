"""Which node leads which queue and keeps a copy of it; what a death changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NOBODY = -1


class Shares(NamedTuple):
    """What each node has of all queues and clients."""

    led: Floats  # the share of all queues that it leads; they sum to less than 1 after a death
    followed: Floats  # the copies that it keeps of queues that others lead, by queue
    clients: Floats  # the share of clients: evenly on those that live
    alive: NDArray[np.bool_]  # whether it lives


@dataclass
class Placement:
    """Queues on nodes."""

    kind: str  # the type of the queues
    # The node that leads each queue, `NOBODY` where there is none; shape (queues,).
    leaders: NDArray[np.int64]
    members: NDArray[np.int64]  # the nodes that keep each queue; shape (queues, copies)
    alive: NDArray[np.bool_]  # by node
    anew: bool = True  # whether another node gets a mirror in place of a dead one

    @classmethod
    def even(
        cls,
        kind: str,
        queues: int,
        nodes: int,
        copies: int,
        *,
        anew: bool = True,
        balanced: bool = True,
    ) -> Placement:
        """Return queues in turn over the nodes, their other copies on the nodes behind.

        Without `balanced` the first node leads all queues, and the other copies are in turn over
        the nodes behind it.
        """
        number = np.arange(queues)[:, None]
        members = (number + np.arange(copies)) % nodes
        if not balanced:
            behind = (number + np.arange(copies - 1)) % max(1, nodes - 1) + 1
            members = np.hstack([0 * number, behind])
        return cls(kind, members[:, 0].copy(), members, np.ones(nodes, bool), anew)

    def kill(self, victims: range) -> None:
        """End nodes; the queues that they led have no leader until `elect`."""
        self.alive[victims] = False
        self.leaders[np.isin(self.leaders, victims)] = NOBODY

    def revive(self, victims: range) -> None:
        """Bring nodes back; leaders stay where they are."""
        self.alive[victims] = True
        self.elect()

    def elect(self) -> None:
        """Give queues without a leader the first living member, if there are enough of them.

        A quorum queue and a stream need the majority. A mirrored queue gets a new mirror in place
        of a dead one, on the next living node that is no member, unless that is not asked for.
        """
        living = self.alive[self.members]
        copies = self.members.shape[1]
        needed = copies // 2 + 1 if self.kind in ("quorum", "stream") else 1
        can = living.sum(axis=1) >= needed
        free = (self.leaders == NOBODY) & can
        self.leaders[free] = self.members[free, living[free].argmax(axis=1)]
        if self.kind == "mirrored" and self.anew:
            self._mirror_anew()

    def _mirror_anew(self) -> None:
        nodes = len(self.alive)
        for queue, column in np.argwhere(~self.alive[self.members]):
            if self.leaders[queue] == NOBODY:
                continue
            start = self.members[queue, column]
            behind = ((start + step) % nodes for step in range(1, nodes))
            taken = set(self.members[queue])
            new = next((n for n in behind if self.alive[n] and n not in taken), None)
            if new is not None:
                self.members[queue, column] = new

    def shares(self) -> Shares:
        """Return what each node leads, follows and serves now."""
        nodes, queues = len(self.alive), len(self.leaders)
        has = self.leaders != NOBODY
        led = np.bincount(self.leaders[has], minlength=nodes) / queues
        other = (self.members != self.leaders[:, None]) & has[:, None]
        alive_members = self.members[other & self.alive[self.members]]
        followed = np.bincount(alive_members, minlength=nodes) / queues
        clients = self.alive / max(1, self.alive.sum())
        return Shares(led, followed, clients, self.alive.copy())

    def moved(self, queues: NDArray[np.int64]) -> Floats:
        """Return the share of some queues that each node leads."""
        new = self.leaders[queues]
        return np.bincount(new[new != NOBODY], minlength=len(self.alive)) / max(1, len(queues))
