"""What the examples in Python share, as example.h in C: the same words, sums and last line."""

from __future__ import annotations

import sys

import numpy as np

from dvsim import vic

_WIDE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

MAKE_NS = 4.0
"""A word scrambled, or compared with one; as in example.h, assumed."""


def worked(card: vic.Card, steps: float, each_ns: float) -> None:
    """Say that the program worked, in timed mode; the interpreter itself takes no model time."""
    card.compute_ns(int(steps * each_ns))


def scramble(x: np.ndarray | int) -> np.ndarray:
    """Return numbers that look random and are the same everywhere (splitmix64)."""
    with np.errstate(over="ignore"):  # modulo 2**64
        x = np.asarray(x, dtype=np.uint64) + _WIDE[0]
        x = (x ^ x >> np.uint64(30)) * _WIDE[1]
        x = (x ^ x >> np.uint64(27)) * _WIDE[2]
    return x ^ x >> np.uint64(31)


def argument(at: int, usual: int) -> int:
    """Return a number of the command line."""
    return int(sys.argv[at]) if len(sys.argv) > at else usual


class Sum:
    """The sum over all cards of a value of each; `struct sum` of example.h says how."""

    def __init__(self, card: vic.Card) -> None:
        self.card, self.turn = card, 0
        self.cards, self.number = card.cards, card.number
        self.slots = card.alloc(2 * self.cards)
        self.counter = [card.counter_alloc(), card.counter_alloc()]
        for counter in self.counter:
            card.counter_set(counter, self.cards)
        card.barrier()

    def of(self, mine: int) -> int:
        """Return the sum modulo 2**64; every card has to ask for it."""
        turn, self.turn = self.turn, 1 - self.turn
        slots = self.slots + turn * self.cards
        for to in range(self.cards):
            self.card.put(to, slots + self.number, mine, self.counter[turn])
        self.card.counter_wait(self.counter[turn])
        self.card.counter_set(self.counter[turn], self.cards)
        return int(np.sum(self.card.read(slots, self.cards)))


def report(sums: Sum, name: str, mine: int) -> None:
    """Print the last line of an example; every card has to call it."""
    total = sums.of(int(scramble(mine ^ int(scramble(sums.number)))))
    if sums.number == 0:
        print(f"{name}: ok, result {total:016x}")
    sums.card.barrier()
