"""Jobs of vicload and vicbridge on real brokers, and what came out of them."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import signal
import subprocess
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nodes
import pika
from compiled import compiled
from harness.rabbitmq import Shared

from dvsim.broker import Brokers, Node
from dvsim.native import emulator_prefix

LIMIT_S = 240
"""For a job that takes seconds: the machine may be busy."""


def mark(body: bytes) -> tuple[bytes, int]:
    """Return by what a body is known: no two have the same; and what vicload adds up of it."""
    return hashlib.md5(body).digest(), zlib.crc32(body)


@dataclass
class Taken:
    """What a queue held: every message once, and how often one was there again."""

    ids: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    duplicates: int = 0

    @property
    def digest(self) -> int:
        return sum(crc for _, crc in self.ids.values()) % 2**64

    def of(self, session: str) -> Taken:
        return Taken({key: one for key, one in self.ids.items() if key.startswith(session)})


class Job:
    """Programs on cards, the last of them a bridge; files in a folder of its own."""

    def __init__(
        self, folder: Path, brokers: Brokers | Shared, name: str, node: Node | None = None
    ) -> None:
        self.folder, self.brokers, self.name = folder, brokers, name
        self.node = node
        self.stats, self.prometheus = folder / "stats.csv", folder / "bridge.prom"
        self.process: subprocess.Popen[str] | None = None
        self.reports: list[Path] = []
        self.vicbridge = compiled("vicbridge")

    def url(self) -> str:
        return (self.node or self.brokers.nodes[0]).url

    def publish(
        self, messages: int, size: int, *more: object, key: str = "k", bridge: int = 1
    ) -> list[str]:
        """Return the command of a publisher that writes a report."""
        report = self._report()
        return self._load("publish", bridge, "--key", f"{self.name}.{key}", "--messages", messages,
                          "--bytes", size, "--report", report, *more)  # fmt: skip

    def consume(
        self, messages: int, *more: object, queue: str | None = None, bridge: int = 1
    ) -> list[str]:
        """Return the command of a consumer that writes a report."""
        report = self._report()
        return self._load("consume", bridge, "--queue", queue or self.name, "--messages", messages,
                          "--report", report, *more)  # fmt: skip

    def bridge(self, *more: object, url: str | None = None, declare: bool = True) -> list[str]:
        """Return the command of a bridge with a topic exchange and a queue named after the job."""
        command = [self.vicbridge, "--url", url or self.url()]
        command += ["--credentials", self.brokers.credentials, "--stats", self.stats]
        command += ["--prometheus", self.prometheus, "--exchange", f"x{self.name}"]
        command += ["--queue", f"{self.name}={self.name}.k.#"] if declare else []
        return [str(word) for word in [*command, *more]]

    def start(self, *programs: Sequence[str], options: Sequence[str] = ()) -> Job:
        """Start a job with a card for each of the programs."""
        command = [str(emulator_prefix() / "bin" / "vicrun"), *options, "-n", "1"]
        for number, program in enumerate(programs):
            command += [":"] * (number > 0) + list(program)
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0"}
        (self.folder / "log").touch()
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, text=True, env=environment
            )
        return self

    def end(self, code: int | None = 0) -> Job:
        """Wait until the job has ended, and with which exit code."""
        assert self.process is not None
        try:
            got = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"the job does not end; it said\n{self.log}") from None
        assert code is None or got == code, f"exit code {got}\n{self.log}"
        assert self.brokers.password not in self.log
        assert "Sanitizer" not in self.log and "runtime error" not in self.log, self.log
        return self

    def close(self) -> None:
        """End what is still running."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(LIMIT_S)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text("utf-8", "replace")

    def report(self, number: int = 0) -> dict[str, object]:
        return json.loads(self.reports[number].read_text("utf-8"))

    def rows(self) -> list[dict[str, int]]:
        """Return the rows of the bridge's statistics that are complete."""
        text = self.stats.read_text("ascii") if self.stats.exists() else ""
        lines = [
            line
            for line in text.splitlines(keepends=True)
            if line.endswith("\n") and line[0] != "#"
        ]
        return [{k: int(v) for k, v in row.items()} for row in csv.DictReader(lines)]

    def total(self, column: str) -> int:
        return sum(row[column] for row in self.rows())

    def last(self, column: str) -> int | None:
        """Return a column of the last row; None: there is none yet."""
        rows = self.rows()
        return rows[-1][column] if rows else None

    def gauge(self, name: str) -> int:
        """Return a number of the last Prometheus file."""
        for line in self.prometheus.read_text("ascii").splitlines():
            if line.startswith(f"vicbridge_{name}{{"):
                return int(line.split()[-1])
        raise AssertionError(name)

    def eventually(self, question, what: str) -> None:
        """Wait for a condition; a job that has ended meanwhile will not reach it."""

        def asked() -> bool:
            assert self.process is not None
            assert self.process.poll() is None or question(), f"ended before {what}\n{self.log}"
            return bool(question())

        nodes.eventually(asked, what)

    def pids(self, program: str) -> list[int]:
        """Return the processes of this job that run a program."""
        marker = str(self.folder)
        return [pid for pid in nodes.all_processes()
                if marker in nodes.known_of(pid) and _name(pid) == program]  # fmt: skip

    def kill(self, program: str, which: int = 0, number: int = signal.SIGKILL) -> None:
        there = sorted(self.pids(program))
        assert len(there) > which, f"{program} is not there, but {there}\n{self.log}"
        os.kill(there[which], number)

    def expected(self, *numbers: int) -> int:
        """Return the digest of all that some publishers published."""
        chosen = numbers or range(len(self.reports))
        return sum(int(str(self.report(number)["digest"]), 16) for number in chosen) % 2**64

    def _report(self) -> Path:
        self.reports.append(self.folder / f"report{len(self.reports)}.json")
        return self.reports[-1]

    @staticmethod
    def _load(verb: str, bridge: int, *more: object) -> list[str]:
        vicload = emulator_prefix() / "bin" / "vicload"
        return [str(word) for word in (vicload, verb, "--bridge", bridge, *more)]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text("ascii").strip()
    except OSError:
        return ""


def take(
    channel: pika.adapters.blocking_connection.BlockingChannel, queue: str, unconfirmed: int = 0
) -> Taken:
    """Drain a queue whose programs have ended.

    Confirmed messages are in it by then; those that nobody has confirmed are waited for.
    """
    taken = Taken()
    nodes.eventually(lambda: not asked(channel, queue).consumer_count, "a queue without consumers")
    nodes.eventually(lambda: asked(channel, queue).message_count >= unconfirmed, "all messages")
    while there := asked(channel, queue).message_count:
        for method, properties, body in channel.consume(queue, inactivity_timeout=LIMIT_S):
            assert method is not None, f"the broker keeps {there} messages back"
            taken.duplicates += properties.message_id in taken.ids
            one = mark(body)
            assert taken.ids.setdefault(properties.message_id, one) == one, "two bodies with one id"
            there -= 1
            if not there:
                channel.basic_ack(method.delivery_tag, multiple=True)
                break
        channel.cancel()
    return taken


def everything(job: Job, connect: Any, *numbers: int) -> Taken:
    """Return what the queue holds after a look that it is all that was published."""
    taken = take(connect(job.brokers, job.node).channel(), job.name)
    chosen = numbers or range(len(job.reports))
    assert len(taken.ids) == sum(int(str(job.report(number)["messages"])) for number in chosen)
    assert taken.digest == job.expected(*chosen)
    return taken


def asked(
    channel: pika.adapters.blocking_connection.BlockingChannel, queue: str
) -> pika.spec.Queue.DeclareOk:
    """Return what the broker says of a queue: how many messages and consumers it has."""
    return channel.queue_declare(queue, passive=True).method
