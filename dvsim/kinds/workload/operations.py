"""Operations made of the calls of a rank, and what each of them waits for; the locks of windows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dvsim.kinds.workload.check import ANSWER_TAG, CARRIED_TAG, RELEASE_TAG, REQUEST_TAG
from dvsim.kinds.workload.graph import Builder
from dvsim.kinds.workload.schedule import Schedule

AGENT = 1
"""The processor that does one-sided operations, at both ends."""

Call = tuple[Any, ...]
"""A method of `Cursor`, the line of the call, and the arguments of the method."""


@dataclass(eq=False)
class Hold:
    """A lock that a rank has on the memory of another."""

    # Who has it, and whose memory it is.
    rank: int
    peer: int
    # When it was taken and released in the trace; `end` None: never.
    begin: int
    exclusive: bool  # whether nobody else may have it meanwhile
    asks: bool  # whether a message asks for it even if no other rank ever has it
    end: int | None = None
    # The holds that must be released before this one begins.
    before: list[Hold] = field(default_factory=list)
    awaited: bool = False  # whether another hold waits for the release of this one
    # MPI let the program go on before the lock was free; so the unlock waits for it.
    late: bool = False

    @property
    def is_asked(self) -> bool:
        """Whether a message asks for it."""
        return self.asks or self.awaited or bool(self.before)


class Locks:
    """All locks of a program."""

    def __init__(self) -> None:
        self.all: dict[tuple[Hashable, int], list[Hold]] = {}
        self.open: dict[tuple[int, Hashable, int], Hold] = {}

    def take(
        self, rank: int, window: Hashable, peer: int, time: int, exclusive: bool, asks: bool
    ) -> Hold:
        """Return the hold of a rank that takes a lock."""
        hold = Hold(rank, peer, time, exclusive, asks)
        self.all.setdefault((window, peer), []).append(hold)
        self.open[rank, window, peer] = hold
        return hold

    def release(self, rank: int, window: Hashable, peers: Iterable[int], time: int) -> list[Hold]:
        """End the holds of a rank on peers, and return those that there are."""
        keys = [(rank, window, peer) for peer in peers]
        holds = [self.open.pop(key) for key in keys if key in self.open]
        for hold in holds:
            hold.end = time
        return holds

    def find_waits(self) -> None:
        """Fill in `before`, `awaited` and `late` of each hold.

        The holds of a lock follow each other in the order in which the trace releases them.
        """
        for holds in self.all.values():
            sole, shared = list[Hold](), list[Hold]()
            for hold in sorted(holds, key=_released):
                others = [*sole, *shared] if hold.exclusive else sole
                hold.before = [other for other in others if other.rank != hold.rank]
                for other in hold.before:
                    other.awaited = True
                    hold.late |= other.end is None or other.end > hold.begin
                if hold.exclusive:
                    sole, shared = [hold], []
                else:
                    shared.append(hold)


def _released(hold: Hold) -> tuple[int, int, int]:
    return hold.begin if hold.end is None else hold.end, hold.begin, hold.rank


@dataclass
class Entry:
    """A rank's part in a collective."""

    kind: str
    size: int | tuple[int, ...]
    root: int
    line: int


@dataclass
class Communicator:
    """Ranks that communicate, and the collectives of each, by its rank in the communicator."""

    members: tuple[int, ...]
    place: dict[int, int]
    entries: list[dict[int, Entry]] = field(default_factory=list)
    count: dict[int, int] = field(default_factory=dict)
    schedules: list[Schedule] = field(default_factory=list)
    tags: list[int] = field(default_factory=list)


@dataclass
class Served:
    """A message that a rank's agent takes for another rank: one that it answers, or a release."""

    rank: int
    sent: int = 0
    received: int = 0
    hold: Hold | None = None
    releases: bool = False


def _asked(size: int) -> tuple[int, int]:
    return (size, CARRIED_TAG) if size else (1, REQUEST_TAG)


def _answered(size: int) -> tuple[int, int]:
    return (size, CARRIED_TAG + 1) if size else (1, ANSWER_TAG)


def serve(builder: Builder, rank: int, served: Sequence[Served]) -> None:
    """Add what the agent of a rank does; it gives a lock when those before have released it."""
    released: dict[int, int] = {}
    answers: list[tuple[int, Hold]] = []
    for message in served:
        hold = message.hold
        if message.releases:
            assert hold is not None  # of a lock
            if hold.awaited:
                released[id(hold)] = builder.recv(rank, message.rank, 1, RELEASE_TAG, cpu=AGENT)
            continue
        if hold is not None and not hold.is_asked:
            continue
        size, tag = _asked(message.sent)
        asked = builder.recv(rank, message.rank, size, tag, cpu=AGENT)
        size, tag = _answered(message.received)
        answer = builder.send(rank, message.rank, size, tag, after=[asked], cpu=AGENT)
        if hold is not None:
            answers.append((answer, hold))
    for answer, hold in answers:
        for before in hold.before:
            release = released.get(id(before))
            if release is None:  # nobody sends it: the replay ends and names who waits for it
                release = builder.recv(rank, before.rank, 1, RELEASE_TAG, cpu=AGENT)
                released[id(before)] = release
            builder.require(answer, release)


class Cursor:
    """Turns the calls of a rank into operations; knows what the next one waits for."""

    def __init__(self, builder: Builder, rank: int) -> None:
        self.builder = builder
        self.rank = rank
        self.after: list[int] = []
        self.started: list[int] = []
        self.requests: dict[Hashable, list[int]] = {}

    def run(self, calls: Sequence[Call], waits: Mapping[int, Sequence[int]]) -> None:
        """Add the operations of all calls; `waits` are those of calls that are not in a row."""
        ends: dict[int, list[int]] = {}
        for index, (call, self.builder.line, *arguments) in enumerate(calls):
            if index in waits:
                before_it = dict.fromkeys(end for before in waits[index] for end in ends[before])
                self.after, self.started = list(before_it), []
            call(self, *arguments)
            if waits:
                ends[index] = self.after

    def message(
        self, kind: int, peer: int, size: int, tag: int = 0, request: Hashable = None
    ) -> None:
        """Add a message, or of kind `CALC` so many picoseconds of computing."""
        number = self.builder.message(
            kind, self.rank, peer, size, tag, after=self.after, after_start=self.started
        )
        self._goes_on([number], request, [number])

    def wait(self, requests: Sequence[Hashable]) -> None:
        """Let what comes next wait for requests."""
        for request in requests:
            self.after += self.requests.pop(request, ())
        ended = set(self.after)
        self.started = [operation for operation in self.started if operation not in ended]

    def remote(self, peer: int, sent: int, received: int, request: Hashable) -> None:
        """Add what is sent to the agent of another rank, and its answer."""
        builder, rank = self.builder, self.rank
        size, tag = _asked(sent)
        number = builder.send(
            rank, peer, size, tag, after=self.after, after_start=self.started, cpu=AGENT
        )
        size, tag = _answered(received)
        answer = builder.recv(rank, peer, size, tag, after_start=[number], cpu=AGENT)
        self._goes_on([answer], request, [number])

    def lock(self, holds: Sequence[Hold]) -> None:
        """Ask for locks; wait at once but for those that MPI let the program go on without."""
        asked = [hold for hold in holds if hold.is_asked]
        for hold in asked:
            self.remote(hold.peer, 0, 0, ("lock", id(hold)))
        self.wait([("lock", id(hold)) for hold in asked if not hold.late])

    def unlock(self, holds: Sequence[Hold]) -> None:
        """Wait for locks that were not waited for; tell agents of which others wait."""
        self.wait([("lock", id(hold)) for hold in holds])
        for hold in holds:
            if hold.awaited:
                number = self.builder.send(
                    self.rank, hold.peer, 1, RELEASE_TAG,
                    after=self.after, after_start=self.started, cpu=AGENT,
                )  # fmt: skip
                self.after, self.started = [], [number]

    def _goes_on(self, ends: list[int], request: Hashable, begins: Sequence[int] = ()) -> None:
        if request is None:
            self.after, self.started = ends, []
        else:
            self.requests[request] = ends
            self.after, self.started = [], list(begins)

    def collective(
        self, communicator: Communicator, number: int, mine: int, request: Hashable
    ) -> None:
        """Add a rank's operations of a collective, each step after the one before."""
        builder, rank = self.builder, self.rank
        given, tag = communicator.schedules[number], communicator.tags[number]
        before, started, here, begins = self.after, self.started, list[int](), list[int]()
        last = -1
        for kind, peer, size, step in given.operations(mine):
            if step != last and last >= 0:
                before, started = here, []
                here = []
            last = step
            operation = builder.message(
                kind, rank, communicator.members[peer], size, tag, after=before, after_start=started
            )
            here.append(operation)
            if before is self.after:
                begins.append(operation)
        if here:
            self._goes_on(here, request, begins)
        elif request is not None:
            self.requests[request] = []
