"""A skeleton of the emulator's collectives: the packets and reads of each step of vic_collective.h.

In a step each card sends to every other card: words, by stores or by its engine, or a packet that
is only counted. When all packets have come, it reads its SRAM. The card `data-vortex-8` says what
stores, engines and reads take; the fabric says what messages take, which land in SRAM.
docs/emulator-collectives.md has the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from dvsim.core.card import Pcie
from dvsim.kinds.workload.bulk import Bulk
from dvsim.kinds.workload.check import CALC, RECV, SEND
from dvsim.kinds.workload.collectives import Collectives
from dvsim.kinds.workload.schedule import Ints
from dvsim.kinds.workload.skeletons import Skeleton
from dvsim.scenario.card import load_card
from dvsim.scenario.fields import Whole

WORD = 8
SHARE, MOST_BUFFER = 64, 1 << 16  # a buffer is this part of the SRAM, so many words at most
WORTH_A_TRANSFER = 1024  # words: as long as it takes to set one up
STORE_NS, ENGINE_NS, WORD_NS, STEP_NS = 32, 1900, 1.82, 4000
"""All cards choose by these between one step and two; a test compares them with the library's."""

Call = Literal["barrier", "broadcast", "reduce", "allreduce", "gather", "alltoall"]


@lru_cache(maxsize=1)
def pcie() -> tuple[Pcie, int]:
    """Return the costs of the card of Data Vortex fabrics, and the words of a buffer of a team."""
    card = load_card("data-vortex-8")
    return Pcie(card), min(MOST_BUFFER, int(card["sram"]) // WORD // SHARE)


@dataclass(frozen=True)
class Team(Skeleton):
    """A call of vic_collective.h: which, and of how many words; its root is rank 0."""

    name: Literal["team"] = "team"
    call: Annotated[Call, Field(description="of vic_collective.h")] = "allreduce"
    words: Annotated[Whole, Field(ge=1, le=1 << 24)] = 1

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add the steps of each call."""
        bulk.builder.make_room(3 * self.ranks**2)  # of a step at most
        steps = list(self.steps()) if self.ranks > 1 else []
        for number in bulk.times(self.iterations):
            bulk.compute()
            for tag, (put, read) in enumerate(steps, number * len(steps)):
                self._step(bulk, put, read, tag)
        bulk.compute()

    def steps(self) -> Iterator[tuple[Ints, Ints]]:
        """Yield for each step the words from each card to each, and what each then reads, in ps."""
        ranks, left, (_, buffer) = self.ranks, self.words, pcie()
        if self.call == "barrier":
            yield np.zeros((ranks, ranks), dtype=np.int64), np.zeros(ranks, dtype=np.int64)
            return
        two, row = self._in_two(), buffer // ranks
        most = buffer if self.call == "broadcast" and not two else row * ranks if two else row
        while left > 0:
            words = min(left, most)
            yield from self._shares(words) if two else self._whole(words)
            left -= words

    def _in_two(self) -> bool:
        ranks, words = self.ranks, self.words

        def put(amount: float) -> float:
            return min(STORE_NS * amount, ENGINE_NS + WORD_NS * amount)

        if self.call in ("broadcast", "allreduce"):
            return (ranks - 1) * put(words) > 2 * (ranks - 1) * put(words / ranks) + STEP_NS
        if self.call == "reduce":
            at_root = (ranks - 1) * words * WORD_NS
            return max(put(words), at_root) > ranks * put(words / ranks) + STEP_NS
        return False

    def _whole(self, words: int) -> Iterator[tuple[Ints, Ints]]:
        put = np.full((self.ranks, self.ranks), words, dtype=np.int64)
        if self.call == "broadcast":
            put[1:] = 0
            yield put, self._each(lambda rank: pcie()[0].read(words) if rank else 0)
            return
        to_root = self.call in ("reduce", "gather")
        if to_root:
            put[:, 1:] = 0
        yield put, self._each(lambda rank: 0 if rank and to_root else self._rows(rank, words))

    def _shares(self, words: int) -> Iterator[tuple[Ints, Ints]]:
        costs, _ = pcie()
        ends = np.minimum(np.arange(self.ranks + 1) * -(-words // self.ranks), words)
        share = np.diff(ends)
        spread = np.tile(share, (self.ranks, 1))
        together = spread.T.copy()
        if self.call == "broadcast":  # the root spreads, and has all already
            spread[1:] = 0
            together[:, 0] = 0
            yield spread, self._each(lambda rank: costs.read(int(share[rank])) if rank else 0)
        else:
            yield spread, self._each(lambda rank: self._rows(rank, int(share[rank])))
        if self.call == "reduce":
            together[:, 1:] = 0

        def others(rank: int) -> int:
            if not together[:, rank].any():
                return 0
            return costs.read(int(ends[rank]), words - int(ends[rank + 1]))

        yield together, self._each(others)

    def _each(self, time: Callable[[int], int]) -> Ints:
        return np.array([time(rank) for rank in range(self.ranks)], dtype=np.int64)

    def _rows(self, rank: int, words: int) -> int:
        costs, last = pcie()[0], self.ranks - 1
        if words < WORTH_A_TRANSFER and 0 < rank < last:
            return costs.read(self.ranks * words)
        return costs.read(rank * words, (last - rank) * words)

    def _step(self, bulk: Bulk, put: Ints, read: Ints, tag: int) -> None:
        costs, _ = pcie()
        pair = costs.store(2)
        begin = bulk.before
        assert begin is not None  # a computation was first
        last = bulk.builder.extend(bulk.all, CALC, size=pair)  # its own packet, to count all others
        bulk.builder.require_many(last, begin)
        takes = {int(words): costs.put(int(words)) for words in np.unique(put) if words}
        for with_words in (False, True):
            for ahead in range(1, self.ranks):
                peer = (bulk.all + ahead) % self.ranks
                words = put[bulk.all, peer]
                rank = bulk.all[(words > 0) == with_words]
                if not rank.size:
                    continue
                words = words[rank]
                size = WORD * np.maximum(1, words)
                busy = np.array([takes.get(int(word), pair) for word in words])
                sends = bulk.builder.extend(rank, SEND, peer[rank], size, tag)
                came = bulk.builder.extend(peer[rank], RECV, rank, size, tag)
                bulk.builder.require_many(sends, last[rank])
                bulk.builder.require_many(came, begin[peer[rank]])
                bulk.open.append((came, peer[rank]))
                last[rank] = bulk.builder.extend(rank, CALC, size=busy)
                bulk.builder.require_many(last[rank], sends)
        bulk.open.append((last, bulk.all))
        bulk.compute(costs.store(1) + read)
