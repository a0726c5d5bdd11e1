"""What the ranks of an MPI program call, in order, as a graph: for all readers of MPI traces.

A call that does not block (isend, irecv, a collective with a request) lets the next operation of
its rank start once it has started itself; one that blocks, and a wait, once it has ended.
Collectives become messages when all ranks are known, each under a tag of its own.

One-sided operations become messages to the `AGENT` of the other rank and back: a processor of their
own, so that neither program waits for the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from copy import deepcopy
from functools import partialmethod
from typing import Any, NoReturn

from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import (
    ANY,
    CALC,
    COLLECTIVE_TAG,
    IDLE,
    RECV,
    RELEASE_TAG,
    SEND,
    file_of,
)
from dvsim.kinds.workload.collectives import MPICH, Collectives, schedule
from dvsim.kinds.workload.graph import Builder, Graph
from dvsim.kinds.workload.operations import (
    AGENT,
    Call,
    Communicator,
    Cursor,
    Entry,
    Locks,
    Served,
    serve,
)
from dvsim.kinds.workload.schedule import Schedule
from dvsim.scenario import bounds

WORLD = 0
"""The communicator of all ranks."""

OWN_TAGS = 1 << 24  # of the communicator of all; others get tags from here on


class Program:
    """Collects the calls of all ranks and gives them as a graph.

    Args:
        ranks, name, files: As of `Builder`.
        table: Which algorithm each collective takes.

    Attributes:
        builder: What makes the graph; it has the time and the gaps of a trace.
    """

    def __init__(
        self, ranks: int, name: str = "", files: Iterable[str] = (), table: Collectives = MPICH
    ) -> None:
        self.ranks = ranks
        self.table = table
        self.builder = Builder(ranks, name, files)
        self.builder.expanded = True
        self._calls: list[list[Call]] = [[] for _ in range(ranks)]
        self._communicators: list[Communicator] = []
        self._known: dict[Hashable, int] = {}
        self._tags: dict[tuple[int, int], int] = {}
        self._waits: list[dict[int, Sequence[int]]] = [{} for _ in range(ranks)]
        self._agreed: dict[Hashable, int] = {}
        self._served: list[list[Served]] = [[] for _ in range(ranks)]
        self._locks = Locks()
        self.communicator(None, range(ranks))

    def communicator(self, key: Hashable, members: Iterable[int]) -> int:
        """Return the number of a communicator, the same for the same key."""
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = len(self._communicators)
            ranks = tuple(members)
            rank_in_group = {rank: at for at, rank in enumerate(ranks)}
            self._communicators.append(Communicator(ranks, rank_in_group))
        return number

    def members(self, communicator: int) -> tuple[int, ...]:
        """Return the ranks of a communicator."""
        return self._communicators[communicator].members

    def skip(self, what: str, count: int = 1) -> None:
        """Count what the trace has and a replay does not."""
        self.builder.skip(what, count)

    def assume(self, what: str) -> None:
        """Note what the trace does not say and is taken to be so."""
        self.builder.assumed[what] = None

    def refuse(self, rank: int, line: int, message: str) -> NoReturn:
        """Raise what is wrong with a call of a rank."""
        file = file_of(self.builder.files, rank, self.builder.name)
        raise ScenarioError.at(file, message, f"rank {rank}", line=line or None)

    def compute(self, rank: int, picoseconds: int, line: int = 0, *, idle: bool = False) -> None:
        """Let a rank compute; `idle`: let time pass in which it does nothing."""
        if picoseconds > bounds.TIME:
            self.refuse(rank, line, f"computes for {picoseconds / bounds.PS_PER_S:g} s")
        if picoseconds > 0:
            peer = IDLE if idle else -1
            self._calls[rank].append((Cursor.message, line, CALC, peer, picoseconds))

    def message(
        self,
        kind: int,
        rank: int,
        peer: int,
        size: int,
        tag: int = 0,
        *,
        communicator: int = WORLD,
        request: Hashable = None,
        line: int = 0,
    ) -> int:
        """Let a rank `SEND` or `RECV`; with a request it goes on at once.

        The peer is a rank of the program; that of a receive, and its tag, may be `ANY`. Returns
        the place of the call among those of its rank.
        """
        self._checked(rank, size, line)
        tag = self._tag(communicator, tag)
        self._calls[rank].append((Cursor.message, line, kind, peer, size, tag, request))
        return len(self._calls[rank]) - 1

    send = partialmethod(message, SEND)
    recv = partialmethod(message, RECV)

    def notice(self, kind: int, rank: int, peer: int, key: Hashable, line: int = 0) -> None:
        """Let a rank `SEND`, or `RECV`, one byte that says no more than it is there.

        The key stands for what it says; notices of one key never match those of another.
        """
        tag = self._agreed.setdefault(key, RELEASE_TAG - 1 - len(self._agreed))
        self._calls[rank].append((Cursor.message, line, kind, peer, 1, tag))

    def remote(
        self, rank: int, peer: int, sent: int, received: int, *, request: Hashable, line: int = 0
    ) -> None:
        """Let a rank reach into the memory of another, whose program does nothing for that.

        Bytes, or without any a request, are sent to the other's agent, which answers with bytes, or
        that it is done. The rank goes on at once.
        """
        self._checked(rank, min(sent, received), line)
        self._calls[rank].append((Cursor.remote, line, peer, sent, received, request))
        self._served[peer].append(Served(rank, sent, received))

    def lock(
        self,
        rank: int,
        window: Hashable,
        peers: Iterable[int],
        time: int,
        *,
        exclusive: bool,
        asks: bool,
    ) -> None:
        """Let a rank lock the memory of others in a window; it waits for those that hold it.

        Args:
            rank: Who locks.
            window, peers: The memory of which ranks.
            time: In the trace; also of `unlock`. Ranks get a lock in the order in which they
                released it.
            exclusive: Whether nobody else may have it meanwhile.
            asks: Whether messages ask for it even if no other rank ever has it.
        """
        holds = [self._locks.take(rank, window, peer, time, exclusive, asks) for peer in peers]
        for hold in holds:
            self._served[hold.peer].append(Served(rank, hold=hold))
        self._calls[rank].append((Cursor.lock, 0, holds))

    def unlock(self, rank: int, window: Hashable, peers: Iterable[int], time: int) -> None:
        """Let a rank release locks; those that it does not have are passed over."""
        holds = self._locks.release(rank, window, peers, time)
        for hold in holds:
            self._served[hold.peer].append(Served(rank, hold=hold, releases=True))
        self._calls[rank].append((Cursor.unlock, 0, holds))

    def resolved(self, rank: int, index: int, peer: int, tag: int, communicator: int) -> None:
        """Let the receive at a place be from the rank, and of the tag, that it turned out to be."""
        *call, _, size, old, request = self._calls[rank][index]
        new = self._tag(communicator, tag) if old == ANY and tag >= 0 else old
        self._calls[rank][index] = (*call, peer, size, new, request)

    def waits(self, rank: int, places: Sequence[int]) -> int:
        """Let the last call of a rank wait for those at some places, not for the one before it.

        Returns the place of the last call.
        """
        index = len(self._calls[rank]) - 1
        self._waits[rank][index] = places
        return index

    def wait(self, rank: int, requests: Sequence[Hashable], line: int = 0) -> None:
        """Let a rank wait for requests; those that are done already are passed over."""
        self._calls[rank].append((Cursor.wait, line, tuple(requests)))

    def collective(
        self,
        rank: int,
        kind: str,
        size: int | Sequence[int] = 0,
        *,
        root: int = 0,
        communicator: int = WORLD,
        request: Hashable = None,
        line: int = 0,
    ) -> None:
        """Let a rank enter a collective; with a request it goes on at once.

        Args:
            rank, kind, size: As of `collectives.schedule`. Where ranks have sizes of their own:
                that of the rank's block, of an all-to-all its row, of a reduce-scatter those of
                all.
            root: In the communicator.
            communicator, request, line: As of `send`.
        """
        group = self._communicators[communicator]
        mine = group.place.get(rank)
        if mine is None:
            self.refuse(rank, line, f"enters a {kind} of a communicator that it is not in")
        if not 0 <= root < len(group.members):
            last = len(group.members) - 1
            self.refuse(rank, line, f"the root of a {kind} must be from 0 to {last}, is {root}")
        given = size if isinstance(size, int) else tuple(size)
        least = given if isinstance(given, int) else min(given, default=0)
        self._checked(rank, least, line)
        number = group.count.get(mine, 0)
        group.count[mine] = number + 1
        if number == len(group.entries):
            group.entries.append({})
        group.entries[number][mine] = Entry(kind, given, root, line)
        self._calls[rank].append((Cursor.collective, line, group, number, mine, request))

    def _checked(self, rank: int, size: int, line: int) -> None:
        if size < 0:
            self.refuse(rank, line, f"size must not be negative, is {size}")

    def _tag(self, communicator: int, tag: int) -> int:
        if tag == ANY or (communicator == WORLD and tag < OWN_TAGS):
            return tag
        return self._tags.setdefault((communicator, tag), OWN_TAGS + len(self._tags))

    def graph(self) -> Graph:
        """Return the graph of all calls."""
        tag = COLLECTIVE_TAG
        for communicator in self._communicators:
            for number in range(len(communicator.entries)):
                communicator.schedules.append(self._scheduled(communicator, number))
                communicator.tags.append(tag)
                tag += 1
        builder = deepcopy(self.builder)
        self._locks.find_waits()
        for rank, calls in enumerate(self._calls):
            Cursor(builder, rank).run(calls, self._waits[rank])
        builder.line = 0
        for rank, served in enumerate(self._served):
            if served:
                builder.agent = AGENT
                serve(builder, rank, served)
        return builder.build()

    def _scheduled(self, communicator: Communicator, number: int) -> Schedule:
        entries = communicator.entries[number]
        first = min(entries)
        named = entries[first]
        name = f"{named.kind}, the collective {number + 1} of its communicator"
        where = f"rank {communicator.members[first]}{f', line {named.line}' if named.line else ''}"
        for mine, rank in enumerate(communicator.members):
            entry = entries.get(mine)
            if entry is None:
                self.refuse(rank, 0, f"does not enter a {name}, which {where} enters")
            if (entry.kind, entry.root) != (named.kind, named.root):
                other = f"{entry.kind} of root {entry.root}"
                message = f"enters a {other} where {where} enters a {name}, of root {named.root}"
                self.refuse(rank, entry.line, message)
        ranks = len(communicator.members)
        size = _agreed(named.kind, named.root, [entries[mine] for mine in range(ranks)])
        try:
            return schedule(named.kind, ranks, size, root=named.root, table=self.table)
        except ValueError as error:
            self.refuse(communicator.members[first], named.line, str(error))


def _agreed(kind: str, root: int, entries: Sequence[Entry]) -> int | list[Any]:
    sizes = [entry.size for entry in entries]
    if kind in ("gatherv", "scatterv", "allgatherv", "alltoallv"):
        return sizes
    if kind == "bcast":
        return _number(sizes[root]) or max(map(_number, sizes))
    if kind == "reduce_scatter" and not isinstance(sizes[0], int):
        return list(sizes[0])
    return max(map(_number, sizes))


def _number(size: int | tuple[int, ...]) -> int:
    return size if isinstance(size, int) else sum(size)
