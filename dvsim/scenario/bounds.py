"""How much a question may ask for: far more than makes sense, and nothing that cannot end well.

Within these bounds no integer of the model overflows, no random draw becomes infinite, and no run
fills the memory with rows before it has begun. What lies beyond is refused when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from dvsim.scenario.types import Scenario

TIME = 10**18  # ps; the clock counts to 2^63 ps, which is 106 days
SHORTEST = 10**6  # ps between two polls or samples, each of which costs work
SIZE = 2**50  # bytes
RATE = 10**15  # bytes/s; at least 1
SLOPE = 10**18  # fs/B
SCATTER = 5  # sigma of a logarithm: one draw in six is more than 148 times the median
MESSAGE = 2**40  # bytes
MESSAGES = 10**12  # per iteration, and in a batch
LOAD = (1e-3, 1e12)  # messages/s of an open loop
ITERATIONS = 10_000
RECEIVERS = 1_024
INSTANCES = 10_000  # of anything that a component has several of
RING_BUFFERS = 1_000
NODES = 2**16  # of a fabric: three levels of switches with 64 ports
PLANES = 64
ANGLES = 4096
LINK = 10**9  # ps from a switch to the next
LINK_SLOTS = 1000
PIO = 10**12  # ps of one access of a card by its host
SEND_WORDS = 2**24  # packets that wait in a card
SLOTS = 10**9  # of a switch alone
COUNT = 2**30  # of anything else

TRAFFIC = 2**62  # bytes of all messages of an iteration
POINTS = 1_000  # of a scenario of a switch
TRACE = 100_000  # packets of a trace in a scenario
TRACE_BYTES = 64 * TRACE  # of its file: three numbers in a line
NODE_UPDATES = 10**15  # of a run of a switch, nodes times slots: some days of one core
STEPS = 10**8  # batches, samples, polls or stalls of an iteration, as far as they can be foreseen

SEED = 2**64 - 1
REPLICATIONS = 10_000
WORKERS = 1_000
TASKS = 10**6  # iterations of all replications of a scenario

PS_PER_S = 10**12


def extent(scenario: Scenario) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is too much together, in a scenario whose numbers are each within bounds.

    Yields
    ------
    tuple
        The path of the key that asks too much, and a message.
    """
    work, system, probe = scenario.workload, scenario.system, scenario.probe
    took = least_ps(scenario)
    too_many = None
    if work.messages > MESSAGES:  # only after scaling
        too_many = f"must be at most {MESSAGES}, is {work.messages}"
    elif work.messages * work.message_bytes > TRAFFIC:
        most = TRAFFIC // work.message_bytes
        too_many = f"must be at most {most} of {work.message_bytes} B each, is {work.messages}"
    elif took > TIME:
        too_many = (
            f"is {work.messages}; they take at least {took / PS_PER_S:.3g} s, and an iteration "
            f"may take {TIME // PS_PER_S} s"
        )
    if too_many:
        yield ("workload", "messages"), too_many
        return
    stalls = work.messages / system.receivers / system.broker["stall_every"]
    steps: list[tuple[tuple[str, ...], str, float]] = [
        (("system", "broker", "stall_every"), "stalls", stalls)
    ]
    if probe.batch:
        steps.append((("probe", "batch"), "batches", work.messages / probe.batch))
    if probe.interval_ps:
        steps.append((("probe", "interval"), "samples", took / probe.interval_ps))
    if system.bridge:
        every = system.bridge["poll_interval"]
        steps.append((("system", "bridge", "poll_interval"), "polls", took / every))
    for path, name, number in steps:
        if number > STEPS:
            message = f"is too small; an iteration has at least {number:.3g} {name}, and may have"
            yield path, f"{message} {STEPS}"


def least_ps(scenario: Scenario) -> float:
    """Return how long an iteration takes at least, in picoseconds, but for random scatter."""
    work, system = scenario.workload, scenario.system
    size, share = work.message_bytes, work.messages / system.receivers
    times = [share * system.broker["service"].ps(size)]
    if work.messages_per_second:
        times.append(work.messages / work.messages_per_second * PS_PER_S)
    if system.bridge:
        sockets = min(system.bridge["sockets"], system.bridge["threads"])
        times.append(share * system.bridge["push"].ps(size) / sockets)
    if system.publisher:
        cost = system.publisher["publish"].ps(size)
        times.append(work.messages * cost / system.publisher["processes"])
    return float(max(times))
