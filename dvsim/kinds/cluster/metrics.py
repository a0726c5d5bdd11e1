"""What is measured of a cluster."""

from __future__ import annotations

from collections.abc import Mapping

from dvsim.scenario.types import GROWS
from dvsim.table.metrics import Metric, unsigned

METRICS: Mapping[str, Metric] = unsigned(
    {
        "rate_in": Metric("msg/s", "rate in", "Messages taken in per second"),
        "rate_out": Metric(
            "msg/s",
            "rate out",
            "Messages that consumers take per second, all of them together",
            shown=True,
        ),
        "p50": Metric("ms", shown=True),  # from the intended time of publishing to the consumer
        "p95": Metric("ms"),
        "p99": Metric("ms", "99 % of the latencies", shown=True),
        "max": Metric("ms"),
        "cpu": Metric("1", shown=True),  # of what the schedulers of the busiest node can do
        "iops": Metric("1/s"),  # of the busiest volume
        "block": Metric("kB"),  # mean size of a write of it
        "fsyncs": Metric("1"),  # of the busiest node, in the run
        "network": Metric("Mb/s"),  # that the busiest node sends
        "waiting": Metric("messages"),  # in the cluster at the end
        "held": Metric("messages"),  # that publishers still have at the end
        "stranded": Metric("messages"),  # at the end in queues that no living node leads
        "redelivered": Metric("messages"),  # to another consumer after a death
        "resent": Metric("messages"),  # by publishers that had no confirm, after a death
        "blocked": Metric("1", reading="Share of the time in which an alarm stops publishers"),
        "full": Metric(
            "1"
        ),  # share of the time in which what waits is more than a volume has room for
        "unstable": Metric(
            "1", shown=True
        ),  # 1 if more than a second of publishing waits at the end
        "month": Metric("$"),  # of machines and volumes
        "cost": Metric("$", shown=True),  # of a month, for 1,000 msg/s that consumers got
    }
)


def unsettled(metrics: Mapping[str, float]) -> str:
    """Return why a run does not settle, from its metrics; nothing if it does.

    >>> unsettled({"unstable": 1.0, "full": 0.25, "blocked": 0.0})
    'what waits grows; a disk is full for 25 % of the time'
    >>> unsettled({"unstable": 0.0, "blocked": 0.0})
    ''
    """
    full, blocked = metrics.get("full", 0.0), metrics.get("blocked", 0.0)
    notes_of_run = [GROWS] if metrics["unstable"] > 0 else []
    notes_of_run += [f"a disk is full for {100 * full:.3g} % of the time"] if full > 0 else []
    notes_of_run += (
        [f"publishers are stopped for {100 * blocked:.3g} % of the time"] if blocked > 0 else []
    )
    return "; ".join(notes_of_run)
