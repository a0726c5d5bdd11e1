"""A bridge: card 0 takes messages of all other cards and hands them on, to standard output."""

import sys

import numpy as np

from dvsim import vic

MESSAGES, BLOCKS = 20, 8  # of 64 bytes in a block; blocks from each card
BLOCK = MESSAGES * 64 // 8  # words


def source(card: vic.Card, me: int) -> None:
    """Fill two blocks in turn; a counter that reads 0 says that one is free."""
    for k in range(BLOCKS):
        at = 2 * me + k % 2
        numbers = range(k * MESSAGES, (k + 1) * MESSAGES)
        block = np.array([f"card {me}: message {number:03}" for number in numbers], dtype="S64")
        card.counter_wait(at)
        card.counter_set(at, 1)
        card.put(0, at * BLOCK, block, at)


def bridge(card: vic.Card, cards: int) -> None:
    """Empty whatever block is full; a counter that reads 0 says so."""
    block, taken = np.empty(MESSAGES, dtype="S64"), dict.fromkeys(range(1, cards), 0)
    while min(taken.values(), default=BLOCKS) < BLOCKS:
        awaited = {2 * origin + n % 2 for origin, n in taken.items() if n < BLOCKS}
        full = card.wait(sum(1 << at for at in awaited))  # any of them; PeerDied if a card died
        for origin, number in taken.items():
            at = 2 * origin + number % 2
            if not full >> at & 1:
                continue
            card.dma_wait(card.dma_read(block, at * BLOCK))
            card.counter_set(at, BLOCK)  # first preset, then let the next block come
            card.put(origin, at * BLOCK, 0, at)
            print(*(message.decode() for message in block), sep="\n")
            taken[origin] = number + 1


with vic.open() as card:
    attr = card.query_attr()
    for at in range(2, 2 * attr.cards):
        card.counter_set(at, BLOCK if attr.card == 0 else 0)
    card.barrier()  # nobody sends before everybody has preset
    start = card.time_ns()
    if attr.card == 0:
        bridge(card, attr.cards)
        total = (attr.cards - 1) * BLOCKS * MESSAGES
        print(f"{total} messages in {(card.time_ns() - start) / 1e3:.1f} us", file=sys.stderr)
    else:
        source(card, attr.card)
    card.barrier()
