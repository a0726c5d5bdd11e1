"""All to all in Python: alltoall.c with the same words, and the same result.

vicrun -n 4 -- python alltoall.py [ROUNDS [MOST_WORDS]]
"""

from __future__ import annotations

import numpy as np
from example import MAKE_NS, Sum, argument, report, scramble, worked

from dvsim import vic

CHECKED_ROUNDS = 3


class Mesh:
    """Two buffers and two counters, used in turn."""

    def __init__(self, card: vic.Card, most: int) -> None:
        self.card = card
        self.me, self.cards = card.number, card.cards
        self.buffer, self.counter = [], []
        for _ in range(2):
            self.buffer.append(card.alloc(most * self.cards))
            self.counter.append(card.counter_alloc())

    def one_round(self, round_: int, got: np.ndarray, *, check: bool) -> None:
        """Send a block to everybody, and take those of everybody."""
        n, turn = got.shape[1], round_ % 2
        for k in range(self.cards):
            to = (self.me + 1 + k) % self.cards
            block = block_of(round_, self.me, to, n) if check else got[0]
            self.card.put(to, self.buffer[turn] + self.me * n, block, self.counter[turn])
        self.card.counter_wait(self.counter[turn])
        self.card.counter_set(self.counter[turn], self.cards * n)
        self.card.dma_wait(self.card.dma_read(got, self.buffer[turn]))
        expected = [block_of(round_, i, self.me, n) for i in range(self.cards if check else 0)]
        if check and not np.array_equal(got, expected):
            raise SystemExit(f"alltoall: a word is wrong in round {round_}")

    def run(self, rounds: int, got: np.ndarray, *, check: bool) -> float:
        """Return nanoseconds a round."""
        for counter in self.counter:
            self.card.counter_set(counter, got.size)
        self.card.barrier()
        start = self.card.time_ns()
        for round_ in range(rounds):
            self.one_round(round_, got, check=check)
        each = (self.card.time_ns() - start) / rounds
        self.card.barrier()
        return each


def block_of(round_: int, source: int, to: int, n: int) -> np.ndarray:
    """Return what one card sends to another."""
    key = np.uint64(round_ << 48 ^ source << 36 ^ to << 24)
    return scramble(key ^ np.arange(n, dtype=np.uint64))


def main() -> None:
    """Run all sizes."""
    rounds, most = argument(1, 20), argument(2, 1024)
    with vic.open() as card:
        mesh = Mesh(card, most)
        sums = Sum(card)
        result = np.uint64(0)
        if mesh.me == 0:
            print(f"{'words':>10} {'round us':>14} {'GB/s out of a card':>20}")
        n = 1
        while n <= most:
            got = np.zeros((mesh.cards, n), dtype=np.uint64)
            each = mesh.run(rounds, got, check=False)
            mesh.run(CHECKED_ROUNDS, got, check=True)
            worked(card, 2 * CHECKED_ROUNDS * got.size, MAKE_NS)
            result = scramble(result ^ got[-1, -1])
            if mesh.me == 0:
                print(f"{n:>10} {each / 1e3:>14.3f} {got.nbytes / each:>20.4f}")
            n *= 4
        report(sums, "alltoall", int(result))


if __name__ == "__main__":
    main()
