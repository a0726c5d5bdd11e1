"""What is measured of a cluster."""

from __future__ import annotations

from collections.abc import Mapping

from dvsim.kinds.base import Metric

METRICS: Mapping[str, str] = {
    "rate_in": "msg/s",  # that the brokers took
    "rate_out": "msg/s",  # that consumers got
    "p50": "ms",  # from the intended time of publishing to the consumer
    "p95": "ms",
    "p99": "ms",
    "max": "ms",
    "cpu": "1",  # of what the schedulers of the busiest node can do
    "iops": "1/s",  # of the busiest volume
    "block": "kB",  # mean size of a write of it
    "fsyncs": "1",  # of the busiest node, in the run
    "network": "Mb/s",  # that the busiest node sends
    "waiting": "messages",  # in the cluster at the end
    "held": "messages",  # that publishers still have at the end
    "stranded": "messages",  # at the end in queues that no living node leads
    "redelivered": "messages",  # to another consumer after a death
    "resent": "messages",  # by publishers that had no confirm, after a death
    "blocked": "1",  # share of the time in which an alarm stops publishers
    "full": "1",  # share of the time in which what waits is more than a volume has room for
    "unstable": "1",  # 1 if what waits at the end is more than a second of publishing
    "month": "$",  # of machines and volumes
    "cost": "$",  # of a month, for 1,000 msg/s that consumers got
}
SHOWN = ("rate_out", "p50", "p99", "cpu", "unstable", "cost")
DESCRIBED = {
    "rate_in": Metric("msg/s", "rate in", "Messages taken in per second"),
    "rate_out": Metric(
        "msg/s", "rate out", "Messages that consumers take per second, all of them together"
    ),
    "p99": Metric("ms", "99 % of the latencies"),
}
