"""How fast is the whole Table 1 campaign: 15 sizes, both transports, published message counts?

Prints wall time, memory, events/s, simulated messages/s and simulated s per s, and holds them
against three things measured in the same run:

- the hardware: simulated seconds are what the modelled machine takes;
- the limit: bare SimPy timeouts per second on one core;
- the rival: the same bridge with one SimPy event per message, as it is usually written.
"""

from __future__ import annotations

import os
import resource
import time

import simpy

from dvsim.scenario.load import load_campaign
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


def peak_mib() -> float:
    """Peak resident memory of this process and, at most, of each of its workers together."""
    workers = os.cpu_count() or 1
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # the largest one
    return (own + workers * child) / 1024


def main() -> None:
    """Run the campaign once and print the figures."""
    scenarios = load_campaign("h3/table1")
    kernel, rival = kernel_rate(), rival_rate()
    started = time.perf_counter()
    messages = events = simulated = 0.0
    for scenario in scenarios:
        # one at a time, so that samples of the whole campaign are never in memory together
        (run,) = run_scenarios([scenario], replications=1, out=None)
        work = run.scenario.workload
        messages += work.messages * work.iterations
        events += run.manifest["events"]
        simulated += run.manifest["simulated_s"]
    wall = time.perf_counter() - started
    cores = os.cpu_count() or 1
    print(f"scenarios                 {len(scenarios):>14}")
    print(f"messages                  {messages:>14,.0f}")
    print(f"wall                      {wall:>14.1f} s on {cores} cores")
    print(f"peak memory, upper bound  {peak_mib():>14,.0f} MiB")
    print(f"events/s                  {events / wall:>14,.0f}")
    print(f"simulated messages/s      {messages / wall:>14,.0f}")
    print(f"simulated s per s         {simulated / wall:>14,.0f}   (1 = as fast as the hardware)")
    print(
        f"limit: SimPy timeouts/s   {kernel:>14,.0f}   per core; ours / limit "
        f"{events / wall / cores / kernel:.2f} per core"
    )
    print(
        f"rival: messages/s         {rival:>14,.0f}   per core; ours / rival "
        f"{messages / wall / cores / rival:,.0f} per core"
    )


if __name__ == "__main__":
    main()
