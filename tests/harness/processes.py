"""Processes that tests look at from outside, and waiting for what they do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from harness.patience import patience


def children(pid: int) -> set[int]:
    """Return the processes that one has started, or adopted.

    Linux may skip one while another ends, so it is asked twice.
    """
    found: set[int] = set()
    for _ in range(2):
        for threads in Path("/proc").glob(f"{pid}/task/*/children"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                found.update(map(int, threads.read_text().split()))
    return found


def until(true: Callable[[], object], what: str, seconds: float = 200) -> None:
    """Wait until a condition holds, at most so long: then the test fails, and names `what`."""
    seconds = patience(seconds)
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what}: waited {seconds:.0f} s"
        time.sleep(0.01)
