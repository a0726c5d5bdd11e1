"""liballprof's texts, which LogGOPSim's Schedgen reads: a file for each rank, a line for each call.

``MPI_Send:START:BUFFER:COUNT:TYPE,SIZE,EXTENT:RANK:TAG:COMM,RANK,SIZE:END`` has the arguments of
the call in their order, with times in microseconds. A comment says how many microseconds the clock
of rank 0 is ahead of that of the rank, ``# clockdiff:``, in some versions ``# Init clockdiff:``.
Communicators are handles of one rank, so only
those of all ranks can be told; requests are addresses, which a wait for many counts up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from dvsim.kinds.workload.check import ANY, RECV, SEND
from dvsim.kinds.workload.collectives import ROOTED
from dvsim.kinds.workload.graph import Graph
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.readers.calls import COLLECTIVE, Options, communicates, program_of
from dvsim.kinds.workload.readers.text import (
    integer,
    lines_of,
    number,
    of_rank,
    picoseconds,
    refuse,
    shown,
    whole,
)

PART = "in a communicator of some ranks"
LINE = re.compile(r"MPI_\w+(:[^:]*)+")
RANK = re.compile(r"(\d+)\D*$")
CLOCK = re.compile(r"#\s*(Init )?clockdiff:\s*(?P<ahead>-?\d+(\.\d*)?)\s")
SENT = SEND, 1, 2, 3, 4
MESSAGES: Mapping[str, tuple[int, Sequence[tuple[int, int, int, int, int]]]] = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend"), (5, [SENT])),
    **dict.fromkeys(("Isend", "Ibsend", "Issend", "Irsend"), (5, [SENT])),
    **dict.fromkeys(("Recv", "Irecv"), (5, [(RECV, 1, 2, 3, 4)])),
    "Sendrecv": (10, [(RECV, 6, 7, 8, 9), SENT]),
    "Sendrecv_replace": (7, [(RECV, 1, 2, 5, 6), SENT]),
}
"""Call → place of its communicator, and of its messages count, type, other rank and tag."""
SIZES = {
    "barrier": None,
    **dict.fromkeys(("bcast", "gather", "gatherv", "allgather", "allgatherv", "alltoall"), (1, 2)),
    **dict.fromkeys(("scatter", "scatterv"), (-4, -3)),
    **dict.fromkeys(("reduce", "allreduce", "scan", "exscan"), (2, 3)),
}
"""Collective → places of the count and the type of its size."""


def is_line(line: str) -> bool:
    """Return whether a line looks like one of a trace."""
    return line.startswith("MPI_") and LINE.fullmatch(line) is not None and line.count(":") >= 2


def read(paths: Sequence[Path], options: Options, name: str) -> Graph:
    """Return the graph of the files of a trace, one for each rank, which its name ends with."""
    must = "must have the rank in its name, as pmpi-trace-rank-0.txt has"
    files, program = program_of(paths, _rank_of, must, name, options)
    readers = [_Rank(program, rank, path) for rank, path in enumerate(files)]
    _find_any([line for reader in readers for _, line in reader.lines], readers, program)
    starts = [reader.start for reader in readers]
    if all(reader.ahead is not None for reader in readers):  # one clock for all
        first = min(reader.common(reader.start) for reader in readers)
        starts = [reader.start - (reader.common(reader.start) - first) for reader in readers]
    lasted = [reader.read(start) for reader, start in zip(readers, starts, strict=True)]
    program.builder.traced_ns = max(lasted) * 1000
    replayed = max(last - reader.finalizing for last, reader in zip(lasted, readers, strict=True))
    program.builder.finalize_ns = (max(lasted) - replayed) * 1000
    return program.graph()


def _find_any(lines: Iterable[str], readers: Sequence[_Rank], program: Program) -> None:
    """Tell readers which rank is any source: -1 as of Open MPI, -2 as of MPICH; the other is none.

    A send to one of them is to nobody. Else handles of MPICH tell themselves; else there are as
    many receives from any source as messages that no other receive is for.
    """
    counts: Counter[str] = Counter()
    for line in lines:
        call, *fields = line.removeprefix("MPI_").split(":")
        for way, *_, at, _ in MESSAGES.get(call, (0, ()))[1]:
            what, peer = "to" if way == SEND else "from", "".join(fields[at + 1 : at + 2])
            counts[f"{what} {peer}" if peer in ("-1", "-2") else what] += 1
            counts["mpich"] += any(map(_is_of_mpich, fields))
    spare = counts["to"] - counts["from"]
    if counts["to -1"] != counts["to -2"]:
        any_one = -2 if counts["to -1"] > counts["to -2"] else -1
    elif counts["mpich"]:
        any_one = -2
    else:
        any_one = -2 if counts["from -2"] and counts["from -2"] == spare else -1
    for reader in readers:
        reader.any = any_one
    if any(counts[f"{way} {peer}"] for way in ("to", "from") for peer in (-1, -2)):
        of = "MPICH" if any_one == -2 else "Open MPI"
        program.assume(f"rank {any_one} is any source and {-3 - any_one} no process, as of {of}")


def _is_of_mpich(field: str) -> bool:
    word, comma, _ = field.partition(",")
    try:
        handle = int(word, 0)
    except ValueError:
        return False
    return bool(comma) and (handle == 0x44000000 or handle >> 16 == 0x4C00)


def _rank_of(path: Path) -> int | None:
    match = RANK.search(path.stem)
    return int(match[1]) if match and len(match[1]) <= 7 else None


class _Rank:
    def __init__(self, program: Program, rank: int, path: Path) -> None:
        self.program = program
        self.rank = rank
        self.path = path
        self.line = 0
        self.calls = 0
        self.ended = 0.0  # µs, when the call before had ended
        self.last = self.finalizing = 0.0  # µs, of the last call; in MPI_Finalize
        self.open: dict[int, int] = {}  # address of a request → its number
        self.requests = 0
        self.step = 8  # bytes of a request
        self.any = ANY  # the rank that is any source
        self.ahead: float | None = None  # the clock of rank 0
        self.lines: list[tuple[int, str]] = []
        for line, text in lines_of(path):
            if not text.startswith("#"):
                self.lines.append((line, text))
            elif self.ahead is None and (match := CLOCK.match(text + " ")):
                self.ahead = float(match["ahead"])
        if not self.lines:
            refuse(path, None, "has no line with a call")
        if any(_address(text) % 8 == 4 for _, text in self.lines):
            self.step = 4
        with of_rank(rank, lambda: 0, "call"):
            self.line, text = self.lines[0]
            call, *fields = self._words(text)
            at = -1 if call.startswith("MPI_Init") else 0
            self.start = self._time(fields[at], fields[-1 - at])

    def common(self, time: float) -> float:
        return time + (self.ahead or 0.0)

    def read(self, begin: float) -> float:
        self.ended = begin
        self.line = self.lines[0][0]
        self._compute(self.start, idle=True)
        with of_rank(self.rank, lambda: self.calls, "call"):
            for index, (line, text) in enumerate(self.lines):
                self.calls, self.line = index, line
                call, *fields = self._words(text)
                self._call(call.removeprefix("MPI_"), fields)
        self._compute(self.last)
        return self.last - begin

    def _words(self, text: str) -> list[str]:
        if not is_line(text):
            refuse(self.path, self.line, f"must be MPI_NAME:START:…:END, is {shown(text)}")
        return text.split(":")

    def _call(self, call: str, fields: Sequence[str]) -> None:
        start, end = self._time(fields[0], fields[-1]), self._time(fields[-1], fields[0])
        if end < start or start < self.last:
            refuse(self.path, self.line, f"MPI_{call}: the time goes back")
        self.last = end
        self.fields = fields[1:-1]
        if call in MESSAGES:
            done = self._messages(call, start)
        elif call in COLLECTIVE:
            done = self._collective(call, start)
        elif call in ("Wait", "Waitall"):
            done = self._wait(call, start)
        elif call == "Finalize":
            self._compute(start)
            self.finalizing, done = end - start, True
        else:
            done = False
            if communicates(call):
                self.program.skip(f"MPI_{call}")
        if done:
            self.ended = end

    def _time(self, word: str, other: str) -> float:
        given = other if word == "-" else word
        return number(given, self.path, self.line, "the start and the end of a call")

    def _compute(self, until: float, *, idle: bool = False) -> None:
        microseconds = until - self.ended
        time = picoseconds(microseconds / 1e6, self.path, self.line)
        self.program.compute(self.rank, time, self.line, idle=idle)
        self.ended = until

    def _field(self, index: int) -> str:
        if not -len(self.fields) <= index < len(self.fields):
            refuse(self.path, self.line, f"has {len(self.fields)} arguments, which is too few")
        return self.fields[index]

    def _integer(self, index: int, what: str) -> int:
        return integer(self._field(index), self.path, self.line, what)

    def _each(self, index: int) -> int:
        words = self._field(index).split(",")
        return whole(words[min(1, len(words) - 1)], self.path, self.line, "the size of a type")

    def _bytes(self, count: int, kind: int) -> int:
        return whole(self._field(count), self.path, self.line, "a count") * self._each(kind)

    def _all(self, index: int, call: str) -> bool:
        words = self._field(index).split(",")
        size = integer(words[-1], self.path, self.line, "the size of a communicator")
        ranks = self.program.ranks
        if size > ranks:
            refuse(self.path, self.line, f"has {size} ranks, but there are files of {ranks}")
        if size < ranks and size != 1:
            self.program.skip(f"MPI_{call} {PART}")
        return size == ranks

    def _peer(self, index: int, way: int) -> int | None:
        peer = self._integer(index, "the other rank")
        if peer == self.any and way == RECV:
            return ANY
        if peer >= self.program.ranks:
            refuse(self.path, self.line, f"the ranks are 0 to {self.program.ranks - 1}, not {peer}")
        return peer if peer >= 0 else None

    def _tag(self, index: int) -> int:
        return max(ANY, self._integer(index, "a tag"))

    def _request(self, index: int) -> int:
        self.requests += 1
        self.open[self._pointer(index)] = self.requests
        return self.requests

    def _pointer(self, index: int) -> int:
        try:
            return int(self._field(index), 0)
        except ValueError:
            refuse(self.path, self.line, f"must be an address, is {shown(self._field(index))}")

    def _messages(self, call: str, start: float) -> bool:
        group, parts = MESSAGES[call]
        if not self._all(group, call):
            return False
        messages = [
            (way, self._peer(peer, way), self._bytes(count, kind), self._tag(tag))
            for way, count, kind, peer, tag in parts
        ]
        requests: list[Hashable] = [("in", self.calls), ("out", self.calls)]
        if len(parts) == 1:
            requests = [self._request(6) if call.startswith("I") else None]
        self._compute(start)
        for (way, peer, size, tag), request in zip(messages, requests, strict=True):
            if peer is None:
                continue
            if way == SEND and tag == ANY:
                refuse(self.path, self.line, "a message that is sent has a tag")
            self.program.message(way, self.rank, peer, size, tag, request=request, line=self.line)
        if len(parts) > 1:
            self.program.wait(self.rank, requests, self.line)
        return True

    def _wait(self, call: str, start: float) -> bool:
        first = self._pointer(0 if call == "Wait" else 1)
        count = 1 if call == "Wait" else whole(self._field(0), self.path, self.line, "a count")
        last = first + self.step * count
        addresses = [address for address in self.open if first <= address < last]
        self._compute(start)
        self.program.wait(self.rank, [self.open.pop(address) for address in addresses], self.line)
        return True

    def _collective(self, call: str, start: float) -> bool:
        kind, goes_on = COLLECTIVE[call]
        last = -2 if goes_on else -1
        if not self._all(last, call):
            return False
        size: int | list[int] | None = 0
        if call.endswith("_block"):
            size = self._bytes(2, 3)
        elif kind in SIZES:
            places = SIZES[kind]
            size = self._bytes(*(at - goes_on * (at < 0) for at in places)) if places else 0
        elif kind == "alltoallv":
            size = self._counts(1, 3 if len(self.fields) - goes_on < 13 else 5)
        else:
            size = self._counts(2, -3 + last + 1)
        root = self._integer(last - 1, "the root") if kind in ROOTED else 0
        if size is None:
            self.program.skip(f"MPI_{call} without counts")
            return False
        request = self._request(-1) if goes_on else None
        self._compute(start)
        self.program.collective(self.rank, kind, size, root=root, request=request, line=self.line)
        return True

    def _counts(self, index: int, kind: int) -> list[int] | None:
        for at in (index, index + 1):
            words = self._field(at).split(",")
            if len(words) == self.program.ranks > 1:
                each = self._each(kind)
                return [whole(word, self.path, self.line, "a count") * each for word in words]
        return None


def _address(text: str) -> int:
    if not text.startswith(("MPI_Isend:", "MPI_Irecv:")):
        return 0
    words = text.split(":")
    try:
        return int(words[-2], 0)
    except (ValueError, IndexError):
        return 0
