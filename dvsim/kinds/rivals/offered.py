"""What arrives at the ports: where each sends to, and the packets of a Data Vortex one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.kinds.rivals.spec import RivalTraffic

Ints = npt.NDArray[np.int64]

FIXED = ("transpose", "bit-complement", "shuffle")
"""Patterns that are the same for every seed, of a power of two of ports."""


class Offered(NamedTuple):
    """Packets in the order of their slots; `wait` is the mean wait for those of the same port."""

    slot: Ints
    source: Ints
    target: Ints
    wait: float


def bits_of(ports: int) -> int | None:
    """Return log2 of a number of ports; None if it is no power of two."""
    return None if ports & (ports - 1) else ports.bit_length() - 1


def targets(traffic: RivalTraffic, ports: int, seed: int) -> Ints | None:
    """Return the only port that each port sends to; None for patterns that draw it anew."""
    port, bits = np.arange(ports), bits_of(ports) or 0
    if traffic.pattern == "bit-complement":
        return port ^ (ports - 1)
    if traffic.pattern == "transpose":
        half = bits // 2
        return (port >> half) | ((port & ((1 << half) - 1)) << (bits - half))
    if traffic.pattern == "shuffle":
        return ((port << 1) | (port >> (bits - 1))) & (ports - 1)
    if traffic.pattern == "permutation":
        order = np.random.default_rng([seed % 2**32, ports]).permutation(ports)
        moved = np.empty(ports, dtype=np.int64)
        moved[order] = np.roll(order, 1)  # one cycle, so that no port sends to itself
        return moved
    return None


def silent(traffic: RivalTraffic, ports: int, seed: int) -> float:
    """Return the share of the packets that are for the port that sends them: none is sent."""
    only = targets(traffic, ports, seed)
    if only is not None:
        return float(np.mean(only == np.arange(ports)))
    return traffic.fraction / ports if traffic.pattern == "hot-spot" else 0.0


def packets_of(traffic: RivalTraffic, ports: int, load: float, seed: int) -> Offered:
    """Draw the packets of a run, bursts after each other; nothing is for the port that sends it."""
    draws = np.random.default_rng(seed)
    slots = traffic.slots + traffic.warmup
    arrives = draws.random((slots, ports)) < load / traffic.burst
    came, source = np.nonzero(arrives)
    only = targets(traffic, ports, seed)
    if only is not None:
        target = only[source]
    else:
        target = (source + draws.integers(1, ports, came.size)) % ports
        if traffic.pattern == "hot-spot":
            hot = draws.random(came.size) < traffic.fraction
            target[hot] = draws.integers(0, traffic.hot, int(hot.sum()))
    kept = source != target
    came, source, target = (np.repeat(part[kept], traffic.burst) for part in (came, source, target))
    # A port takes a packet a slot: each comes a slot after the one before, or when it arrived.
    order = np.lexsort((came, source))
    came, source, target = came[order], source[order], target[order]
    place = np.arange(came.size)
    base = source * (came.max(initial=0) + came.size + 1)
    slot = np.maximum.accumulate(base + came - place) + place - base
    wait = float(np.mean(slot - came)) if came.size else 0.0
    inside = slot < slots
    slot, source, target = slot[inside], source[inside], target[inside]
    order = np.argsort(slot, kind="stable")
    return Offered(slot[order], source[order], target[order], wait)
