"""Processor time of a message on each node, and what the schedulers of a node can do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dvsim.core.cluster.placement import Shares
from dvsim.scenario.card_kinds import ACKNOWLEDGED
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law

Floats = NDArray[np.float64]
PS = 1e-12
FRAME = 80  # bytes of method, header and TCP around a body


class Work(NamedTuple):
    """What a message of the whole cluster asks of each node, in seconds of an own scheduler."""

    # Publishing with its copies and confirms; delivering with its acknowledgements; by node.
    taking: Floats
    giving: Floats
    path: float  # of all nodes together: the time of a message that meets no other
    back: float  # from an acknowledgement until the next message is with its consumer
    links: float  # the time on links between nodes, from a publisher to a consumer
    confirm: float  # the time on links between nodes until a publisher has its confirm
    sent: Floats  # bytes that each node sends to clients and other nodes


def schedulers(instance: Card) -> float:
    """Return what all schedulers of a node do together, in those that have a node for themselves.

    Amdahl's law: a share `contention` of the work can be done by one at a time.
    """
    vcpus: int = instance["vcpus"]
    share: float = instance["contention"]
    return vcpus / (1 + share * (vcpus - 1))


def work_of(
    kind: str,
    shares: Shares,
    broker: Card,
    pace: float,
    size: int,
    *,
    fed: bool = False,
    acknowledge: int = ACKNOWLEDGED,
    link: float = 0.0,
) -> Work:
    """Return the work of a message at the present places of queues and clients.

    A client on another node than the leader costs a hop, half of it at either end. Consumers of a
    quorum queue and of a stream read from the copy on their own node where there is one. Copies
    have to answer before a message is confirmed or delivered.

    Args:
        kind: The type of the queues.
        fed: Publishers are at the leaders, and nobody consumes.
        acknowledge: Messages that one acknowledgement is for.
        link: Seconds of a link between two nodes, one way.
    """
    law = {name: _seconds(broker[name], size) * pace for name in LAWS}
    led, followed, clients, _ = shares
    alive = int(shares.alive.sum())
    away_in = 1 - 1 / max(1, alive)
    if fed:
        clients, away_in = led, 0.0
    copies = led.sum() + followed.sum() if kind in ("quorum", "stream") else 1.0
    away_out = max(0.0, 1 - copies / max(1, alive))
    copy = law["mirror" if kind == "mirrored" else "follow"]
    half = law["hop"] / 2
    ack = float(broker.get("ack") or 0) * PS * pace
    deliver = law["deliver"] + ack * (1 / acknowledge - 1 / ACKNOWLEDGED)
    taking = clients * (law["accept"] + half * away_in) + led * half * away_in + followed * copy
    giving = clients * (deliver + half * away_out) + led * half * away_out
    spread = followed.sum()
    if kind == "mirrored" and spread > 0:  # besides the channel a ring, which ends where it begins
        spread = 2 * spread + 1
    away = clients * (away_in + 1) + led * (away_out + spread)
    if fed:
        giving, away = giving * 0, led * spread
    path = sum(law[name] for name in ("accept", "deliver")) + law["hop"] * (away_in + away_out)
    back = ack + law["deliver"] + law["hop"] * away_out
    copied = bool(followed.sum() > 0)
    answered = 2 * link * copied
    return Work(
        taking,
        giving,
        path + copy * copied,
        back + 2 * link * away_out,
        answered + link * (away_in + away_out),
        answered + 2 * link * away_in,
        away * (size + FRAME),
    )


def _seconds(law: Law, size: int) -> float:
    return law.ps(size) * PS


LAWS = ("accept", "deliver", "hop", "mirror", "follow")
