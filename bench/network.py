"""How fast is a network, against one switch of as many nodes?

For each preset with its 16 planes: slots/s, node updates/s, the same for one large switch of about
as many nodes in the same process, memory as stated before and as taken. One thread is timed by the
processor's clock, so that other work changes little. Then what the flow level saves, and its error.
"""

from __future__ import annotations

import resource
import tempfile
from functools import partial
from pathlib import Path
from time import process_time

from rows import faster, seconds

from dvsim.core.vortex import simd
from dvsim.fabric.network import Network, units
from dvsim.fabric.switch import Switch

LOAD = 0.5
ANGLES = 8
FILL = 80  # slots, until the queues are as long as they get


def as_large(nodes: int) -> Switch:
    """Return the switch with eight angles, or a few more, that has about as many nodes."""
    bits = max(bits for bits in range(1, 21) if (bits + 1) * ANGLES << bits <= nodes)
    return Switch(1 << bits, max(ANGLES, round(nodes / ((bits + 1) << bits))))


def peak() -> float:
    """Return the memory that this process has taken at most, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def per_slot(device: Network | Switch, slots: int, times: int) -> list[float]:
    """Return the processor's seconds per slot, run by run; the queues of a network are full."""
    simulation = device.start(LOAD, threads=1)
    simulation.run(max(slots, FILL))
    found = []
    for _ in range(times):
        started = process_time()
        simulation.run(slots)
        found.append((process_time() - started) / slots)
    return found


def preset(name: str, slots: int, times: int) -> float:
    """Time a preset and a switch of its size on one core; return seconds per slot."""
    network = Network(name)
    ours = per_slot(network, slots, times)
    taken = peak()
    tell(network, name, 1, min(ours), f"{taken:,.0f} MiB taken in all")
    switch = as_large(network.nodes)
    theirs = per_slot(switch, slots, times)
    per_node = [[one / device.nodes for one in found]
                for device, found in ((network, ours), (switch, theirs))]  # fmt: skip
    against = f"a switch {switch.height} x {switch.angles}"
    faster(f"network {name} x {network.planes}, node updates/s", against, *per_node)
    return min(ours)


def two_threads(name: str, slots: int, times: int) -> None:
    """Time a preset on one thread and on two, in turns."""
    network = Network(name)
    both = [network.start(LOAD, threads=threads) for threads in (1, 2)]
    for simulation in both:
        simulation.run(FILL)
    turns = [[seconds(partial(each.run, slots)) / slots for each in both] for _ in range(times)]
    one, two = zip(*turns, strict=True)
    tell(network, name, 2, min(two), "")
    faster(f"network {name} x {network.planes}, two threads", "one thread", two, one)


def tell(network: Network, name: str, threads: int, slot_s: float, memory: str) -> None:
    """Print what a preset does in a second."""
    text = (
        f"{name} x {network.planes} planes, {threads} thread{'s' if threads > 1 else ' '}"
        f" {network.nodes:>11,} nodes {slot_s * 1e6:>11,.1f} us/slot {1 / slot_s:>9,.0f} slots/s "
        f"{network.nodes / slot_s / 1e6:>6,.0f} M node updates/s"
    )
    stated = f"; {network.memory / 2**20:,.0f} MiB stated, {memory}" if memory else ""
    print(f"{text}{stated}", flush=True)


def flow(name: str, load: float, slots: int, slot_s: float) -> None:
    """Time the flow level, with tables to be made and with tables that are there."""
    network = Network(name)

    def run() -> object:
        return network.run(load, slots, fidelity="flow", injection="queue")

    first, again = (seconds(run) for _ in range(2))
    print(f"{first:.2f} s, then {again * 1e3:.0f} ms: {run()!r}", flush=True)
    subject = f"network {name} at flow level, {slots:,} slots, tables to be made"
    faster(subject, f"every packet, at {slot_s * 1e6:,.0f} us/slot", [first], [slot_s * slots])


def main() -> None:
    """Print all figures."""
    print(f"instruction set: {simd()}; offered load {LOAD}, uniform, dropped when refused")
    preset("dv203", 5000, 9)
    slot_s = {"dv206": preset("dv206", 500, 9)}
    two_threads("dv206", 500, 9)
    preset("dv208", 100, 5)
    slot_s["dv211"] = preset("dv211", 20, 5)
    two_threads("dv211", 20, 5)
    slot_s["dv216"] = preset("dv216", 5, 3)
    with tempfile.TemporaryDirectory() as empty:
        units.folder = lambda: Path(empty)
        for name, taken in slot_s.items():
            flow(name, 0.7, 1_000_000, taken)


if __name__ == "__main__":
    main()
