"""DUMPI traces, of SST/macro and CODES: a binary file for each rank, ``PREFIX-0000.bin``.

The layout was learnt from sst-dumpi's public source, and is checked against the texts that its
``dumpi2ascii`` prints. Receives of any rank or tag get theirs from the status, where one was kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dvsim.kinds.workload.check import ANY
from dvsim.kinds.workload.collectives import ROOTED
from dvsim.kinds.workload.graph import Graph
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.readers.calls import BLOCKING, Options, communicates, program_of, rank_in
from dvsim.kinds.workload.readers.dumpi_file import MAGIC, Call, Status, Trace, read_file
from dvsim.kinds.workload.readers.dumpi_groups import MAKERS, WORLD, Communicators, Handles, Key
from dvsim.kinds.workload.readers.text import (
    MOST_BYTES,
    files_of_ranks,
    integer,
    lines_of,
    of_rank,
    refuse,
)

NAME = re.compile(r"(.*?)-(\d{1,7})\.bin")
NULL = 1  # the request that is none
SENDS = ("Send", "Bsend", "Ssend", "Rsend")
ISENDS = ("Isend", "Ibsend", "Issend", "Irsend")
UNKNOWN = " in a communicator that is not known"
INITS = ("Send_init", "Bsend_init", "Ssend_init", "Rsend_init", "Recv_init")


def is_file(path: Path, head: bytes) -> bool:
    """Return whether a file is of a rank's calls."""
    return head.startswith(MAGIC)


def files_beside(path: Path) -> list[Path]:
    """Return the files of all ranks of a trace, given that of one or its ``.meta``."""
    match = NAME.fullmatch(path.name)
    return files_of_ranks(path, NAME, match[1] if match else path.stem)


def read(paths: Sequence[Path], options: Options, name: str) -> Graph:
    """Return the graph of the files of a trace, one for each rank."""
    must = "must be called PREFIX-RANK.bin"
    files, program = program_of(paths, lambda path: rank_in(path, NAME), must, name, options)
    _counted(files[0], len(files))
    known = Communicators(len(files))
    traces = [_Rank(program, rank, path, known) for rank, path in enumerate(files)]
    early, told = known.made_before([trace.trace.calls for trace in traces], COMMUNICATOR)
    for what in told:
        program.assume(what)
    for trace in traces:
        trace.resolve(early)
    timed = all(trace.trace.timed for trace in traces)
    begin = min((trace.calls[0][0].begin for trace in traces if trace.calls), default=0)
    for trace in traces:
        trace.read(begin)
    lost = {what: count for what, count in program.builder.skipped.items() if UNKNOWN in what}
    if sum(lost.values()) > sum(trace.replayed for trace in traces):
        calls = ", ".join(f"{count:,} {what.removesuffix(UNKNOWN)}" for what, count in lost.items())
        message = "are in communicators made before tracing began, whose ranks it does not have"
        refuse(files[0], None, f"{calls} {message}")
    if timed:
        end = max(trace.ended for trace in traces)
        program.builder.traced_ns = float(end - begin)
        replayed = max(trace.ended - trace.finalizing for trace in traces)
        program.builder.finalize_ns = float(end - replayed)
    return program.graph()


def _counted(first: Path, ranks: int) -> None:
    match = NAME.fullmatch(first.name)
    meta = first.with_name(f"{match[1]}.meta") if match else first
    if meta.suffix == ".meta" and meta.is_file():
        for line, text in lines_of(meta):
            key, _, value = text.partition("=")
            if key == "numprocs" and integer(value, meta, line, "numprocs") > ranks:
                refuse(meta, line, f"{text}, but the last file is of rank {ranks - 1}")


class _Rank:
    def __init__(self, program: Program, rank: int, path: Path, known: Communicators) -> None:
        self.program = program
        self.rank = rank
        self.path = path
        self.known = known
        self.trace = Trace()
        with of_rank(rank, lambda: len(self.trace.calls), "call"):
            read_file(path, self.trace)
        self.ended = self.finalizing = 0  # ns, of the last call that communicated; of MPI_Finalize
        self.call: Call
        self.persistent: dict[int, tuple[Call, Key | None]] = {}
        self.wild: dict[int, tuple[int, Key]] = {}  # request → place of a receive, communicator
        self.replayed = 0  # messages and collectives
        self.calls: list[tuple[Call, Key | None]] = []

    def resolve(self, early: Mapping[int, Key]) -> None:
        handles = Handles(self.known, self.rank, early)
        for call in self.trace.calls:
            place = COMMUNICATOR.get(call.name)
            key = None if place is None else handles.communicator(call.arguments[place])
            if handles.note(call) and communicates(call.name):
                self.program.skip(f"MPI_{call.name}")
            self.calls.append((call, key))

    def read(self, begin: int) -> None:
        if not self.calls:
            refuse(self.path, None, "has no calls", f"rank {self.rank}")
        self.call = self.calls[0][0]
        last = self.ended = self.call.begin
        self.program.compute(self.rank, (last - begin) * 1000, 1, idle=True)
        for call, key in self.calls:
            self.call = call
            if call.end < call.begin or call.begin < last:
                self._refuse("the time goes back")
            name, last = call.name, call.end
            if name in COMMUNICATOR and name not in INITS and key is None:
                self.program.skip(f"MPI_{name}{UNKNOWN}")
            elif name in ACTIONS:
                ACTIONS[name](self, call, key)
            elif communicates(name) and name not in SILENT:
                self.program.skip(f"MPI_{name}")
        self._computed(last)

    def _refuse(self, message: str) -> None:
        what = f"call {self.call.number + 1}, MPI_{self.call.name}: {message}"
        refuse(self.path, None, what, f"rank {self.rank}")

    def _computed(self, until: int) -> None:
        self.program.compute(self.rank, (until - self.ended) * 1000, self._line)
        self.ended = until

    @property
    def _line(self) -> int:
        return self.call.number + 1

    def _finalize(self, call: Call, key: Key | None) -> None:
        self._done(call)
        self.finalizing = call.end - call.begin

    def _done(self, call: Call) -> None:
        self._computed(call.begin)
        self.ended = call.end

    def _bytes(self, count: int, kind: int) -> int:
        size = self.trace.sizes.get(kind)
        if size is None:
            self.program.skip("data types without a size")
            size = 0
        amount = count * size
        if not 0 <= amount <= MOST_BYTES:
            self._refuse(f"{count} values of {size} bytes")
        return amount

    def _communicator(self, key: Key) -> int:
        if key == WORLD:
            return 0
        members = self.known.members(key)
        if self.rank not in members:
            self._refuse("is in a communicator in which this rank is not")
        return self.program.communicator(key, members)

    def _message(
        self, call: Call, key: Key, fields: Sequence[int], request: Hashable, *, sends: bool
    ) -> int | None:
        self.replayed += 1
        count, kind, peer, tag = fields
        number = self._communicator(key)
        members = self.program.members(number)
        size = self._bytes(count, kind)
        if peer < (0 if sends else ANY):
            return None  # to no rank: MPI_PROC_NULL
        if peer >= len(members):
            self._refuse(f"has a message with rank {peer}; its communicator has {len(members)}")
        if sends and tag < 0:
            self._refuse(f"has a message with tag {tag}")
        add = self.program.send if sends else self.program.recv
        place = add(
            self.rank,
            ANY if peer == ANY else members[peer],
            size,
            max(tag, ANY),
            communicator=number,
            request=request,
            line=self._line,
        )
        return place if not sends and ANY in (peer, tag) else None

    def _point(self, call: Call, key: Key | None) -> None:
        assert key is not None
        self._done(call)
        arguments = call.arguments
        request: int | None = arguments[5] if call.name in (*ISENDS, "Irecv") else None
        sends = call.name in SENDS or call.name in ISENDS
        place = self._message(call, key, arguments[:4], request, sends=sends)
        if place is None:
            return
        if request is None:
            self._resolve((place, key), arguments[5])
        else:
            self.wild[request] = place, key

    def _resolve(self, where: tuple[int, Key], statuses: Sequence[Status]) -> None:
        place, key = where
        number = self._communicator(key)
        members = self.program.members(number)
        if len(statuses) == 1 and 0 <= statuses[0].source < len(members):
            status = statuses[0]
            self.program.resolved(self.rank, place, members[status.source], status.tag, number)

    def _sendrecv(self, call: Call, key: Key | None) -> None:
        assert key is not None
        self._done(call)
        arguments = call.arguments
        both = call.name == "Sendrecv"
        source = (
            (arguments[4], arguments[5], arguments[6], arguments[7])
            if both
            else (arguments[0], arguments[1], arguments[4], arguments[5])
        )
        names = [("in", call.number), ("out", call.number)]
        place = self._message(call, key, source, names[0], sends=False)
        if place is not None:
            self._resolve((place, key), arguments[-1])
        self._message(call, key, arguments[:4], names[1], sends=True)
        self.program.wait(self.rank, names, self._line)

    def _wait(self, call: Call, key: Key | None) -> None:
        ended = WAITS[call.name](call.arguments)
        if not ended and call.name.startswith("Test"):
            return
        self._done(call)
        for request, status in ended:
            where = self.wild.pop(request, None)
            if where is not None and status is not None:
                self._resolve(where, [status])
        self.program.wait(self.rank, [request for request, _ in ended], self._line)

    def _init(self, call: Call, key: Key | None) -> None:
        self.persistent[call.arguments[5]] = call, key

    def _start(self, call: Call, key: Key | None) -> None:
        self._done(call)
        given = call.arguments[-1]
        for request in given if isinstance(given, tuple) else (given,):
            made, of = self.persistent.get(request, (None, None))
            if made is None or of is None:
                self.program.skip("requests that are started and not known")
                continue
            sends = made.name != "Recv_init"
            place = self._message(made, of, made.arguments[:4], request, sends=sends)
            if place is not None:
                self.wild[request] = place, of

    def _collective(self, call: Call, key: Key | None) -> None:
        assert key is not None
        kind = BLOCKING[call.name]
        size = SIZED[call.name](self, call.arguments)
        root = call.arguments[ROOTS[call.name]] if kind in ROOTED else 0
        self._done(call)
        self.replayed += 1
        number = self._communicator(key)
        self.program.collective(
            self.rank, kind, size, root=root, communicator=number, line=self._line
        )

    def _counts(self, counts: Sequence[int], kind: int) -> list[int]:
        return [self._bytes(count, kind) for count in counts]

    def _type(self, call: Call, key: Key | None) -> None:
        (*counts, old, new), sizes = call.arguments, self.trace.sizes
        if new not in sizes:  # of one type, whose blocks have one length or several, or of several
            blocks = counts[1] if len(counts) > 1 else 1
            many = blocks if isinstance(blocks, tuple) else [math.prod((*counts[:1], blocks))]
            kinds = old if isinstance(old, tuple) else [old] * len(many)
            sizes[new] = sum(n * sizes.get(kind, 0) for n, kind in zip(many, kinds, strict=False))


Ended = list[tuple[int, Status | None]]


def _several(requests: Sequence[int], places: Sequence[int], statuses: Sequence[Status]) -> Ended:
    ended: Ended = []
    for at, place in enumerate(places):
        if 0 <= place < len(requests) and requests[place] != NULL:
            ended.append((requests[place], statuses[at] if at < len(statuses) else None))
    return ended


def _one(request: int, statuses: Sequence[Status]) -> Ended:
    return _several([request], [0], statuses)


WAITS: Mapping[str, Callable[[tuple[Any, ...]], Ended]] = {
    "Wait": lambda a: _one(a[0], a[1]),
    "Test": lambda a: _one(a[0], a[2]) if a[1] else [],
    "Waitall": lambda a: _several(a[1], range(len(a[1])), a[2]),
    "Testall": lambda a: _several(a[1], range(len(a[1])), a[3]) if a[2] else [],
    "Waitany": lambda a: _several(a[1], [a[2]], a[3]),
    "Testany": lambda a: _several(a[1], [a[2]], a[4]) if a[3] else [],
    "Waitsome": lambda a: _several(a[1], a[3], a[4]),
    "Testsome": lambda a: _several(a[1], a[3], a[4]),
}
"""Call → the requests that it found done."""

COMMUNICATOR = {
    **dict.fromkeys((*SENDS, *ISENDS, *INITS, "Recv", "Irecv"), 4),
    "Sendrecv": 8, "Sendrecv_replace": 6, "Barrier": 0, "Bcast": 3, "Gather": 4, "Gatherv": 5,
    "Scatter": 4, "Scatterv": 6, "Allgather": 4, "Allgatherv": 6, "Alltoall": 4, "Alltoallv": 7,
    "Reduce": 4, "Allreduce": 3, "Reduce_scatter": 4, "Scan": 3, "Exscan": 3,
}  # fmt: skip
"""Call → where its communicator stands."""

ROOTS = {"Bcast": 2, "Gather": 3, "Gatherv": 4, "Scatter": 3, "Scatterv": 5, "Reduce": 3}

SIZED: Mapping[str, Callable[[_Rank, tuple[Any, ...]], int | list[int]]] = {
    "Barrier": lambda rank, a: 0,
    **dict.fromkeys(
        ("Bcast", "Allgather", "Alltoall", "Reduce", "Allreduce", "Scan", "Exscan"),
        lambda rank, a: rank._bytes(a[0], a[1]),
    ),
    **dict.fromkeys(("Gather", "Scatter", "Allgatherv"), lambda rank, a: rank._bytes(a[1], a[2])),
    "Gatherv": lambda rank, a: rank._bytes(a[2], a[3]),
    "Scatterv": lambda rank, a: rank._bytes(a[3], a[4]),
    "Alltoallv": lambda rank, a: rank._counts(a[1], a[3]),
    "Reduce_scatter": lambda rank, a: rank._counts(a[1], a[2]),
}
"""Collective → its size, from its arguments."""

TYPES = (
    "Type_contiguous", "Type_vector", "Type_hvector", "Type_indexed", "Type_hindexed",
    "Type_struct", "Type_create_hindexed", "Type_create_hvector", "Type_create_struct", "Type_dup",
)  # fmt: skip
SILENT = (*MAKERS, "Comm_free", *INITS)
"""Calls that are counted where communicators are told apart, or take no part in a replay."""

ACTIONS: Mapping[str, Callable[[_Rank, Call, Key | None], None]] = {
    **dict.fromkeys((*SENDS, *ISENDS, "Recv", "Irecv"), _Rank._point),
    **dict.fromkeys(("Sendrecv", "Sendrecv_replace"), _Rank._sendrecv),
    **dict.fromkeys(WAITS, _Rank._wait),
    **dict.fromkeys(INITS, _Rank._init),
    **dict.fromkeys(("Start", "Startall"), _Rank._start),
    "Finalize": _Rank._finalize,
    **dict.fromkeys(SIZED, _Rank._collective),
    **dict.fromkeys(TYPES, _Rank._type),
}
