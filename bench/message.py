"""How fast are messages between two cards, against words that are only put, in the same run?

Two cards on two cores, functional mode. Runs alternate: messages, then puts. A contiguous put is
counted until the receiver has taken the words out of its card (`emulator_vic.c`, test copy), as
it does with a message; the best of several runs is shown.

    bench/message.py [PREFIX]      PREFIX: another build of the emulator, as of emulator/build.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from dvsim.native import emulator_prefix

HERE = Path(__file__).resolve().parent
RUNS = 7
SIZES = {8: 1_000_000, 256: 500_000, 2048: 200_000, 8192: 100_000, 131072: 20_000}
"""Bytes of a message, and how many are sent: those of the published tables."""


class Bench:
    """The compiled programs, and the emulator that they run on."""

    def __init__(self, prefix: Path, folder: Path) -> None:
        self.vicrun = str(prefix / "bin" / "vicrun")
        self.folder = folder
        cc = [os.environ.get("CC", "cc"), "-std=c11", "-O2"]
        lib = prefix / "lib"
        vic = [f"-I{prefix / 'include'}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-lvic"]
        for name in ("message_vic", "emulator_vic"):
            command = [*cc, str(HERE / f"{name}.c"), "-o", str(folder / name), *vic]
            subprocess.run(command, check=True)

    def figure(self, program: str, *arguments: object) -> float:
        """Return what one of the two cards prints."""
        command = [self.vicrun, "-n", "2", "--", str(self.folder / program), *map(str, arguments)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
        return float(done.stdout)


def main() -> None:
    """Print all figures."""
    prefix = Path(sys.argv[1]) if len(sys.argv) > 1 else emulator_prefix()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(prefix, Path(folder))
        best: dict[int, float] = {}
        puts: list[float] = []
        ratios: list[float] = []
        for _ in range(RUNS):
            for size, count in SIZES.items():
                rate = bench.figure("message_vic", "messages", size, count)
                best[size] = max(best.get(size, 0.0), rate)
            puts.append(bench.figure("emulator_vic", "copy", 10_000))
            ratios.append(rate * 131072 / 1e9 / puts[-1])
        print(f"{'message':>10} {'M/s':>9} {'GB/s':>9}")
        for size, rate in best.items():
            print(f"{size:>8} B {rate / 1e6:>9.4g} {rate * size / 1e9:>9.4g}")
        print(f"contiguous put, taken out: {max(puts):.4g} GB/s")
        latency = min(bench.figure("message_vic", "latency", 8, 20_000) for _ in range(RUNS))
        print(f"8 B one way, program to program: {latency:.4g} ns")
        print(f"8 B: {best[8] / 1e6:.3g} M/s (goal: 3)")
        ratio = best[131072] * 131072 / 1e9 / max(puts)
        print(f"128 KiB / contiguous put: {ratio:.2f} best by best, ", end="")
        print(f"{median(ratios):.2f} in the middle of {RUNS} pairs of runs (goal: 0.6)")


if __name__ == "__main__":
    main()
