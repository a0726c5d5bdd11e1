"""OTF2 archives as they are on disk: chunks of records, each with its type and length.

A file is a row of chunks; each begins with a mark, its byte order and the numbers of its first and
last record. Numbers are compressed: a byte says how many bytes follow, 255 stands for none. A time
stamp is a record of its own and holds for those behind it. Checked against OTF2 3.2's own reader.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from pathlib import Path

from dvsim.kinds.workload.readers.text import data_of, refuse

ANCHOR = (b"\x03BOTF2\0", b"\x03#OTF2\0")
"""How the file that names an archive begins: the byte order, then the name of the format."""

ORDERS = {0x42: "little", 0x23: "big"}
END_OF_CHUNK, END_OF_BUFFER, END_OF_FILE, CHUNK, TIME = 0, 1, 2, 3, 5
HEADER = 18  # bytes of the beginning of a chunk
UNDEFINED = (1 << 64) - 1
SINGLES = frozenset((12, 13, 16, 17, 20, 21))
"""Events of one number: what counts its bytes stands in the place of the record's length."""


class Record:
    """The fields of one record, which are taken one after another."""

    __slots__ = ("at", "data", "end", "little", "path")

    def __init__(self, data: bytes, at: int, end: int, little: bool, path: Path) -> None:
        self.data, self.at, self.end, self.path = data, at, end, path
        self.little = little

    def number(self) -> int:
        """Take a compressed number."""
        at = self.at
        if at >= self.end:
            refuse(self.path, None, f"a record ends before its fields do, at byte {at}")
        count = self.data[at]
        if count == 0xFF:
            self.at = at + 1
            return UNDEFINED
        end = at + 1 + count
        if count > 8 or end > self.end:
            refuse(self.path, None, f"no number of {count} bytes fits in a record, at byte {at}")
        self.at = end
        if count == 1:
            return self.data[at + 1]
        return int.from_bytes(self.data[at + 1 : end], "little" if self.little else "big")

    def signed(self) -> int:
        """Take a compressed number that may be negative."""
        value = self.number()
        return value - (1 << 64) if value >> 63 and value != UNDEFINED else value

    def fixed(self, count: int = 8) -> int:
        """Take a number of so many bytes."""
        begin, end = self.at, self.at + count
        if end > self.end:
            refuse(self.path, None, f"a record ends before its fields do, at byte {begin}")
        self.at = end
        return int.from_bytes(self.data[begin:end], "little" if self.little else "big")

    byte = partialmethod(fixed, 1)

    def text(self) -> str:
        """Take a text, which ends with a zero byte."""
        end = self.data.find(b"\0", self.at, self.end)
        if end < 0:
            refuse(self.path, None, f"a text has no end, at byte {self.at}")
        text = self.data[self.at : end].decode("utf-8", "replace")
        self.at = end + 1
        return text

    def numbers(self) -> list[int]:
        """Take as many numbers as the first one says."""
        count = self.number()
        if count > self.end - self.at:
            refuse(self.path, None, f"has no room for {count} numbers, at byte {self.at}")
        return [self.number() for _ in range(count)]

    @property
    def left(self) -> int:
        """Bytes that have not been taken."""
        return self.end - self.at


def records(path: Path, chunk: int, *, events: bool = False) -> Iterator[tuple[int, int, Record]]:
    """Yield the records of a file, each as its type, the time stamp before it and its fields.

    Args:
        path: A file of definitions or events.
        chunk: The size of its chunks: where one ends early, the next begins at a multiple of it.
        events: Whether it is a file of events: with time stamps and `SINGLES`.
    """
    data = data_of(path)
    size, at, time, little = len(data), 0, 0, True
    while True:
        if at + HEADER > size or data[at] != CHUNK or data[at + 1] not in ORDERS:
            refuse(path, None, f"no chunk of an OTF2 archive begins at byte {at}; truncated?")
        little = ORDERS[data[at + 1]] == "little"
        begin, at = at, at + HEADER
        while True:
            if at >= size:
                refuse(path, None, f"is truncated: it ends at byte {size} without an end mark")
            kind = data[at]
            if events and kind == TIME:
                if at + 9 > size:
                    refuse(path, None, f"is truncated: it ends at byte {size} in a time stamp")
                stamp = data[at + 1 : at + 9]
                time = int.from_bytes(stamp, "little" if little else "big")
                at += 9
                continue
            if kind == END_OF_FILE:
                return
            if kind in (END_OF_CHUNK, END_OF_BUFFER):
                at = begin + chunk
                break
            if at + 2 > size:
                refuse(path, None, f"is truncated: it ends at byte {size} in a record")
            length, at = data[at + 1], at + 2
            if events and kind in SINGLES:
                length, at = (1 if length == 0xFF else 1 + length), at - 1
            elif length == 0xFF:
                length = int.from_bytes(data[at : at + 8], "little" if little else "big")
                at += 8
            if at + length > size:
                refuse(path, None, f"is truncated: it ends at byte {size} in a record")
            yield kind, time, Record(data, at, at + length, little, path)
            at += length


def anchor_of(path: Path) -> tuple[int, int]:
    """Return the sizes of the chunks of events and of definitions, from the anchor file."""
    data = data_of(path)
    if not data.startswith(ANCHOR) or len(data) < 30:
        refuse(path, None, "is no anchor file of an OTF2 archive, or truncated")
    little = data[1] == 0x42
    events, definitions = (
        int.from_bytes(data[at : at + 8], "little" if little else "big") for at in (12, 20)
    )
    if data[28] != 1 or data[29] != 1:
        refuse(path, None, "is packed by SIONlib or compressed; only plain files can be read")
    if min(events, definitions) <= HEADER:
        refuse(path, None, f"has chunks of {min(events, definitions)} bytes")
    return events, definitions


@dataclass
class Definitions:
    """What the numbers in events stand for."""

    resolution: int = 10**9  # ticks of the clock in a second
    texts: dict[int, str] = field(default_factory=dict)  # texts by their numbers
    regions: dict[int, int] = field(default_factory=dict)  # numbers of the names of regions
    # Type, paradigm and members.
    groups: dict[int, tuple[int, int, list[int]]] = field(default_factory=dict)
    communicators: dict[int, int] = field(default_factory=dict)  # number of the group
    windows: dict[int, int] = field(default_factory=dict)  # number of the communicator
    # The process of each that is a thread of a processor, None of others; in the order of the
    # file.
    locations: dict[int, int | None] = field(default_factory=dict)

    def threads(self, location: int, ranks: Sequence[int]) -> list[int]:
        """Return the other threads of the process of a rank, which are no ranks themselves."""
        process, others = self.locations.get(location), set(self.locations).difference(ranks)
        same = [other for other, of in self.locations.items() if of == process and other in others]
        return same if process is not None else []

    def region(self, number: int) -> str:
        """Return the name of a region; an empty one if it has none."""
        return self.texts.get(self.regions.get(number, -1), "")


COMM_LOCATIONS, COMM_GROUP, COMM_SELF, MPI = 4, 5, 6, 4
_THREAD = 1  # of a processor
_CLOCK, _STRING, _LOCATION, _REGION, _GROUP, _COMM, _WINDOW = 5, 10, 14, 15, 18, 22, 24
_OLD_GROUPS = {4: COMM_SELF, 5: COMM_GROUP, 6: COMM_LOCATIONS}


def definitions_of(path: Path, chunk: int) -> Definitions:
    """Return the definitions of an archive, from its global file."""
    definitions = Definitions()
    for kind, _, record in records(path, chunk):
        if kind not in (_CLOCK, _STRING, _LOCATION, _REGION, _GROUP, _COMM, _WINDOW):
            continue
        number = record.number()
        if kind == _CLOCK:
            definitions.resolution = number
        elif kind == _STRING:
            definitions.texts[number] = record.text()
        elif kind == _LOCATION:
            _, thread, _ = record.number(), record.byte() == _THREAD, record.number()
            definitions.locations[number] = record.number() if thread else None
        elif kind == _REGION:
            definitions.regions[number] = record.number()
        elif kind == _GROUP:
            definitions.groups[number] = _group(record)
        else:
            record.number()
            of = definitions.communicators if kind == _COMM else definitions.windows
            of[number] = record.number()
    if not 0 < definitions.resolution < UNDEFINED:
        refuse(path, None, "has a clock without a resolution")
    return definitions


def _group(record: Record) -> tuple[int, int, list[int]]:
    record.number()
    old = record.byte()
    members = record.numbers()
    if record.left >= 2:
        return record.byte(), record.byte(), members
    return _OLD_GROUPS.get(old, 0), MPI, members  # before OTF2 1.2


@dataclass
class Location:
    """How the numbers and times in the events of one location become those of the archive."""

    regions: dict[int, int] = field(default_factory=dict)
    groups: dict[int, int] = field(default_factory=dict)
    communicators: dict[int, int] = field(default_factory=dict)
    windows: dict[int, int] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)

    def corrected(self, time: int) -> int:
        """Return a time with the clock's offset, between two measurements in proportion."""
        if not self.times:
            return time
        if len(self.times) == 1:
            return time + self.offsets[0]
        right = min(max(bisect_right(self.times, time), 1), len(self.times) - 1)
        begin, end = self.times[right - 1], self.times[right]
        slope = self.offsets[right] - self.offsets[right - 1]
        return time + self.offsets[right - 1] + slope * (time - begin) // max(1, end - begin)


_MAP, _OFFSET = 5, 6
_MAPPED = {3: "regions", 4: "groups", 6: "communicators", 8: "windows"}


def location_of(path: Path, chunk: int) -> Location:
    """Return what the definitions of one location say; nothing if it has none."""
    location = Location()
    if not path.exists():
        return location
    for kind, _, record in records(path, chunk):
        if kind == _MAP:
            named, numbers = record.byte(), record.number()
            sparse = record.byte() == 1
            if numbers * (1 + sparse) > record.left:
                refuse(path, None, f"has no room for {numbers} numbers")
            values = [record.number() for _ in range(numbers * (1 + sparse))]
            keys: Sequence[int] = values[::2] if sparse else range(numbers)
            table = dict(zip(keys, values[1::2] if sparse else values, strict=True))
            if named in _MAPPED:
                setattr(location, _MAPPED[named], table)
        elif kind == _OFFSET:
            location.times.append(record.fixed())
            location.offsets.append(record.signed())
    if location.times != sorted(location.times):
        refuse(path, None, "has offsets of the clock that are not in the order of time")
    return location
