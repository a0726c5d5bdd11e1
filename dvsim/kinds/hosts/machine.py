"""A host: how much its threads hinder each other, and how its times scatter."""

from __future__ import annotations

import math
from collections.abc import Callable

from dvsim.core.streams import Streams
from dvsim.kinds.hosts.hop import Batch, Cost
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law


class Machine:
    """One host with `streams` independent streams of messages and so many threads at work.

    Each further stream lengthens the work on a message by `message_contention` of itself and that
    on a byte by `byte_contention`: threads share a bus and the caches, and no stream has them for
    itself. With more threads than cores they take turns.

    Args:
        card: A card of kind "machine".
        streams, threads: That are at work all the time.
    """

    def __init__(self, card: Card, name: str, streams: int, threads: int, draws: Streams) -> None:
        turns = max(1.0, threads / card["cores"])
        spread = math.exp(card["run_spread"] * next(draws.normal(f"{name}/run")))
        self.message_factor = (1 + card["message_contention"] * (streams - 1)) * turns * spread
        self.byte_factor = (1 + card["byte_contention"] * (streams - 1)) * turns * spread
        self._scatter: float = card["scatter"]
        self._draws = draws
        self._name = name
        self._made = 0

    def thread(self, kind: str, call: float, *laws: Law) -> Callable[[Batch], float]:
        """Return what a batch costs a thread of this host, scattered from batch to batch."""
        cost = Cost(call, *laws, message_factor=self.message_factor, byte_factor=self.byte_factor)
        if not self._scatter:
            return cost.ps
        self._made += 1
        draws = self._draws.normal(f"{self._name}/{kind}/{self._made}")
        scatter = self._scatter
        return lambda batch: cost.ps(batch) * math.exp(scatter * next(draws))
