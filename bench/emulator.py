"""How fast is the emulated card, against bare shared memory in the same run?

Two cards on two cores, functional mode: each figure is the best of several runs that alternate
with its rival, two processes that do the same with a raw mapping (`emulator_raw.c`). Then more
cards than cores, the death of a card, and timed mode: packets per second of wall time. If
`ucx_perftest` or OpenMPI's `mpicc` is installed, its put is measured too.

    bench/emulator.py [PREFIX]      PREFIX: another build of the emulator, as of emulator/build.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from programs import HERE, compiled, output, prefix_asked, with_libvic
from rows import row

RUNS = 5


class Row(NamedTuple):
    """A measurement: its test in the C programs, and what the figure has to reach."""

    name: str
    test: str
    times: int
    unit: str
    goal: str
    cards: int = 2
    less_is_better: bool = False
    rival: str = "bare shared memory"
    options: tuple[str, ...] = ()


ROWS = (
    Row("put and counter, one way", "put", 20_000, "ns", "at most 1.3 x", 2, True),
    Row("puts counted singly", "single", 10_000_000, "M/s", "at least 0.6 x"),
    Row("scattered vector sends", "scatter", 20_000_000, "M words/s", "at least 0.6 x"),
    Row("contiguous put, taken out", "copy", 1_000, "GB/s", "at least 0.8 x"),
    Row("surprise packets, singly", "ring-single", 5_000_000, "M/s", "at least 0.4 x"),
    Row("surprise packets, 64 a call", "ring", 10_000_000, "M/s", "at least 0.4 x"),
    Row(
        "token ring of 8, one hop",
        "ring-of-8",
        2_000,
        "us",
        "",
        8,
        True,
        "a ring of pipes, the hand-over of the operating system",
    ),
)
ANY = Row("put and vic_wait on 16 counters, one way", "any", 20_000, "ns", "", 2, True)
TIMED_PACKETS = 400_000
TIMED = tuple(
    Row(
        f"timed, {cards} cards",
        "storm",
        TIMED_PACKETS // cards,
        "M packets/s of wall time",
        "",
        cards,
        options=("--mode", "timed", *(("--set", f"sram={8 << 20}") if cards > 64 else ())),
    )
    for cards in (2, 4, 8, 16, 32, 128)
)
HASH_RUNS = 50


class Bench:
    """The compiled programs, and the emulator that they run on."""

    def __init__(self, prefix: Path, folder: Path) -> None:
        self.vicrun = str(prefix / "bin" / "vicrun")
        self.raw = compiled("emulator_raw", folder)
        self.vic = compiled("emulator_vic", folder, *with_libvic(prefix))

    def figure(self, one: Row) -> float:
        """Return the best that a card prints."""
        shown = self.cards(one.cards, one.test, one.times, *one.options)
        return (min if one.less_is_better else max)(shown)

    def rival(self, test: str, count: int) -> float:
        """Return the figure of bare shared memory."""
        return float(output([self.raw, test, count]))

    def cards(self, cards: int, test: str, count: int, *options: str) -> list[float]:
        """Return what the cards print."""
        command = [self.vicrun, "-n", cards, *options, "--", self.vic, test, count]
        return [float(line) for line in output(command, check=test != "killed").split()]


def against_bare_memory(bench: Bench) -> dict[str, float]:
    """Print every row beside its rival, and return the best of ours by test."""
    found = {}
    print(f"{'':<28}{'vic':>9} {'bare':>9}  {'unit':<10}{'vic / bare':>10}   goal")
    for one in ROWS:
        ours, rival = [], []
        best, better = (min, "less") if one.less_is_better else (max, "more")
        for _ in range(RUNS):
            rival.append(bench.rival(one.test, one.times))
            ours.append(bench.figure(one))
        vic, bare = best(ours), best(rival)
        found[one.test] = vic
        figures = f"{vic:>9.4g} {bare:>9.4g}  {one.unit:<10}{vic / bare:>10.2f}"
        print(f"{one.name:<28}{figures}   {one.goal}")
        pairs = [own / other for own, other in zip(ours, rival, strict=True)]
        row(f"card: {one.name}, {one.unit}", one.rival, vic / bare, better, pairs)
    return found


def any_of(bench: Bench) -> None:
    """Print how long a put takes to be seen by a wait for one of 16 counters, and for the one."""
    ours, rival = [], []
    for _ in range(RUNS):
        rival.append(bench.figure(ROWS[0]))
        ours.append(bench.figure(ANY))
    ratio = min(ours) / min(rival)
    print(f"vic_wait for one of 16 counters: {ratio:.2f} x vic_counter_wait (goal: at most 1.2)")
    pairs = [own / other for own, other in zip(ours, rival, strict=True)]
    row(f"card: {ANY.name}, {ANY.unit}", "vic_counter_wait", ratio, "less", pairs)


def against_ucx(ours_ns: float) -> None:
    """Print what UCX reaches with puts of 8 bytes over shared memory, if it is installed."""
    if shutil.which("ucx_perftest") is None:
        print("ucx_perftest is not installed: no figures of UCX")
        return
    one_way = min(ucx_figures("ucp_put_lat")[3] for _ in range(RUNS))  # us, over all
    rate = max(ucx_figures("ucp_put_bw")[7] for _ in range(RUNS))  # messages/s, over all
    print(f"UCX, put of 8 B: {one_way * 1000:.4g} ns one way, {rate / 1e6:.4g} M/s, not counted")
    rival = "UCX, ucp_put of 8 B, not counted"
    row("card: put and counter, one way, ns", rival, ours_ns / one_way / 1000, "less")


def ucx_figures(test: str) -> list[float]:
    """Return the last line of `ucx_perftest`: iterations, times, bandwidths, message rates."""
    env = {**os.environ, "UCX_TLS": "posix,self"}
    common = ["ucx_perftest", "-p", "13991"]
    with subprocess.Popen([*common, "-c", "0"], env=env, stdout=subprocess.DEVNULL) as server:
        time.sleep(0.5)  # it listens then, and does not say so
        command = [*common, "-c", "1", "localhost", "-t", test, "-s", "8", "-n", "300000", "-f"]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            server.kill()
            raise SystemExit(f"ucx_perftest: {done.stderr.strip()}")
    return [float(word) for word in done.stdout.splitlines()[-1].split()]


def against_mpi(folder: Path, ours_ns: float) -> None:
    """Print what OpenMPI reaches with puts and messages of 8 bytes, if it is installed."""
    program = str(folder / "emulator_mpi")
    command = ["mpicc", "-std=c11", "-O2", str(HERE / "emulator_mpi.c"), "-o", program]
    installed = shutil.which("mpicc") is not None and shutil.which("mpirun") is not None
    # a package with mpicc may lack mpi.h
    if not installed or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        print("mpicc, mpirun or mpi.h is not installed: no figures of OpenMPI")
        return
    # ranks take their cores themselves
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    command += ["--mca", "btl", "self,vader", "-n", "2", program]
    runs = []
    for _ in range(RUNS):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            print(f"OpenMPI is installed, but mpirun says: {done.stderr.strip()[:300]}")
            return
        runs.append([float(word) for word in done.stdout.split()])
    one_way, rate, message = (
        pick(run) for pick, run in zip((min, max, min), zip(*runs, strict=True), strict=True)
    )
    print(
        f"OpenMPI, MPI_Put of 8 B: {one_way:.4g} ns one way, {rate:.4g} M/s, not counted; "
        f"a message of 8 B: {message:.4g} ns"
    )
    rival = "OpenMPI, MPI_Put of 8 B, not counted"
    row("card: put and counter, one way, ns", rival, ours_ns / one_way, "less")


def deaths(bench: Bench) -> None:
    """Print how long it takes until all cards know that one was killed."""
    for cards in (2, 8):
        told = [max(bench.cards(cards, "killed", 1)) for _ in range(RUNS)]
        worst, all_told = max(told), "all others have VIC_EPEER"
        print(f"{cards} cards, one killed: {all_told} after {worst:.2f} ms at worst (goal: 50 ms)")


def timed(bench: Bench) -> None:
    """Print packets per second of wall time in timed mode."""
    for one in TIMED:
        rate = max(bench.figure(one) for _ in range(2))
        print(f"timed, {one.cards:>3} cards: {rate:.2f} {one.unit}", flush=True)


def hashes(bench: Bench) -> None:
    """Print how many different traces a timed job has: idle or loaded, on one core or two."""
    command = [bench.vicrun, "-n", "4", "--mode", "timed", "--stats", "--", bench.vic, "storm"]
    cores = sorted(os.sched_getaffinity(0))
    seen = set()
    for i in range(HASH_RUNS):
        load = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if i % 4 >= 2 else None
        if i % 2:
            os.sched_setaffinity(0, cores[:1])
        try:
            done = subprocess.run([*command, "20480"], check=True, capture_output=True, text=True)
        finally:
            os.sched_setaffinity(0, cores)
            if load is not None:
                load.kill()
                load.wait()
        seen.add(done.stderr.split("trace hash ")[1].split()[0])
    runs = f"{HASH_RUNS} runs, idle and loaded, on one core and on {len(cores)}"
    print(f"timed, 4 cards: {len(seen)} different trace hashes in {runs} (goal: 1)")


def main() -> None:
    """Print all figures."""
    prefix = prefix_asked()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(prefix, Path(folder))
        ours_ns = against_bare_memory(bench)["put"]
        any_of(bench)
        against_ucx(ours_ns)
        against_mpi(Path(folder), ours_ns)
        deaths(bench)
        timed(bench)
        hashes(bench)


if __name__ == "__main__":
    main()
