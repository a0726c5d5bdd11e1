"""What each irregular program does with an element, whatever carries it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from dvsim.kinds.irregular.spec import WordsTable
from dvsim.scenario.types import Card

PS = 1e-12

DIGIT = 2**16
"""Buckets of a pass of the radix sort; each core counts its own."""

LOOK_AHEAD = 1024
"""Updates that HPCC RandomAccess lets a process have under way."""


class Program(NamedTuple):
    """What becomes of an element."""

    reads: bool  # whether it is read, and an answer comes back; else it is written
    # Words that go through buffers: the place, and a value or its answer; of a sort the place, the
    # key and its rank; of an update that has its place in its value, one.
    words: int
    passes: int = 1  # how often all elements are moved
    sorts: bool = False  # whether the cores count and agree on places first


PROGRAMS = {
    "gather": Program(reads=True, words=2),
    "scatter": Program(reads=False, words=2),
    "histogram": Program(reads=False, words=1),
    "radix-sort": Program(reads=False, words=3, passes=2, sorts=True),
    "gups": Program(reads=False, words=1),
}
GET, PUT = PROGRAMS["gather"], PROGRAMS["scatter"]


class Time(NamedTuple):
    """Seconds of a node: in all, and what of it each part would take alone."""

    whole: float
    cores: float
    network: float
    waits: float


Moved = Callable[[WordsTable, Program, float], Time]
"""The time in which the busiest node of a program moves so many elements of each."""


def in_all(work: WordsTable, host: Card, moved: Moved, counted: Moved) -> Time:
    """Return the time of a program; `counted` moves the counts by which a sort agrees on places."""
    program = PROGRAMS[work.program]
    parts = [moved(work, program, work.words)]
    if program.sorts:
        counts, even = host["cores"] * DIGIT, replace(work, uneven=1.0)
        parts += [counted(even, verb, counts) for verb in (PUT, GET)]
        keys = work.words * host["key"] * PS / host["cores"]
        parts.append(Time(keys, keys, 0.0, 0.0))
    return Time(*(program.passes * sum(column) for column in zip(*parts, strict=True)))


def buffer_bytes(work: WordsTable) -> float:
    """Return the bytes of a buffer; those of all destinations hold what GUPS may look ahead."""
    if work.program != "gups":
        return work.buffer
    return min(work.buffer, 8 * LOOK_AHEAD / max(1, work.nodes - 1))
