"""How long an irregular program takes over a Data Vortex: a prediction, with a ``vortex`` card.

Everything of a card goes on at once: the slowest of these parts sets the pace of a node.

    cores    make, take (`fifo_pop`) and carry out elements; read or write those that are local
             (all of the busiest node, which gets `uneven` times as many as it makes)
    way in   PIO of payload and header (`pio_rate`), or DMA of them (`pcie_rate`) with `dma_setup`
             for each transfer of `buffer` bytes of payload
    port     packets of 8 B payload at `port_rate`; the network takes what a port offers, but for
             0.1 % (`dvsim.Network`, uniform traffic)
    waits    of what is read one by one: a round trip for each element of a core

A packet carries one word, to a place of the card that its header names. What is in node memory is
larger than a card, so that a place is a word of its own, except that of an update.
"""

from __future__ import annotations

import math
from functools import partial

from dvsim.kinds.irregular.programs import PS, Program, Time, buffer_bytes, in_all
from dvsim.kinds.irregular.spec import WORD, WordsTable
from dvsim.scenario.types import Card

LEAF = 64
"""Ports of the largest switch of a preset of `dvsim.Network`."""


def over_vortex(work: WordsTable, host: Card, card: Card) -> Time:
    """Return the time of a program over a card of kind ``vortex``."""
    moved = partial(_moved, host, card)
    return in_all(work, host, moved, moved)


def _moved(host: Card, card: Card, work: WordsTable, program: Program, words: float) -> Time:
    share, cores = 1 - 1 / work.nodes, host["cores"]
    own = host["read" if program.reads else "write"]
    remote = words * share
    asked = remote * work.uneven  # of this node, by others
    taken = asked + remote if program.reads else asked * program.words
    moved = asked + remote if program.reads else remote * program.words
    busy = words * (work.uneven * own + host["move"]) + taken * card["fifo_pop"]
    busy *= PS / cores
    port = taken * WORD / card["port_rate"]
    entering = moved * _enter_s(work, card)
    waits = 0.0
    if program.reads and work.sending != "buffer":
        under_way = cores * (work.window if work.sending == "window" else 1)
        waits = remote * round_trip_s(work.nodes, card) / under_way
    return Time(max(busy, port, entering, waits), busy, max(port, entering), waits)


def _enter_s(work: WordsTable, card: Card) -> float:
    size = WORD * (1 if work.headers == "cached" else 2)
    if work.sending != "buffer" or work.path == "pio":
        return float(size / card["pio_rate"])
    bytes_of = buffer_bytes(work) if work.program != "gups" else min(work.buffer, 4096)
    return float(size / card["pcie_rate"] + card["dma_setup"] * PS * WORD / bytes_of)


def round_trip_s(nodes: int, card: Card) -> float:
    """Return how long a word takes to another card and its answer back, with nothing in the way.

    A word visits 1.5 log2 H + 1 nodes of a switch of H heights on average, docs/switch.md, and 1,
    3 or 5 switches.
    """
    slot = card["planes"] * WORD / card["port_rate"]
    height = min(LEAF, 2 ** math.ceil(math.log2(max(2, nodes))))
    levels = 1 if nodes <= LEAF else 2 if nodes <= LEAF**2 // 2 else 3
    links = 2 * levels * math.ceil(card["link"] * PS / slot)
    slots = (2 * levels - 1) * (1.5 * math.log2(height) + 1) + links
    one_way = 2 * card["pio_write"] * PS + slots * slot
    return float(2 * (one_way + (card["poll_mirror"] + card["fifo_pop"]) * PS))
