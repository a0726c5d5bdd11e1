"""What it takes to deliver in order: how far words of a flow overtake each other in a network.

Words of a burst go by many planes, and in each by links that are drawn and past nodes that deflect,
so one may come before another that was sent earlier. A port that delivers in order holds such words
back until all before them have come. The last word of a burst then leaves when it would have left
anyway, when all are there: order costs no rate, but memory in the port, and time for the words
that are held back. Both are counted here, on the cycle level.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.fabric.network.bursts import Flow
from dvsim.fabric.network.network import Network

SLOTS = 500  # of a burst: 64 kB on 16 planes
MOST_UPDATES = 1 << 31  # node updates; of a larger network the burst is shorter

Slots = npt.NDArray[np.int64]


class Disorder(NamedTuple):
    """How far words of a flow overtake each other."""

    late: float  # share of words that come after one that was sent later
    held: int  # words that one port holds back at once, at most
    wait: int  # slots for which a word is held back, at most


@lru_cache(maxsize=16)
def disorder_of(network: Network, flows: tuple[Flow, ...]) -> Disorder:
    """Send a burst along all flows at once and measure the worst of them.

    Args:
        network: With all its planes.
        flows: Who sends to whom.
    """
    slots = max(1, min(SLOTS, MOST_UPDATES // network.nodes))
    words = slots * network.planes
    simulation = network.start(injection="given")
    arrived = [np.empty(words, dtype=np.int64) for _ in flows]
    for number, flow in enumerate(flows):
        simulation.send(flow.source, flow.to, words, number, arrived[number])
    missing = len(flows)
    while missing:
        simulation.run_until(slots)
        missing -= len(simulation.completions().handle)
    planes = [disorder(plane) for plane in arrived]
    late = float(np.mean([plane.late for plane in planes]))
    return Disorder(late, max(plane.held for plane in planes), max(plane.wait for plane in planes))


def disorder(slots: Slots) -> Disorder:
    """Return the disorder of one burst.

    Args:
        slots: In which each word came, in the order in which they were sent, shape (words,).

    >>> disorder(np.array([5, 6, 7])), disorder(np.array([5, 9, 6, 7]))
    (Disorder(late=0.0, held=0, wait=0), Disorder(late=0.25, held=2, wait=3))
    """
    delivered = np.maximum.accumulate(slots)  # a word leaves when all before it have come
    first = int(slots.min())
    came, departed = (np.cumsum(np.bincount(times - first)) for times in (slots, delivered))
    came = np.pad(came, (0, len(departed) - len(came)), mode="edge")
    earliest_after = np.minimum.accumulate(slots[::-1])[::-1][1:]
    late = int(np.count_nonzero(earliest_after < slots[:-1]))
    return Disorder(late / len(slots), int((came - departed).max()), int((delivered - slots).max()))
