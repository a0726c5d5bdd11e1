"""One sender and one receiver as fast as credit and the process of the queue let them.

Nothing scatters: a batch of the log is what came while the one before was written.
"""

from __future__ import annotations

from dvsim.core.cluster.capacity import Capacity
from dvsim.core.cluster.placement import Placement
from dvsim.kinds.base import Plain
from dvsim.kinds.cluster.measures import monthly
from dvsim.kinds.cluster.metrics import METRICS
from dvsim.kinds.cluster.spec import ClusterScenario

MS, KB = 1e3, 1e-3


def run_closed(scenario: ClusterScenario) -> Plain:
    """Return the rate at which credit comes back as fast as it is spent, and what follows.

    A sender with `credit` messages on the way gets it back `credit_cycles` cycles of the log
    later. The rate is the largest that neither this nor the process of the queue forbids. Without
    a log only the process limits it.
    """
    work, system = scenario.workload, scenario.system
    cards = scenario.cards | {"rabbit": scenario.cards["broker"]}
    shares = Placement.even(system.queue, 1, system.nodes, scenario.copies).shares()
    capacity = Capacity(system.queue, shares, cards, work.message_bytes, 1)
    numbers = dict.fromkeys(METRICS, float("nan"))
    credit = work.credit or work.window
    rate = capacity.confirmed(credit)
    if system.queue == "quorum":
        use = capacity.use(0, rate, 0.0)
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
        "cpu": rate * capacity.serial,
        "unstable": 0.0,
        "month": month,
        "cost": month / rate * 1000,
    }
    return Plain(numbers, fidelity="flow")
