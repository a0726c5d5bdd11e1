"""What the ranks of an MPI program call, in order, as a graph: for all readers of MPI traces.

A call that does not block (isend, irecv, a collective with a request) lets the next operation of
its rank start once it has started itself; one that blocks, and a wait, once it has ended.
Collectives become messages when all ranks are known, each under a tag of its own.

One-sided operations become messages to the `AGENT` of the other rank and back: a processor of their
own, so that neither program waits for the other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any, NoReturn

from dvsim.errors import ScenarioError
from dvsim.kinds.workload.check import (
    ANY,
    CALC,
    CARRIED_TAG,
    COLLECTIVE_TAG,
    RECV,
    SEND,
    file_of,
)
from dvsim.kinds.workload.collectives import MPICH, Collectives, schedule
from dvsim.kinds.workload.graph import Builder, Graph
from dvsim.kinds.workload.schedule import Schedule
from dvsim.scenario import bounds

WORLD = 0
"""The communicator of all ranks."""

OWN_TAGS = 1 << 24  # of the communicator of all; others get tags from here on

AGENT = 1
"""The processor that does one-sided operations, at both ends."""

_WAIT, _COLLECTIVE, _REMOTE = 3, 4, 5  # calls beside `CALC`, `SEND` and `RECV`
_AGREED_TAG = CARRIED_TAG - 1  # and downwards: of messages of one byte that carry nothing


@dataclass
class _Entry:
    """A rank's part in a collective."""

    kind: str
    size: int | tuple[int, ...]
    root: int
    line: int


@dataclass
class _Communicator:
    """Ranks that communicate, and the collectives of each, by its rank in the communicator."""

    members: tuple[int, ...]
    place: dict[int, int]
    entries: list[dict[int, _Entry]] = field(default_factory=list)
    count: dict[int, int] = field(default_factory=dict)
    schedules: list[Schedule] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)


class Program:
    """Collects the calls of all ranks and gives them as a graph.

    Args:
        ranks, name, files: As of `Builder`.
        table: Which algorithm each collective takes.
    """

    def __init__(
        self,
        ranks: int,
        name: str = "",
        files: Iterable[str] = (),
        table: Collectives = MPICH,
    ) -> None:
        self.ranks = ranks
        self.name = name
        self.files = tuple(files)
        self.table = table
        self.traced_ns: float | None = None
        self.skipped: dict[str, int] = {}
        self._calls: list[list[tuple[Any, ...]]] = [[] for _ in range(ranks)]
        self._communicators: list[_Communicator] = []
        self._known: dict[Hashable, int] = {}
        self._tags: dict[tuple[int, int], int] = {}
        self._waits: list[dict[int, Sequence[int]]] = [{} for _ in range(ranks)]
        self._agreed: dict[Hashable, int] = {"request": _AGREED_TAG, "answer": _AGREED_TAG - 1}
        self._served: list[list[tuple[int, int, int]]] = [[] for _ in range(ranks)]
        self.communicator(None, range(ranks))

    def communicator(self, key: Hashable, members: Iterable[int]) -> int:
        """Return the number of a communicator, the same for the same key."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._communicators)
            ranks = tuple(members)
            place = {rank: at for at, rank in enumerate(ranks)}
            self._communicators.append(_Communicator(ranks, place))
        return found

    def members(self, communicator: int) -> tuple[int, ...]:
        """Return the ranks of a communicator."""
        return self._communicators[communicator].members

    def skip(self, what: str, count: int = 1) -> None:
        """Count what the trace has and a replay does not."""
        self.skipped[what] = self.skipped.get(what, 0) + count

    def refuse(self, rank: int, line: int, message: str) -> NoReturn:
        """Raise what is wrong with a call of a rank."""
        file = file_of(self.files, rank, self.name)
        raise ScenarioError.at(file, message, f"rank {rank}", line=line or None)

    def compute(self, rank: int, picoseconds: int, line: int = 0) -> None:
        """Let a rank compute."""
        if picoseconds > bounds.TIME:
            self.refuse(rank, line, f"computes for {picoseconds / bounds.PS_PER_S:g} s")
        if picoseconds > 0:
            self._calls[rank].append((CALC, line, picoseconds))

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
        self._calls[rank].append((kind, line, peer, size, tag, request))
        return len(self._calls[rank]) - 1

    send = partialmethod(message, SEND)
    recv = partialmethod(message, RECV)

    def notice(self, kind: int, rank: int, peer: int, key: Hashable, line: int = 0) -> None:
        """Let a rank `SEND`, or `RECV`, one byte that says no more than it is there.

        The key stands for what it says; notices of one key never match those of another.
        """
        tag = self._agreed.setdefault(key, _AGREED_TAG - len(self._agreed))
        self._calls[rank].append((kind, line, peer, 1, tag, None))

    def remote(
        self, rank: int, peer: int, sent: int, received: int, *, request: Hashable, line: int = 0
    ) -> None:
        """Let a rank reach into the memory of another, whose program does nothing for that.

        Bytes, or without any a request, are sent to the other's agent, which answers with bytes, or
        that it is done. The rank goes on at once.
        """
        self._checked(rank, min(sent, received), line)
        self._calls[rank].append((_REMOTE, line, peer, sent, received, request))
        self._served[peer].append((rank, sent, received))

    def resolved(self, rank: int, place: int, peer: int, tag: int, communicator: int) -> None:
        """Let the receive at a place be from the rank, and of the tag, that it turned out to be."""
        kind, line, _, size, old, request = self._calls[rank][place]
        new = self._tag(communicator, tag) if old == ANY and tag >= 0 else old
        self._calls[rank][place] = (kind, line, peer, size, new, request)

    def waits(self, rank: int, places: Sequence[int]) -> int:
        """Let the last call of a rank wait for those at some places, not for the one before it.

        Returns the place of the last call.
        """
        place = len(self._calls[rank]) - 1
        self._waits[rank][place] = places
        return place

    def wait(self, rank: int, requests: Sequence[Hashable], line: int = 0) -> None:
        """Let a rank wait for requests; those that are done already are passed over."""
        self._calls[rank].append((_WAIT, line, tuple(requests)))

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
        one = self._communicators[communicator]
        mine = one.place.get(rank)
        if mine is None:
            self.refuse(rank, line, f"enters a {kind} of a communicator that it is not in")
        if not 0 <= root < len(one.members):
            last = len(one.members) - 1
            self.refuse(rank, line, f"the root of a {kind} must be from 0 to {last}, is {root}")
        given = size if isinstance(size, int) else tuple(size)
        least = given if isinstance(given, int) else min(given, default=0)
        self._checked(rank, least, line)
        number = one.count.get(mine, 0)
        one.count[mine] = number + 1
        if number == len(one.entries):
            one.entries.append({})
        one.entries[number][mine] = _Entry(kind, given, root, line)
        self._calls[rank].append((_COLLECTIVE, line, communicator, number, mine, request))

    def _checked(self, rank: int, size: int, line: int) -> None:
        if size < 0:
            self.refuse(rank, line, f"size must not be negative, is {size}")

    def _tag(self, communicator: int, tag: int) -> int:
        """Return the tag of the graph: that of the program, or one for this communicator only."""
        if tag == ANY or (communicator == WORLD and tag < OWN_TAGS):
            return tag
        return self._tags.setdefault((communicator, tag), OWN_TAGS + len(self._tags))

    def graph(self) -> Graph:
        """Return the graph of all calls.

        Raises:
            ScenarioError: If ranks of a communicator enter different collectives, or some enter
                none; and what `Builder.build` refuses.
        """
        tag = COLLECTIVE_TAG
        for one in self._communicators:
            for number in range(len(one.entries)):
                one.schedules.append(self._scheduled(one, number))
                one.tags.append(tag)
                tag += 1
        builder = Builder(self.ranks, self.name, self.files)
        builder.traced_ns = self.traced_ns
        builder.skipped = dict(self.skipped)
        builder.expanded = True
        for rank, calls in enumerate(self._calls):
            _Cursor(builder, rank).run(calls, self._communicators, self._waits[rank])
        builder.line = 0
        for rank, served in enumerate(self._served):
            for peer, sent, received in served:
                builder.agent = AGENT
                size, tag = _asked(sent)
                asked = builder.recv(rank, peer, size, tag, cpu=AGENT)
                size, tag = _answered(received)
                builder.send(rank, peer, size, tag, after=[asked], cpu=AGENT)
        return builder.build()

    def _scheduled(self, one: _Communicator, number: int) -> Schedule:
        """Return the operations of the collective that ranks of a communicator enter as n-th."""
        entries = one.entries[number]
        first = min(entries)
        named = entries[first]
        what = f"{named.kind}, the collective {number + 1} of its communicator"
        where = f"rank {one.members[first]}{f', line {named.line}' if named.line else ''}"
        for mine, rank in enumerate(one.members):
            entry = entries.get(mine)
            if entry is None:
                self.refuse(rank, 0, f"does not enter a {what}, which {where} enters")
            if (entry.kind, entry.root) != (named.kind, named.root):
                other = f"{entry.kind} of root {entry.root}"
                message = f"enters a {other} where {where} enters a {what}, of root {named.root}"
                self.refuse(rank, entry.line, message)
        size = _agreed(named.kind, named.root, [entries[mine] for mine in range(len(one.members))])
        try:
            return schedule(named.kind, len(one.members), size, root=named.root, table=self.table)
        except ValueError as error:
            self.refuse(one.members[first], named.line, str(error))


def _asked(size: int) -> tuple[int, int]:
    return (size, CARRIED_TAG) if size else (1, _AGREED_TAG)


def _answered(size: int) -> tuple[int, int]:
    return (size, CARRIED_TAG + 1) if size else (1, _AGREED_TAG - 1)


def _agreed(kind: str, root: int, entries: Sequence[_Entry]) -> int | list[Any]:
    """Return the size of a collective from what its ranks say."""
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


class _Cursor:
    """Turns the calls of a rank into operations; knows what the next one waits for."""

    def __init__(self, builder: Builder, rank: int) -> None:
        self.builder = builder
        self.rank = rank
        self.after: list[int] = []
        self.started: list[int] = []
        self.requests: dict[Hashable, list[int]] = {}

    def run(
        self,
        calls: Sequence[tuple[Any, ...]],
        communicators: Sequence[_Communicator],
        waits: Mapping[int, Sequence[int]],
    ) -> None:
        """Add the operations of all calls; `waits` are those of calls that are not in a row."""
        ends: dict[int, list[int]] = {}
        for place, call in enumerate(calls):
            if place in waits:
                found = dict.fromkeys(one for before in waits[place] for one in ends[before])
                self.after, self.started = list(found), []
            self._add(call, communicators)
            if waits:
                ends[place] = self.after

    def _add(self, call: tuple[Any, ...], communicators: Sequence[_Communicator]) -> None:
        """Add the operations of a call."""
        builder, rank = self.builder, self.rank
        kind, line, *rest = call
        builder.line = line
        if kind == CALC:
            number = builder.calc(rank, rest[0], after=self.after, after_start=self.started)
            self._goes_on([number], None)
        elif kind == _WAIT:
            for request in rest[0]:
                self.after += self.requests.pop(request, ())
            ended = set(self.after)
            self.started = [one for one in self.started if one not in ended]
        elif kind == _COLLECTIVE:
            communicator, number, mine, request = rest
            one = communicators[communicator]
            self._collective(one, one.schedules[number], one.tags[number], mine, request)
        elif kind == _REMOTE:
            peer, sent, received, request = rest
            size, tag = _asked(sent)
            number = builder.send(
                rank, peer, size, tag, after=self.after, after_start=self.started, cpu=AGENT
            )
            size, tag = _answered(received)
            answer = builder.recv(rank, peer, size, tag, after_start=[number], cpu=AGENT)
            self._goes_on([answer], request, [number])
        else:
            peer, size, tag, request = rest
            number = builder.message(
                kind, rank, peer, size, tag, after=self.after, after_start=self.started
            )
            self._goes_on([number], request, [number])

    def _goes_on(self, ends: list[int], request: Hashable, begins: Sequence[int] = ()) -> None:
        if request is None:
            self.after, self.started = ends, []
        else:
            self.requests[request] = ends
            self.after, self.started = [], list(begins)

    def _collective(
        self, one: _Communicator, given: Schedule, tag: int, mine: int, request: Hashable
    ) -> None:
        """Add a rank's operations of a collective, each step after the one before."""
        builder, rank = self.builder, self.rank
        before, started, here, begins = self.after, self.started, list[int](), list[int]()
        last = -1
        for kind, peer, size, step in given.operations(mine):
            if step != last and last >= 0:
                before, started = here, []
                here = []
            last = step
            number = builder.message(
                kind, rank, one.members[peer], size, tag, after=before, after_start=started
            )
            here.append(number)
            if before is self.after:
                begins.append(number)
        if here:
            self._goes_on(here, request, begins)
        elif request is not None:
            self.requests[request] = []
