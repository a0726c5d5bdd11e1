"""Operations of all ranks of a program and what each waits for: what is replayed over a fabric.

A rank has operations of three kinds: it computes (`CALC`), sends (`SEND`) or receives (`RECV`) a
message, as in GOAL schedules. An operation starts when all that it waits for has ended, or started
where the edge says so. Messages meet receives as in MPI: by source and tag, in posted order.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dvsim.core.arrays import check_memory
from dvsim.errors import Fault, ScenarioError
from dvsim.kinds.workload.check import (
    AGENT_TAGS,
    ANY,
    CALC,
    CARRIED_TAG,
    COLLECTIVE_TAG,
    COLUMNS,
    RECV,
    SEND,
    check_columns,
    described,
    fault_of,
    file_of,
    joined,
    refuse_circles,
)

__all__ = ["ANY", "CALC", "RECV", "SEND", "Builder", "Graph"]

MOST_RANKS = 1 << 22
ROOM = 1 << 20  # operations, before memory is looked at
BYTES = 250
"""Of an operation while a graph is built, about: its columns, twice, and what waits for it."""
Ints = npt.NDArray[np.int64]
Column = npt.NDArray[Any]
EDGES = ("start", "to", "after_start")
_TYPES = (np.int32, np.uint8, np.int32, np.int32, np.int64, np.uint8, np.uint8, np.int32)


@dataclass(frozen=True, eq=False)
class Graph:
    """All operations of a program, sorted by rank, in each rank as they were added."""

    ranks: int  # how many
    first: Ints  # shape (ranks + 1,): operations of rank r are ``first[r]:first[r + 1]``
    kind: npt.NDArray[np.uint8]  # shape (operations,), as all below: `CALC`, `SEND` or `RECV`
    # The other rank of a message; `ANY` for a receive from any; -1 of a `CALC`, `IDLE` of one that
    # only lets time pass.
    peer: npt.NDArray[np.int32]
    tag: npt.NDArray[np.int32]  # of a message; `ANY` for a receive of any
    size: Ints  # bytes of a message; picoseconds of a `CALC`
    # Which of its rank's processors runs it, and which of its rank's ports carries it.
    cpu: npt.NDArray[np.uint8]
    nic: npt.NDArray[np.uint8]
    line: npt.NDArray[np.int32]  # in the file of its rank, from 1; 0 where unknown
    # What waits for operation i is ``to[start[i]:start[i + 1]]``; where `after_start` is 1 it
    # waits only until i has started. The edges of i are in the order in which they were added.
    start: Ints
    to: Ints
    after_start: npt.NDArray[np.uint8]
    name: str = ""  # of the program or its file
    files: tuple[str, ...] = ()  # the file of each rank, or one for all; empty where there is none
    traced_ns: float | None = None  # the wall time that was traced; None where it is unknown
    finalize_ns: float = 0.0  # what of it was MPI_Finalize alone, which is not replayed
    # What a trace has and a replay does not, with how often.
    skipped: Mapping[str, int] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()  # what a trace does not say and was taken to be so
    # What tags of the file have more bits than those here, which stand for them.
    tags: Mapping[int, int] = field(default_factory=dict)
    eager: bool = False  # whether no send waits for its receive, however large it is
    # Whether tags from `COLLECTIVE_TAG` on are of messages that collectives consist of, or by
    # which one-sided operations agree, up to `CARRIED_TAG`.
    expanded: bool = False
    # A processor of each rank that works beside its program, as a card does; 0: none. Operations
    # then wait for what ends at other processors, too.
    agent: int = 0

    @property
    def operations(self) -> int:
        """How many operations there are."""
        return int(self.kind.size)

    @property
    def messages(self) -> int:
        """How many messages are sent."""
        return int((self.kind == SEND).sum())

    @property
    def bytes(self) -> int:
        """The bytes of all messages that are sent."""
        return int(self.size[self.kind == SEND].sum())

    @property
    def collective(self) -> tuple[int, int]:
        """How many of the messages, and of their bytes, are not the program's own."""
        mine = (self.kind == SEND) & (self.tag >= COLLECTIVE_TAG) & (self.tag < CARRIED_TAG)
        mine &= self.expanded
        return int(mine.sum()), int(self.size[mine].sum())

    @property
    def private_tag(self) -> int:
        """Messages of tags from here on are not for receives of any tag; 0 if there are none."""
        return COLLECTIVE_TAG if self.expanded else 0

    @property
    def digest(self) -> str:
        """Sixteen hex digits that are equal for equal operations and edges."""
        digest = hashlib.blake2b(digest_size=8)
        for name in ("first", "kind", "peer", "tag", "size", "cpu", "nic", *EDGES):
            digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        digest.update(bytes([self.agent] if self.agent else []) + b"eager" * self.eager)
        return digest.hexdigest()

    def rank_of(self, operation: int) -> int:
        """Return the rank of an operation."""
        return int(np.searchsorted(self.first, operation, side="right")) - 1

    def file_of(self, rank: int) -> str:
        """Return the file of a rank, or the name of the program."""
        return file_of(self.files, rank, self.name)

    def told(self, operation: int) -> str:
        """Return an operation for a message: ``rank 3, operation 5: recv 8 B from 2, tag 0``."""
        line = f" (line {self.line[operation]})" if self.line[operation] > 0 else ""
        kind, peer, tag = (int(column[operation]) for column in (self.kind, self.peer, self.tag))
        text = described(kind, peer, self.tags.get(tag, tag), int(self.size[operation]))
        if self.agent and tag in AGENT_TAGS:
            text = text.replace(f"tag {tag}", AGENT_TAGS[tag])
        return f"{self._key(operation)}{line}: {text}"

    def _key(self, operation: int) -> str:
        rank = self.rank_of(operation)
        return f"rank {rank}, operation {operation - int(self.first[rank])}"

    def fault(self, operation: int, message: str) -> Fault:
        """Return what is wrong with an operation, with its file, line, rank and place in it."""
        file, line = self.file_of(self.rank_of(operation)), int(self.line[operation]) or None
        return Fault(file, line, self._key(operation), message)


class Builder:
    """Collects operations and edges, of ranks in any order, and gives them as a `Graph`.

    Operations are numbered from 0 in the order in which they are added; these numbers name them in
    edges. Nothing is checked before `build`, but that there is memory for so many.

    Args:
        ranks: How many there are.
        name: Of the program or its file, for messages.
        files: The file of each rank, or one for all.

    Attributes:
        line: The line of the operations that are added next, in the file of their rank.
        traced_ns, finalize_ns: As of `Graph`, to be set by a reader that knows them.
        tags, eager, expanded, agent: As of `Graph`.
    """

    def __init__(self, ranks: int, name: str = "", files: Iterable[str] = ()) -> None:
        self.ranks = ranks
        self.name = name
        self.files = tuple(files)
        self.line = 0
        self.traced_ns: float | None = None
        self.finalize_ns = 0.0
        self.skipped: dict[str, int] = {}
        self.assumed: dict[str, None] = {}  # in the order in which it was
        self.tags: Mapping[int, int] = {}
        self.eager = self.expanded = False
        self.agent = 0
        self._count, self._room = 0, ROOM
        self._parts: list[tuple[Column, ...]] = []
        self._open = array("q")
        self._edges: list[Ints] = []  # each of shape (3, edges): before, behind, whether started
        self._loose = array("q"), array("q")  # pairs of before and behind, of ends and of starts

    def __len__(self) -> int:
        """Return how many operations there are: the number that the next one gets."""
        return self._count

    def calc(
        self,
        rank: int,
        picoseconds: int,
        *,
        after: Iterable[int] = (),
        after_start: Iterable[int] = (),
        cpu: int = 0,
    ) -> int:
        """Let a rank compute; return the number of the operation."""
        return self.message(
            CALC, rank, -1, picoseconds, after=after, after_start=after_start, cpu=cpu
        )

    def message(
        self,
        kind: int,
        rank: int,
        peer: int,
        size: int,
        tag: int = 0,
        *,
        after: Iterable[int] = (),
        after_start: Iterable[int] = (),
        cpu: int = 0,
        nic: int = 0,
    ) -> int:
        """Let a rank `SEND` bytes to another, or `RECV` from one or `ANY`; return its number."""
        number = self._count
        self._count = number + 1
        if number == self._room:
            self.make_room(2 * number)
        self._open.extend((rank, kind, peer, tag, size, cpu, nic, self.line))
        for other in after:
            self._loose[0].append(other)
            self._loose[0].append(number)
        for other in after_start:
            self._loose[1].append(other)
            self._loose[1].append(number)
        return number

    send = partialmethod(message, SEND)
    recv = partialmethod(message, RECV)

    def require(self, operation: int, after: int, *, started: bool = False) -> None:
        """Let an operation wait until another has ended; `started`: until it has started."""
        self._loose[started].extend((after, operation))

    def skip(self, what: str, count: int = 1) -> None:
        """Count what a trace has and a replay does not."""
        self.skipped[what] = self.skipped.get(what, 0) + count

    def extend(
        self,
        rank: npt.ArrayLike,
        kind: npt.ArrayLike,
        peer: npt.ArrayLike = -1,
        size: npt.ArrayLike = 0,
        tag: npt.ArrayLike = 0,
        *,
        cpu: npt.ArrayLike = 0,
        nic: npt.ArrayLike = 0,
        line: npt.ArrayLike = 0,
    ) -> Ints:
        """Add many operations at once and return their numbers, in the order of the arrays.

        Args:
            rank, kind, peer, size, tag, cpu, nic, line: As the columns of `Graph`; single values
                stand for all operations.
        """
        self._close()
        given = np.broadcast_arrays(*(np.atleast_1d(np.asarray(column)) for column in (
            rank, kind, peer, tag, size, cpu, nic, line
        )))  # fmt: skip
        begin = self._count
        self._count += given[0].size
        if self._count > self._room:
            self.make_room(self._count + self._count // 8)
        self._parts.append(tuple(column.astype(np.int64) for column in given))
        return np.arange(begin, self._count, dtype=np.int64)

    def require_many(
        self, operations: npt.ArrayLike, after: npt.ArrayLike, *, started: bool = False
    ) -> None:
        """Let many operations wait, each for the one at its place in `after`.

        `started`: until that has started, not ended.
        """
        self._close_edges()
        given = np.broadcast_arrays(np.asarray(after), np.asarray(operations), started)
        self._edges.append(np.array([column.ravel() for column in given], dtype=np.int64))

    def make_room(self, operations: int) -> None:
        """Refuse so many operations if there is no memory for them."""
        self._room = max(self._room, operations)
        try:
            check_memory(f"a program of {operations:,} operations or more", BYTES * operations)
        except MemoryError as error:
            raise ScenarioError.at(self.name, str(error)) from None

    def _close(self) -> None:
        if self._open:
            rows = np.array(self._open, dtype=np.int64).reshape(-1, len(COLUMNS))
            self._parts.append(tuple(rows.T))
            self._open = array("q")

    def _close_edges(self) -> None:
        for started, loose in enumerate(self._loose):
            edges = np.array(loose, dtype=np.int64).reshape(-1, 2).T
            self._edges.append(np.vstack([edges, np.full(edges.shape[1], started)]))
            del loose[:]

    def build(self) -> Graph:
        """Return the graph."""
        if not 1 <= self.ranks <= MOST_RANKS:
            message = f"must be from 1 to {MOST_RANKS}, is {self.ranks}"
            raise ScenarioError.at(self.name, message, "ranks")
        self._close()
        columns = joined(self._parts)
        check_columns(columns, self.ranks, self.name, self.files)
        order = np.argsort(columns[0], kind="stable")
        rank = columns[0][order]
        first = np.searchsorted(rank, np.arange(self.ranks + 1)).astype(np.int64)
        new_index = np.empty(self._count, dtype=np.int64)
        new_index[order] = np.arange(self._count)
        start, to, after_start = self._successors(new_index, columns)
        typed = zip(COLUMNS[1:], _TYPES[1:], columns[1:], strict=True)
        sorted_columns = {name: column[order].astype(kind) for name, kind, column in typed}
        graph = Graph(
            ranks=self.ranks, first=first, start=start, to=to, after_start=after_start,
            name=self.name, files=self.files, traced_ns=self.traced_ns,
            finalize_ns=self.finalize_ns, skipped=dict(self.skipped), assumed=tuple(self.assumed),
            expanded=self.expanded, tags=self.tags, eager=self.eager, agent=self.agent,
            **sorted_columns,
        )  # fmt: skip
        refuse_circles(graph)
        return graph

    def _refuse(self, columns: list[Ints], number: int, message: str) -> NoReturn:
        raise ScenarioError([fault_of(columns, number, message, self.name, self.files)])

    def _successors(
        self, new_index: Ints, columns: list[Ints]
    ) -> tuple[Ints, Ints, npt.NDArray[np.uint8]]:
        self._close_edges()
        before, behind, started = np.concatenate(self._edges, axis=1)
        for own, other in ((before, behind), (behind, before)):
            bad = (own < 0) | (own >= self._count)
            if bad.any():
                edge = int(np.argmax(bad))
                known = int(other[edge])
                if 0 <= known < self._count:
                    self._refuse(columns, known, f"waits for no operation: {int(own[edge])}")
                message = f"an edge from {before[edge]} to {behind[edge]}: no operations"
                raise ScenarioError.at(self.name, message)
        rank = columns[0]
        across = rank[before] != rank[behind]
        if across.any():
            edge = int(np.argmax(across))
            other_rank = int(rank[before[edge]])
            message = f"waits for an operation of rank {other_rank}; only messages join ranks"
            self._refuse(columns, int(behind[edge]), message)
        before, behind = new_index[before], new_index[behind]
        order = np.argsort(before, kind="stable")
        start = np.searchsorted(before[order], np.arange(self._count + 1)).astype(np.int64)
        return start, behind[order], started[order].astype(np.uint8)
