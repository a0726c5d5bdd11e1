"""Communicators and groups of DUMPI traces, whose numbers each rank gives for itself.

A communicator is known by how it was made: from which, as the how many-th of it, and of what colour
or group. Ranks that made it in the same way are in the same one, so its members are known when all
ranks have been read.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any

from dvsim.kinds.workload.readers.dumpi_file import Call

WORLD: tuple[Hashable, ...] = ("world",)
_NULL, _WORLD, _SELF = 1, 2, 3

Key = tuple[Any, ...]


class Communicators:
    """Communicators of all ranks by how they were made; for each who is in it."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.asked: dict[Key, dict[int, int]] = {}  # made by a split → rank → its key
        self.dimensions: dict[Key, tuple[int, ...]] = {}
        self._found: dict[Key, tuple[int, ...]] = {}

    def members(self, key: Key) -> tuple[int, ...]:
        """Return the ranks of a communicator or group, in their order."""
        members = self._found.get(key)
        if members is None:
            members = self._found[key] = self._members(key)
        return members

    def _members(self, key: Key) -> tuple[int, ...]:
        how = key[0]
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

    def __init__(self, all_: Communicators, rank: int) -> None:
        self.all = all_
        self.rank = rank
        self.communicators: dict[int, Key | None] = {_WORLD: WORLD, _SELF: ("self", rank)}
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
        """Return the part of a grid that a rank is in, if its place in the grid is its rank."""
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
