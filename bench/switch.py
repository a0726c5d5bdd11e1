"""How fast is the switch, against plain Python, NumPy and the memory it works in?

Prints node updates/s and packet hops/s of the core with statistics on, for one and two threads, a
small, a batched and a very large switch; then the ratio to the plain Python reference and to a
NumPy version of the same switch, with identical results; and how far the inner loop is from the
bandwidth of the cache that holds the switch, measured by copying an array of that size.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy_switch import NumpySwitch
from rows import faster, row, seconds

from dvsim.core.vortex import simd
from dvsim.fabric.switch import Switch

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "model"))
from reference_switch import ReferenceSwitch

LOAD = 0.5
# Bits of a node of 1024 x 8: a packet is there, bits of its height that are not settled (5 on
# average), its angle, the slot of its injection. A slot reads and writes each of them once in the
# cache that holds the switch. (A descent reads and writes those of two cylinders, but one is still
# further in.)
BITS = 1 + 5 + 3 + 9


def several(run: Callable[[], object], times: int = 5) -> list[float]:
    """Return several times, in seconds."""
    return [seconds(run) for _ in range(times)]


def core_rate(height: int, angles: int, slots: int, **options: int) -> list[float]:
    """Time a switch and print its rates; returns node updates per second, run by run."""
    switch = Switch(height, angles)
    simulation = switch.start(load=LOAD, **options)
    simulation.run(slots // 4)
    simulation.reset()
    taken = several(lambda: simulation.run(slots))
    result = simulation.result()
    nodes = switch.nodes * options.get("replications", 1)
    hops = float(np.sum(result.occupancy)) * nodes / switch.cylinders
    each, rate = slots / min(taken), nodes * slots / min(taken)
    text = ", ".join(f"{name} {value}" for name, value in options.items())
    print(
        f"H={height:<6} A={angles:<3} {text:<18} {rate / 1e6:>7,.0f} M node updates/s "
        f"{hops * each / 1e6:>7,.0f} M packet hops/s {each:>12,.0f} slots/s",
        flush=True,
    )
    return [nodes * slots / one for one in taken]


def processor_seconds(run: Callable[[], object]) -> float:
    """Return the processor's time of all threads of this process."""
    before = time.process_time()
    run()
    return time.process_time() - before


def scaling(height: int, angles: int, slots: int = 500) -> None:
    """Print how much faster two threads are, from short runs that take turns.

    And the processor's time that both together take: where that is no more than one thread's, what
    is missing to two is the machine's, whose cores share work or are threads of one core.
    """
    both = [Switch(height, angles).start(load=LOAD, threads=threads) for threads in (1, 2)]
    turns = [[seconds(partial(one.run, slots)) for one in both] for _ in range(40)]
    single, double = zip(*turns, strict=True)
    faster(f"switch {height} x {angles}, two threads", "one thread", double, single)
    turns = [[processor_seconds(partial(one.run, slots)) for one in both] for _ in range(40)]
    single, double = zip(*turns, strict=True)
    faster(f"switch {height} x {angles}, two threads, processor", "one thread", double, single)


def rivals(height: int = 64, angles: int = 4, slots: int = 300) -> None:
    """Run the same switch three times, compare results, print ratios."""
    threshold = round(LOAD * 2**32)
    reference = ReferenceSwitch(height, angles, tuple(range(angles)), threshold=threshold)
    python = several(lambda: [reference.step() for _ in range(slots)], times=1)
    rival = NumpySwitch(height, angles)
    numpy = several(lambda: [rival.step(threshold) for _ in range(slots)], times=1)
    result = Switch(height, angles).run(load=LOAD, slots=slots)
    assert result.delivered == rival.delivered
    assert result.accepted == rival.accepted
    assert result.hops.tolist() == rival.hops.tolist()[: len(result.hops)]
    assert result.hops.tolist() == [reference.count["hops", k] for k in range(len(result.hops))]
    simulation = Switch(height, angles).start(load=LOAD)
    ours = [one / 100 for one in several(lambda: simulation.run(100 * slots))]
    subject = f"switch {height} x {angles}, identical results"
    faster(subject, "plain Python", ours, python)
    faster(subject, "NumPy", ours, numpy)
    large = NumpySwitch(1024, 8)
    numpy = several(lambda: [large.step(threshold) for _ in range(20)])
    simulation = Switch(1024, 8).start(load=LOAD)
    ours = [one / 50 for one in several(lambda: simulation.run(1000))]
    faster("switch 1024 x 8", "NumPy", ours, numpy)


def copy_bandwidth(size: int) -> float:
    """Return bytes read and written per second when an array of `size` bytes is copied."""
    source = np.ones(size // 8, dtype=np.uint64)
    target = np.empty_like(source)
    repeats = max(1, 2**28 // size)
    taken = several(lambda: [np.copyto(target, source) for _ in range(repeats)])
    return 2 * source.nbytes * repeats / min(taken)


def main() -> None:
    """Print all figures."""
    print(f"instruction set: {simd()}; offered load {LOAD}, uniform, dropped when refused")
    rates = core_rate(1024, 8, 2000)
    core_rate(1024, 8, 2000, threads=2)
    scaling(1024, 8)
    core_rate(16, 4, 100_000)
    core_rate(16, 4, 5_000, replications=256)
    core_rate(65536, 16, 20)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory after the switch with {65536 * 16 * 17:,} nodes: {peak:,.0f} MiB")
    rivals()
    size = 1024 * 8 * 11 * BITS // 8
    bandwidth = copy_bandwidth(size // 2)
    shares = [rate * 2 * BITS / 8 / bandwidth for rate in rates]
    against = f"a copy within {size // 1024} KiB: {bandwidth / 1e9:.0f} GB/s"
    row("switch 1024 x 8, bytes read and written", against, max(shares), "more", shares)


if __name__ == "__main__":
    main()
