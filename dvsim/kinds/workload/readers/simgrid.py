"""SimGrid's time-independent traces: a line for each call, ``RANK ACTION ARGUMENTS…``.

One file has all ranks, or each rank has its own, in a folder or in a file that lists their names.
Computation is counted in flops, which become time at a rate. The actions and their arguments are
those of ``smpirun -replay`` of SimGrid 3.3x; requests are named by sender, receiver and tag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from dvsim.kinds.workload.check import ANY
from dvsim.kinds.workload.graph import Graph
from dvsim.kinds.workload.mpi import Program
from dvsim.kinds.workload.readers.calls import Options, communicates
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

FLOPS = 1e9
"""Of a host, in flop/s, where nobody says otherwise: that of SimGrid's example platforms."""

SIZES = {
    "0": 8, "1": 4, "2": 1, "3": 2, "4": 8, "5": 4, "6": 1, "7": 8, "8": 1, "9": 1,
    "10": 2, "11": 4, "12": 8, "13": 8, "14": 16, "15": 4, "16": 1, "17": 1, "18": 2, "19": 4,
    "20": 8, "21": 1, "22": 2, "23": 4, "24": 8, "25": 8, "26": 16,
}  # fmt: skip
"""Bytes of SimGrid's data types, by their numbers: double, int, char, short, long, float, byte …"""

NOTHING = ("init", "finalize", "comm_size", "location")
SKIPPED = (
    "comm_split", "comm_dup", "test", "testall", "testany", "testsome", "waitany", "waitsome",
    "probe", "iprobe",
)  # fmt: skip
LIKE = {
    "reducescatter": "reduce_scatter",
    **dict.fromkeys(("ssend", "bsend", "rsend"), "send"),
    **dict.fromkeys(("issend", "ibsend", "irsend"), "isend"),
}
"""Actions that are replayed as others; how a message is buffered is not of the trace."""

Line = tuple[int, str, Sequence[str], Path]


def is_action(line: str) -> bool:
    """Return whether a line looks like one of a trace."""
    words = line.split()
    return len(words) > 1 and _rank(words[0]) is not None and words[1].lower() in ACTIONS


def _rank(word: str) -> int | None:
    digits = word.removeprefix("p")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 8 else None


def listed(path: Path) -> list[Path] | None:
    """Return the files that a file lists; None if it lists none.

    Raises:
        ScenarioError: If one of them is not there, or outside of the folder.
    """
    paths: list[Path] = []
    folder = path.parent.resolve()
    for line, text in lines_of(path):
        if text.startswith("#"):
            continue
        if len(text.split()) > 1:
            return None
        there = _there(folder, text)
        if there is None or there.resolve() == path.resolve():
            if not paths:
                return None
            refuse(path, line, f"lists {shown(text)}, which is not in the folder")
        paths.append(there)
    return paths or None


def _there(folder: Path, name: str) -> Path | None:
    """Return the file of a name in a folder, or with its last part; None if there is none."""
    try:
        places = [folder / name, folder / Path(name).name]
        inside = [path for path in places if path.resolve().is_relative_to(folder)]
        return next((file for file in inside if file.is_file()), None)
    except (OSError, ValueError):  # no name that a file can have
        return None


def read(paths: Sequence[Path], options: Options, name: str) -> Graph:
    """Return the graph of the files of a trace.

    Raises:
        ScenarioError: If a line cannot be understood, a rank is missing, or the trace is truncated;
            with file and line.
    """
    lines: dict[int, list[Line]] = {}
    for path in paths:
        for line, text in lines_of(path):
            if text.startswith("#"):
                continue
            words = text.split()
            rank = _rank(words[0])
            if rank is None or len(words) < 2:
                refuse(path, line, f"must be RANK ACTION …, is {shown(text)}")
            lines.setdefault(rank, []).append((line, words[1].lower(), words[2:], path))
    if not lines:
        refuse(paths[0], None, "has no line with an action")
    for rank, calls in lines.items():
        own = sorted({call[3] for call in calls})
        if len(own) > 1:
            first, other = own[:2]
            refuse(other, None, f"is of rank {rank}, as {first.name} is: name one of the traces")
    ranks = max(lines) + 1
    if len(lines) < ranks:
        lacks = next(rank for rank in range(ranks) if rank not in lines)
        refuse(paths[0], None, f"has no line of rank {lacks}, but of rank {ranks - 1}")
    files = [str(lines[rank][0][3]) for rank in range(ranks)]
    one_file = len(set(files)) == 1
    program = Program(ranks, name or str(paths[0]), files[:1] if one_file else files, options.table)
    ends = {rank for rank, calls in lines.items() if any(call[1] == "finalize" for call in calls)}
    for rank in range(ranks):
        if ends and rank not in ends:
            line, *_, path = lines[rank][-1]
            refuse(path, line, f"is the last line of rank {rank}, which never calls finalize")
        reader = _Rank(program, rank, options.flops)
        with of_rank(rank, lambda: reader.calls, "call"):  # noqa: B023 - of this round
            for reader.calls, call in enumerate(lines[rank]):
                reader.call(*call)
    return program.graph()


class _Rank:
    """Reads the lines of one rank."""

    def __init__(self, program: Program, rank: int, flops: float) -> None:
        self.program = program
        self.rank = rank
        self.flops = flops
        self.size = 1
        self.calls = 0
        self.open: dict[tuple[int, int, int], list[int]] = {}
        self.requests = 0
        self.entered: list[int] = []  # requests of collectives that do not block

    def call(self, line: int, action: str, words: Sequence[str], path: Path) -> None:
        """Add the call of a line."""
        self.line, self.words, self.path = line, words, path
        what = action = LIKE.get(action, action)
        self.request: int | None = None
        if action in IMMEDIATE:
            what = IMMEDIATE[action]
            self.requests += 1
            self.request = self.requests
            self.entered.append(self.requests)
        if action == "init":
            self.size = 8 if words else 1
        elif action in ("compute", "sleep"):
            amount = number(self._word(0), path, line, "an amount of work")
            self._compute(amount if action == "sleep" else amount / self.flops)
        elif action in ("send", "isend", "recv", "irecv"):
            self._message(action)
        elif action == "sendrecv":
            self._sendrecv()
        elif action in ("wait", "waitall"):
            self._wait(action)
        elif what in COLLECTIVES:
            self._collective(what)
        elif action in SKIPPED or communicates(action.capitalize()):
            self.program.skip(action)
        elif action not in NOTHING:
            refuse(path, line, f"knows no action {shown(action)}")

    def _word(self, index: int) -> str:
        if index >= len(self.words):
            refuse(self.path, self.line, f"needs at least {index + 1} arguments")
        return self.words[index]

    def bytes(self, index: int, type_at: int) -> int:
        """Return an amount in bytes; its data type may stand at a place."""
        count = whole(self._word(index), self.path, self.line, "size")
        size = self.size
        if 0 <= type_at < len(self.words):
            known = SIZES.get(self.words[type_at])
            if known is None:
                refuse(self.path, self.line, f"knows no data type {shown(self.words[type_at])}")
            size = known
        return count * size

    def _compute(self, seconds: float) -> None:
        time = picoseconds(seconds, self.path, self.line)
        self.program.compute(self.rank, time, self.line)

    def _peer(self, index: int) -> int:
        word = self._word(index).removeprefix("p")
        peer = integer(word, self.path, self.line, "the other rank")
        if not -1 <= peer < self.program.ranks:
            last = self.program.ranks - 1
            refuse(self.path, self.line, f"the ranks are 0 to {last}; no rank {peer}")
        return peer

    def _tag(self, index: int) -> int:
        tag = integer(self._word(index), self.path, self.line, "a tag")
        return ANY if tag < 0 else tag

    def _message(self, action: str) -> None:
        peer = self._peer(0)
        if len(self.words) == 2:  # before SimGrid 3.20: no tag
            tag, size = 0, self.bytes(1, -1)
        else:
            tag, size = self._tag(1), self.bytes(2, 3)
        request = None
        sends = action.endswith("send")
        if action.startswith("i"):
            self.requests += 1
            request = self.requests
            ends = (self.rank, peer) if sends else (peer, self.rank)
            self.open.setdefault((*ends, tag), []).append(request)
        if sends and (peer < 0 or tag < 0):
            refuse(self.path, self.line, "a message that is sent has a rank and a tag")
        add = self.program.send if sends else self.program.recv
        add(self.rank, peer, size, tag, request=request, line=self.line)

    def _sendrecv(self) -> None:
        size, target, size_in, source = (
            self.bytes(0, 4), self._peer(1), self.bytes(2, 5), self._peer(3),
        )  # fmt: skip
        self.requests += 1
        self.program.recv(self.rank, source, size_in, request=self.requests, line=self.line)
        self.program.send(self.rank, target, size, request=-self.requests, line=self.line)
        self.program.wait(self.rank, [self.requests, -self.requests], self.line)

    def _wait(self, action: str) -> None:
        if action == "waitall":
            open_now = [request for waiting in self.open.values() for request in waiting]
            open_now += self.entered
            self.open.clear()
            self.entered.clear()
        elif not self.words:  # before SimGrid 3.20: the last request
            keys = [key for key, waiting in self.open.items() if waiting]
            last = max(keys, key=lambda key: self.open[key][-1], default=None)
            open_now = [] if last is None else [self.open[last].pop()]
        else:
            key = (self._peer(0), self._peer(1), self._tag(2))
            waiting = self.open.get(key, []) or self.entered
            open_now = [waiting.pop(0)] if waiting else []
        self.program.wait(self.rank, open_now, self.line)

    def _collective(self, kind: str) -> None:
        """Enter a collective; after a reduction compute what it says, as SimGrid does."""
        ranks = self.program.ranks
        size, root = COLLECTIVES[kind](self, ranks)
        self.program.collective(
            self.rank, kind, size, root=root, request=self.request, line=self.line
        )
        flops_at = REDUCES[kind](ranks) if kind in REDUCES else len(self.words)
        if flops_at < len(self.words):
            work = number(self.words[flops_at], self.path, self.line, "an amount of work")
            self._compute(work / self.flops)

    def root(self, index: int) -> int:
        """Return the root at a place, 0 where it is not said."""
        return max(0, self._peer(index)) if index < len(self.words) else 0

    def many(self, index: int, type_at: int = -1) -> list[int]:
        """Return sizes for each rank, which begin at a place."""
        self._word(index + self.program.ranks - 1)
        return [self.bytes(index + rank, type_at) for rank in range(self.program.ranks)]


Entered = tuple[int | Sequence[int], int]
"""The size and the root of a collective."""

COLLECTIVES: Mapping[str, Callable[[_Rank, int], Entered]] = {
    "barrier": lambda rank, p: (0, 0),
    # bcast SIZE [ROOT [TYPE]]
    "bcast": lambda rank, p: (rank.bytes(0, 2), rank.root(1)),
    # reduce SIZE FLOPS [ROOT [TYPE]]
    "reduce": lambda rank, p: (rank.bytes(0, 3), rank.root(2)),
    # allreduce SIZE FLOPS [TYPE], alltoall SIZE SIZE [TYPE [TYPE]]
    **dict.fromkeys(
        ("allreduce", "scan", "exscan", "alltoall", "allgather"),
        lambda rank, p: (rank.bytes(0, 2), 0),
    ),
    # alltoallv SIZE SIZES… SIZE SIZES… [TYPE TYPE]
    "alltoallv": lambda rank, p: (rank.many(p + 2) and rank.many(1, 2 * p + 2), 0),
    # gather SIZE SIZE [ROOT [TYPE [TYPE]]], of a scatter what is received
    "gather": lambda rank, p: (rank.bytes(0, 3), rank.root(2)),
    "scatter": lambda rank, p: (rank.bytes(1, 4), rank.root(2)),
    # gatherv SIZE SIZES… [ROOT [TYPE [TYPE]]]
    "gatherv": lambda rank, p: (rank.many(1) and rank.bytes(0, p + 2), rank.root(p + 1)),
    # scatterv SIZES… SIZE [ROOT [TYPE [TYPE]]]
    "scatterv": lambda rank, p: (rank.many(0) and rank.bytes(p, p + 3), rank.root(p + 1)),
    # allgatherv SIZE SIZES… [TYPE [TYPE] | TYPE DISPLACEMENTS…]
    "allgatherv": lambda rank, p: (
        rank.many(1) and rank.bytes(0, -1 if len(rank.words) == 2 * p + 1 else p + 1),
        0,
    ),
    # reducescatter SIZES… FLOPS [TYPE]
    "reduce_scatter": lambda rank, p: (rank.many(0, p + 1), 0),
}
"""What each collective of p ranks says: its size, behind sizes that must be there; its root."""

REDUCES: Mapping[str, Callable[[int], int]] = {
    **dict.fromkeys(("reduce", "allreduce", "scan", "exscan"), lambda p: 1),
    "reduce_scatter": lambda p: p,
}
"""Where the flops of a reduction of p ranks stand."""

IMMEDIATE = {f"i{name}": LIKE.get(name, name) for name in (*COLLECTIVES, "reducescatter")}
"""Collectives that do not block, as SMPI writes them into its traces: the kind of each."""

ACTIONS = {
    *NOTHING, *SKIPPED, *COLLECTIVES, *LIKE, *IMMEDIATE,
    *("compute", "sleep", "send", "isend", "recv", "irecv", "sendrecv", "wait", "waitall"),
}  # fmt: skip
