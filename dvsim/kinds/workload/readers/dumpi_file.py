"""DUMPI files, the binary traces of SST: the calls of one rank, with their arguments and times.

A file has a mark, the records of the calls, a header, sizes of types and, at its end, an index of
where these begin. All numbers have their high byte first.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dvsim.kinds.workload.readers.dumpi_calls import (
    END,
    FUNCTION_ENTER,
    FUNCTION_EXIT,
    LAYOUTS,
    NAMES,
    ROOT,
)
from dvsim.kinds.workload.readers.text import data_of, refuse

MAGIC = b"\xff\xaa\xddDUMPI"
INDEX = 8  # numbers of 64 bits, the mark among them, since version 0.6.6
STATUS, CPU_TIME, WALL_TIME, THREAD, COUNTERS = 3, 4, 8, 64, 128

SIZES = (
    0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20,
)  # fmt: skip
"""Bytes of MPI's own types by their numbers, where a file has no table of them."""


@dataclass(frozen=True)
class Status:
    """What a receive got."""

    size: int
    source: int
    tag: int


@dataclass(frozen=True)
class Call:
    """One call: its name without ``MPI_``, its arguments, begin and end in ns, and place."""

    name: str
    arguments: tuple[Any, ...]
    begin: int
    end: int
    number: int


@dataclass
class Trace:
    """The calls of a rank, and the bytes of each type."""

    calls: list[Call] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    timed: bool = True


class _File:
    """A file with the place that has been read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = data_of(path)
        self.at = 0
        self.what = "its beginning"

    def take(self, count: int) -> bytes:
        """Take some bytes."""
        end = self.at + count
        if end > len(self.data):
            refuse(
                self.path, None, f"is truncated: it ends at byte {len(self.data)}, in {self.what}"
            )
        data = self.data[self.at : end]
        self.at = end
        return data

    def number(self, size: int, *, signed: bool = False) -> int:
        """Take a number of some bytes."""
        return int.from_bytes(self.take(size), "big", signed=signed)

    def many(self, code: str, size: int) -> tuple[int, ...]:
        """Take a list of numbers, how many stands before."""
        count = self.number(4, signed=True)
        if count <= 0:
            return ()
        if count * size > len(self.data) - self.at:
            refuse(self.path, None, f"has no room for {count} numbers, in {self.what}")
        return struct.unpack(f">{count}{code}", self.take(count * size))

    def texts(self) -> int:
        """Pass over texts; return how many there were."""
        count = self.number(4, signed=True)
        for _ in range(max(0, count)):
            self.take(max(0, self.number(4, signed=True)))
        return count


def read_file(path: Path, trace: Trace) -> None:
    """Fill a trace with what a file has.

    Raises:
        ScenarioError: If it is truncated, of another format, or has a call whose arguments are not
            known.
    """
    file = _File(path)
    if not file.data.startswith(MAGIC):
        refuse(path, None, "is no DUMPI file: it does not begin with its mark")
    places = _index(file)
    trace.sizes.update(enumerate(SIZES))
    version: tuple[int, ...] = (0, 0, 0)
    if places["header"]:
        file.at = places["header"]
        version = tuple(file.take(3))
    if places["sizes"]:
        file.at = places["sizes"]
        trace.sizes.update(enumerate(file.many("i", 4)))
    file.at = places["body"]
    file.number(4)
    offset = file.number(4)
    last = places["header"] or len(file.data)
    while file.at < last:
        number = file.number(2)
        if number == END:
            break
        _call(file, trace, number, offset, version)


def _index(file: _File) -> dict[str, int]:
    """Return where the parts of a file begin; early versions had fewer of them."""
    names = ("sizes", "addresses", "counters", "header", "body", "footer", "keys")
    counts = dict.fromkeys(names, 0)
    tail = file.data[-8 * INDEX :]
    for lacks in range(4):
        if tail[8 * lacks :].startswith(MAGIC) and len(file.data) >= 8 * INDEX + 8:
            values = struct.unpack(f">{7 - lacks}Q", tail[8 * lacks + 8 :])
            counts.update(zip(names[lacks:], values, strict=True))
            break
    else:
        refuse(file.path, None, "has no index at its end; is it truncated?")
    if max(counts.values()) > len(file.data) or counts["body"] < len(MAGIC):
        refuse(file.path, None, "has an index that leads out of it")
    return counts


def _call(file: _File, trace: Trace, number: int, offset: int, version: tuple[int, ...]) -> None:
    """Read one record and keep it, if it is of a call."""
    place = len(trace.calls)
    own = number in (FUNCTION_ENTER, FUNCTION_EXIT)
    name = "" if own else NAMES[number] if number < len(NAMES) else f"call {number}"
    file.what = f"call {place + 1}" + (f", MPI_{name}" if name else "")
    layout = "l" if own else LAYOUTS.get(name)
    if layout is None:
        refuse(
            file.path, None, f"{file.what}: its arguments are not known, so nothing behind it is"
        )
    mask = file.number(1)
    if mask & THREAD:
        file.number(2)
    begin = end = 0
    for bit in (CPU_TIME, WALL_TIME):
        if mask & bit:
            begin, end = (
                (file.number(2) + (offset if bit == WALL_TIME else 0)) * 10**9 + file.number(4)
                for _ in range(2)
            )
    if not mask & WALL_TIME:
        trace.timed, begin, end = False, 0, 0
    if mask & COUNTERS:
        file.take(16 * file.number(1))
    arguments: list[Any] = []
    reads = True
    if name == "Init" and version < (0, 6, 2):
        file.number(4)
    for letter in layout:
        if letter in "?!":
            own_rank, root = ROOT[name]
            reads = letter == "!" or arguments[own_rank] == arguments[root]
        elif reads:
            arguments.append(_argument(file, letter, mask, version))
    if not own:
        trace.calls.append(Call(name, tuple(arguments), begin, end, place))


OTHERS: dict[str, Callable[[_File], Any]] = {
    "J": lambda file: tuple(file.many("i", 4) for _ in range(max(0, file.number(4, signed=True)))),
    "A": _File.texts,
    "s": lambda file: file.take(max(0, file.number(4, signed=True))),
}


def _argument(file: _File, letter: str, mask: int, version: tuple[int, ...]) -> Any:  # noqa: ANN401 - of its kind
    """Take one argument."""
    if letter in "ilhb":
        size = {"i": 4, "l": 8, "h": 2, "b": 1}[letter]
        return file.number(size, signed=letter in "il")
    if letter in "IHB":
        code, size = {"I": ("i", 4), "H": ("H", 2), "B": ("B", 1)}[letter]
        return file.many(code, size)
    if letter in OTHERS:
        return OTHERS[letter](file)
    if not mask & STATUS:
        return ()
    found = []
    for _ in range(max(0, file.number(4, signed=True))):
        size, source = file.number(4, signed=True), file.number(4, signed=True)
        file.take(2)
        tag = file.number(4, signed=True) if version >= (0, 6, 3) else -1
        found.append(Status(size, source, tag))
    return tuple(found)
