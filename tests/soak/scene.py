"""The path that is soaked: publishers and bridges on emulated cards, RabbitMQ nodes, consumers.

Cards 0 .. bridges-1 have vicbridge. Bridge 0 knows one broker, over two connections; the others
know all of them, and go to the next one when theirs has gone. Publishers use all bridges in turn,
consumers share the queue of a bridge. A third of the programs are started as people do: behind a
shell, a supervisor or setsid.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import drained
from account import Books, Fault, Tail
from actors import READY_S, STARTERS, Broker, Job, Program, compiled
from chaos import Chaos, plan
from health import Health, Table

from dvsim.broker import Brokers
from dvsim.broker.compile_bridge import vicbridge
from dvsim.errors import RunFailed

BROKERS, BRIDGES, PUBLISHERS, CONSUMERS = 2, 2, 3, 4
TICK_S = 0.1
LOG = "events.jsonl"
QUIET_S = 60.0
"""Without anything new at a consumer, after which what is missing is lost."""
SURVIVORS = ("bridge1", "publisher0", "consumer0")
"""They are never killed, so that their memory can be watched for as long as the soak lasts."""


class Scene:
    """Everything, from its start to the end of the last program."""

    def __init__(self, folder: Path, brokers: Brokers, seed: int, rate: float) -> None:
        self.folder, self.nodes, self.health = folder, brokers, Health()
        self.job = Job(folder, BRIDGES + PUBLISHERS + CONSUMERS,
                       "--if-killed", "restart:0" if seed % 2 else "leave")  # fmt: skip
        commands: dict[str, list[str]] = {}
        for k in range(BRIDGES):
            commands[f"bridge{k}"] = self._bridge(k)
        publisher, consumer = compiled("soak_publisher", folder), compiled("soak_consumer", folder)
        each = str(rate / PUBLISHERS)
        for k in range(PUBLISHERS):
            commands[f"publisher{k}"] = [str(publisher), str(k), str(seed * 100 + k),
                                         f"publisher{k}.journal", str(BRIDGES), each]  # fmt: skip
        for k in range(CONSUMERS):
            commands[f"consumer{k}"] = [str(consumer), str(k), f"consumer{k}.journal",
                                        str(k % BRIDGES), f"soak{k % BRIDGES}", "200"]  # fmt: skip
        starters = list(STARTERS)[seed % len(STARTERS) :] + list(STARTERS)
        self.programs = {
            name: Program(name, self.job, card, words, starters.pop(0) if card % 3 == 0 else None)
            for card, (name, words) in enumerate(commands.items())
        }
        self.brokers = {broker.name: broker for broker in map(Broker, brokers.nodes)}
        for broker in self.brokers.values():
            drained.declare(broker, brokers, self._queues(broker.name))
        self.books = Books()
        self._tails = {name: Tail(folder / f"{name}.journal") for name in commands
                       if not name.startswith("bridge")}  # fmt: skip
        blows = plan(seed, list(commands), list(self.brokers), SURVIVORS)
        self.chaos = Chaos(seed, blows, self.programs, self.brokers, folder / LOG)
        self._there: dict[str, int] = {}
        self._said = {f"bridge{k}": 0 for k in range(BRIDGES)}
        self._said_ns = time.monotonic_ns()

    def known_to(self) -> Mapping[int, list[str]]:
        """Return the brokers that each bridge may use."""
        names = list(self.brokers)
        return {k: names if k else names[:1] for k in range(BRIDGES)}

    def _bridge(self, number: int) -> list[str]:
        nodes = self.nodes.nodes
        urls = [nodes[0]] if number == 0 else [*nodes[number % len(nodes) :], *nodes]
        words = [str(vicbridge()), "--credentials", str(self.nodes.credentials)]
        for node in dict.fromkeys(urls):
            words += ["--url", node.url]
        words += ["--connections", "2" if number == 0 else "1", "--exchange", "soak"]
        words += ["--queue", f"soak{number}=soak{number}.#", "--heartbeat", "2", "--window", "64"]
        return [*words, "--reconnect", "0.05:0.5"]

    def tick(self, *, dealing: bool) -> None:
        """Let time go on a little."""
        if self.job.process.poll() is not None:
            raise RunFailed(f"the job has ended, with exit code {self.job.process.returncode}")
        table = Table()
        self.chaos.tend(table, dealing)
        now_there = {"launcher": self.job.process.pid}
        for program in self.programs.values():
            if program.pid is not None:
                now_there[program.name] = program.pid
            if program.process is not None:
                now_there[f"{program.name}'s vicrun"] = program.process.pid
        for broker in self.brokers.values():
            if broker.here and broker.pid is not None:
                now_there[broker.name] = broker.pid
        self._there = now_there
        self._hear()
        self.health.again(now_there)
        time.sleep(TICK_S)

    def _hear(self) -> None:
        """Note what bridges say of connections that they lost, on a busy machine for no fault."""
        before_ns, self._said_ns = self._said_ns, time.monotonic_ns()
        for name, at in self._said.items():
            log = self.folder / f"{name}.log"
            if log.exists() and log.stat().st_size > at:
                with log.open("rb") as file:
                    file.seek(at)
                    text = file.read()
                self._said[name] += len(text)
                if b"warning:" in text:
                    self.chaos.faults.append(Fault(name, "lost", before_ns, self._said_ns))

    def zombies(self) -> list[str]:
        """Return who has ended, and nobody has waited for it."""
        return [f"{p.name} ({p.pid})" for p in Table().zombies(self._there.values())]

    def wait(self, question: Callable[[], object], what: str, seconds: float = READY_S) -> None:
        """Let time go on, without new blows, until something is so."""
        end = time.monotonic() + seconds
        while not question():
            if time.monotonic() > end:
                raise RunFailed(f"not within {seconds:g} s: {what}")
            self.tick(dealing=False)

    def close(self) -> None:
        """Leave nothing behind, whatever happened: who joined dies with the job."""
        if self.job.process.poll() is None:
            self.job.process.kill()
            self.job.process.wait()
        for actor in (*self.brokers.values(), *self.programs.values()):
            actor.go_on()
        for program in self.programs.values():
            if program.process is not None:
                program.process.wait(READY_S)

    def read(self) -> None:
        """Read what the journals say by now: of publishers last, as they speak first."""
        consumed = {name: tail.lines() for name, tail in self._tails.items()
                    if name.startswith("consumer") and tail.path.exists()}  # fmt: skip
        for name, tail in self._tails.items():
            if name.startswith("publisher") and tail.path.exists():
                self.books.published(tail.lines())
        for rows in consumed.values():
            self.books.consumed(rows)

    def settle(self) -> None:
        """End it from its beginning: publishers, then what is on its way, then the rest."""
        self.wait(lambda: self.chaos.calm, "everybody back")
        self.wait(lambda: not self.zombies(), "somebody to wait for those who have ended")
        self._end("publisher")
        end_s, before = time.monotonic() + QUIET_S, -1
        while time.monotonic() < end_s:
            self.read()
            self._drain()
            if not self.books.missing():
                break
            if self.books.consumed_once != before:
                end_s, before = time.monotonic() + QUIET_S, self.books.consumed_once
            self.tick(dealing=False)
        self._end("consumer")
        self._end("bridge")
        self.read()
        self._drain()

    def _end(self, what: str) -> None:
        """Let programs end in order, which they do with exit code 0."""
        chosen = [p for name, p in self.programs.items() if name.startswith(what)]
        for program in chosen:
            program.ask_to_end()
        self.wait(lambda: all(p.process is None for p in chosen), f"the end of each {what}")
        for program in chosen:
            if program.codes[-1] != 0:
                raise RunFailed(f"{program.name} ended with exit code {program.codes[-1]} when "
                                "all was calm")  # fmt: skip

    def _drain(self) -> None:
        """Take what no card does: a bridge consumes from one broker only."""
        for broker in self.brokers.values():
            self.books.consumed(drained.rows(broker, self.nodes, self._queues(broker.name)))

    def _queues(self, broker: str) -> list[int]:
        return [k for k, names in self.known_to().items() if broker in names]

    @property
    def torn(self) -> int:
        return sum(tail.torn for tail in self._tails.values())
