"""One-sided operations in the events of an OTF2 archive: puts, gets, atomics, and what ends them.

The other rank's program does nothing for an operation. It ends where the trace says so: an event of
its own, or a fence, a flush, an unlock or the end of an access, each of which waits for what the
rank began before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from dvsim.kinds.workload.check import RECV, SEND
from dvsim.kinds.workload.readers.scorep import KINDS
from dvsim.scenario import bounds

if TYPE_CHECKING:
    from dvsim.kinds.workload.readers.otf2 import Rank
    from dvsim.kinds.workload.readers.otf2_events import Fields, Thread

(
    MADE, FREED, BEGIN, END, GROUP, REQUESTED, LOCKED, TRIED, UNLOCKED, SYNC, CHANGE, PUT, GET,
    ATOMIC, BLOCKING, NON_BLOCKING, TEST, REMOTE,
) = range(35, 53)  # fmt: skip

LAYOUT = {
    MADE: "n", FREED: "n", BEGIN: "", END: "bnnnnn", GROUP: "nnn", REQUESTED: "nnnb",
    LOCKED: "nnnb", TRIED: "nnnb", UNLOCKED: "nnn", SYNC: "nnb", CHANGE: "n", PUT: "nnnn",
    GET: "nnnn", ATOMIC: "nnbnnn", BLOCKING: "nn", NON_BLOCKING: "nn", TEST: "nn", REMOTE: "nn",
}  # fmt: skip
"""Fields of the events: numbers, and single bytes."""

SHARED = 1
"""The kind of a lock that several may have at once; else one alone."""

_ENDS = ("unlock", "unlock_all", "flush", "flush_all", "complete", "fence")
ENDS = {f"MPI_Win_{name}": False for name in _ENDS}
ENDS |= {f"MPI_Win_{name}": True for name in ("flush_local", "flush_local_all")}
"""Calls that end what was begun, some of them at this end alone."""


class Windows:
    """The windows of a rank, and what it began on them and did not wait for."""

    def __init__(self, rank: Rank) -> None:
        self.rank = rank
        self.count = 0
        self.contested: Collection[tuple[int, int]] = ()
        """Windows, and places in them, that some rank locks for itself alone."""
        self.begun: dict[tuple[int, int], tuple[int, bool, int, int]] = {}
        """By window and number of the operation: the other rank, whether it fetches, its call, and
        its place among all operations of the rank.
        """

    def event(self, kind: int, time: int, fields: Fields) -> None:
        """Add what an event says."""
        ACTIONS[kind](self, time, fields)

    def left(self, call: str, begin: int) -> bool:
        """Return whether a call ends what was begun; if something was, wait for it."""
        local = ENDS.get(call)
        if local is None:
            return False
        keys = [key for key, (_, fetches, *_) in self.begun.items() if fetches or not local]
        if keys:
            self.rank.begins(begin)
            self._wait(keys)
        return True

    def _wait(self, keys: list[tuple[int, int]]) -> None:
        requests = [("window", self.begun.pop(key)[-1]) for key in keys]
        self.rank.program.wait(self.rank.rank, requests)

    def _end(self, window: int, other: int | None = None) -> None:
        self._wait([
            key for key, (rank, *_) in self.begun.items()
            if key[0] == window and other in (None, rank)
        ])  # fmt: skip

    def _communicator(self, number: int) -> int:
        own, known = self.rank.thread.own, self.rank.known
        window = own.windows.get(number, number)
        communicator = known.windows.get(window)
        if communicator is None:
            self.rank.refuse(f"an event is on window {window}, which is not defined")
        return self.rank.defined(communicator)

    def _other(self, number: int, remote: int) -> int:
        members = self.rank.program.members(self._communicator(number))
        if remote >= len(members):
            self.rank.refuse(f"an operation on rank {remote} of window {number}, which has "
                             f"{len(members)} ranks")  # fmt: skip
        return members[remote]

    def _began(self, time: int, fields: Fields, sent: int, received: int) -> None:
        self.rank.begins(time)
        window, remote, *_, number = fields
        if max(sent, received) > bounds.SIZE:
            self.rank.refuse(f"a one-sided operation of {max(sent, received)} bytes")
        other, key = self._other(window, remote), (window, number)
        self.count += 1
        if key in self.begun:  # a number that is used again; the first is waited for with all
            self.begun[window, -self.count] = self.begun[key]
        self.begun[key] = (other, received > 0, self.rank.calls, self.count)
        request = ("window", self.count)
        self.rank.program.remote(self.rank.rank, other, sent, received, request=request)

    def _here(self, time: int, fields: Fields) -> None:
        """End an operation at this end: what is put is away then, what is fetched must be there.

        A call of MPI that begins an operation and says that it ended does not wait for it.
        """
        self.rank.begins(time)
        begun = self.begun.get((fields[0], fields[1]))
        if begun is not None and begun[1] and begun[2] != self.rank.calls:
            self._wait([(fields[0], fields[1])])

    def _there(self, time: int, fields: Fields) -> None:
        self.rank.begins(time)
        if (fields[0], fields[1]) in self.begun:
            self._wait([(fields[0], fields[1])])

    def _collective(self, time: int, fields: Fields) -> None:
        op, _, window, root, sent, received = fields
        if op >= len(KINDS):
            self.rank.skip_handle()
            return
        self.rank.begins(time)
        self._end(window)
        self.rank.enter(time, (op, self._communicator(window), root, sent, received), None)

    def _group(self, time: int, fields: Fields) -> None:
        self.rank.begins(time)
        _, window, group = fields
        own, known, program = self.rank.thread.own, self.rank.known, self.rank.program
        members = known.groups.get(own.groups.get(group, group), (0, 0, []))[2]
        shared = self._shared(window)
        call = self.rank.thread.call.removeprefix("MPI_Win_")
        if call not in NOTICES:
            program.skip(OTHERS)
            return
        kind, says = NOTICES[call]
        if call == "complete":
            self._end(window)
        for other in members:
            if other >= program.ranks:
                self.rank.refuse(f"group {group} has rank {other}; the last is {program.ranks - 1}")
            program.notice(kind, self.rank.rank, other, (says, shared))

    def _of_lock(self, window: int, remote: int) -> tuple[int | None, list[int]]:
        """Return the rank that a lock is of, None if of all, and whose memory it locks.

        Of a lock of all that is the memory of those that some rank locks for itself alone.
        """
        members = self.rank.program.members(self._communicator(window))
        if remote < len(members):
            return members[remote], [members[remote]]
        shared = self._shared(window)
        return None, [rank for at, rank in enumerate(members) if (shared, at) in self.contested]

    def _shared(self, window: int) -> int:
        return self.rank.thread.own.windows.get(window, window)

    def exclusive(self, thread: Thread) -> set[tuple[int, int]]:
        """Return the windows, and places in them, that a thread locks for its rank alone."""
        locks = [lock for kind, *_, lock in thread.events if kind in (LOCKED, TRIED)]
        windows = thread.own.windows
        return {(windows.get(lock[0], lock[0]), lock[1]) for lock in locks if lock[3] != SHARED}

    def _locked(self, time: int, fields: Fields) -> None:
        self.rank.begins(time)
        window, remote, _, kind = fields
        other, peers = self._of_lock(window, remote)
        self.rank.program.lock(
            self.rank.rank, self._shared(window), peers, time,
            exclusive=kind != SHARED, asks=other is not None,
        )  # fmt: skip

    def _unlocked(self, time: int, fields: Fields) -> None:
        self.rank.begins(time)
        window, remote, _ = fields
        other, peers = self._of_lock(window, remote)
        self._end(window, other)
        self.rank.program.unlock(self.rank.rank, self._shared(window), peers, time)


OTHERS = "one-sided synchronization of other kinds"
NOTICES = {
    "post": (SEND, "post"), "start": (RECV, "post"),
    "complete": (SEND, "complete"), "wait": (RECV, "complete"), "test": (RECV, "complete"),
}  # fmt: skip
"""What each call of a group says or hears."""

ACTIONS: Mapping[int, Callable[[Windows, int, tuple[int, ...]], None]] = {
    # the window is made or freed where its collective ends
    **dict.fromkeys((MADE, FREED, BEGIN), lambda *_: None),
    **dict.fromkeys((REQUESTED, TEST), lambda own, time, _: own.rank.begins(time)),
    **dict.fromkeys((LOCKED, TRIED), Windows._locked),
    **dict.fromkeys((SYNC, CHANGE), lambda own, *_: own.rank.program.skip(OTHERS)),
    **dict.fromkeys((BLOCKING, NON_BLOCKING), Windows._here),
    END: Windows._collective,
    GROUP: Windows._group,
    UNLOCKED: Windows._unlocked,
    PUT: lambda own, time, fields: own._began(time, fields, fields[2], 0),
    GET: lambda own, time, fields: own._began(time, fields, 0, fields[2]),
    ATOMIC: lambda own, time, fields: own._began(time, fields, *fields[3:5]),
    REMOTE: Windows._there,
}
