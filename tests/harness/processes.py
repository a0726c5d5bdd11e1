"""Processes that tests look at from outside, and waiting for what they do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from harness.patience import patience


def children() -> dict[int, list[int]]:
    """Return the processes of this machine, by their parent."""
    found: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            parent = int((path / "stat").read_bytes().rpartition(b")")[2].split()[1])
            found.setdefault(parent, []).append(int(path.name))
    return found


def until(true: Callable[[], object], what: str, seconds: float = 200) -> None:
    """Wait until a condition holds, at most so long: then the test fails, and names `what`."""
    seconds = patience(seconds)
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what}: waited {seconds:.0f} s"
        time.sleep(0.01)
