"""Jobs whose programs come and go, and the examples that the documentation runs in them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nodes
from bridge_job import LIMIT_S, Job

from dvsim.native import emulator_prefix


def marked(job: Job, *command: object) -> list[str]:
    """Return a command whose process `Job.pids` knows as one of the job's."""
    return ["/usr/bin/env", f"TEST_OF={job.folder}", *map(str, command)]


class Guest:
    """A program that joined a job; what it says is in a file of its own."""

    def __init__(self, folder: Path, number: int, program: Sequence[str]) -> None:
        self.said_in = folder / f"guest{number}"
        command = [str(emulator_prefix() / "bin" / "vicrun"), "--join", "s", "--", *program]
        with self.said_in.open("wb") as out:
            self.process = subprocess.Popen(
                command, cwd=folder, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT
            )

    @property
    def said(self) -> str:
        """All that it has said so far."""
        return self.said_in.read_text("utf-8", "replace")

    @property
    def lines(self) -> list[str]:
        return self.said.splitlines()

    def end(self, code: int = 0) -> Guest:
        """Wait until its program has ended, with this exit code."""
        try:
            got = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end; it said\n{self.said}") from None
        assert got == code, f"exit code {got}\n{self.said}"
        return self

    def says(self, what: str) -> None:
        """Wait until it has said something."""
        nodes.eventually(lambda: what in self.said or self.process.poll() is not None, what)
        assert what in self.said, self.said

    def close(self) -> None:
        """End it, whatever it does."""
        self.process.stdin.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Serving(Job):
    """A job that others join while it runs: its own programs, then empty cards."""

    def __init__(self, folder: Path, brokers: Any, name: str) -> None:
        super().__init__(folder, brokers, name)
        self.guests: list[Guest] = []

    def serve(self, *programs: Sequence[str], empty: int, options: Sequence[str] = ()) -> Serving:
        """Start the programs on the first cards, with so many empty ones behind them."""
        command = [str(emulator_prefix() / "bin" / "vicrun"), *options, "--serve", "s"]
        for program in programs:
            command += ["-n", "1", *program, ":"]
        command += ["-n", str(empty), "-"]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, text=True, cwd=self.folder
            )
        self.eventually((self.folder / "s").exists, "a socket")
        return self

    def join(self, *program: object) -> Guest:
        """Bring a program into the job."""
        command = [str(word) for word in program]
        self.guests.append(Guest(self.folder, len(self.guests), command))
        return self.guests[-1]

    def stop(self) -> None:
        """Ask the job's own programs to end, and see that they do well."""
        assert self.process is not None
        self.process.terminate()
        self.end()

    def close(self) -> None:
        """End all that still runs."""
        super().close()
        for guest in self.guests:
            guest.close()
