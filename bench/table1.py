"""How fast is the whole Table 1 campaign: 15 sizes, both transports, published message counts?

Prints wall time, memory, events/s, simulated messages/s and simulated s per s, and holds them
against three things measured in the same run:

- the hardware: simulated seconds are what the modelled machine takes;
- the limit: bare SimPy timeouts per second on one core;
- the rival: the same bridge with an object for each message, as it is usually written: five events
  for each of them, two timeouts and three operations on stores.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
from pathlib import Path

import simpy
from rows import row

from dvsim.contract.load import load_campaign
from dvsim.session import run_scenarios

KERNEL_EVENTS = 300_000
RIVAL_MESSAGES = 30_000


def kernel_rate() -> float:
    """Timeouts per second of one bare SimPy process."""
    env = simpy.Environment()

    def tick() -> simpy.events.ProcessGenerator:
        for _ in range(KERNEL_EVENTS):
            yield env.timeout(1)

    env.process(tick())
    started = time.perf_counter()
    env.run()
    return KERNEL_EVENTS / (time.perf_counter() - started)


def rival_rate() -> float:
    """Messages per second when each message is an object that passes card, ring, socket, queue."""
    env = simpy.Environment()
    ring, queue = simpy.Store(env, capacity=4096), simpy.Store(env)

    def card() -> simpy.events.ProcessGenerator:
        for message in range(RIVAL_MESSAGES):
            yield env.timeout(1)
            yield ring.put(message)

    def bridge() -> simpy.events.ProcessGenerator:
        while True:
            message = yield ring.get()
            yield env.timeout(40)
            yield queue.put(message)

    env.process(card())
    env.process(bridge())
    started = time.perf_counter()
    env.run()
    return len(queue.items) / (time.perf_counter() - started)


class PeakMemory(threading.Thread):
    """Samples the resident memory of this process and its workers together, in MiB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.start()

    def run(self) -> None:
        """Look ten times a second until the process ends."""
        while True:
            pids = [os.getpid(), *(child.pid for child in multiprocessing.active_children())]
            self.peak = max(self.peak, sum(map(resident_mib, pids)))
            time.sleep(0.1)


def resident_mib(pid: int | None) -> float:
    """Resident memory of one process, 0 if it has ended meanwhile."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    """Run the campaign once and print the figures."""
    scenarios = load_campaign("h3/table1")
    kernels, rivals = [kernel_rate()], [rival_rate()]
    memory, started = PeakMemory(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:  # with run folders and reports, as a user runs it
        runs = run_scenarios(scenarios, replications=1, out=Path(folder), progress=True)
    wall = time.perf_counter() - started
    messages = sum(
        run.scenario.workload.messages * run.scenario.workload.iterations for run in runs
    )
    events = sum(run.manifest["events"] for run in runs)
    simulated = sum(run.manifest["simulated_s"] for run in runs)
    cores = os.cpu_count() or 1
    kernels.append(kernel_rate())  # again: the machine may have changed meanwhile
    rivals.append(rival_rate())
    kernel, rival = max(kernels), max(rivals)
    print(f"scenarios                 {len(scenarios):>14}")
    print(f"messages                  {messages:>14,.0f}")
    print(f"wall                      {wall:>14.1f} s on {cores} cores")
    print(f"peak memory, all processes{memory.peak:>14,.0f} MiB")
    print(f"events/s                  {events / wall:>14,.0f}")
    print(f"simulated messages/s      {messages / wall:>14,.0f}")
    print(f"limit: SimPy timeouts/s   {kernel:>14,.0f} per core")
    print(f"rival: messages/s         {rival:>14,.0f} per core")
    row("Table 1 campaign, simulated s per s", "the modelled hardware", simulated / wall, "more")
    each = messages / wall / cores
    against = "SimPy with an object for each message"
    row("messages/s and core", against, each / rival, "more", [each / one for one in rivals])
    each = events / wall / cores
    against = "bare SimPy timeouts"
    row("events/s and core", against, each / kernel, "more", [each / one for one in kernels])


if __name__ == "__main__":
    main()
