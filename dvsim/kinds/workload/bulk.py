"""Programs in which all ranks do the same kind of thing: operations of all ranks at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dvsim.kinds.workload.check import COLLECTIVE_TAG, RECV, SEND
from dvsim.kinds.workload.graph import CALC, Builder, Graph
from dvsim.kinds.workload.schedule import Ints, Schedule


class Bulk:
    """Builds a program from exchanges with computation between them.

    The messages of a rank that stand between two computations are under way at once; the second
    computation begins when all of them have ended.

    Args:
        ranks, name: As of `Builder`.
    """

    def __init__(self, ranks: int, name: str) -> None:
        self.ranks = ranks
        self.builder = Builder(ranks, name)
        self.builder.expanded = True
        self.all: Ints = np.arange(ranks, dtype=np.int64)
        self.before: Ints | None = None  # the computation of each rank that was last
        self.open: list[tuple[Ints, Ints]] = []  # operations since then, and their ranks
        self.collectives = 0

    def times(self, iterations: int) -> Iterator[int]:
        """Yield the numbers of iterations, all of which have as many operations as the first."""
        for number in range(iterations):
            yield number
            if number == 0:
                self.builder.make_room(len(self.builder) * iterations)

    def compute(self, picoseconds: npt.ArrayLike = 0) -> None:
        """Let all ranks wait for their messages, then compute: a time for all, or one for each."""
        computing = self.builder.extend(self.all, CALC, size=picoseconds)
        if self.before is not None:
            self.builder.require_many(computing, self.before)
        for operations, ranks in self.open:
            self.builder.require_many(computing[ranks], operations)
        self.before, self.open = computing, []

    def messages(
        self, source: npt.ArrayLike, target: npt.ArrayLike, size: npt.ArrayLike, tag: int = 0
    ) -> None:
        """Let ranks send to others, who receive."""
        self.half(RECV, target, source, size, tag)
        self.half(SEND, source, target, size, tag)

    def half(
        self, kind: int, given: npt.ArrayLike, other: npt.ArrayLike, size: npt.ArrayLike, tag: int
    ) -> None:
        """Let ranks `SEND` to others, or `RECV` from them."""
        rank, peer, amount = (column.ravel() for column in np.broadcast_arrays(given, other, size))
        if rank.size:
            operations = self.builder.extend(rank, kind, peer, amount, tag)
            if self.before is not None:
                self.builder.require_many(operations, self.before[rank])
            self.open.append((operations, rank))

    def collective(self, given: Schedule, members: npt.ArrayLike | None = None) -> None:
        """Let ranks, all by default, do a collective."""
        ranks = self.all if members is None else np.asarray(members, dtype=np.int64)
        tag = COLLECTIVE_TAG + self.collectives
        self.collectives += 1
        operations = self.builder.extend(
            ranks[given.rank], given.kind, ranks[given.peer], given.size, tag
        )
        if not operations.size:
            return
        behind, before = given.edges
        self.builder.require_many(operations[behind], operations[before])
        if self.before is not None:
            first = given.heads
            self.builder.require_many(operations[first], self.before[ranks[given.rank[first]]])
        self.open.append((operations[given.tails], ranks[given.rank[given.tails]]))

    def graph(self) -> Graph:
        """Return the program."""
        return self.builder.build()
