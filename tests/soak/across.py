"""The soak over several hosts: does what is cut off, healed and killed lose or invent a message?

Hosts are network namespaces: a has the bridge, b publishers, c consumers, d the broker, which is
never killed, so that what it has confirmed is there. Blow after blow is dealt to a job that runs
(`KINDS`); one that ends it is followed by the next job, when nothing of it is left on any host.
The journals of all jobs are judged together, as those of the other soak (account.py).
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from account import Books, Fault, Faults, Tail, Verdict
from actors import READY_S, compiled, send, vicrun

from dvsim.broker.compile_bridge import vicbridge
from dvsim.broker.process import bound
from dvsim.emulation.settings import Hosts
from dvsim.emulation.team import Team
from dvsim.errors import RunFailed

sys.path.insert(0, str(Path(__file__).parents[1] / "emulator"))

import namespaces

PUBLISHERS, CONSUMERS = 2, 2
BRIDGE, PUBLISHER, CONSUMER, BROKER = range(4)
PROGRAMS = {BRIDGE: "vicbridge", PUBLISHER: "soak_publisher", CONSUMER: "soak_consumer"}
TIMEOUT_S = 2.0
"""Of a host: on a busy machine silence may last."""
KINDS = {
    "cut that heals": (0.05, 0.5),
    "broker cut off": (0.5, 6.0),
    "host cut off": (3.0, 4.0),
    "program killed": (0.0, 0.0),
    "agent killed": (0.0, 0.0),
    "launcher killed": (0.0, 0.0),
}
"""What is done, and for how many seconds. All but the first two end the job."""
GOES_ON = ("cut that heals", "broker cut off")
QUIET_S = 60.0
TRIES = 4
"""Jobs at the end, of which one has to end in order: a busy machine may lose a host by itself."""
ANYBODY_S = 20.0
"""After its launcher has ended, for the last process of a job to be gone."""


class Across:
    """Jobs over hosts, one after the other, and what became of their messages."""

    def __init__(self, folder: Path, hosts: namespaces.Hosts, broker: dict[str, str], seed: int,
                 rate: float) -> None:  # fmt: skip
        self.folder, self.hosts, self.books = folder, hosts, Books()
        self.drawn = random.Random(f"{seed} hosts")
        self.dealt: Counter[str] = Counter()
        self.jobs = self.survived = 0
        self.breaches: list[str] = []
        self.faults: list[Fault] = []
        self.job: subprocess.Popen[bytes] | None = None
        credentials = folder / "credentials"
        credentials.touch(0o600)
        credentials.write_text(f"{broker['user']}:{broker['password']}\n", "utf-8")
        bridge = [str(vicbridge()), "--credentials", str(credentials), "--url", broker["url"]]
        bridge += ["--exchange", "soak", "--queue", "soak0=soak0.#", "--heartbeat", "2"]
        bridge += ["--window", "64", "--reconnect", "0.05:0.5", "--give-up", "0"]
        publisher, consumer = compiled("soak_publisher", folder), compiled("soak_consumer", folder)
        each = str(rate / PUBLISHERS)
        programs = [bridge]
        programs += [[str(publisher), str(k), str(seed * 100 + k), f"publisher{k}.journal", "1",
                      each] for k in range(PUBLISHERS)]  # fmt: skip
        programs += [[str(consumer), str(k), f"consumer{k}.journal", "0", "soak0", "200"]
                     for k in range(CONSUMERS)]  # fmt: skip
        self._words = [vicrun(), *hosts.options(1, PUBLISHERS, CONSUMERS, 0)]
        self._words += ["--host-timeout", f"{TIMEOUT_S:g}s"]
        for number, program in enumerate(programs):
            self._words += [*([":"] if number else []), "-n", "1", *program]
        self._tails = {f"{name}{k}": Tail(folder / f"{name}{k}.journal")
                       for name, count in (("publisher", PUBLISHERS), ("consumer", CONSUMERS))
                       for k in range(count)}  # fmt: skip
        self._log = folder / "job.log"
        self._log.touch()
        self._heard = 0

    def begin(self) -> None:
        """Start a job, and wait until messages go all the way in it."""
        for _ in range(TRIES):
            self.jobs += 1
            begin_ns = time.monotonic_ns()
            with self._log.open("ab") as log:
                words = bound(self._words, signal.SIGKILL)
                self.job = subprocess.Popen(words, cwd=self.folder, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)  # fmt: skip
            self.read()
            before = self.books.consumed_once
            if self.until(lambda before=before: self.ended or self._more(before), READY_S):
                self._note("bridge0", "kill", begin_ns)
                if not self.ended:
                    return
                self.leave(begin_ns)
        said = self._log.read_text("utf-8", "replace")[-2000:]
        raise RunFailed(f"of {TRIES} jobs none has begun; the last said\n{said}")

    def _more(self, before: int) -> bool:
        self.read()
        return self.books.consumed_once > before

    def read(self) -> None:
        """Read the journals, those of publishers last, and what the bridges warn of."""
        rows = {name: tail.lines() for name, tail in self._tails.items() if tail.path.exists()
                and name.startswith("consumer")}  # fmt: skip
        for name, tail in self._tails.items():
            if name.startswith("publisher") and tail.path.exists():
                self.books.published(tail.lines())
        for found in rows.values():
            self.books.consumed(found)
        with self._log.open("rb") as log:
            log.seek(self._heard)
            text = log.read()
        self._heard += len(text)
        if b"warning:" in text:
            self._note("bridge0", "lost", time.monotonic_ns() - 10**9)

    @property
    def ended(self) -> bool:
        return self.job is None or self.job.poll() is not None

    def until(self, question: Callable[[], object], seconds: float) -> bool:
        """Wait for an answer of yes, and say whether it came."""
        end = time.monotonic() + seconds
        while not question():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def pids(self, host: int, name: str = "") -> list[int]:
        """Return the processes of a host, those whose command line holds a name."""
        listed = subprocess.run(["ip", "netns", "pids", self.hosts.names[host]], check=True,
                                capture_output=True, text=True).stdout  # fmt: skip
        return [pid for pid in map(int, listed.split()) if name in command_of(pid)]

    def deal(self, kind: str) -> None:
        """Do something to the job, and wait until that is over."""
        for_s = self.drawn.uniform(*KINDS[kind])
        begin_ns = time.monotonic_ns()
        host = BROKER if kind == "broker cut off" else self.drawn.choice(list(PROGRAMS))
        self.dealt[kind] += 1
        if for_s:
            self.hosts.cut(off=True, host=host)
            time.sleep(for_s)
            self.hosts.cut(off=False, host=host)
        elif kind == "launcher killed":
            assert self.job is not None
            self.job.kill()
        else:
            chosen = self.pids(host, "vichost" if kind == "agent killed" else PROGRAMS[host])
            for pid in chosen[:1]:
                send(pid, signal.SIGKILL)
        if kind in GOES_ON:
            self._note("broker" if host == BROKER else "bridge0", "stop", begin_ns)
            self.read()
            before = self.books.consumed_once
            self.until(lambda: self.ended or self._more(before), READY_S)
            if not self.ended:
                self.survived += 1
                return
        elif not self.until(lambda: self.ended, ANYBODY_S):
            self.breaches.append(f"{kind}: the job goes on")
        self.leave(begin_ns)

    def leave(self, begin_ns: int) -> None:
        """See that nothing is left of a job that has ended."""
        assert self.job is not None
        self.job.kill()
        self.job.wait()
        self.job = None
        for host in PROGRAMS:
            if not self.until(lambda host=host: not self.pids(host), ANYBODY_S):
                left = ", ".join(map(command_of, self.pids(host)))
                self.breaches.append(f"left on host {self.hosts.names[host]}: {left}")
        self._note("bridge0", "kill", begin_ns)

    def _note(self, target: str, kind: str, begin_ns: int) -> None:
        self.faults.append(Fault(target, kind, begin_ns, time.monotonic_ns()))

    def settle(self) -> None:
        """Let all be delivered in a job without blows, and let that end in its order."""
        for _ in range(TRIES):
            begin_ns = time.monotonic_ns()
            if self.ended:
                self.begin()
            if all(self._end(role) for role in (PUBLISHER, CONSUMER, BRIDGE)):
                assert self.job is not None
                if self.until(lambda: self.ended, READY_S) and self.job.returncode == 0:
                    self.leave(begin_ns)
                    return
            self.leave(begin_ns)
        self.breaches.append(f"of {TRIES} jobs at the end none ended in order")

    def _end(self, role: int) -> bool:
        """Ask programs to end, consumers when all has come; False if the job ends before."""
        came, quiet_s = -1, time.monotonic() + QUIET_S
        while role == CONSUMER and not self.ended and time.monotonic() < quiet_s:
            self.read()
            if not self.books.missing():
                break
            if self.books.consumed_once != came:
                came, quiet_s = self.books.consumed_once, time.monotonic() + QUIET_S
            time.sleep(0.1)
        own = [pid for pid in self.pids(role, PROGRAMS[role]) if "vichost" not in command_of(pid)]
        for pid in own:
            send(pid, signal.SIGTERM)
        there = set(own)
        self.until(lambda: self.ended or not there & set(self.pids(role)), READY_S)
        return role == BRIDGE or not self.ended

    def close(self) -> None:
        if self.job is not None:
            self.job.kill()
            self.job.wait()


def command_of(pid: int) -> str:
    """Return the command line of a process; nothing if it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


@contextmanager
def places(folder: Path) -> Iterator[tuple[namespaces.Hosts, dict[str, str]]]:
    """Make the hosts, with a broker on the last."""
    with namespaces.hosts(f"{os.getpid()}s", "abcd") as hosts:
        name = hosts.names[BROKER]
        asked = Hosts.of(f"{name}:2", name, "ip netns exec {host}", namespaces.LINK)
        with closing(Team(asked, receivers=1, clusters=1)) as team:
            (broker,) = team.start_brokers(1)
            yield hosts, broker


def plan(drawn: random.Random) -> Iterator[str]:
    """Yield kinds of blows without end: each once before one comes again."""
    while True:
        yield from drawn.sample(list(KINDS), len(KINDS))


def soak(folder: Path, seconds: float, seed: int, *, rate: float = 600.0,
         told: Callable[[str], None] = lambda _: None) -> tuple[Across, Verdict]:  # fmt: skip
    """Deal blows for so long, and each kind once at least; return what is to be said about it."""
    folder.chmod(0o700)
    with places(folder) as (hosts, broker), closing(
        Across(folder, hosts, broker, seed, rate)
    ) as scene:  # fmt: skip
        end_s, told_s = time.monotonic() + seconds, time.monotonic()
        kinds = plan(scene.drawn)
        while time.monotonic() < end_s or len(scene.dealt) < len(KINDS):
            if scene.ended:
                scene.begin()
            time.sleep(scene.drawn.uniform(0.1, 1.0))
            scene.deal(next(kinds))
            if time.monotonic() > told_s + 10:
                told_s = time.monotonic()
                told(f"{scene.dealt.total()} blows, {scene.jobs} jobs, "
                     f"{scene.books.confirmed:,} messages confirmed, "
                     f"{scene.books.consumed_once:,} consumed")  # fmt: skip
        scene.settle()
        scene.read()
        verdict = scene.books.judge(Faults(scene.faults, {0: ["broker"]}))
        verdict.breaches += scene.breaches
        return scene, verdict


def table(scene: Across, verdict: Verdict) -> str:
    """Return what was done, and what came of it."""
    rows = [
        *scene.dealt.items(),
        ("jobs", scene.jobs),
        ("cuts that no job noticed", scene.survived),
    ]
    rows += [*verdict.count.items()]
    return "\n".join(f"  {what:30}{count:>12,}" for what, count in rows)
