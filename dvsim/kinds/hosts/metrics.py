"""What is measured of messaging over hosts, and the tables of a study of it."""

from __future__ import annotations

from collections.abc import Mapping

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
        "megabytes": Metric(
            "MB/s", "data", "Bytes of messages that consumers take, without frames", shown=True
        ),
        "megabits": Metric(
            "Mb/s", "bandwidth", "Bits of messages that consumers take, without frames"
        ),
        "density": Metric(
            "ns", "density", "Mean time between two messages of one stream or consumer"
        ),
        "latency": Metric(
            "us",
            "latency",
            "Mean time of a message from the publishing to the consuming application",
            shown=True,
        ),
        "p50": Metric("us"),
        "p99": Metric("us", "99 % of the latencies", shown=True),
        "max": Metric("us"),
        "setup": Metric(
            "1", "share of connection set-up", "What setting up connections takes of the latency"
        ),
        "ack_mean": Metric(
            "us",
            "time to the acknowledgement",
            "Mean time from publishing to the acknowledgement of the broker",
        ),
        "ack_p99": Metric("us"),
        "fairness": Metric("1", "fairness", "Jain's index of what each consumer got: 1 is even"),
        "links": Metric("links"),  # that a message crosses
        "busiest": Metric(
            "1", "busiest stage", "Utilisation of the stage that was busiest in the run"
        ),
    }
)
"""What is measured in each run; what a run does not have is not a number.

A ping has latencies and no rates. A flow has latencies where its publishers have a window: without
one they are ahead of the system by any time.
"""

STAGE_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "replication": "int16",
    "stage": "str",  # such as "receiving thread"
    "number": "int32",  # among those alike
    "utilisation": "float64",
}
