"""How fast are cards on two hosts, against bare libfabric between the same hosts in the same run?

The hosts are two network namespaces with a link between them, which takes root. The rival is two
processes that write into each other's memory by `fi_write` and count by `fi_atomic`, over tcp
(`hosts_raw.c`). Both run in turns, before all other programs if that is allowed, as an agent for
each host has to run beside the programs. The figures are the best of all runs. The ratio is the
median of those of each pair of runs: the same machine may copy three times as fast a minute later.
Then: are the cards of one host as fast in a job over two as in a job without hosts? And how long
after a host has been killed or cut off have the waits of all cards ended with VIC_EPEER?

    bench/hosts.py [PREFIX]      PREFIX: another build of the emulator, as of emulator/build.py
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from programs import compiled, output, prefix_asked, with_libvic
from rows import row

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "emulator"))

import namespaces

RUNS = 7
TOLD_MS = 500
"""Within which a host that is lost has to be known to all cards."""

"""Of 64 cards, over one, two and four hosts."""


class Row(NamedTuple):
    """A measurement: its test in both C programs, and what the figure has to reach."""

    name: str
    test: str
    times: int
    unit: str
    goal: str
    less_is_better: bool = False


REMOTE = (
    Row("put and counter, one way", "put", 3_000, "ns", "at most 1.25 x", True),
    Row("contiguous puts, taken out", "copy", 4_000, "GB/s", "at least 0.85 x"),
    Row("puts of 8 B", "single", 300_000, "M/s", "at least 0.8 x"),
)
LOCAL = (
    Row("put and counter, one way", "put", 20_000, "ns", "at most 1.03 x", True),
    Row("contiguous puts, taken out", "copy", 4_000, "GB/s", "at least 0.97 x"),
    Row("puts of 8 B", "single", 2_000_000, "M/s", "at least 0.97 x"),
)


class Bench:
    """The compiled programs, the emulator that they run on, and the hosts."""

    def __init__(self, prefix: Path, folder: Path, hosts: namespaces.Hosts) -> None:
        self.vicrun = [str(prefix / "bin" / "vicrun"), "--host-timeout", "20s"]
        self.raw = compiled("hosts_raw", folder, "-lfabric")
        self.vic = compiled("emulator_vic", folder, *with_libvic(prefix))
        self.folder, self.hosts = folder, hosts

    def bare(self, one: Row) -> float:
        """Return the figure of two processes that use libfabric."""
        with tempfile.TemporaryDirectory(dir=self.folder) as meeting:
            sides = [
                subprocess.Popen(
                    [
                        "ip",
                        "netns",
                        "exec",
                        name,
                        self.raw,
                        str(side),
                        address,
                        meeting,
                        one.test,
                        str(one.times),
                    ],
                    stdout=subprocess.PIPE,
                    text=True,
                )
                for side, (name, address) in enumerate(self.hosts.addresses())
            ]
            said = "".join(side.communicate(timeout=600)[0] for side in sides)
        return float(said)

    def remote(self, one: Row) -> float:
        """Return the figure of two cards on two hosts."""
        command = [*self.vicrun, *self.hosts.options(1, 1), "--", self.vic]
        return float(output([*in_front(), *command, one.test, one.times, "shared"]))

    def local(self, one: Row) -> float:
        """Return the figure of two cards on the first of two hosts."""
        command = [*self.vicrun, *self.hosts.options(2, 1), "--", self.vic]
        return float(output([*command, one.test, one.times]))

    def alone(self, one: Row) -> float:
        """Return the figure of the same cards in a job without hosts."""
        return float(output([self.vicrun[0], "-n", 3, "--", self.vic, one.test, one.times]))

    def lost(self, lose: Callable[[], None]) -> float:
        """Return how many ms after the second host is lost no card waits any more."""
        command = [self.vicrun[0], "--host-timeout", "400ms", *self.hosts.options(2, 1)]
        command += ["--", str(self.vic), "lost", "1"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as job:
            assert job.stdout is not None
            for _ in range(3):
                job.stdout.readline()
            time.sleep(0.1)  # all of them sleep by then
            begun_ns = time.monotonic_ns()
            lose()
            told = [int(line) for line in job.stdout]
        if len(told) < 2:
            sys.exit("hosts.py: a card of the first host was not told that the second is lost")
        return (max(told) - begun_ns) / 1e6

    def kill(self) -> None:
        """Kill all processes of the second host."""
        for pid in namespaces.run("ip", "netns", "pids", self.hosts.names[1]).split():
            os.kill(int(pid), signal.SIGKILL)

    def cut_off(self) -> None:
        """Take the link of the second host down."""
        self.hosts.cut(off=True)


def in_front() -> list[str]:
    """Return what runs a command before all others, if that is allowed."""
    allowed = subprocess.run(["chrt", "-r", "1", "true"], capture_output=True, check=False)
    return ["chrt", "-r", "1"] if allowed.returncode == 0 else []


def compare(
    one: Row,
    subject: str,
    rival: str,
    ours: Callable[[Row], float],
    theirs: Callable[[Row], float],
) -> None:
    """Print and keep a row: both in turns, the best of each and the median of their ratios."""
    best, better = (min, "less") if one.less_is_better else (max, "more")
    pairs = [(ours(one), theirs(one)) for _ in range(RUNS)]
    vic, bare = best(own for own, _ in pairs), best(other for _, other in pairs)
    spread = [own / other for own, other in pairs]
    ratio = statistics.median(spread)
    figures = f"{vic:>9.4g} {bare:>9.4g}  {one.unit:<6}{ratio:>7.2f}"
    print(f"{subject}, {one.name:<28}{figures}   (goal: {one.goal})")
    row(f"{subject}: {one.name}, {one.unit}", rival, ratio, better, spread)


def compare_losses(bench: Bench) -> None:
    """Print and keep how long it takes to learn that a host is lost: the longest of all runs."""
    for how, lose in (("killed", bench.kill), ("cut off", bench.cut_off)):
        took = []
        for _ in range(RUNS):
            took.append(bench.lost(lose))
            bench.hosts.cut(off=False)
        subject = f"a host is {how}: until all waits have ended"
        print(f"{subject}  {max(took):.0f} ms   (goal: at most {TOLD_MS} ms)")
        spread = [one / TOLD_MS for one in took]
        row(subject, f"{TOLD_MS} ms", max(spread), "less", spread)


def main() -> None:
    """Print all figures."""
    if os.geteuid() != 0:
        sys.exit("hosts.py: needs root to make network namespaces")
    mark = f"bench-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder, namespaces.hosts(mark) as hosts:
        bench = Bench(prefix_asked(), Path(folder), hosts)
        for one in REMOTE:
            compare(one, "cards of two hosts", "bare libfabric, tcp", bench.remote, bench.bare)
        for one in LOCAL:
            rival = "a job without hosts"
            compare(one, "cards of one of two hosts", rival, bench.local, bench.alone)
        compare_losses(bench)


if __name__ == "__main__":
    main()
