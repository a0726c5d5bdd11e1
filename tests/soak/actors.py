"""The programs and brokers of a soak: started, hurt, brought back, each by its name.

A program joins a job of empty cards (`vicrun --serve`), as programs come and go there. Brokers are
private nodes, each a broker of its own.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from health import Table, process

from dvsim.broker import Node
from dvsim.broker.process import bound, greets
from dvsim.errors import RunFailed
from dvsim.native import emulator_prefix

HERE = Path(__file__).parent
READY_S = 240
"""For what takes seconds: the machine may be busy."""
STARTERS = {
    "a shell": '"$@"; true',
    "a supervisor": 'for life in 1 2 3; do "$@" && break; done',
    "a session of its own": 'setsid -fw "$@"',
}
"""Scripts that start a program, and stand between it and vicrun as long as it lives."""


def compiled(name: str, folder: Path) -> Path:
    """Return a program of programs/, against the installed libvic."""
    prefix, target = emulator_prefix(), folder / name
    command = [os.environ.get("CC", "cc"), "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall",
               "-Wextra", "-Werror", str(HERE / "programs" / f"{name}.c"), "-o", str(target),
               f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}",
               "-lvic"]  # fmt: skip
    subprocess.run(command, check=True)
    return target


def vicrun() -> str:
    return str(emulator_prefix() / "bin" / "vicrun")


def behind(starter: str, words: Sequence[str]) -> list[str]:
    """Return the command of a program that one of the starters starts."""
    return ["sh", "-c", STARTERS[starter], "sh", *words]


class Job:
    """A job of empty cards, which others join. It ends with this process, however that ends."""

    def __init__(self, folder: Path, cards: int, *options: str) -> None:
        self.folder = folder
        folder.chmod(0o700)
        words = [vicrun(), "--serve", "s", *options, "-n", str(cards), "-"]
        with (folder / "job.log").open("ab") as log:
            self.process = subprocess.Popen(
                bound(words, signal.SIGKILL), cwd=folder, stdout=log, stderr=log
            )
        until((folder / "s").exists, "the socket of the job")

    def join(self, card: int, program: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        words = [vicrun(), "--join", "s", "--card", str(card), "--", *program]
        with log.open("ab") as file:
            return subprocess.Popen(words, cwd=self.folder, stdout=file, stderr=file,
                                    stdin=subprocess.DEVNULL)  # fmt: skip

    def end(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.terminate()
        return self.process.wait(READY_S)


def until(question: Callable[[], object], what: str, seconds: float = READY_S) -> None:
    """Wait for an answer of yes."""
    end = time.monotonic() + seconds
    while not question():
        if time.monotonic() > end:
            raise RunFailed(f"not within {seconds:g} s: {what}")
        time.sleep(0.02)


def send(pid: int, number: int) -> None:
    """Send a signal to a process that may have gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Program:
    """One program on one card: it is brought back whenever it has gone, until it is to end."""

    def __init__(self, name: str, job: Job, card: int, words: Sequence[str],
                 starter: str | None = None) -> None:  # fmt: skip
        self.name, self.job, self.card, self.words = name, job, card, list(words)
        self.command = self.words if starter is None else behind(starter, words)
        self.process: subprocess.Popen[bytes] | None = None
        self.pid: int | None = None
        self.wanted = True
        self.starts = 0
        self.codes: list[int] = []
        self._due_s = 0.0
        self._stopped = False
        self._leaving: int | None = None

    @property
    def here(self) -> bool:
        return self.pid is not None

    def tend(self, table: Table, pauses: random.Random) -> None:
        """Look whether it is there, and start it if it should be and its pause is over."""
        if self.process is not None and self.process.poll() is not None:
            self.codes.append(self.process.returncode)
            self.process = None
            self._due_s = time.monotonic() + pauses.uniform(0.02, 0.5)
        if self.process is None:
            self.pid = None
            if self.wanted and time.monotonic() >= self._due_s:
                log = self.job.folder / f"{self.name}.log"
                self.process = self.job.join(self.card, self.command, log)
                self.starts += 1
            return
        now = None if self.pid is None else process(self.pid)
        if now is None or not now.lives:
            found = table.below(self.process.pid, Path(self.words[0]).name)
            self.pid = found if found != self._leaving else None

    def hurt(self, kind: str) -> None:
        """Do something to it now."""
        numbers = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "stop": signal.SIGSTOP}
        if kind == "kill-join" and self.process is not None:
            self.process.kill()
        elif self.pid is not None:
            send(self.pid, numbers[kind])
            self._stopped = kind == "stop"
        if kind != "stop":
            self._leaving, self.pid = self.pid, None  # until there is another one

    def go_on(self) -> None:
        """End a stop."""
        if self._stopped and self.pid is not None:
            send(self.pid, signal.SIGCONT)
        self._stopped = False

    def ask_to_end(self) -> None:
        self.wanted = False
        if self.pid is not None:
            send(self.pid, signal.SIGTERM)


class Broker:
    """A node that is killed, stopped and started again."""

    def __init__(self, node: Node) -> None:
        self.node, self.name = node, f"broker-{node.name}"
        self._due_s: float | None = None
        self._patience_s = 0.0
        self._stopped = False
        self.here = True

    @property
    def pid(self) -> int | None:
        return self.node.pid

    def hurt(self, kind: str) -> None:
        """Do something to it now."""
        if kind == "kill":
            self.node.kill()
        elif kind == "term":
            self.node.ask_to_stop()
            self._patience_s = time.monotonic() + 30
        elif self.pid is not None:
            send(self.pid, signal.SIGSTOP)
            self._stopped = True
        self.here = kind == "stop"

    def go_on(self) -> None:
        """End a stop."""
        if self._stopped and self.pid is not None:
            send(self.pid, signal.SIGCONT)
        self._stopped = False

    def tend(self, pauses: random.Random) -> None:
        """Start it again when it has ended and a pause is over; see whether it answers."""
        if self.here:
            return
        if not self.node.alive:
            if self._due_s is None:
                self._due_s = time.monotonic() + pauses.uniform(0.0, 2.0)
            elif time.monotonic() >= self._due_s:
                self.node.start(wait=False)
                self._patience_s = time.monotonic() + READY_S
        elif self._due_s is None:
            if time.monotonic() > self._patience_s:  # asked to end, and does not
                self.node.kill()
        elif greets(self.node.port):
            self._due_s, self.here = None, True
        elif time.monotonic() > self._patience_s:
            self.node.wait_ready(0)  # says why not
