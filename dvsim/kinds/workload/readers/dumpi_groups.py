"""Communicators and groups of DUMPI traces, whose numbers each rank gives for itself.

A communicator is known by how it was made: from which, as the how many-th of it, and of what colour
or group. Ranks that made it in the same way are in the same one, so its members are known when all
ranks have been read.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from dvsim.kinds.workload.readers.dumpi_file import Call

WORLD: tuple[Hashable, ...] = ("world",)
_NULL, _WORLD, _SELF = 1, 2, 3

Key = tuple[Any, ...]

MAKERS = (
    "Comm_dup", "Comm_create", "Comm_split", "Cart_create", "Cart_sub", "Graph_create",
    "Intercomm_create", "Intercomm_merge",
)  # fmt: skip
POINTS = ("send", "Send", "recv", "Recv", "_init")
PEERS = {"Sendrecv": (2, 6), "Sendrecv_replace": (2, 4)}
"""How calls of messages end, and where the other ranks stand if not third."""
SIZE_AT = {"Comm_size": 1, "Gatherv": 1, "Scatterv": 1} | dict.fromkeys(
    ("Allgatherv", "Alltoallv", "Reduce_scatter"), 0
)
RANK_AT = {"Comm_rank": 1} | dict.fromkeys(("Gather", "Gatherv", "Scatter", "Scatterv"), 0)
"""Where calls say the size of their communicator, and the own rank in it."""


class Communicators:
    """Communicators of all ranks by how they were made; for each who is in it."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.asked: dict[Key, dict[int, int]] = {}  # made by a split → rank → its key
        self.dimensions: dict[Key, tuple[int, ...]] = {}
        self._found: dict[Key, tuple[int, ...]] = {}

    def made_before(
        self, calls: Sequence[Sequence[Call]], places: Mapping[str, int]
    ) -> tuple[dict[int, Key], list[str]]:
        """Return communicators that were made before tracing began, and what was taken to be so.

        Their size is what MPI_Comm_size or a collective said; else they have all ranks if a message
        is to or from the last. A communicator of as many ranks as use it, or of all, is theirs, in
        the order of MPI_Comm_rank.

        Args:
            calls: Of each rank.
            places: Where the communicator stands in a call.
        """
        sizes: dict[int, set[int]] = {}
        users: dict[int, dict[int, int]] = {}  # handle → rank → its rank there, -1 where not said
        reached: dict[int, int] = {}
        places = {"Comm_size": 0, "Comm_rank": 0, **places}
        for rank, own in enumerate(calls):
            made = {_NULL, _WORLD, _SELF}
            for name, arguments in ((call.name, call.arguments) for call in own):
                handle = arguments[places[name]] if name in places else _NULL
                if handle not in made:
                    there = users.setdefault(handle, {})
                    there.setdefault(rank, -1)
                    if name in RANK_AT:
                        there[rank] = arguments[RANK_AT[name]]
                    if name in SIZE_AT:
                        sizes.setdefault(handle, set()).add(arguments[SIZE_AT[name]])
                    if name in PEERS or name.endswith(POINTS):
                        peers = [arguments[at] for at in PEERS.get(name, (2,))]
                        reached[handle] = max(reached.get(handle, -1), *peers)
                if name in MAKERS:
                    made.add(arguments[-1])
        found, told = dict[int, Key](), []
        for handle, there in users.items():
            all_ranks = {self.ranks} if reached.get(handle) == self.ranks - 1 else {0}
            size, *others = sizes.get(handle, all_ranks)
            if others:
                continue
            said = {place: rank for rank, place in there.items() if place >= 0}
            members = sorted(there) if size == len(there) else list(range(self.ranks))
            if size == len(there) == len(said) and sorted(said) == list(range(size)):
                members = [said[place] for place in range(size)]
            if size == len(members) and all(members[place] == said[place] for place in said):
                found[handle] = ("early", handle, tuple(members))
                ranks = "all ranks" if size == self.ranks else f"ranks {members}"
                told.append(f"communicator {handle}, made before tracing began, is of {ranks}")
        return found, told

    def members(self, key: Key) -> tuple[int, ...]:
        """Return the ranks of a communicator or group, in their order."""
        members = self._found.get(key)
        if members is None:
            members = self._found[key] = self._members(key)
        return members

    def _members(self, key: Key) -> tuple[int, ...]:
        how = key[0]
        if how == "early":
            return tuple(key[2])
        if how in ("world", "self"):
            return tuple(range(self.ranks)) if how == "world" else (key[1],)
        before = self.members(key[1])
        ranks: Iterable[int] = before  # of a duplicate, and of the group of a communicator
        if how == "split":
            asked = self.asked.get(key, {})
            rank_there = {rank: at for at, rank in enumerate(before)}
            ranks = sorted(asked, key=lambda rank: (asked[rank], rank_there.get(rank, 0)))
        elif how == "create":
            ranks = self.members(key[3])
        elif how == "cart":
            ranks = before[: key[3]]
        elif how == "incl":
            ranks = (before[index] for index in key[2] if 0 <= index < len(before))
        elif how == "excl":
            ranks = (rank for index, rank in enumerate(before) if index not in key[2])
        elif how == "union":
            ranks = dict.fromkeys((*before, *self.members(key[2])))
        elif how in ("intersection", "difference"):
            other = self.members(key[2])
            ranks = (rank for rank in before if (rank in other) == (how == "intersection"))
        return tuple(ranks)


class Handles:
    """The numbers that one rank has for communicators and groups."""

    def __init__(self, all_: Communicators, rank: int, early: Mapping[int, Key]) -> None:
        self.all = all_
        self.rank = rank
        self.communicators: dict[int, Key | None] = {_WORLD: WORLD, _SELF: ("self", rank)}
        self.communicators |= {handle: key for handle, key in early.items() if rank in key[2]}
        self.groups: dict[int, Key] = {}
        self.count: dict[Key, int] = {}

    def communicator(self, number: int) -> Key | None:
        """Return a communicator; None if nobody knows who is in it."""
        return self.communicators.get(number)

    def note(self, call: Call) -> bool:
        """Take what a call makes; return whether it is one that makes something."""
        name, arguments = call.name, call.arguments
        if name in ("Comm_dup", "Comm_create", "Comm_split", "Cart_create", "Cart_sub"):
            self._made(name, arguments)
        elif name in ("Intercomm_create", "Intercomm_merge", "Graph_create"):
            self.communicators[arguments[-1]] = None
        elif name == "Comm_group":
            key = self.communicator(arguments[0])
            if key is not None:
                self.groups[arguments[1]] = ("group", key)
        elif name in ("Group_incl", "Group_excl"):
            self._group(name[6:], arguments[0], arguments[2], arguments[3])
        elif name in ("Group_range_incl", "Group_range_excl"):
            runs = [run for run in arguments[2] if len(run) == 3 and run[2]]
            ranks = [
                rank
                for first, last, step in runs
                for rank in range(first, last + (1 if step > 0 else -1), step)
            ]
            self._group(name[12:], arguments[0], tuple(ranks), arguments[3])
        elif name in ("Group_union", "Group_intersection", "Group_difference"):
            other = self.groups.get(arguments[1])
            if other is not None:
                self._group(name[6:], arguments[0], other, arguments[2])
        else:
            return False
        return True

    def _group(self, how: str, old: int, what: tuple[Any, ...], new: int) -> None:
        group = self.groups.get(old)
        if group is not None:
            self.groups[new] = (how, group, what)

    def _made(self, name: str, arguments: tuple[Any, ...]) -> None:
        new = arguments[-1]
        old = self.communicator(arguments[1 if name == "Cart_sub" else 0])
        if old is None:
            self.communicators[new] = None
            return
        number = self.count[old] = self.count.get(old, 0) + 1
        key: Key | None = ("dup", old, number)
        if name == "Comm_split":
            key = ("split", old, number, arguments[1])
        elif name == "Comm_create":
            group = self.groups.get(arguments[1])
            key = None if group is None else ("create", old, number, group)
        elif name == "Cart_create":
            dimensions = arguments[2]
            key = ("cart", old, number, math.prod(max(0, size) for size in dimensions))
            self.all.dimensions[key] = dimensions
        elif name == "Cart_sub":
            key = self._sub(old, number, arguments[2])
        if new == _NULL:
            return
        if name in ("Comm_split", "Cart_sub") and key is not None:
            order = arguments[2] if name == "Comm_split" else 0
            self.all.asked.setdefault(key, {})[self.rank] = order
        self.communicators[new] = key

    def _sub(self, old: Key, number: int, remain: tuple[int, ...]) -> Key | None:
        dimensions = self.all.dimensions.get(old)
        at = old
        while at[0] in ("cart", "dup"):
            at = at[1]
        if dimensions is None or at != WORLD or len(remain) != len(dimensions):
            return None
        fixed, rank = [], self.rank
        for size, stays in zip(reversed(dimensions), reversed(remain), strict=True):
            rank, here = divmod(rank, max(1, size))
            if not stays:
                fixed.append(here)
        return ("split", old, number, tuple(fixed))
