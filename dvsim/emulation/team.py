"""The hosts of an emulated run while it runs: a member on each (`dvsim.emulation.member`)."""

from __future__ import annotations

import json
import queue
import shutil
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dvsim._version import __version__
from dvsim.broker.compile_bridge import vicbridge
from dvsim.broker.files import write_private
from dvsim.emulation.amqp import PORT, Target
from dvsim.emulation.child import Child, Machine
from dvsim.emulation.settings import Hosts
from dvsim.errors import Advice, Argument, RunFailed

HELLO_S = 8.0  # for the first answer of a host; vicrun waits as long
ANSWER_S = 15.0
START_S = 240.0  # for brokers, or a compiler
LEAVE_S = 5.0  # to end by itself
REMIND_S = 1.0  # between two signs of life to a host
CLOCKS = 5  # readings of a clock, of which the quickest counts


class Place:
    """A machine on which programs of a job run: this one, unless it is a `Host`.

    Attributes:
        folder: Where its programs write.
        clock_ns: How far its clock is ahead of the one here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock_ns = folder, 0

    def bridge(self) -> str:
        """Return the path of vicbridge."""
        return str(vicbridge())

    def reach(self, target: Target) -> None:
        """Do nothing: on this machine the harness itself has reached the broker."""

    def write(self, name: str, text: str) -> None:
        """Write a file into its folder that nobody else can read."""
        write_private(self.folder / name, text)

    def fetch(self, name: str, to: Path) -> None:
        """Move a file of its folder to `to`, on this machine."""
        if to != self.folder / name:
            shutil.move(self.folder / name, to)


class Host(Place):
    """Another machine. Requests and answers are one line each.

    Args:
        name: As in the options.
        hosts: How it is reached.
        broker: Whether private nodes are to run there.
    """

    def __init__(self, name: str, hosts: Hosts, *, broker: bool) -> None:
        super().__init__(Path())
        self.name, self.clock_error_ns = name, 0
        self.facts: dict[str, Any] = {}
        own = [sys.executable, "-P", "-m", "dvsim.emulation.member"]
        launch, *words = hosts.command(name, *own)
        program = shutil.which(launch)
        if program is None:
            raise RunFailed(
                Advice(f"host {name}: ", Argument("launch_with"), f": there is no '{launch}'")
            )
        self._lock = threading.Lock()
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._member = Child(f"host {name}: dvsim there", [program, *words], talks=True)
        self._launched, self._since = hosts.launch_with, time.monotonic()
        try:
            threading.Thread(target=self._listen, daemon=True).start()
            self.say("hello", name, hosts.interface, broker)
        except BaseException:
            self._member.end()  # nobody else could
            raise

    def say(self, *words: object) -> None:
        """Send a request; `answer` waits for the answer."""
        with self._lock:
            self._member.say(json.dumps(words))

    def answer(self, patience_s: float = ANSWER_S) -> Any:  # noqa: ANN401 - as JSON has it
        """Return the answer to the oldest request that has none yet."""
        try:
            line = self._lines.get(timeout=patience_s)
        except queue.Empty:
            raise RunFailed(
                f"host {self.name}: has not answered in {patience_s:.0f} s, "
                f"started by '{self._launched}'"
            ) from None
        if not line:
            raise self._member.failed()
        try:
            answer = json.loads(line)
            if "error" not in answer:
                return answer["answer"]
        except (ValueError, KeyError, TypeError):
            raise RunFailed(
                f"host {self.name}: answers {line.strip()[:80]!r}: does '{self._launched}' write "
                "to standard output?"
            ) from None
        raise RunFailed(f"host {self.name}: {answer['error']}")

    def ask(self, *words: object, patience_s: float = ANSWER_S) -> Any:  # noqa: ANN401
        """Return the answer to a request."""
        self.say(*words)
        return self.answer(patience_s)

    def greet(self) -> None:
        """Check the first answer, and measure how far the clock there is ahead."""
        hello = self.answer(max(0.1, self._since + HELLO_S - time.monotonic()))
        if hello["version"] != __version__:
            here = f"the run was started by {__version__}"
            raise RunFailed(f"host {self.name}: has dvsim {hello['version']}; {here}")
        if hello["address"] is None:
            none = f"host {self.name}: its name stands for no address there that others can reach; "
            raise RunFailed(Advice(none, "say which one with ", Argument("interface")))
        self.folder = Path(hello["folder"])
        readings = []
        for _ in range(CLOCKS):
            before, there, after = time.monotonic_ns(), self.ask("clock"), time.monotonic_ns()
            readings.append((after - before, there - (before + after) // 2))
        took, self.clock_ns = min(readings)
        self.clock_error_ns = took // 2

    def bridge(self) -> str:
        """Return the path of vicbridge there."""
        return str(self.ask("bridge", patience_s=START_S))

    def reach(self, target: Target) -> None:
        """Ask whether a bridge there would reach a broker."""
        parts = urlsplit(target.url)
        self.ask("reach", parts.hostname or "", parts.port or PORT)

    def write(self, name: str, text: str) -> None:
        """Write a file into its folder that nobody else can read."""
        self.ask("write", name, text)

    def fetch(self, name: str, to: Path) -> None:
        """Move a file of its folder to `to`, on this machine."""
        to.write_text(self.ask("take", name), encoding="utf-8")

    def remind(self) -> None:
        """Send a sign of life, as a member ends when it hears nothing for long."""
        with self._lock:
            self._member.reads("[]")

    def hang_up(self) -> None:
        """Close its standard input: it then ends what it has started."""
        with self._lock:
            self._member.hang_up()

    def wait(self) -> None:
        """Wait until it has ended; kill it if that takes more than `LEAVE_S`."""
        self._member.end(patience_s=LEAVE_S)

    def _listen(self) -> None:
        with suppress(ValueError):  # `wait` has closed the pipe
            for line in self._member.reader():
                self._lines.put(line)
        self._lines.put("")


class Team:
    """The hosts of a run. Each has answered when this is made; `close` ends what they have started.

    Args:
        hosts: Which, and how they are reached.
        receivers: How many there are, each with a bridge.
        clusters: Private clusters; 0 for brokers of the user.
    """

    def __init__(self, hosts: Hosts, receivers: int, clusters: int) -> None:
        self.hosts = hosts
        self.clusters = Counter(hosts.of_cluster(n, receivers) for n in range(clusters))
        """How many private clusters each host has."""
        self._order = [hosts.of_cluster(n, receivers) for n in range(clusters)]
        self._bridges = {hosts.of_card(receivers + n) for n in range(receivers)}
        self._done = threading.Event()
        self.by_name: dict[str, Host] = {}
        try:
            for name in dict.fromkeys([*(name for name, _ in hosts.cards), *self.clusters]):
                self.by_name[name] = Host(name, hosts, broker=name in self.clusters)
            threading.Thread(target=self._remind, daemon=True).start()
            for host in self.by_name.values():
                host.greet()
            for host in self.by_name.values():
                host.facts = host.ask("facts")
            for name in self._bridges:
                self.by_name[name].bridge()
        except BaseException:
            self.close()
            raise

    def start_brokers(self, nodes: int) -> list[dict[str, str]]:
        """Start the private clusters; return what a `Target` of each takes, in order."""
        for name, count in self.clusters.items():
            self.by_name[name].say("brokers", count, nodes)
        urls: dict[str, list[dict[str, str]]] = {}
        for name in self.clusters:
            answer = self.by_name[name].answer(START_S)
            urls[name] = [{**answer, "url": url, "host": name} for url in answer.pop("urls")]
        return [urls[name].pop(0) for name in self._order]

    def check(self) -> None:
        """Raise RunFailed if a host is lost, or a node there has died."""
        for name, host in self.by_name.items():
            dead = host.ask("look")
            if dead is not None:
                raise RunFailed(f"host {name}: {dead}")

    def busy(self) -> dict[str, Machine]:
        """Return what all cores of each host have done so far."""
        return {n: Machine(*member.ask("busy")["cores"]) for n, member in self.by_name.items()}

    def cpu_s(self) -> list[float]:
        """Return the CPU seconds of each private cluster so far."""
        spent = {name: self.by_name[name].ask("busy")["clusters"] for name in self.clusters}
        return [spent[name].pop(0) for name in self._order]

    def facts(self) -> list[dict[str, Any]]:
        """Return for each host which machine it is, its cards and its clusters, as JSON types."""
        cards = dict(self.hosts.cards)
        return [
            {
                "name": name,
                "cards": cards.get(name, 0),
                "clusters": self.clusters.get(name, 0),
                "clock_error_ns": host.clock_error_ns,
                **host.facts,
            }
            for name, host in self.by_name.items()
        ]

    def close(self) -> None:
        """End all members, and wait for them."""
        self._done.set()
        for host in self.by_name.values():
            host.hang_up()
        for host in self.by_name.values():
            host.wait()

    def _remind(self) -> None:
        while not self._done.wait(REMIND_S):
            for host in list(self.by_name.values()):
                host.remind()

    def place(self, card: int) -> Place:
        """Return the host of a card."""
        return self.by_name[self.hosts.of_card(card)]
