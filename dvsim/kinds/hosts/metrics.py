"""What is measured of messaging over hosts, and the tables of a study of it."""

from __future__ import annotations

from collections.abc import Mapping

METRICS: Mapping[str, str] = {
    "rate_in": "msg/s",  # taken in: by the broker, or by the sending socket
    "rate_out": "msg/s",  # taken by the applications that consume, all together
    "megabytes": "MB/s",  # of messages, without any frame: what consumers take
    "megabits": "Mb/s",
    "density": "ns",  # mean time between two messages of one stream or consumer
    "latency": "us",  # from the application that publishes to the one that consumes, mean
    "p50": "us",
    "p99": "us",
    "max": "us",
    "setup": "1",  # share of the latency that is the set-up of connections
    "ack_mean": "us",  # from publishing to the broker's acknowledgement
    "ack_p99": "us",
    "fairness": "1",  # Jain's index of what each consumer got; 1 is even
    "links": "links",  # that a message crosses
    "busiest": "1",  # utilisation of the busiest stage
}
"""What is measured in each run; what a run does not have is not a number.

A ping has latencies and no rates. A flow has latencies where its publishers have a window: without
one they are ahead of the system by any time.
"""

STAGE_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "stage": "str",  # such as "receiving thread"
    "utilisation": "float64",  # mean over replications; of several alike the busiest
}
SHOWN = ("rate_out", "megabytes", "latency", "p99")
