"""The locks of windows in a trace: which rank has which lock, and whose release it waits for."""

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
        asks: Whether a message asks for it even if no other rank ever has it.
        before: The holds that must be released before this one begins.
        awaited: Whether another hold waits for the release of this one.
        late: MPI let the program go on before the lock was free; so the unlock waits for it.
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
    """Return when a hold ended, or where it never did, when it began."""
    return hold.begin if hold.end is None else hold.end, hold.begin, hold.rank
