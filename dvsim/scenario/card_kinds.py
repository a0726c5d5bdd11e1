"""What a card of each kind must say: names, dimensions and bounds of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dvsim.scenario import bounds
from dvsim.scenario.units import Dimension


class Limits(NamedTuple):
    """The dimension and the bounds of a value."""

    dimension: Dimension  # see `dvsim.scenario.units`
    least: int = 0  # the smallest value allowed, in base units
    above: bool = False  # true if `least` itself is not allowed
    # The largest value allowed. The parts of a law have bounds of their own.
    most: int = bounds.COUNT
    words: tuple[str, ...] = ()  # all that a word may be
    optional: bool = False  # true if a card may leave it out


_TIME = Limits("time", most=bounds.TIME)
_EVERY = Limits("time", bounds.SHORTEST, most=bounds.TIME)
_SIZE = Limits("size", most=bounds.SIZE)
_POSITIVE_SIZE = Limits("size", above=True, most=bounds.SIZE)
_RATE = Limits("rate", 1, most=bounds.RATE)
_SOME = Limits("count", 1)
_INSTANCES = Limits("count", 1, most=bounds.INSTANCES)
_SCATTER = Limits("ratio", most=bounds.SCATTER)

REPLICAS: Mapping[str, int] = {"classic": 1, "mirrored": 2, "quorum": 3, "stream": 3}
"""The types of queues of a RabbitMQ cluster, with their copies where nothing else is said."""

ACKNOWLEDGED = 10
"""Messages that one acknowledgement is for where nothing is said; `deliver` was measured so."""

CARD_HEAD = ("name", "kind", "title", "notes")
"""What every card says of itself; the rest are its parameters."""

KINDS: dict[str, dict[str, Limits]] = {
    "vortex": {
        "nodes": Limits("count", 2, most=bounds.NODES),
        "port_rate": _RATE,
        "sram": _POSITIVE_SIZE,
        "group_counters": Limits("count", 2),
        "fifo_words": _SOME,
        "dma_entries": _SOME,
        "dma_setup": _TIME,
        "pio_write": Limits("time", 1000, most=bounds.PIO),
        "pio_read": Limits("time", 2000, most=bounds.PIO),
        "pio_rate": Limits("rate", 1000, most=bounds.RATE),
        "poll_mirror": Limits("time", 1, most=bounds.PIO),
        "fifo_pop": Limits("time", most=bounds.PIO),
        "send_words": Limits("count", 1, most=bounds.SEND_WORDS),
        "piece_words": _SOME,
        "vic_to_dram": Limits("law"),
        "vic_scatter": _SCATTER,
        "pcie_rate": _RATE,
        "ring": _POSITIVE_SIZE,
        "ring_buffers": Limits("count", 1, most=bounds.RING_BUFFERS),
        "planes": Limits("count", 1, most=bounds.PLANES),
        "switch_angles": Limits("count", 1, most=bounds.ANGLES),
        "link": Limits("time", most=bounds.LINK),
    },
    "link": {
        "rate": _RATE,
        "latency": _TIME,
        "mtu": _POSITIVE_SIZE,
    },
    "bridge": {
        "threads": _INSTANCES,
        "sockets": _INSTANCES,
        "poll_interval": _EVERY,
        "convert": Limits("law"),
        "push": Limits("law"),
        "push_off_heap": _TIME,
        "push_scatter": _SCATTER,
        "release": _TIME,
        "reaction": _TIME,
        "stop_scatter": _SCATTER,
        "run_spread": _SCATTER,
        "mtu": _POSITIVE_SIZE,
    },
    "publisher": {
        "processes": _INSTANCES,
        "publish": Limits("law"),
        "publish_scatter": _SCATTER,
        "run_spread": _SCATTER,
    },
    "broker": {
        "service": Limits("law"),
        "read_cost": _TIME,
        "frame_overhead": _SIZE,
        "scatter": _SCATTER,
        "stall_every": _SOME,
        "stall": _TIME,
        "memory": _POSITIVE_SIZE,
        "paging_ratio": Limits("ratio", above=True, most=1),
        "message_overhead": _SIZE,
        "disk_rate": _RATE,
        "run_spread": _SCATTER,
        # of a node of a cluster, see docs/rabbitmq-model.md
        "queue": Limits("word", words=tuple(REPLICAS), optional=True),
        "nodes": Limits("count", 1, most=bounds.CLUSTER, optional=True),
        "replicas": Limits("count", 1, most=bounds.CLUSTER, optional=True),
        "window": Limits("count", 1, most=bounds.COUNT, optional=True),
    },
    # of messaging over hosts, see docs/messaging-models.md
    "port": {
        "rate": _RATE,
        "slot_rate": _RATE,
        "packet": _POSITIVE_SIZE,
        "packet_overhead": _SIZE,
        "packet_cost": _TIME,
        "latency": _TIME,
        "moderation": _TIME,
        "send": Limits("law"),
        "receive": Limits("law"),
        "connect": _TIME,
    },
    "engine": {
        "threads": Limits("count", 1, most=2),
        "publish": Limits("law"),
        "encode": Limits("law"),
        "decode": Limits("law"),
        "consume": Limits("law"),
        "wake": _TIME,
        "frame_overhead": _SIZE,
    },
    "machine": {
        "cores": Limits("count", 1, most=bounds.INSTANCES),
        "message_contention": _SCATTER,
        "byte_contention": _SCATTER,
        "scatter": _SCATTER,
        "run_spread": _SCATTER,
    },
    "queue-server": {
        "threads": Limits("count", 1, most=bounds.INSTANCES),
        "steps": Limits("count", 1, most=3),
        "accept": Limits("law"),
        "match": _TIME,
        "deliver": Limits("law"),
        "inspect": _TIME,
        "settle": Limits("law"),
        "log_overhead": _SIZE,
        "sync_interval": _TIME,
    },
    # of programs' traffic, see docs/workload.md
    "loggops": {
        "latency": _TIME,
        "overhead": Limits("law"),
        "gap": Limits("law"),
        "eager": _SIZE,
    },
    # of irregular programs, see docs/irregular.md
    "node": {
        "cores": Limits("count", 1, most=bounds.INSTANCES),
        "read": _TIME,
        "write": _TIME,
        "move": _TIME,
        "key": _TIME,
    },
    "words": {
        "get": _TIME,
        "put": _TIME,
        "latency": _TIME,
        "rate": _RATE,
        "pack": _TIME,
        "answer": _TIME,
        "flush": _TIME,
        "crowd": Limits("ratio", 1, most=bounds.COUNT),
        "buffers": Limits("count", 0, most=1),
    },
    "storage": {
        "bandwidth": _RATE,
        "write": _TIME,
        "sync": _TIME,
    },
    # of a RabbitMQ cluster, see docs/rabbitmq-model.md
    "instance": {
        "vcpus": Limits("count", 1, most=bounds.INSTANCES),
        "contention": Limits("ratio", most=1),
        "pace": Limits("ratio", above=True, most=bounds.PACE),
        "jitter": Limits("ratio", most=1),
        "memory": _POSITIVE_SIZE,
        "month": Limits("count"),
        "port_rate": Limits("rate", 1, most=bounds.RATE, optional=True),
        "link_latency": Limits("time", most=bounds.TIME, optional=True),
    },
    "volume": {
        "size": _POSITIVE_SIZE,
        "iops": _SOME,
        "bandwidth": _RATE,
        "burst": _RATE,
        "credit": _SIZE,
        "write": _TIME,
        "sync": _TIME,
        "seek": _TIME,
        "month": Limits("count"),
    },
    "rabbit": {
        "accept": Limits("law"),
        "deliver": Limits("law"),
        "ack": Limits("time", most=bounds.TIME, optional=True),
        "hop": Limits("law"),
        "mirror": Limits("law"),
        "follow": Limits("law"),
        "queue_classic": _EVERY,
        "queue_quorum": _EVERY,
        "queue_stream": _EVERY,
        "queue_byte": Limits("time", most=bounds.TIME, optional=True),
        "disk_operation": _TIME,
        "writers": _SOME,
        "flush_interval": _EVERY,
        "flush_bytes": _SIZE,
        "flush_operations": _SOME,
        "log_entry": _TIME,
        "log_overhead": _SIZE,
        "log_file": _POSITIVE_SIZE,
        "log_operations": _SOME,
        "credit_cycles": Limits("ratio", above=True, most=bounds.PACE),
        "failover": _TIME,
        "watermark": Limits("ratio", above=True, most=1),
        "paging": Limits("ratio", above=True, most=1),
        "index": _SIZE,
        "disk_free": _SIZE,
    },
}
