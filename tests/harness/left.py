"""What a test leaves behind: its processes are ended and named, its open files are closed.

The test that leaves a process fails, not a later one. A fixture that outlives its test (session,
module, class) may keep the processes that it started.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
import time
import warnings
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from harness.patience import patience
from harness.processes import children

PATIENCE_S = 10
"""How long processes may take to end after their test."""
HELPERS = (
    b"multiprocessing.resource_tracker",
    b"multiprocessing.forkserver",
    b"epmd",
    b"inet_gethost",
)
"""Processes that libraries keep for the next call; those of Erlang may come from a lasting node."""
PR_SET_CHILD_SUBREAPER = 36
FAILED = pytest.StashKey[bool]()
KNOWN = pytest.StashKey[set[int]]()
kept: set[int] = set()


def pytest_configure() -> None:
    """Become the parent of what tests leave, so that it can be found."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> set[int]:
    """Return the processes that came from this one, without those that are kept and their own."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        found: set[int] = set()
        fresh = children(os.getpid()) - kept
        while fresh:
            found |= fresh
            fresh = {child for pid in fresh for child in children(pid)} - kept - found
        return found
    return set()


def keep(pid: int | None) -> None:
    """Leave a process, and what it starts, to the fixture that lasts longer than the test."""
    kept.update({pid} if pid is not None else ())


def said(pid: int) -> bytes:
    """Return the command line of a process, or nothing if it has ended.

    While a process turns into another program it has no command line: then its name.
    """
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").strip()
        name, state = Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)
    except OSError:
        return b""
    return b"" if state.split()[0] in b"ZX" else line or name.partition(b"(")[2]


def reap(pids: set[int]) -> None:
    """Forget those of our children that have ended."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def lasting(known: set[int]) -> dict[int, bytes]:
    """Return the processes that a test has left, by their number; helpers are known from now on."""
    left = descendants() - known
    reap(left)
    found = {pid: said(pid) for pid in left}
    kept.update(pid for pid, line in found.items() if any(name in line for name in HELPERS))
    return {pid: line for pid, line in found.items() if line and pid not in kept}


def ended(known: set[int], *, wait: float) -> list[str]:
    """End the processes that are not in `known`; return the command lines of those killed."""
    end = time.monotonic() + wait
    while lasting(known) and time.monotonic() < end:
        time.sleep(0.02)
    killed: list[str] = []
    for _ in range(100):
        left = lasting(known)
        if not left:
            break
        for pid, line in left.items():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            killed.append(f"{pid}: {line.decode(errors='replace')[:200]}")
        time.sleep(0.02)
    return list(dict.fromkeys(killed))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[object]) -> Generator[None, object, object]:
    """Let lasting fixtures keep what they start."""
    if fixturedef.scope == "function":
        return (yield)
    before = descendants()
    try:
        return (yield)
    finally:
        kept.update(descendants() - before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember whether the test has failed."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note what runs before the test; after a failed one close its files."""
    item.stash[KNOWN] = descendants()
    result = yield
    if item.stash.get(FAILED, False):
        sys.last_value = sys.last_traceback = sys.last_exc = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """End what still runs after the test's own fixtures; that is an error of a test that passed."""
    try:
        yield
    finally:
        failed = item.stash.get(FAILED, False)
        killed = ended(item.stash[KNOWN], wait=0 if failed else patience(PATIENCE_S))
    if killed and not failed:
        pytest.fail("it left processes:\n" + "\n".join(killed), pytrace=False)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """End what a worker has left that was killed: its children are the controller's now."""
    if not error:
        return
    mark = f"PYTEST_XDIST_WORKER={node.gateway.id}\0".encode()
    for pid in descendants():
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes():
                os.kill(pid, signal.SIGKILL)


def pytest_unconfigure() -> None:
    """End what is left of all tests."""
    ended(set(), wait=0)
