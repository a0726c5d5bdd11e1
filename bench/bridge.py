"""How much of what a bare rabbitmq-c loop publishes does vicbridge publish, from other cards?

A private RabbitMQ node, one connection, the same window, publisher confirms, transient messages
into one classic queue, which is emptied between runs. Runs alternate: a bare loop that sends the
same memory again and again; a card that does the same through vicbridge; and for large messages the
limit, a bare loop that puts each message together from what another process copies into shared
memory, as any bridge must. Each is timed from its first message to its last confirm; a figure is
the middle of the ratios of the pairs. The cores have to do it all: what the bridge and its sender
need the broker does not get.

Then the bridge's memory while the broker takes nothing, its CPU time while no card sends, and
RabbitMQ's PerfTest at the other end.

    bench/bridge.py [PAIRS]      PERFTEST: a jar or a folder of jars of com.rabbitmq:perf-test
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from programs import compiled, output, with_libvic
from rows import row

from dvsim.broker import Brokers
from dvsim.broker.compile_bridge import vicbridge
from dvsim.native import emulator_prefix

SIZES = {8: 60_000, 256: 60_000, 2048: 50_000, 8192: 30_000, 131072: 4_000}
"""Bytes of a message, and how many are sent: those of the published tables."""
LARGE = 65536
"""Bytes of a message from which on its copies cost the most: the limit is one of copies."""
WINDOW = 256
GOAL = 0.95
PERFTEST_MESSAGES = 50_000
IDLE_S = 10


class Bench:
    """One broker, and programs that publish to it."""

    def __init__(self, brokers: Brokers, folder: Path) -> None:
        self.brokers, self.node, self.folder = brokers, brokers.nodes[0], folder
        prefix = emulator_prefix()
        self.bin = prefix / "bin"
        self.bare = compiled("bridge_bare", folder, "-lrabbitmq")
        self.card = compiled("bridge_card", folder, *with_libvic(prefix))
        self.bridge = [str(vicbridge()), "--url", self.node.url, "--credentials"]
        self.bridge += [str(brokers.credentials), "--window", str(WINDOW)]
        queue = ["--queue", "dv1=#"]
        self.check = [*self.bridge, *queue, "--check"]
        subprocess.run(self.check, check=True, capture_output=True)

    def empty(self) -> None:
        """Empty the queue."""
        self.node.ctl("purge_queue", "dv1")

    def bare_rate(self, size: int, count: int, *more: str) -> float:
        """Return messages per second of the bare loop."""
        where = [self.node.port, self.brokers.credentials, "dv1.A"]
        return float(output([self.bare, *where, size, count, WINDOW, *more]))

    def limit_rate(self, size: int, count: int) -> float:
        """Return messages per second of the least that any bridge does."""
        return self.bare_rate(size, count, "assemble")

    def bridge_rate(self, size: int, count: int) -> float:
        """Return messages per second of a card that publishes through the bridge."""
        card = [str(self.card), "dv1.A", str(size), str(count)]
        return float(self.job(card, [*self.bridge, "--exit-with-clients"]))

    def broker_cpu_s(self) -> float:
        """Return the CPU time of the broker."""
        return process_cpu_s(str(self.node.pid))

    def load(self, verb: str, *more: object) -> list[str]:
        """Return the command of a vicload whose bridge is card 1."""
        return [str(word) for word in (self.bin / "vicload", verb, "--bridge", 1, *more)]

    def job(self, *programs: list[str]) -> str:
        """Run a job with one card for each program; return what it prints."""
        return output([self.bin / "vicrun", "-n", "1", *programs[0], ":", *programs[1]])


def publishing(bench: Bench, pairs: int) -> None:
    """Print rates, ratios to the bare loop, and what programs and broker need of a core."""
    print(f"{'message':>10}  messages/s, best of {pairs}; CPU of a message: programs + broker")
    for size, count in SIZES.items():
        measures = {"bridge": bench.bridge_rate, "bare": bench.bare_rate}
        if size >= LARGE:
            measures["limit of any bridge"] = bench.limit_rate
        rates: dict[str, list[float]] = {name: [] for name in measures}
        spent = {name: [0.0, 0.0] for name in measures}
        for _ in range(pairs):
            for name, measure in measures.items():
                bench.empty()
                before = (cpu_s(), bench.broker_cpu_s())
                rates[name].append(measure(size, count))
                after = (cpu_s(), bench.broker_cpu_s())
                for side in range(2):
                    spent[name][side] += (after[side] - before[side]) / count / pairs * 1e6
        shown = [
            f"{name} {max(rates[name]):,.0f} ({own:.1f} + {its:.1f} us)"
            for name, (own, its) in spent.items()
        ]
        print(f"{size:>8} B  {', '.join(shown)}")
        against = f"a bare rabbitmq-c loop, goal {GOAL}"
        bare = rates.pop("bare")
        for name, side in rates.items():
            ratios = [own / other for own, other in zip(side, bare, strict=True)]
            row(f"{name}, {size} B, messages/s", against, median(ratios), "more", ratios)


def cpu_s() -> float:
    """Return the CPU time of all programs that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memory(bench: Bench) -> None:
    """Print how much of the bridge is resident while the broker takes nothing."""
    for size in (8, 131072):
        bench.empty()
        bench.node.memory_alarm(True)
        prometheus = bench.folder / "bridge.prom"
        command = [str(bench.bin / "vicrun"), "-n", "3"]  # a sender has its own window: 16 MiB
        command += bench.load("publish", "--key", "dv1.A", "--messages", 1000, "--bytes", size)
        command[command.index("--bridge") + 1] = "3"
        command += [":", *bench.bridge, "--prometheus", str(prometheus), "--exit-with-clients"]
        job = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            peak = blocked_peak(job, prometheus) / 1024
        finally:
            bench.node.memory_alarm(False)
            job.wait(120)
        goal = f"goal: window x size + 64 MiB = {WINDOW * size / 2**20 + 64:.0f} MiB"
        print(f"{size} B, broker blocked: {peak:.1f} MiB resident at most ({goal})")
        prometheus.unlink()


def blocked_peak(job: subprocess.Popen[bytes], prometheus: Path) -> int:
    """Return the bridge's peak in kB when its window is full."""
    wanted = f'vicbridge_in_flight{{card="3"}} {WINDOW}'
    end = time.monotonic() + 60
    while not (prometheus.exists() and wanted in prometheus.read_text("ascii")):
        if time.monotonic() > end:
            raise SystemExit("the bridge's window does not fill")
        time.sleep(0.1)
    children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text("ascii").split()
    status = [Path(f"/proc/{child}/status").read_text("ascii") for child in children]
    (text,) = [text for text in status if "Name:\tvicbridge" in text]
    return int(re.findall(r"VmHWM:\s+(\d+) kB", text)[0])


def idle(bench: Bench) -> None:
    """Print how much of a core the bridge takes while 8 cards are open and send nothing."""
    card = f"import time; from dvsim import vic; card = vic.open(); time.sleep({IDLE_S + 4})"
    command = [str(bench.bin / "vicrun"), "-n", "8", "--", sys.executable, "-c", card, ":"]
    with subprocess.Popen([*command, *bench.bridge], stderr=subprocess.PIPE, text=True) as job:
        assert job.stderr is not None
        while "takes messages" not in job.stderr.readline():
            if job.poll() is not None:
                raise SystemExit("the idle job has ended")
        children = Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text("utf-8").split()
        (bridge,) = [
            pid for pid in children if "vicbridge" in Path(f"/proc/{pid}/comm").read_text()
        ]
        time.sleep(2)  # all are open
        before, began = process_cpu_s(bridge), time.monotonic()
        time.sleep(IDLE_S)
        share = (process_cpu_s(bridge) - before) / (time.monotonic() - began)
        job.terminate()
    print(f"idle, 8 cards: {share:.2%} of a core (goal: under 1 %)")
    row("bridge: CPU time while 8 cards are idle", "a core", share, "less")


def process_cpu_s(pid: str) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def perftest(bench: Bench) -> None:
    """Let PerfTest consume what the bridge published, and publish what the bridge delivers."""
    where = os.environ.get("PERFTEST")
    if where is None or shutil.which("java") is None:
        print("PerfTest: not run: it needs java, and PERFTEST: a jar, or a folder of jars")
        return
    classes = f"{where}/*" if Path(where).is_dir() else where
    user = f"{bench.brokers.user}:{bench.brokers.password}"
    uri = bench.node.url.replace("amqp://", f"amqp://{user}@")
    secret = {"RABBITMQ_PERF_TEST_ENV_PREFIX": "DVSIM_BENCH_", "DVSIM_BENCH_URI": uri}
    size, count = 2048, PERFTEST_MESSAGES

    def tested(*arguments: object) -> str:
        command = [
            "java",
            "-cp",
            classes,
            "com.rabbitmq.perf.PerfTest",
            "--predeclared",
            "-u",
            "dv1",
        ]
        done = subprocess.run(
            [*command, *map(str, arguments)],
            capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **secret},
        )  # fmt: skip
        found = re.findall(r"(?:sending|receiving) rate avg: (\d+) msg/s", done.stdout)
        if not found:
            return f"failed: {(done.stderr or done.stdout)[-300:]}"
        return f"{max(map(int, found)):,} messages/s"

    bench.empty()
    load = bench.load("publish", "--key", "dv1.A", "--messages", count, "--bytes", size)
    bench.job(load, [*bench.bridge, "--exit-with-clients"])
    rate = tested("-x", 0, "-y", 1, "-D", count, "-q", 256, "--multi-ack-every", 128)
    print(f"PerfTest consumes {count:,} messages of {size} B that the bridge published: {rate}")
    report = bench.folder / "consumed.json"
    command = [str(bench.bin / "vicrun"), "-n", "1"]
    command += bench.load("consume", "--queue", "dv1", "--messages", count, "--report", report)
    command += [":", *bench.bridge, "--exit-with-clients"]
    consumer = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    rate = tested("-x", 1, "-y", 0, "-C", count, "-s", size, "-c", 256, "-e", "dv", "-k", "dv1.A")
    print(f"PerfTest publishes {count:,} messages of {size} B, with confirms: {rate}")
    consumer.wait(300)
    taken = json.loads(report.read_text("utf-8"))
    print(f"the bridge gave a card {taken['messages']:,} of them, {taken['bytes']:,} B")


def main() -> None:
    """Print all figures."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder, Brokers(memory=4 << 30) as brokers:
        load = os.getloadavg()[0]
        print(
            f"RabbitMQ {brokers.version}, window {WINDOW}, {os.cpu_count()} cores, load {load:.1f}"
        )
        bench = Bench(brokers, Path(folder))
        publishing(bench, pairs)
        memory(bench)
        idle(bench)
        perftest(bench)


if __name__ == "__main__":
    main()
