"""Is a process flat? Its memory, descriptors and threads, looked at again and again.

A slope is the median of the slopes of all pairs (Theil and Sen), so that neither a burst nor a
single look decides; of the second half of a life, as the first may warm up. What that slope comes
to over this half is held against a bound, `LIMITS`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

LOOKS = 12
"""A life with fewer looks in its second half is too short to be judged."""
MOST_LOOKS = 400
"""Of a life: then every second one is forgotten, and looks are taken half as often."""


class Look(NamedTuple):
    """One look: KiB of memory of its own and shared, descriptors, threads, memory files mapped."""

    private: int
    shared: int
    descriptors: int
    threads: int
    mapped: int


LIMITS = Look(private=1024, shared=4096, descriptors=2, threads=2, mapped=1)
"""What each may grow by in the second half of a life."""
LONG_S = 100.0
"""Of a shorter life the second half is warm-up, too: it may grow by so much more."""


def look(pid: int) -> Look | None:
    """Return how a process is now; None if it has gone or is a zombie."""
    folder = Path(f"/proc/{pid}")
    try:
        rows = (folder / "status").read_text("utf-8", "replace").splitlines()
        status = dict(row.split(":", 1) for row in rows if ":" in row)
        mapped = (folder / "maps").read_text("utf-8", "replace").count("/memfd:")
        descriptors = len(os.listdir(folder / "fd"))  # noqa: PTH208 only how many
        private, shared = (int(status[key].split()[0]) for key in ("RssAnon", "RssShmem"))
        return Look(private, shared, descriptors, int(status["Threads"]), mapped)
    except (OSError, KeyError):
        return None


@dataclass
class Watch:
    """The looks at one process, for as long as it lives."""

    name: str
    pid: int
    every_s: float = 0.25
    at_s: list[float] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    def again(self) -> None:
        """Look, if it is time."""
        now = time.monotonic()
        if self.at_s and now < self.at_s[-1] + self.every_s:
            return
        seen = look(self.pid)
        if seen is None:
            return
        self.at_s.append(now)
        self.looks.append(seen)
        if len(self.looks) >= MOST_LOOKS:
            self.at_s, self.looks, self.every_s = self.at_s[::2], self.looks[::2], 2 * self.every_s

    @property
    def life_s(self) -> float:
        return self.at_s[-1] - self.at_s[0] if self.at_s else 0.0

    def growths(self) -> dict[str, tuple[float, float]]:
        """Return by how much each figure grew in the second half, and by how much it may."""
        half = len(self.looks) // 2
        if half < LOOKS:
            return {}
        at = np.array(self.at_s[half:])
        values = np.array(self.looks[half:], dtype=float)
        first, second = np.triu_indices(len(at), 1)
        slopes = (values[second] - values[first]) / (at[second] - at[first])[:, None]
        grown = np.median(slopes, axis=0) * (at[-1] - at[0])
        more = max(1.0, LONG_S / self.life_s)
        return {name: (float(grown[k]), LIMITS[k] * more) for k, name in enumerate(Look._fields)}

    def breaches(self) -> list[str]:
        """Return what grows, in words."""
        return [f"{self.name} (pid {self.pid}): {name} grew by {grown:.1f} in the second half of "
                f"{self.life_s:.0f} s; {limit:g} would be flat"
                for name, (grown, limit) in self.growths().items() if grown > limit]  # fmt: skip


class Health:
    """All processes of a soak."""

    def __init__(self) -> None:
        self.watches: dict[tuple[str, int], Watch] = {}

    def again(self, now_there: dict[str, int]) -> None:
        """Look at processes, by name and number."""
        for name, pid in now_there.items():
            self.watches.setdefault((name, pid), Watch(name, pid)).again()

    def longest(self) -> dict[str, Watch]:
        """Return of each name the longest life."""
        found: dict[str, Watch] = {}
        for watch in self.watches.values():
            if watch.looks and watch.life_s >= found.get(watch.name, watch).life_s:
                found[watch.name] = watch
        return found

    def breaches(self, but: str = "broker") -> list[str]:
        """Return what grows; brokers are other people's programs."""
        return [breach for watch in self.watches.values() if not watch.name.startswith(but)
                for breach in watch.breaches()]  # fmt: skip


class Process(NamedTuple):
    """A line of the process table."""

    pid: int
    parent: int
    name: str
    state: str

    @property
    def lives(self) -> bool:
        return self.state not in "ZX"


def process(pid: int) -> Process | None:
    """Return one process; its name has 15 letters at most. None if it has gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    head, _, tail = text.rpartition(")")
    state, parent, *_ = tail.split()
    return Process(pid, int(parent), head.partition("(")[2], state)


class Table:
    """All processes, read when somebody asks for the first time."""

    @cached_property
    def rows(self) -> list[Process]:
        pids = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
        return [found for pid in pids if (found := process(pid)) is not None]

    def below(self, parent: int, name: str) -> int | None:
        """Return the child of a process, or of its children, that runs a program of this name."""
        for row in (row for row in self.rows if row.parent == parent and row.lives):
            found = row.pid if row.name == name[:15] else self.below(row.pid, name)
            if found is not None:
                return found
        return None

    def zombies(self, parents: Collection[int]) -> list[Process]:
        """Return what has ended and its parent, one of these, has not waited for."""
        return [p for p in self.rows if p.state == "Z" and p.parent in parents]
