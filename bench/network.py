"""How fast is a network, against one switch of as many nodes?

For each preset with its 16 planes: slots/s, node updates/s, the same for one large switch of about
as many nodes in the same process, memory as stated before and as taken. Then what the flow level
saves, and its error.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable

from dvsim.core.vortex import simd
from dvsim.network import Network, cache
from dvsim.switch import Switch

LOAD = 0.5
ANGLES = 8


def best(run: Callable[[], object], times: int) -> float:
    """Return the shortest of several times, in seconds."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        taken.append(time.perf_counter() - started)
    return min(taken)


def as_large(nodes: int) -> Switch:
    """Return the switch with eight angles, or a few more, that has about as many nodes."""
    bits = max(bits for bits in range(1, 21) if (bits + 1) * ANGLES << bits <= nodes)
    return Switch(1 << bits, max(ANGLES, round(nodes / ((bits + 1) << bits))))


def peak() -> float:
    """Return the memory that this process has taken at most, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def per_slot(device: Network | Switch, slots: int, times: int, threads: int = 1) -> float:
    """Return seconds per slot; the queues of a network have filled before."""
    simulation = device.start(LOAD, threads=threads)
    simulation.run(max(slots, 80))
    return best(lambda: simulation.run(slots), times) / slots


def preset(name: str, slots: int, times: int, threads: int = 1) -> None:
    """Time a preset and a switch of its size."""
    network = Network(name)
    seconds = per_slot(network, slots, times, threads)
    taken = peak()
    rate = network.nodes / seconds
    text = (
        f"{name} x {network.planes} planes, {threads} thread{'s' if threads > 1 else ' '}"
        f" {network.nodes:>11,} nodes {seconds * 1e6:>11,.1f} us/slot {1 / seconds:>9,.0f} slots/s "
        f"{rate / 1e6:>6,.0f} M node updates/s"
    )
    if threads == 1:
        switch = as_large(network.nodes)
        ratio = rate * per_slot(switch, slots, times) / switch.nodes
        text += f" {ratio:.2f} of a {switch.height} x {switch.angles} switch"
    stated = network.memory / 2**20
    print(f"{text}; {stated:,.0f} MiB stated, {taken:,.0f} MiB taken in all", flush=True)


def flow(name: str, load: float, slots: int) -> None:
    """Time the flow level, with tables to be made and with tables that are there."""
    network = Network(name)
    first, again = (
        best(lambda: network.run(load, slots, fidelity="flow", injection="queue"), 1)
        for _ in range(2)
    )
    run = network.run(load, slots, fidelity="flow", injection="queue")
    print(f"{first:.2f} s, then {again * 1e3:.0f} ms: {run!r}", flush=True)


def main() -> None:
    """Print all figures."""
    print(f"instruction set: {simd()}; offered load {LOAD}, uniform, dropped when refused")
    preset("dv203", 5000, 9)
    preset("dv206", 500, 9)
    preset("dv206", 500, 9, threads=2)
    preset("dv208", 100, 5)
    preset("dv211", 20, 5)
    preset("dv211", 20, 5, threads=2)
    with tempfile.TemporaryDirectory() as empty:
        cache.folder = lambda: cache.Path(empty)
        for name in ("dv206", "dv211", "dv216"):
            flow(name, 0.7, 1_000_000)
    preset("dv216", 5, 3)


if __name__ == "__main__":
    main()
