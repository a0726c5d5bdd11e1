"""Metrics of messaging over hosts as people read them, and which of them a study shows."""

from __future__ import annotations

from dvsim.kinds.hosts.metrics import METRICS
from dvsim.kinds.hosts.result import MessagingStudy

FLOW_NAMES = {
    "rate_in": "rate in",
    "rate_out": "rate out",
    "megabytes": "data",
    "megabits": "bandwidth",
    "density": "density",
    "latency": "latency",
    "ack_mean": "time to the acknowledgement",
    "fairness": "fairness",
    "setup": "share of connection set-up",
    "busiest": "busiest stage",
}
FLOW_UNITS = {name: METRICS[name] for name in FLOW_NAMES}
READING = {
    "rate_in": "Messages taken in per second",
    "rate_out": "Messages that consumers take per second, all of them together",
    "megabytes": "Bytes of messages that consumers take, without frames",
    "megabits": "Bits of messages that consumers take, without frames",
    "density": "Mean time between two messages of one stream or consumer",
    "latency": "Mean time of a message from the publishing to the consuming application",
    "ack_mean": "Mean time from publishing to the acknowledgement of the broker",
    "fairness": "Jain's index of what each consumer got: 1 is even",
    "setup": "What setting up connections takes of the latency",
    "busiest": "Utilisation of the busiest stage",
}
EVEN = 0.99  # an index of fairness above which there is nothing to see
ALIKE = 1e-3  # relative; rates in and out that differ less are one curve


def shown_of_flows(study: MessagingStudy) -> list[str]:
    """Choose the metrics that say something about a study."""
    points = study.points
    there = [name for name in FLOW_NAMES if points[name].notna().any()]
    dull = {"busiest"}
    dull |= {"setup"} if points["setup"].nunique(dropna=True) <= 1 else set()
    dull |= {"fairness"} if points["fairness"].min() > EVEN else set()
    unlike = (points["rate_in"] / points["rate_out"] - 1).abs().max()
    if not unlike > ALIKE or study.scenario.peer:
        dull.add("rate_in")
    dull.add("megabytes" if study.scenario.peer else "megabits")
    if "streams" not in study.scenario.keys:
        dull |= {"density"} if not study.scenario.peer else set()
    return [name for name in there if name not in dull]
