"""How long an irregular program takes over a network that software drives, such as InfiniBand.

A node has `words` elements, of which a share q = 1 - 1 / nodes is remote. Per element:

    word     the larger of the interval of the node's injection (`get`, `put`) and of a round trip
             of a core shared by its cores; local elements take their turn
    window   the same with `window` round trips of each core at a time; local elements meanwhile
    buffer   `pack` for each word at either end and `flush` for each buffer, on the cores; of what
             is read q^2 of `answer` besides; or the bytes at `rate`, if that is longer
"""

from __future__ import annotations

from dvsim.kinds.irregular.programs import DIGIT, GET, PROGRAMS, PUT, Program, Time, buffer_bytes
from dvsim.kinds.irregular.spec import WORD, WordsTable
from dvsim.scenario.types import Card

PS = 1e-12


def over_link(work: WordsTable, host: Card, link: Card) -> Time:
    """Return the time of a program over a card of kind ``words``."""
    program = PROGRAMS[work.program]
    parts = [_moved(work, host, link, program, work.words)]
    if program.sorts:
        counts = host["cores"] * DIGIT
        crowd = 1.0 if _buffered(work, link) else link["crowd"]
        parts += [_moved(work, host, link, one, counts, crowd) for one in (PUT, GET)]
        keys = work.words * host["key"] * PS / host["cores"]
        parts.append(Time(keys, keys, 0.0, 0.0))
    return Time(*(program.passes * sum(column) for column in zip(*parts, strict=True)))


def _buffered(work: WordsTable, link: Card) -> bool:
    return work.sending == "buffer" and bool(link["buffers"])


def _moved(
    work: WordsTable, host: Card, link: Card, program: Program, words: float, crowd: float = 1.0
) -> Time:
    """Return the time of `words` elements of a node; `crowd` slows what is sent one by one."""
    share, cores = 1 - 1 / work.nodes, host["cores"]
    local = words / work.nodes * host["read" if program.reads else "write"] * PS / cores
    remote = words * share
    if _buffered(work, link):
        each = program.words * link["pack"]
        each += link["answer"] * share**2 if program.reads else 0
        each += link["flush"] * program.words * WORD / buffer_bytes(work)
        busy = local + remote * each * PS / cores
        wire = remote * program.words * WORD / link["rate"]
        return Time(max(busy, wire), busy, wire, 0.0)
    under_way = cores * (1 if work.sending == "word" else work.window)
    wire = remote * link["get" if program.reads else "put"] * crowd * PS
    waits = remote * 2 * link["latency"] * PS / under_way
    slowest = max(wire, waits)
    whole = local + slowest if work.sending == "word" else max(local, slowest)
    return Time(whole, local, wire, waits)
