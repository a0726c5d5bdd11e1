"""Child processes of an emulated run, and CPU time of processes and of the machine."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, NamedTuple

from dvsim.broker.process import bound
from dvsim.errors import RunFailed

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Machine(NamedTuple):
    """CPU seconds of all cores since the machine was started: those not idle, and all."""

    busy_s: float
    all_s: float


def machine() -> Machine:
    """Read what all cores have done so far."""
    words = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    ticks = [int(word) for word in words]  # user nice system idle iowait irq softirq steal
    idle = ticks[3] + ticks[4]
    return Machine((sum(ticks) - idle) / TICKS_PER_S, sum(ticks) / TICKS_PER_S)


def busy_share(before: Machine, after: Machine) -> float:
    """Return the share of all cores' time that was spent between two readings."""
    whole = after.all_s - before.all_s
    return (after.busy_s - before.busy_s) / whole if whole > 0 else 0.0


def cpu_s(pids: Iterable[int]) -> float:
    """Return the CPU seconds of processes so far; one that has ended counts as 0."""
    ticks = 0
    for pid in pids:
        fields = _stat(pid)
        if fields is not None:
            ticks += int(fields[11]) + int(fields[12])  # user and system
    return ticks / TICKS_PER_S


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


TAIL = 12  # lines of stderr that an error shows
PATIENCE_S = 10.0  # between SIGTERM and SIGKILL


class Child:
    """A program in a session of its own, so that Ctrl-C is the harness's alone.

    Args:
        name: What an error calls it.
        command: The program, by its full path, and its arguments; no secrets.
        environment: Set in addition to that of this process.
        talks: Whether stdin and stdout are pipes of text; if not, they are /dev/null.
        folder: Its working directory; None: that of this process.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        talks: bool = False,
        folder: Path | None = None,
    ) -> None:
        self.name, self.command = name, list(command)
        self.usage_s = 0.0  # CPU seconds of it and what it has waited for, once it has ended
        pipe = subprocess.PIPE if talks else subprocess.DEVNULL
        with ExitStack() as stack:
            self._errors: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            try:
                self._process = subprocess.Popen(
                    bound(self.command, signal.SIGTERM),
                    stdin=pipe,
                    stdout=pipe,
                    stderr=self._errors,
                    text=True,
                    bufsize=1,
                    env={**os.environ, **(environment or {})},
                    cwd=folder,
                    start_new_session=True,
                )
            except OSError as error:
                raise RunFailed(f"cannot start {name}: {error}") from error
            stack.pop_all()  # `end` closes the file

    @property
    def pid(self) -> int:
        """The process, which is also its session and group."""
        return self._process.pid

    def say(self, line: str) -> None:
        """Write a line to its stdin."""
        if not self.reads(line):
            raise self.failed()

    def reads(self, line: str) -> bool:
        """Write a line to its stdin; False if that is closed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except (OSError, ValueError):  # it has ended, or we have hung up
            return False
        return True

    def hang_up(self) -> None:
        """Close its stdin."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def reader(self) -> IO[str]:
        """Return its stdout."""
        assert self._process.stdout is not None
        return self._process.stdout

    def ended(self) -> int | None:
        """Return its exit code, None while it runs; negative for the signal that ended it."""
        if self._process.returncode is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self.usage_s = usage.ru_utime + usage.ru_stime
        return self._process.returncode

    def failed(self, what: str | None = None) -> RunFailed:
        """Return the error of this program: what happened, and the end of its stderr."""
        if what is None:
            code = self._wait(PATIENCE_S)
            what = "does not answer" if code is None else _how(code)
        lines = self.stderr().strip().splitlines()[-TAIL:]
        text = "".join(f"\n  {line}" for line in lines) if lines else "; it wrote nothing to stderr"
        return RunFailed(f"{self.name}: {what}{text}")

    def stderr(self) -> str:
        """Return what it has written to stderr so far."""
        end = os.fstat(self._errors.fileno()).st_size
        return os.pread(self._errors.fileno(), end, 0).decode(errors="replace")

    def end(self, *, at_once: bool = False, patience_s: float = 0.0) -> None:
        """End it: by SIGTERM, and by SIGKILL if that does not help. One that has ended is no error.

        Args:
            at_once: Begin with SIGKILL.
            patience_s: Wait so long before, for it to end by itself.
        """
        self._wait(patience_s)
        try:
            for number in (signal.SIGTERM, signal.SIGKILL)[at_once:]:
                if self.ended() is not None:
                    break
                os.kill(self.pid, number)  # a child keeps its number until it is waited for
                self._wait(PATIENCE_S)
        finally:
            for stream in (self._process.stdin, self._process.stdout, self._errors):
                if stream is not None:
                    with suppress(OSError):  # stdin may hold what it has not read
                        stream.close()

    def _wait(self, seconds: float) -> int | None:
        deadline = time.monotonic() + seconds
        while self.ended() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        return self._process.returncode


def _how(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    return f"was ended by {signal.Signals(-code).name}"
