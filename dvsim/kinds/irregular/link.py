"""How long an irregular program takes over a network that software drives, such as InfiniBand.

A node has `words` elements, of which a share q = 1 - 1 / nodes is remote. Per element:

    word     the larger of the interval of the node's injection (`get`, `put`) and of a round trip
             of a core shared by its cores; local elements take their turn
    window   the same with `window` round trips of each core at a time; local elements meanwhile
    buffer   `pack` for each word at either end and `flush` for each buffer, on the cores; of what
             is read q^2 of `answer` besides; or the bytes at `rate`, if that is longer

The busiest node, for which `uneven` times as many elements are, sets the pace: its network takes an
element at the interval at which another sends it.
"""

from __future__ import annotations

from functools import partial

from dvsim.kinds.irregular.programs import PS, Program, Time, buffer_bytes, in_all
from dvsim.kinds.irregular.spec import WORD, WordsTable
from dvsim.scenario.types import Card


def over_link(work: WordsTable, host: Card, link: Card) -> Time:
    """Return the time of a program over a card of kind ``words``."""
    moved = partial(_moved, host, link)
    crowd = 1.0 if _buffered(work, link) else link["crowd"]
    return in_all(work, host, moved, partial(moved, crowd=crowd))


def _buffered(work: WordsTable, link: Card) -> bool:
    return work.sending == "buffer" and bool(link["buffers"])


def _moved(
    host: Card, link: Card, work: WordsTable, program: Program, words: float, crowd: float = 1.0
) -> Time:
    share, cores, uneven = 1 - 1 / work.nodes, host["cores"], work.uneven
    local = words / work.nodes * uneven * host["read" if program.reads else "write"] * PS / cores
    remote = words * share
    if _buffered(work, link):
        each = program.words * link["pack"] * (1 + uneven) / 2
        each += link["answer"] * share**2 * uneven if program.reads else 0
        each += link["flush"] * program.words * WORD / buffer_bytes(work)
        busy = local + remote * each * PS / cores
        wire = remote * uneven * program.words * WORD / link["rate"]
        return Time(max(busy, wire), busy, wire, 0.0)
    under_way = cores * (1 if work.sending == "word" else work.window)
    wire = remote * uneven * link["get" if program.reads else "put"] * crowd * PS
    waits = remote * 2 * link["latency"] * PS / under_way
    slowest = max(wire, waits)
    whole = local + slowest if work.sending == "word" else max(local, slowest)
    return Time(whole, local, wire, waits)
