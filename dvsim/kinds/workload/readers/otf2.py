"""OTF2 archives, as Score-P and others write them: MPI events of all ranks as a graph.

The archive is read by `otf2_archive`, not by the C library behind the package ``otf2``: that has no
wheels for many machines, ends the program where a file is damaged, and cannot say which rank or
record is wrong. The tests compare both where the package is there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from heapq import merge
from pathlib import Path
from typing import NoReturn

from dvsim.errors import Fault, ScenarioError
from dvsim.kinds.workload.graph import Graph
from dvsim.kinds.workload.mpi import WORLD, Program
from dvsim.kinds.workload.readers import otf2_events as events
from dvsim.kinds.workload.readers.calls import COLLECTIVE, Options, communicates
from dvsim.kinds.workload.readers.otf2_archive import (
    COMM_LOCATIONS,
    COMM_SELF,
    MPI,
    UNDEFINED,
    Definitions,
    anchor_of,
    definitions_of,
    location_of,
)
from dvsim.kinds.workload.readers.otf2_events import ENTER, LEAVE, Event, Fields, Thread
from dvsim.kinds.workload.readers.otf2_windows import LAYOUT, Windows
from dvsim.kinds.workload.readers.scorep import KINDS, UNEVEN, own_size
from dvsim.kinds.workload.readers.text import of_rank, refuse
from dvsim.scenario import bounds

NO_ROOT = UNDEFINED
MOST_TAG = (1 << 31) - 1

WAITED = {1: 0, 2: 0, 5: 4, 6: 5}
"""Where the request stands in an event that ends one, by how many fields it has."""


def read(paths: Sequence[Path], options: Options, name: str) -> Graph:
    """Return the graph of an archive, given by its anchor file alone, ``….otf2``."""
    (anchor,) = paths
    chunk, for_definitions = anchor_of(anchor)
    globals_of = anchor.with_suffix(".def")
    if not globals_of.is_file():
        refuse(globals_of, None, "is missing: the definitions of the archive")
    known = definitions_of(globals_of, for_definitions)
    groups = {(kind, paradigm): members for kind, paradigm, members in known.groups.values()}
    locations = groups.get((COMM_LOCATIONS, MPI), [])
    without_mpi = not locations
    if without_mpi:  # then a process is a rank
        first = {process: at for at, process in reversed(known.locations.items())}
        locations = sorted(first[process] for process in first if process is not None)
    if not locations:
        refuse(globals_of, None, "has no location of an MPI rank")
    files = [anchor.with_suffix("") / f"{location}.evt" for location in locations]
    message = "is missing: the events of this rank"
    faults = [
        Fault(str(file), None, f"rank {rank}", message)
        for rank, file in enumerate(files)
        if not file.is_file()
    ]
    if faults:
        raise ScenarioError(faults)
    program = Program(len(locations), name or str(anchor), map(str, files), options.table)
    ranks = [Rank(program, rank, file, known) for rank, file in enumerate(files)]
    for rank_reader, location in zip(ranks, locations, strict=True):
        for part in (location, *known.threads(location, locations)):
            rank_reader.record(anchor.with_suffix("") / f"{part}.evt", for_definitions, chunk)
        if not any(part.count for part in rank_reader.threads):
            refuse(rank_reader.file, None, "has no events", f"rank {rank_reader.rank}")
    if without_mpi and not any(part.events for reader in ranks for part in reader.threads):
        if len(ranks) > 1:
            refuse(globals_of, None, f"has {len(ranks)} processes, none of which calls MPI")
        program.assume("a process without MPI is a program of one rank")
    others = len(known.locations) - sum(len(reader.threads) for reader in ranks)
    if others > 0:
        program.skip("locations that are no MPI ranks", others)
    locked = set[tuple[int, int]]().union(*(reader.locked for reader in ranks))
    begin = min(reader.span[0] for reader in ranks)
    for rank_reader in ranks:
        rank_reader.read(begin, locked)
    end, replayed = (
        max(reader.ended - part * reader.finalizing for reader in ranks) for part in (0, 1)
    )
    program.builder.traced_ns = (end - begin) * 1e9 / known.resolution
    program.builder.finalize_ns = (end - replayed) * 1e9 / known.resolution
    return program.graph()


class Rank:
    """Reads the events of one rank."""

    def __init__(self, program: Program, rank: int, file: Path, known: Definitions) -> None:
        self.program = program
        self.rank = rank
        self.file = file
        self.known = known
        self.threads: list[Thread] = []  # the rank's own first
        self.thread: Thread  # whose event is read
        self.later: dict[int, list[Fields]] = {}  # request → what its end says of it
        self.ended = 0  # ticks, when the last call that communicated had ended
        self.finalizing = 0  # ticks in MPI_Finalize
        self.calls = 0  # outermost ones that were entered
        self.probed: dict[int, Fields] = {}
        self.members: dict[int, int] = {}
        self.windows = Windows(self)

    def record(self, file: Path, for_definitions: int, chunk: int) -> None:
        """Read what the rank recorded; later calls add its threads, but for those without MPI."""
        if self.threads and not file.is_file():
            return
        thread = Thread(location_of(file.with_suffix(".def"), for_definitions))
        with of_rank(self.rank, lambda: thread.count, "event"):
            thread.read(file, self.known, chunk)
        if thread.events or not self.threads:
            self.threads.append(thread)
            for request, ends in thread.later.items():
                self.later.setdefault(request, []).extend(ends)

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last time of the rank."""
        times = [
            time
            for thread in self.threads
            for time in (thread.first, thread.last)
            if time is not None
        ]
        return min(times), max(times)

    @property
    def locked(self) -> set[tuple[int, int]]:
        """The windows, and places in them, that the rank locks for itself alone."""
        return {window for thread in self.threads for window in self.windows.exclusive(thread)}

    def read(self, begin: int, contested: Collection[tuple[int, int]]) -> None:
        """Add all calls of the rank; those of several threads are in the order of their events.

        Args:
            begin: When the program began.
            contested: Windows, and places in them, that some rank locks for itself alone.
        """
        self.ended = begin
        self._computed(self.span[0], idle=True)
        self.windows.contested = contested
        for (kind, time, name, fields), thread in self._merged():
            self.thread = thread
            if kind == ENTER:
                if thread.depth == 0:
                    thread.entered, thread.call = time, name
                    thread.did = thread.counted = False
                    self.calls += 1
                thread.depth += 1
                if thread.call == "MPI_Finalize":
                    self.begins(time)
            elif kind == LEAVE:
                thread.depth = max(0, thread.depth - 1)
                if thread.depth == 0:
                    self._left(time)
                    thread.call = ""
            elif kind in LAYOUT:
                self.windows.event(kind, time, fields)
            else:
                ACTIONS[kind](self, time, fields)
        self._computed(self.span[1])

    def _merged(self) -> Iterator[tuple[Event, Thread]]:
        parts = ([(event, thread) for event in thread.events] for thread in self.threads)
        yield from merge(*parts, key=lambda part: part[0][1])

    def _left(self, time: int) -> None:
        thread = self.thread
        ends = self.windows.left(thread.call, time if thread.entered is None else thread.entered)
        if thread.call == "MPI_Finalize" and thread.entered is not None:
            self.finalizing = time - thread.entered
        if thread.did:
            self.ended = time
        elif ends or thread.counted:
            pass
        elif communicates(thread.call) or thread.call.removeprefix("MPI_") in COLLECTIVE:
            self.program.skip(thread.call)
        thread.entered = None

    def _computed(self, until: int, *, idle: bool = False) -> None:
        ticks = max(0, until - self.ended)
        time = ticks * 10**12 // self.known.resolution
        if time > bounds.TIME:
            message = f"computes for {ticks / self.known.resolution:g} s"
            refuse(self.file, None, message, f"rank {self.rank}")
        self.program.compute(self.rank, time, idle=idle)
        self.ended = max(until, self.ended)

    def begins(self, time: int) -> None:
        """Let the rank compute until the call that left this event began."""
        thread = self.thread
        if not thread.did or thread.entered is None:
            self._computed(time if thread.entered is None else thread.entered)
        thread.did = thread.entered is not None

    def skip_handle(self) -> None:
        """Count a collective that makes or frees a communicator or window, which takes no time."""
        self.program.skip("communicators and windows made or freed")
        self.thread.counted = True

    def refuse(self, message: str) -> NoReturn:
        """Raise what is wrong with the events of the rank."""
        refuse(self.file, None, message, f"rank {self.rank}")

    def _communicator(self, number: int) -> int:
        return self.defined(self.thread.own.communicators.get(number, number))

    def defined(self, known: int) -> int:
        """Return the program's communicator of one in the definitions."""
        communicator = self.members.get(known)
        if communicator is not None:
            return communicator
        group = self.known.groups.get(self.known.communicators.get(known, -1))
        if group is None:
            self.refuse(f"an event is in communicator {known}, which is not defined")
        kind, _, members = group
        if kind == COMM_SELF:
            communicator = self.program.communicator(("self", self.rank), [self.rank])
        elif members == list(range(self.program.ranks)) and known == self._world():
            communicator = WORLD
        else:
            wrong = [member for member in members if member >= self.program.ranks]
            if wrong or len(set(members)) < len(members):
                last = self.program.ranks - 1
                self.refuse(f"communicator {known} is not of different ranks from 0 to {last}")
            communicator = self.program.communicator(known, members)
        self.members[known] = communicator
        return communicator

    def _world(self) -> int:
        everybody = list(range(self.program.ranks))
        return next(
            (number for number, group in self.known.communicators.items()
             if self.known.groups.get(group, (0, 0, []))[1:] == (MPI, everybody)),
            -1,
        )  # fmt: skip

    def _message(self, time: int, fields: Fields, request: int | None, *, sends: bool) -> None:
        self.begins(time)
        peer, number, tag, size = fields
        communicator = self._communicator(number)
        members = self.program.members(communicator)
        if peer >= len(members):
            self.refuse(f"a message with rank {peer} of communicator {number}, which has "
                         f"{len(members)} ranks")  # fmt: skip
        if size > bounds.SIZE or tag > MOST_TAG:
            self.refuse(f"a message of {size} bytes with tag {tag}")
        add = self.program.send if sends else self.program.recv
        add(self.rank, members[peer], size, tag, communicator=communicator, request=request)

    def _irecv(self, time: int, fields: Fields) -> None:
        request = fields[-1]
        waiting = self.later.get(request)
        if not waiting:
            self.begins(time)
            self.program.skip("receives that never ended")
            return
        self._message(time, waiting.pop(0), request, sends=False)

    def _wait(self, time: int, fields: Fields) -> None:
        self.begins(time)
        self.program.wait(self.rank, [fields[WAITED.get(len(fields), 0)]])

    def _passes(self, time: int, fields: Fields) -> None:
        self.begins(time)
        if len(fields) == 4:
            self.probed[fields[3]] = fields[:3]

    def _mrecv(self, time: int, fields: Fields) -> None:
        where = self.probed.get(fields[0])
        if where is None:
            self.refuse(f"receives message {fields[0]}, which was not found before")
        self._message(time, (*where, fields[1]), None, sends=False)

    def _entering(self, time: int, fields: Fields) -> None:
        if self.thread.depth == 0:
            self.thread.entered, self.thread.did = time, False

    def _collective(self, time: int, fields: Fields) -> None:
        self._entered_as(time, fields, None)
        if self.thread.depth == 0:
            self._left(time)

    def _icollective(self, time: int, fields: Fields) -> None:
        waiting = self.later.get(fields[0])
        if not waiting:
            self.begins(time)
            self.program.skip("collectives that never ended")
            return
        self._entered_as(time, waiting.pop(0), fields[0])

    def _entered_as(self, time: int, fields: Fields, request: int | None) -> None:
        op, number, *rest = fields
        if op >= len(KINDS):
            self.skip_handle()
            return
        if NO_ROOT > rest[0] >= NO_ROOT - 8:
            self.program.skip("collectives between two groups")
            return
        self.enter(time, (op, self._communicator(number), *rest), request)

    def enter(self, time: int, fields: Fields, request: int | None) -> None:
        """Enter a collective: its kind, the program's communicator, root and bytes."""
        self.begins(time)
        op, communicator, root, sent, received = fields
        members = self.program.members(communicator)
        if self.rank not in members:
            self.refuse("enters a collective of a communicator in which it is not")
        if max(sent, received) > bounds.SIZE * len(members):
            self.refuse(f"a collective sends {sent} and receives {received} bytes")
        mine = members.index(self.rank)
        if op in UNEVEN and len(members) > 1:
            self.program.skip("sizes of single pairs, taken as equal")
        kind, rooted = KINDS[op], root < len(members)
        self.program.collective(
            self.rank,
            kind,
            own_size(op, sent, received, len(members), mine, root if rooted else 0),
            root=root if rooted or root < NO_ROOT else 0,
            communicator=communicator,
            request=request,
        )


ACTIONS: Mapping[int, Callable[[Rank, int, Fields], None]] = {
    events.SEND: lambda own, time, fields: own._message(time, fields, None, sends=True),
    events.ISEND: lambda own, time, fields: own._message(time, fields[:4], fields[4], sends=True),
    **dict.fromkeys((events.ISENT, events.IRECEIVED), Rank._wait),
    **dict.fromkeys((events.ICOLLECTED, events.IMRECEIVED), Rank._wait),
    **dict.fromkeys((events.IRECV, events.IMRECV), Rank._irecv),
    **dict.fromkeys((events.TEST, events.PROBED), Rank._passes),
    events.RECV: lambda own, time, fields: own._message(time, fields, None, sends=False),
    events.MRECV: Rank._mrecv,
    events.CANCELLED: lambda own, *_: own.program.skip("requests that were cancelled"),
    events.BEGIN: Rank._entering,
    events.END: Rank._collective,
    events.ICOLLECTIVE: Rank._icollective,
}
