"""What a card of each kind must say: names, dimensions and bounds of its parameters."""

from __future__ import annotations

from typing import NamedTuple

from dvsim.scenario.units import Dimension


class Spec(NamedTuple):
    """A parameter that a card must have.

    Parameters
    ----------
    dimension
        See `dvsim.scenario.units`.
    least
        The smallest value allowed, in base units.
    above
        True if `least` itself is not allowed.
    most
        The largest value allowed, None for no bound.
    """

    dimension: Dimension
    least: int = 0
    above: bool = False
    most: int | None = None


_POSITIVE_TIME = Spec("time", above=True)
_POSITIVE_SIZE = Spec("size", above=True)
_POSITIVE_RATE = Spec("rate", above=True)
_SOME = Spec("count", 1)

KINDS: dict[str, dict[str, Spec]] = {
    "vortex": {
        "nodes": Spec("count", 2),
        "port_rate": _POSITIVE_RATE,
        "fabric_latency": Spec("time"),
        "sram": _POSITIVE_SIZE,
        "group_counters": Spec("count", 2),
        "fifo_words": _SOME,
        "dma_entries": _SOME,
        "dma_setup": Spec("time"),
        "piece_words": _SOME,
        "vic_to_dram": Spec("law"),
        "pcie_rate": _POSITIVE_RATE,
        "ring": _POSITIVE_SIZE,
        "ring_buffers": _SOME,
    },
    "link": {
        "rate": _POSITIVE_RATE,
        "latency": Spec("time"),
        "mtu": _POSITIVE_SIZE,
    },
    "bridge": {
        "threads": _SOME,
        "sockets": _SOME,
        "poll_interval": _POSITIVE_TIME,
        "convert": Spec("law"),
        "push": Spec("law"),
        "push_scatter": Spec("ratio"),
        "release": _SOME,
        "reaction": Spec("time"),
        "stop_scatter": Spec("ratio"),
        "run_spread": Spec("ratio"),
    },
    "publisher": {
        "processes": _SOME,
        "publish": Spec("law"),
        "publish_scatter": Spec("ratio"),
        "run_spread": Spec("ratio"),
    },
    "broker": {
        "service": Spec("law"),
        "read_cost": Spec("time"),
        "frame_overhead": Spec("size"),
        "scatter": Spec("ratio"),
        "stall_every": _POSITIVE_TIME,
        "stall": Spec("time"),
        "memory": _POSITIVE_SIZE,
        "paging_ratio": Spec("ratio", above=True, most=1),
        "message_overhead": Spec("size"),
        "disk_rate": _POSITIVE_RATE,
        "run_spread": Spec("ratio"),
    },
}

ROLES: dict[str, dict[str, str]] = {
    "data-vortex": {"card": "vortex", "bridge": "bridge", "broker": "broker"},
    "tcp": {"card": "link", "publisher": "publisher", "broker": "broker"},
}
"""For each transport the cards that its system has, with their kinds."""
