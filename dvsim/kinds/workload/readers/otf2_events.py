"""The events of a rank of an OTF2 archive, or of a thread of it, that say something of MPI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dvsim.kinds.workload.readers.otf2_archive import Definitions, Location, records
from dvsim.kinds.workload.readers.otf2_windows import LAYOUT

(
    ENTER, LEAVE, SEND, ISEND, ISENT, IRECV, RECV, IRECEIVED, TEST, CANCELLED, BEGIN, END,
) = range(12, 24)  # fmt: skip
ICOLLECTIVE, ICOLLECTED, PROBED, MRECV, IMRECV, IMRECEIVED = 85, 86, 89, 90, 91, 92

Fields = tuple[int, ...]
Event = tuple[int, int, str, Fields]
"""Its kind, its time, the name of the call that is entered or left, and its numbers."""

FIELDS = {
    SEND: 4, ISEND: 5, ISENT: 1, IRECV: 1, RECV: 4, IRECEIVED: 5, TEST: 1, CANCELLED: 1, BEGIN: 0,
    END: 4, ICOLLECTIVE: 1, ICOLLECTED: 5, PROBED: 4, MRECV: 2, IMRECV: 2, IMRECEIVED: 2,
}  # fmt: skip
"""How many numbers an event has; the ends of collectives have their kind before."""


class Thread:
    """What one location recorded.

    Attributes:
        own: How its numbers become those of the archive.
        events: Those that say something of MPI, with the times of the archive.
        later: What the ends of requests say of them, by request, in their order.
        first, last: Its first and its last time; None if it has no events.
        count: Events that were read.
        entered, depth, call: While they are replayed: when the outermost call of MPI began, how
            many calls are open, and the name of the outermost.
        did, counted: Whether that call left an event, and whether it is counted as not replayed.
    """

    def __init__(self, own: Location) -> None:
        self.own = own
        self.events: list[Event] = []
        self.later: dict[int, list[Fields]] = {}
        self.first: int | None = None
        self.last: int | None = None
        self.count = 0
        self.entered: int | None = None
        self.depth = 0
        self.call = ""
        self.did = self.counted = False
        self._probed: dict[int, Fields] = {}
        self._of_request: dict[int, int] = {}

    def read(self, file: Path, known: Definitions, chunk: int) -> None:
        """Read the file of the location."""
        names: dict[int, str] = {}
        for kind, uncorrected, record in records(file, chunk, events=True):
            self.count += 1
            time = self.own.corrected(uncorrected)
            self.first, self.last = time if self.first is None else self.first, time
            if kind in (ENTER, LEAVE):
                number = record.number()
                name = names.get(number)
                if name is None:
                    name = names[number] = known.region(self.own.regions.get(number, number))
                if name.startswith("MPI_"):
                    self.events.append((kind, time, name, ()))
            elif kind in LAYOUT:
                taken = (
                    record.byte() if letter == "b" else record.number() for letter in LAYOUT[kind]
                )
                self.events.append((kind, time, "", tuple(taken)))
            elif kind in FIELDS:
                op = (record.byte(),) if kind in (END, ICOLLECTED) else ()
                fields = (*op, *(record.number() for _ in range(FIELDS[kind])))
                self.events.append((kind, time, "", fields))
                self._note(kind, fields)

    def _note(self, kind: int, fields: Sequence[int]) -> None:
        if kind == IRECEIVED:
            self._ends(fields[4], fields[:4])
        elif kind == ICOLLECTED:
            self._ends(fields[5], fields[:5])
        elif kind == PROBED:
            self._probed[fields[3]] = tuple(fields[:3])
        elif kind == IMRECV:
            self._of_request[fields[1]] = fields[0]
        elif kind == IMRECEIVED and self._of_request.get(fields[0]) in self._probed:
            self._ends(fields[0], (*self._probed[self._of_request[fields[0]]], fields[1]))

    def _ends(self, request: int, fields: Sequence[int]) -> None:
        self.later.setdefault(request, []).append(tuple(fields))
