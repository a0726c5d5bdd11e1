"""Runs a command with fail.c before all libraries, and sees what it does when a call fails."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "emulator"))
sys.path.insert(0, str(Path(__file__).parents[1]))
from emulator_build import SANITIZE, build, in_place  # noqa: F401 - for the others here
from harness.patience import patience

HERE = Path(__file__).parent
ENTRY, TAIL = struct.Struct("24sQ"), struct.Struct("Q232s")
DEADLINE_S = 120  # of one run: far beyond what it takes on a loaded machine
LINGER_S = 15
SANITIZED = 77
NO_ASAN_ORDER = f"verify_asan_link_order=0:exitcode={SANITIZED}:allocator_may_return_null=1"


@dataclass(frozen=True)
class Fault:
    """The n-th call fails with an error; `error` 0: it does half, `onward`: and all that follow."""

    call: str
    number: int = 1
    error: int = errno.ENOMEM
    onward: bool = False

    def __str__(self) -> str:
        name = errno.errorcode.get(self.error, "short")
        return f"{self.call} {self.number}{'+' if self.onward else ''} {name}"

    @property
    def text(self) -> str:
        """For the environment of fail.c."""
        return f"{self.call}:{self.number}:{self.error}{'+' if self.onward else ''}"


NOTHING = Fault("malloc", 0, 0)


@dataclass
class Outcome:
    """What a command did."""

    code: int  # -9: it was ended, as it hung
    out: str
    err: str
    counts: Mapping[str, int]
    failed: int  # calls that were made to fail
    where: str  # file and offset of the first of them
    left: Sequence[str]  # processes that are still there
    hung: bool


def shim(folder: Path) -> Path:
    """Compile fail.c."""
    target = folder / "fail.so"
    flags = ["-std=c11", "-O1", "-g", "-fPIC", "-shared", "-fno-builtin", "-fno-omit-frame-pointer"]
    flags += ["-U_FORTIFY_SOURCE", "-Wall", "-Wextra", "-Werror", "-ldl"]
    build.compile_c([HERE / "fail.c"], target, flags)
    return target


def read_state(path: Path) -> tuple[dict[str, int], int, str]:
    """Return calls by name, how many failed, and where the first."""
    data = path.read_bytes() if path.exists() else b""
    end = len(data) - TAIL.size
    counts = {}
    for at in range(0, max(end, 0), ENTRY.size):
        name, count = ENTRY.unpack_from(data, at)
        if count:
            counts[name.rstrip(b"\0").decode()] = count
    failed, where = TAIL.unpack_from(data, end) if end > 0 else (0, b"")
    return counts, failed, where.split(b"\0")[0].decode()


@dataclass
class Watched:
    """Where and how faults are made: see fail.c for the four limits."""

    shim: Path
    folder: Path
    limits: Mapping[str, str] = field(default_factory=dict)

    def run(self, command: Sequence[str], fault: Fault = NOTHING, **more: str) -> Outcome:
        """Run a command in the folder, and end what it leaves."""
        state = self.folder.with_name(f"{self.folder.name}.state")
        state.unlink(missing_ok=True)
        env = {**os.environ, "LD_PRELOAD": str(self.shim), "FAULT": fault.text, **self.limits}
        env |= {"FAULT_STATE": str(state), "TMPDIR": str(self.folder), **more}
        env["ASAN_OPTIONS"] = NO_ASAN_ORDER
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=env, cwd=self.folder, start_new_session=True,
        )  # fmt: skip
        hung = False
        try:
            out, err = process.communicate(timeout=patience(DEADLINE_S))
        except subprocess.TimeoutExpired:
            hung = True
            for pid in [process.pid, *still_there(state)]:
                end(pid)
            out, err = process.communicate()
        left = [] if hung else stay(state)
        return Outcome(process.returncode, out, err, *read_state(state), left, hung)


def still_there(state: Path) -> Iterator[int]:
    """Yield the processes that have this state in their environment."""
    mark = f"FAULT_STATE={state}".encode()
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)
        except OSError:  # it has ended, or is somebody else's
            continue


def stay(state: Path) -> list[str]:
    """Return the processes that do not go away by themselves, after ending them."""
    until = time.monotonic() + patience(LINGER_S)
    while (left := list(still_there(state))) and time.monotonic() < until:
        time.sleep(0.01)
    texts = [describe(pid) for pid in left]
    for pid in left:
        end(pid)
    return texts


def describe(pid: int) -> str:
    """Return the command of a process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return str(pid)


def end(pid: int) -> None:
    """Kill a process."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


CRASHES = re.compile(
    r"killed by signal (?:4|6|7|8|11)\b|AddressSanitizer|LeakSanitizer|runtime error:"
)
VAGUE = (
    "no memory",
    "no room",
    "VIC_ESYS",
    "no thread",
    "memory",
    "not open",
    "does not answer",
    "does not end",
    "no job serves there",
)


def verdict(outcome: Outcome, fault: Fault, good: Sequence[str], causes: Sequence[str] = ()) -> str:
    """Judge a run: '' if nothing is wrong with it, else what is.

    Parameters
    ----------
    outcome, fault
        What happened, and what was made to happen.
    good
        Lines of the output of a run in which nothing fails, in any order.
    causes
        What else names the cause, besides the text of the error.
    """
    code, text = outcome.code, outcome.err
    signals = {128 + number for number in (4, 6, 7, 8, 11)}
    if outcome.hung:
        return f"hangs: {tail(text)}"
    if outcome.left:
        return f"leaves processes: {'; '.join(outcome.left)}"
    if code < 0 or code in signals or CRASHES.search(text + outcome.out):
        return f"crashes with {code}: {tail(text)}"
    if code == 0:
        same = sorted(outcome.out.splitlines()) == sorted(good)
        return "" if same else f"says it is good, and is not: {tail(outcome.out)}"
    known = [os.strerror(fault.error or errno.ENOSPC), *VAGUE, *causes]
    if not any(cause.lower() in text.lower() for cause in known):
        return f"exit code {code} without the cause: {tail(text)}"
    return ""


def tail(text: str) -> str:
    """Return the end of a text."""
    return text.strip()[-1500:] or "(nothing)"
