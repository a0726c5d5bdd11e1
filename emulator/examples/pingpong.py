"""Ping-pong in Python: pingpong.c with the same words, and the same result.

vicrun -n 2 -- python pingpong.py [ROUNDS [MOST_WORDS]]
"""

from __future__ import annotations

import numpy as np
from example import MAKE_NS, Sum, argument, report, scramble, worked

from dvsim import vic

CHECKED_ROUNDS, READ_DIRECTLY = 3, 1


class Table:
    """What two cards play with."""

    def __init__(self, card: vic.Card, most: int) -> None:
        self.card, self.me = card, card.number
        self.buffer, self.counter = card.alloc(most), card.counter_alloc()

    def catch(self, words: np.ndarray, *, read: bool) -> None:
        """Wait for the ball, preset for the next one, and have the words here if so asked."""
        self.card.counter_wait(self.counter)
        self.card.counter_set(self.counter, len(words))
        if read and len(words) <= READ_DIRECTLY:
            self.card.read_into(self.buffer, words)
        elif read:
            self.card.dma_wait(self.card.dma_read(words, self.buffer))

    def play(self, n: int, rounds: int, *, read: bool, check: bool = False) -> float:
        """Return nanoseconds one way."""
        words = np.zeros(n, dtype=np.uint64)
        self.card.counter_set(self.counter, n)
        self.card.barrier()
        start = self.card.time_ns()
        for ball in range(2 * rounds if self.me < 2 else 0):
            expected = words_of(ball, n) if check else words
            if ball % 2 == self.me:
                self.card.put(1 - self.me, self.buffer, expected, self.counter)
            else:
                self.catch(words, read=read)
                if not np.array_equal(words, expected):
                    raise SystemExit(f"pingpong: a word of ball {ball} is wrong")
        each = (self.card.time_ns() - start) / 2 / rounds
        self.card.barrier()
        return each


def words_of(ball: int, n: int) -> np.ndarray:
    """Return the words of a ball."""
    return scramble(np.uint64(ball << 32) | np.arange(n, dtype=np.uint64))


def main() -> None:
    """Play all sizes."""
    rounds, most = argument(1, 1000), argument(2, 4096)
    with vic.open() as card:
        if card.cards < 2:
            raise SystemExit("pingpong: needs two cards")
        table = Table(card, most)
        sums = Sum(card)
        if table.me == 0:
            print(f"{'words':>10} {'counted us':>14} {'read us':>14} {'GB/s read':>12}")
        n = 1
        while n <= most:
            counted = table.play(n, rounds, read=False)
            read = table.play(n, rounds, read=True)
            table.play(n, CHECKED_ROUNDS, read=True, check=True)
            worked(card, 4 * CHECKED_ROUNDS * n, MAKE_NS)
            if table.me == 0:
                print(f"{n:>10} {counted / 1e3:>14.3f} {read / 1e3:>14.3f} {n * 8 / read:>12.3f}")
            n *= 4
        report(sums, "pingpong", int(card.read(table.buffer, 1)[0]))


if __name__ == "__main__":
    main()
