"""SimGrid's time-independent traces: a line for each call, ``RANK ACTION ARGUMENTS…``.

One file has all ranks, or each rank has its own, in a folder or in a file that lists their names.
Computation is counted in flops, which become time at a rate. The actions and their arguments are
those of ``smpirun -replay`` of SimGrid 3.3x, and what its tracing writes beside them; requests are
named by sender, receiver and tag.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dvsim.errors import Fault, ScenarioError
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
    refuse_gaps,
    shown,
    whole,
)

FLOPS = 1e9
"""Of a host, in flop/s, where nobody says otherwise: that of SimGrid's example platforms."""

SIZES = dict(enumerate((
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8,
    8, 16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1,
    8, 8,
)))  # fmt: skip
"""Bytes of SimGrid's data types, by their numbers: double, int, char, short, long, float, byte …"""
DERIVED = -1
"""The number of all types that a program made; of these the trace counts bytes."""

UNDEFINED, ANY_SOURCE, NOBODY = -333, -555, -666
"""Ranks as SMPI's tracing writes them: -333 is that of any source and that of no process."""

NOTHING = ("init", "finalize", "comm_size", "location")
SKIPPED = (
    "comm_split", "comm_dup", "test", "testall", "testany", "testsome", "waitany", "waitsome",
    "probe", "iprobe", "io", "migrate", "iteration_in", "iteration_out",
)  # fmt: skip
LIKE = {
    "reducescatter": "reduce_scatter",
    "reducescatterblock": "reduce_scatter_block",
    **dict.fromkeys(("ssend", "bsend", "rsend"), "send"),
    **dict.fromkeys(("issend", "ibsend", "irsend"), "isend"),
}
"""Actions that are replayed as others; how a message is buffered is not of the trace."""

RANK_FILE = re.compile(r"\S*(rank|trace|action|proc|ti)\w*[-_.]?\d+\S*", re.IGNORECASE)
"""How the files that a list names are called, where none of them is there."""


class Line(NamedTuple):
    """A line of a rank: its number, the action, its arguments, and the file."""

    line: int
    action: str
    words: Sequence[str]
    path: Path


class Places(NamedTuple):
    """Where the arguments of a collective stand, and how many it has at least."""

    least: int
    size: int | range = 0
    kind: int = -1
    root: int | None = None
    flops: int | None = None


COLLECTIVES: Mapping[str, Callable[[int], Places]] = {
    "barrier": lambda p: Places(0),
    "bcast": lambda p: Places(1, 0, 2, root=1),  # SIZE [ROOT [TYPE]]
    "reduce": lambda p: Places(1, 0, 3, root=2, flops=1),  # SIZE FLOPS [ROOT [TYPE]]
    **dict.fromkeys(  # SIZE FLOPS [TYPE]
        ("allreduce", "scan", "exscan", "reduce_scatter_block"),
        lambda p: Places(1, 0, 2, flops=1),
    ),
    **dict.fromkeys(("alltoall", "allgather"), lambda p: Places(1, 0, 2)),  # SIZE SIZE [TYPE TYPE]
    # SIZES SIZES… SIZE SIZES… [TYPE TYPE]
    "alltoallv": lambda p: Places(2 * p + 2, range(1, p + 1), 2 * p + 2),
    "gather": lambda p: Places(1, 0, 3, root=2),  # SIZE SIZE [ROOT [TYPE TYPE]]
    "scatter": lambda p: Places(2, 1, 4, root=2),  # the same; what is received
    "gatherv": lambda p: Places(p + 1, 0, p + 2, root=p + 1),  # SIZE SIZES… [ROOT [TYPE TYPE]]
    "scatterv": lambda p: Places(p + 1, p, p + 3, root=p + 1),  # SIZES… SIZE [ROOT [TYPE TYPE]]
    # SIZE SIZES… [TYPE TYPE | TYPE DISPLACEMENTS… | DISPLACEMENTS…]
    "allgatherv": lambda p: Places(p + 1, 0, p + 1),
    "reduce_scatter": lambda p: Places(p, range(p), p + 1, flops=p),  # SIZES… FLOPS [TYPE]
}
"""Collective of p ranks → where its arguments stand."""

IMMEDIATE = {
    f"i{name}": LIKE.get(name, name) for name in (*COLLECTIVES, *LIKE) if "send" not in name
}
"""Collectives that do not block, as SMPI writes them into its traces: the kind of each."""

ACTIONS = {
    *NOTHING, *SKIPPED, *COLLECTIVES, *LIKE, *IMMEDIATE,
    *("compute", "sleep", "send", "isend", "recv", "irecv", "sendrecv", "wait", "waitall"),
}  # fmt: skip


def is_action(line: str) -> bool:
    """Return whether a line looks like one of a trace."""
    words = line.split()
    return len(words) > 1 and _rank(words[0]) is not None and words[1].lower() in ACTIONS


def _rank(word: str) -> int | None:
    digits = word.removeprefix("p")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 8 else None


def is_list(path: Path) -> bool:
    """Return whether a file lists files of ranks, which need not be there."""
    names = [text for _, text in lines_of(path) if not text.startswith("#")]
    if not names or any(len(text.split()) > 1 for text in names):
        return False
    return all(map(RANK_FILE.fullmatch, names)) or _there(path, names[0]) is not None


def listed(path: Path) -> list[Path]:
    """Return the files that a file lists.

    They are looked for beside it and below, by as much of the name as is there, and from the
    current folder, as SimGrid itself would do.
    """
    names = [(line, text) for line, text in lines_of(path) if not text.startswith("#")]
    places = [_there(path, text) for _, text in names]
    message = "lists {}, which is not in the folder"
    faults = [
        Fault(str(path), line, "", message.format(shown(text)))
        for (line, text), place in zip(names, places, strict=True)
        if place is None
    ]
    if faults:
        raise ScenarioError(faults)
    return [place for place in places if place is not None]


def _there(path: Path, name: str) -> Path | None:
    folder, parts = path.parent.resolve(), Path(name).parts
    ends = [Path(*parts[at:]) for at in range(len(parts))]
    try:
        tried = [folder / end for end in ends if not end.is_absolute()]
        tried += [Path.cwd() / name] if ".." not in parts else []
        tried += [file for file in folder.glob("*/*") if file.name == ends[-1].name]
        inside = (folder, Path.cwd())
        return next(
            (file for file in tried if any(file.resolve().is_relative_to(one) for one in inside)
             and file.is_file() and file.resolve() != path.resolve()),
            None,
        )  # fmt: skip
    except (OSError, ValueError):  # no name that a file can have
        return None


def read(paths: Sequence[Path], options: Options, name: str) -> Graph:
    """Return the graph of the files of a trace."""
    lines: dict[int, list[Line]] = {}
    for path in paths:
        for line, text in lines_of(path):
            if text.startswith("#"):
                continue
            words = text.split()
            rank = _rank(words[0])
            if rank is None or len(words) < 2:
                refuse(path, line, f"must be RANK ACTION …, is {shown(text)}")
            action = words[1].lower()
            lines.setdefault(rank, []).append(Line(line, LIKE.get(action, action), words[2:], path))
    if not lines:
        refuse(paths[0], None, "has no line with an action")
    for rank, calls in lines.items():
        own = sorted({call.path for call in calls})
        if len(own) > 1:
            first, other = own[:2]
            refuse(other, None, f"is of rank {rank}, as {first.name} is: name one of the traces")
    ranks = max(lines) + 1
    refuse_gaps(paths[0], "line", lines)
    files = [str(lines[rank][0].path) for rank in range(ranks)]
    one_file = len(set(files)) == 1
    program = Program(ranks, name or str(paths[0]), files[:1] if one_file else files, options.table)
    ends = {rank for rank, calls in lines.items() if any(c.action == "finalize" for c in calls)}
    known = _Known(lines)
    for rank in range(ranks):
        if ends and rank not in ends:
            last = lines[rank][-1]
            refuse(
                last.path, last.line, f"is the last line of rank {rank}, which never calls finalize"
            )
        reader = _Rank(program, rank, options.flops, known)
        with of_rank(rank, lambda: reader.calls, "call"):  # noqa: B023 - of this round
            for reader.calls, call in enumerate(lines[rank]):
                reader.call(call)
    return program.graph()


class _Known:
    """What no line says for itself: how many arguments others have, and who sends to whom.

    Attributes:
        forms: Collectives and numbers of arguments that some line has.
        spare: Messages to a rank by tag, and of all tags (`ANY`), that no receive names by its
            sender.
    """

    def __init__(self, lines: Mapping[int, Sequence[Line]]) -> None:
        self.forms: set[tuple[str, int]] = set()
        self.spare: Counter[tuple[int, int]] = Counter()
        for rank, calls in lines.items():
            for _, action, words, _ in calls:
                self.forms.add((IMMEDIATE.get(action, action), len(words)))
                if action in ("send", "isend", "recv", "irecv") and len(words) > 2:
                    try:
                        peer, tag = int(words[0].removeprefix("p")), int(words[1])
                    except ValueError:
                        continue  # refused when its rank is read
                    to, change = (peer, 1) if "send" in action else (rank, -1)
                    for key in {max(tag, ANY), ANY} if peer >= 0 else ():
                        self.spare[to, key] += change

    def takes(self, rank: int, tag: int) -> bool:
        left = self.spare[rank, tag]
        self.spare[rank, tag] -= 1
        return left > 0


class _Rank:
    def __init__(self, program: Program, rank: int, flops: float, known: _Known) -> None:
        self.program = program
        self.rank = rank
        self.flops = flops
        self.known = known
        self.size = 1
        self.calls = 0
        self.open: dict[tuple[int, int, int], list[int]] = {}
        self.requests = 0
        self.entered: list[int] = []  # requests of collectives that do not block

    def call(self, call: Line) -> None:
        self.line, action, self.words, self.path = call
        if action == "init":
            self.size = 8 if self.words else 1
        elif action in ("compute", "sleep"):
            amount = number(self._word(0), self.path, self.line, "an amount of work")
            self._compute(amount if action == "sleep" else amount / self.flops)
        elif action in ("send", "isend", "recv", "irecv"):
            self._message(action)
        elif action == "sendrecv":
            self._sendrecv()
        elif action in ("wait", "waitall"):
            self._wait(action)
        elif action in COLLECTIVES or action in IMMEDIATE:
            self._collective(action)
        elif action == "io" or action.startswith("io-"):
            self.program.skip(" ".join(["IO", *self.words[:2]]) if action == "io" else action)
        elif (
            action in SKIPPED or action.startswith("iteration") or communicates(action.capitalize())
        ):
            self.program.skip(action)
        elif action not in NOTHING:
            refuse(self.path, self.line, f"knows no action {shown(action)}")

    def _word(self, index: int) -> str:
        if index >= len(self.words):
            refuse(self.path, self.line, f"needs at least {index + 1} arguments")
        return self.words[index]

    def _bytes(self, index: int, type_at: int) -> int:
        count = whole(self._word(index), self.path, self.line, "size")
        if not 0 <= type_at < len(self.words):
            return count * self.size
        word = self.words[type_at]
        kind = int(word) if word.removeprefix("-").isdecimal() and len(word) < 4 else None
        if kind == DERIVED:
            if count:
                self.program.assume("sizes of derived data types (-1) are bytes")
            return count
        if kind not in SIZES:
            refuse(self.path, self.line, f"knows no data type {shown(word)}")
        return count * SIZES[kind]

    def _compute(self, seconds: float) -> None:
        time = picoseconds(seconds, self.path, self.line)
        self.program.compute(self.rank, time, self.line)

    def _peer(self, index: int) -> int:
        peer = integer(self._word(index).removeprefix("p"), self.path, self.line, "the other rank")
        if peer in (UNDEFINED, NOBODY):
            return peer
        if peer == ANY_SOURCE:
            return ANY
        if not -1 <= peer < self.program.ranks:
            last = self.program.ranks - 1
            refuse(self.path, self.line, f"the ranks are 0 to {last}; no rank {peer}")
        return peer

    def _tag(self, index: int) -> int:
        return max(ANY, integer(self._word(index), self.path, self.line, "a tag"))

    def _request(self, sends: bool, peer: int, tag: int) -> int:
        self.requests += 1
        ends = (self.rank, max(peer, ANY)) if sends else (max(peer, ANY), self.rank)
        self.open.setdefault((*ends, tag), []).append(self.requests)
        return self.requests

    def _message(self, action: str) -> None:
        peer, sends = self._peer(0), "send" in action
        if len(self.words) == 2:  # before SimGrid 3.20: no tag
            tag, size = 0, self._bytes(1, -1)
        else:
            tag, size = self._tag(1), self._bytes(2, 3)
        request = self._request(sends, peer, tag) if action.startswith("i") else None
        if sends and (tag < 0 or peer == ANY):
            refuse(self.path, self.line, "a message that is sent has a rank and a tag")
        self._add(peer, size, tag, request, sends=sends)

    def _add(self, peer: int, size: int, tag: int, request: int | None, *, sends: bool) -> None:
        if peer == UNDEFINED and not sends:
            peer = ANY if self.known.takes(self.rank, tag) else UNDEFINED
            if peer == UNDEFINED:
                self.program.assume("a receive from -333 that no message is for is from no process")
        if peer >= ANY:
            add = self.program.send if sends else self.program.recv
            add(self.rank, peer, size, tag, request=request, line=self.line)

    def _sendrecv(self) -> None:
        size, target, size_in, source = (
            self._bytes(0, 4), self._peer(1), self._bytes(2, 5), self._peer(3),
        )  # fmt: skip
        self.requests += 1
        source = ANY if source == UNDEFINED else source  # no process is written otherwise
        self._add(source, size_in, 0, self.requests, sends=False)
        self._add(target, size, 0, -self.requests, sends=True)
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
            named = (max(ANY, self._peer(0)), max(ANY, self._peer(1)), self._tag(2))
            likely = [key for key, waiting in self.open.items() if waiting and _fits(key, named)]
            key = named if named in likely else next(iter(likely), None)
            waiting = self.entered if key is None else self.open[key]
            open_now = [waiting.pop(0)] if waiting else []
        self.program.wait(self.rank, open_now, self.line)

    def _collective(self, action: str) -> None:
        kind, request = IMMEDIATE.get(action, action), None
        if action in IMMEDIATE:
            self.requests += 1
            request = self.requests
            self.entered.append(request)
        self.words = self._filled(kind)
        if kind == "reduce_scatter_block" and len(self.words) > 3:
            kind = "reduce_scatter"
        at = COLLECTIVES[kind](self.program.ranks)
        if at.least:
            self._word(at.least - 1)
        size: int | list[int] = 0
        if isinstance(at.size, range):
            size = [self._bytes(place, at.kind) for place in at.size]
        elif at.least:
            displaced = kind == "allgatherv" and len(self.words) == 2 * self.program.ranks + 1
            size = self._bytes(at.size, -1 if displaced else at.kind)
        rooted = at.root is not None and at.root < len(self.words)
        root = max(0, self._peer(at.root or 0)) if rooted else 0
        self.program.collective(
            self.rank, kind.removesuffix("_block"), size, root=root, request=request, line=self.line
        )
        if at.flops is not None and at.flops < len(self.words):
            work = number(self.words[at.flops], self.path, self.line, "an amount of work")
            self._compute(work / self.flops)

    def _filled(self, kind: str) -> Sequence[str]:
        """Return the arguments of a collective in the form that a replay of SimGrid's reads.

        Its tracing leaves out what is 0, what only the root knows and flops, and writes the size of
        a type before sizes of ranks.
        """
        words, p, forms = list(self.words), self.program.ranks, self.known.forms
        count = len(words)
        if kind in ("scan", "exscan") and words[:1] == ["-1"]:  # -1 0 SIZE TYPE
            words = [*words[2:3], "0", *words[3:]]
        elif kind in ("gather", "scatter") and count == 4:  # SIZE ROOT TYPE TYPE, if not by hand
            if (kind, 5) in forms or words[2] not in map(str, range(p)):
                words.insert(1, "0")
        elif kind in ("gatherv", "scatterv") and (kind, p + 5) in forms and count in (5, p + 5):
            at = kind == "gatherv"  # where the size of the type stands
            words[at : at + 1] = ["0"] * p if count == 5 else []
        elif kind == "allgatherv" and count == p + 4:
            if p not in (2, 3) or words[2 + self.rank] == words[0]:
                del words[1]
        elif kind == "reduce_scatter" and count == p + 3 and words[1] == "0":
            words = [*words[2:-1], "0", words[-1]]  # size of the type, 0, SIZES… TYPE
        elif kind == "reduce_scatter" and count > 2 and set(words[:-1]) == {"0"} != {words[-1]}:
            # of a block, whose size is how many zeros there are behind the first two
            words = [str(max(1, count - 3))] * p + ["0", words[-1]]
        return words


def _fits(opened: tuple[int, int, int], named: tuple[int, int, int]) -> bool:
    return all(one in (other, ANY) for one, other in zip(opened, named, strict=True))
