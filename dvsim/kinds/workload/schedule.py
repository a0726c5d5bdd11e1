"""Messages of a collective operation, step by step: what its algorithms give and replays expand.

The data of a collective are blocks, one for each rank or, of an all-to-all, one for each pair. A
message carries a run of blocks, ``first`` to ``first + blocks``, the last followed by the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dvsim.kinds.workload.check import RECV, SEND

Ints = npt.NDArray[np.int64]

EMPTY: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Messages:
    """What the ranks of a communicator send each other, by steps.

    Each column has shape (messages,). A rank starts a step when its messages of the step before
    have been sent and received.
    """

    step: Ints  # from 0
    # Ranks of the communicator.
    source: Ints
    target: Ints
    # The run of blocks that a message carries. Where `first` is negative, the message is of
    # Bruck's all-to-all and carries the blocks of which bit ``-1 - first`` is set.
    first: Ints
    blocks: Ints

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return int(self.step.max()) + 1 if self.step.size else 0

    def rotated(self, root: int, ranks: int) -> Messages:
        """Return the messages for another root than rank 0."""
        if root == 0:
            return self
        return replace(
            self,
            source=(self.source + root) % ranks,
            target=(self.target + root) % ranks,
            first=(self.first + root) % ranks,
        )


def messages(
    step: npt.ArrayLike,
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    first: npt.ArrayLike,
    blocks: npt.ArrayLike,
) -> Messages:
    """Return messages; a single number stands for all."""
    given: Sequence[Any] = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(column)) for column in (step, source, target, first, blocks))
    )
    return Messages(*(column.astype(np.int64) for column in given))


def together(parts: Sequence[Messages]) -> Messages:
    """Return messages of parts whose steps are counted from the same beginning."""
    if not parts:
        return messages(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY)
    return Messages(*(
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("step", "source", "target", "first", "blocks")
    ))  # fmt: skip


def then(*parts: Messages) -> Messages:
    """Return messages of parts that come one after another."""
    moved, begin = [], 0
    for part in parts:
        moved.append(replace(part, step=part.step + begin))
        begin += part.steps
    return together(moved)


@dataclass(frozen=True, eq=False)
class Schedule:
    """Operations of a collective, sorted by rank, then by step, receives before sends."""

    ranks: int  # of the communicator
    start: Ints  # shape (ranks + 1,): operations of rank r are ``start[r]:start[r + 1]``
    # Shape (operations,): `SEND` or `RECV`, the other rank of the communicator, bytes, the step.
    kind: Ints
    peer: Ints
    size: Ints
    step: Ints

    @cached_property
    def rank(self) -> Ints:
        """Shape (operations,): whose they are."""
        return np.repeat(np.arange(self.ranks), np.diff(self.start))

    @cached_property
    def _runs(self) -> tuple[Ints, Ints]:
        begins = np.ones(self.kind.size, dtype=bool)
        begins[1:] = (np.diff(self.rank) != 0) | (np.diff(self.step) != 0)
        return np.flatnonzero(begins), np.cumsum(begins) - 1

    @cached_property
    def edges(self) -> tuple[Ints, Ints]:
        """Operations that wait, and for which: each for all of its rank's step before."""
        begin, run = self._runs
        if not begin.size:
            return EMPTY, EMPTY
        end = np.append(begin[1:], self.kind.size)
        length = np.where(run > 0, end[run - 1] - begin[run - 1], 0)
        length[self.rank != self.rank[begin[run - 1]]] = 0
        behind = np.repeat(np.arange(self.kind.size), length)
        inside = np.arange(behind.size) - np.repeat(np.cumsum(length) - length, length)
        return behind, np.repeat(begin[run - 1], length) + inside

    @cached_property
    def heads(self) -> npt.NDArray[np.bool_]:
        """Shape (operations,): whether an operation is of the first step of its rank."""
        return self._ends(self.start[:-1])

    @cached_property
    def tails(self) -> npt.NDArray[np.bool_]:
        """Shape (operations,): whether an operation is of the last step of its rank."""
        return self._ends(self.start[1:] - 1)

    def _ends(self, index: Ints) -> npt.NDArray[np.bool_]:
        if not self.kind.size:
            return np.zeros(0, dtype=bool)
        last = np.clip(index, 0, self.kind.size - 1)[self.rank]
        is_last: npt.NDArray[np.bool_] = self.step == self.step[last]
        return is_last

    @cached_property
    def _rows(self) -> list[tuple[int, int, int, int]]:
        columns = (self.kind, self.peer, self.size, self.step)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def operations(self, rank: int) -> Sequence[tuple[int, int, int, int]]:
        """Return the operations of a rank, each as kind, peer, size and step."""
        return self._rows[self.start[rank] : self.start[rank + 1]]


def scheduled(given: Messages, sizes: Ints, ranks: int) -> Schedule:
    """Return the operations of messages.

    Args:
        given: The messages.
        sizes: Shape (blocks,): bytes of each block.
        ranks: Of the communicator.
    """
    total = np.concatenate(([0], np.cumsum(sizes)))
    count = max(sizes.size, 1)
    whole, first = int(total[-1]), np.maximum(given.first, 0)
    last = first + given.blocks
    size = np.where(
        last > count,
        whole - total[np.minimum(first, count)] + total[np.maximum(last - count, 0) % (count + 1)],
        total[np.minimum(last, count)] - total[np.minimum(first, count)],
    )
    if sizes.size:
        size = np.where(given.first < 0, given.blocks * int(sizes[0]), size)
    rank = np.concatenate((given.target, given.source))
    kind = np.repeat([RECV, SEND], given.source.size)
    peer = np.concatenate((given.source, given.target))
    step = np.concatenate((given.step, given.step))
    order = np.lexsort((np.arange(rank.size), -kind, step, rank))
    return Schedule(
        ranks=ranks,
        start=np.searchsorted(rank[order], np.arange(ranks + 1)).astype(np.int64),
        kind=kind[order].astype(np.int64),
        peer=peer[order],
        size=np.concatenate((size, size))[order],
        step=step[order],
    )
