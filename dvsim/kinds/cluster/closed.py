"""One sender and one receiver as fast as credit and the process of the queue let them.

Nothing scatters: a batch of the log is what came while the one before was written.
"""

from __future__ import annotations

from collections.abc import Callable

from dvsim.kinds.cluster.disk import Log
from dvsim.kinds.cluster.measures import Outcome, monthly
from dvsim.kinds.cluster.metrics import METRICS
from dvsim.kinds.cluster.spec import ClusterScenario

PS, MS, KB = 1e-12, 1e3, 1e-3
ROUNDS = 100  # halvings of the range of the rate


def run_closed(scenario: ClusterScenario) -> Outcome:
    """Return the rate at which credit comes back as fast as it is spent, and what follows.

    A sender with `credit` messages on the way gets it back `credit_cycles` cycles of the log
    later. The rate is the largest that neither this nor the process of the queue forbids. Without
    a log only the process limits it.
    """
    work, system, cards = scenario.workload, scenario.system, scenario.cards
    broker, volume = cards["broker"], cards["storage"]
    pace: float = cards["host"]["pace"]
    one = "classic" if system.queue == "mirrored" else system.queue
    serial = broker[f"queue_{one}"] * PS * pace
    rate, most = 1 / serial, 1 / serial
    numbers = dict.fromkeys(METRICS, float("nan"))
    credit = work.credit or work.window
    if system.queue == "quorum":
        log = Log.of(broker, volume, pace, work.message_bytes, 0)
        cycles = float(broker["credit_cycles"])
        rate = _highest(lambda x: x * cycles * log.cycle(x) <= credit, most)
        use = log.used(rate, 0.0)
        numbers |= {
            "fsyncs": use.syncs * work.seconds,
            "iops": use.operations,
            "block": use.bytes / use.operations * KB,
        }
    month = monthly(scenario)
    numbers |= {
        "rate_in": rate,
        "rate_out": rate,
        "p50": credit / rate * MS,
        "cpu": rate * serial,
        "unstable": 0.0,
        "month": month,
        "cost": month / rate * 1000,
    }
    return Outcome(numbers, fidelity="flow")


def _highest(holds: Callable[[float], bool], most: float) -> float:
    """Return the largest rate up to `most` at which something holds that fails above."""
    low, high = 0.0, most
    if holds(most):
        return most
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
