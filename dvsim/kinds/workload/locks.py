"""Locks of windows: who has which when in a trace, and so who waits for whom in its replay."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field


@dataclass(eq=False)
class Hold:
    """A lock that a rank has on the memory of another.

    Attributes:
        rank, peer: Who has it, and whose memory it is.
        begin, end: When it was taken and released in the trace; `end` None: never.
        exclusive: Whether nobody else may have it meanwhile.
        asks: Whether a message asks for it though nobody else ever has it.
        before: What must have been released before it is given.
        awaited: Whether another one waits for its release.
        late: MPI let the program go on while another had it, so its release waits for it instead.
    """

    rank: int
    peer: int
    begin: int
    exclusive: bool
    asks: bool
    end: int | None = None
    before: list[Hold] = field(default_factory=list)
    awaited: bool = False
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

    def taken(
        self, rank: int, window: Hashable, peer: int, time: int, exclusive: bool, asks: bool
    ) -> Hold:
        """Note that a rank takes a lock."""
        found = Hold(rank, peer, time, exclusive, asks)
        self.all.setdefault((window, peer), []).append(found)
        self.open[rank, window, peer] = found
        return found

    def given(self, rank: int, window: Hashable, peers: Iterable[int], time: int) -> list[Hold]:
        """Note that a rank gives locks back; return those that it had."""
        keys = [(rank, window, peer) for peer in peers]
        holds = [self.open.pop(key) for key in keys if key in self.open]
        for one in holds:
            one.end = time
        return holds

    def order(self) -> None:
        """Say who waits for whom: for each lock in the order in which it was released."""
        for holds in self.all.values():
            sole, shared = list[Hold](), list[Hold]()
            for one in sorted(holds, key=_released):
                others = [*sole, *shared] if one.exclusive else sole
                one.before = [other for other in others if other.rank != one.rank]
                for other in one.before:
                    other.awaited = True
                    one.late |= other.end is None or other.end > one.begin
                if one.exclusive:
                    sole, shared = [one], []
                else:
                    shared.append(one)


def _released(one: Hold) -> tuple[int, int, int]:
    """Return when a lock was free again; one that was never released stays where it was taken."""
    return one.begin if one.end is None else one.end, one.begin, one.rank
