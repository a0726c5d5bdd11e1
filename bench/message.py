"""How fast are messages between two cards, against words that are only put, in the same run?

Two cards on two cores, functional mode. Runs alternate: messages, then puts. A contiguous put is
counted until the receiver has taken the words out of its card (`emulator_vic.c`, test copy), as
it does with a message; the best of several runs is shown.

    bench/message.py [PREFIX]      PREFIX: another build of the emulator, as of emulator/build.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from programs import compiled, output, prefix_asked, with_libvic
from rows import row

RUNS = 7
SIZES = {8: 1_000_000, 256: 500_000, 2048: 200_000, 8192: 100_000, 131072: 20_000}
"""Bytes of a message, and how many are sent: those of the published tables."""


class Bench:
    """The compiled programs, and the emulator that they run on."""

    def __init__(self, prefix: Path, folder: Path) -> None:
        self.vicrun = str(prefix / "bin" / "vicrun")
        names = ("message_vic", "emulator_vic")
        self.made = {name: compiled(name, folder, *with_libvic(prefix)) for name in names}

    def figure(self, program: str, *arguments: object) -> float:
        """Return what the cards print, of two figures the smaller."""
        command = [self.vicrun, "-n", 2, "--", self.made[program], *arguments]
        return min(map(float, output(command).split()))


def main() -> None:
    """Print all figures."""
    prefix = prefix_asked()
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
        print(f"8 B: {best[8] / 1e6:.3g} M/s (goal: 3)")
        against = "contiguous puts, goal 0.6"
        row("messages of 128 KiB, bytes/s", against, median(ratios), "more", ratios)
        ways = [("message_vic", "latency", 8, 20_000), ("emulator_vic", "put", 20_000)]
        turns = [[bench.figure(*way) for way in ways] for _ in range(RUNS)]
        latency, put = map(min, zip(*turns, strict=True))
        print(
            f"8 B one way, program to program: {latency:.4g} ns; a word and its counter {put:.4g}"
        )
        pairs = [own / other for own, other in turns]
        row("message of 8 B, one way, ns", "a put and its counter", latency / put, "less", pairs)


if __name__ == "__main__":
    main()
