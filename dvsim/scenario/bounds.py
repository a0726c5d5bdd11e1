"""How much a question may ask for: far more than makes sense, and nothing that cannot end well.

Within these bounds no integer of the model overflows, no random draw becomes infinite, and no run
fills the memory with rows before it has begun. What lies beyond is refused when it is read.
"""

from __future__ import annotations

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
CLUSTER = 101  # nodes of a cluster of brokers
RING_BUFFERS = 1_000
NODES = 2**16  # of a fabric: three levels of switches with 64 ports
PLANES = 64
ANGLES = 4096
LINK = 10**9  # ps from a switch to the next
LINK_SLOTS = 1000
PIO = 10**12  # ps of one access of a card by its host
SEND_WORDS = 2**24  # packets that wait in a card
SLOTS = 10**9  # of a switch alone
PACE = 1000  # times as long
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
