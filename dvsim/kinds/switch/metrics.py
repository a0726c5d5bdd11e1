"""What is measured of a switch or network, and the tables of a study of one."""

from __future__ import annotations

from collections.abc import Mapping

from dvsim.table.metrics import Metric, unsigned

METRICS: Mapping[str, Metric] = unsigned(
    {
        "offered": Metric("packets"),  # arrived at inputs; of one plane or all: of all
        "accepted": Metric("packets"),  # entered
        "delivered": Metric("packets"),  # left at their output
        "lost": Metric(
            "packets", "packets lost", "Packets that a fault lost on the way", "packets", ""
        ),
        "refused": Metric("packets"),  # found no free node and are gone
        "throughput": Metric(
            "packets/slot/input",
            "throughput",
            "Packets delivered per slot and input",
            "packets per slot and input",
            "",
            shown=True,
        ),
        "acceptance": Metric(  # not a number where nothing was offered
            "1",
            "acceptance",
            "Of the packets that arrive, the share that gets in at once",
            "accepted / offered",
            "",
            shown=True,
        ),
        "mean_hops": Metric(
            "nodes",
            "mean hops",
            "Nodes that a packet visits, the entry node included",
            "nodes visited",
            "",
            shown=True,
        ),
        "mean_latency": Metric(  # from arrival at the input to the output, waiting included
            "slots",
            "mean latency",
            "Thick lines are the mean over all packets, from arrival to delivery, "
            "waiting included, and thin dotted ones what 99 % of them do not exceed",
            shown=True,
        ),
        "p50": Metric("slots"),  # quantiles of the latency
        "p99": Metric("slots", "99 % of the latencies"),
        "max": Metric("slots"),
        "blocked": Metric(
            "1", reading="Share of the wanted descents that fail, mean over the outer cylinders"
        ),
        "in_flight": Metric("packets"),  # inside at the end
        "waiting": Metric("packets"),  # in the queues at the end
    }
)
"""What is measured in each run, with units; a mean or quantile of nothing is not a number."""

RUN_COLUMNS: Mapping[str, str] = {
    "point": "int32",  # 0.., as in `SwitchScenario.points`
    "replication": "int16",  # 1..
    "fidelity": "str",  # "cycle": every packet; "flow": expected from tables, with these errors
    "latency_error": "float64",  # relative, of the mean; not a number at cycle fidelity
    "throughput_error": "float64",
    "notes": "str",  # why the run has not settled; empty if it has
}
HISTOGRAM_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "replication": "int16",
    "kind": "str",  # "hops" or "latency"
    "value": "int64",  # nodes visited, or slots
    "packets": "int64",  # values without packets have no row
}
CYLINDER_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "replication": "int16",
    "level": "int32",  # 0 for a switch; of a network 0 is next to the ports
    "cylinder": "int32",  # 0 is the outermost
    "blocked": "float64",  # share of the wanted descents; not a number on the innermost
    "occupancy": "float64",  # packets per node
}
THEORY_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "name": "str",  # "mean-field", "zero-load", "butterfly"
    "metric": "str",  # one of METRICS; "hops:5" the share of packets that visit 5 nodes;
    "value": "float64",  # "blocked:2" the blocked share of the descents from cylinder 2
}
EVENT_COLUMNS: Mapping[str, str] = {
    "slot": "int32",
    "packet": "int32",  # 0.. in the order in which they entered
    "kind": "str",  # "enter", "cross", "deflect", "descend", "leave", "lose"
    "cylinder": "int32",  # the node where the packet stands after the event
    "angle": "int32",
    "height": "int32",
    "to_angle": "int32",  # where it is addressed
    "to_height": "int32",
    "by": "int32",  # the packet that deflected it, -1 for none
}
QUEUE_COLUMNS: Mapping[str, str] = {
    "slot": "int32",
    "waiting": "int64",  # packets in all queues after the slot
    "in_flight": "int64",  # packets in the switch
    "deflected": "int64",  # descents blocked in the slot
}
SIDES: Mapping[str, Mapping[str, str]] = {
    "runs": RUN_COLUMNS,
    "histograms": HISTOGRAM_COLUMNS,
    "cylinders": CYLINDER_COLUMNS,
    "theory": THEORY_COLUMNS,
    "events": EVENT_COLUMNS,
    "queues": QUEUE_COLUMNS,
}
"""The tables beside the values; `events` and `queues` are empty where nothing was recorded."""
