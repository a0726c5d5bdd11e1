"""A RabbitMQ node that owns one queue: service, scatter, stalls, memory; alone or in a cluster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dvsim.core.cluster.capacity import Capacity
from dvsim.core.cluster.placement import Placement
from dvsim.core.stage import PS_PER_S, Clock, Stage
from dvsim.core.streams import Streams
from dvsim.scenario.types import Card

if TYPE_CHECKING:
    from dvsim.kinds.rabbitmq.spec import System


class Broker(Stage):
    """One broker node; its queue is not drained while a test runs, as in the paper.

    The median time of a message of n bytes is
    ``service(n) + read_cost * min(1, (n + frame_overhead) / mtu)``: small messages share a packet
    and therefore a read of the socket. A batch scatters log-normally around it, and after every
    ``stall_every`` messages, on the mean, the node stalls. A queue that reaches the memory
    high-watermark blocks its publishers while it pages messages to disk, down to ``paging_ratio``
    of the watermark.

    Args:
        card: A model card of kind "broker".
        message_bytes, mtu: Size of a message and of a packet on the way to the broker, in bytes.
    """

    def __init__(
        self, clock: Clock, name: str, card: Card, message_bytes: int, mtu: int, streams: Streams
    ) -> None:
        super().__init__(clock, name)
        median = self._usual_ps(card, message_bytes, mtu)
        spread = card["run_spread"] * next(streams.normal(f"{name}/run"))
        self.median_ps: float = median * math.exp(spread)
        self._scatter: float = card["scatter"]
        self._scatter_draws = streams.normal(f"{name}/scatter")
        self._stall_draws = streams.exponential(f"{name}/stall")
        self._stall_every: int = card["stall_every"]
        self._stall: int = card["stall"]
        self._until_stall: float = self._stall_every * next(self._stall_draws)  # messages
        self._queued_bytes: int = message_bytes + card["message_overhead"]
        self._memory: int = card["memory"]
        self._disk_rate: float = card["disk_rate"]
        self._page_to: float = card["memory"] * card["paging_ratio"]
        self.resident_bytes = 0
        self.memory_peak_bytes = 0
        self.paged_bytes = 0
        self.blocked_ps = 0
        self._first_page: tuple[int, int] | None = None  # when, and messages queued until then

    def _usual_ps(self, card: Card, message_bytes: int, mtu: int) -> float:
        packets = min(1.0, (message_bytes + card["frame_overhead"]) / mtu)
        usual: float = card["service"].ps(message_bytes) + card["read_cost"] * packets
        return usual

    def busy(self, end_ps: int) -> dict[str, float]:
        """Return how busy each part was, the one that people call the broker among them."""
        return {"broker": self.utilisation(end_ps)}

    @property
    def queued(self) -> int:
        """Messages in the queue, in memory and on disk."""
        return self.messages

    def work_ps(self, messages: int) -> int:
        """Return the time to route and queue a batch, stalls and paging included."""
        work = messages * self.median_ps * math.exp(self._scatter * next(self._scatter_draws))
        self._until_stall -= messages
        while self._until_stall < 0:
            work += self._stall * next(self._stall_draws)
            self._until_stall += self._stall_every * next(self._stall_draws)
        return round(work) + self._page(messages)

    def levels(self) -> dict[str, float]:
        """See `Stage.levels`: also what the queue holds, and how much of it in memory."""
        queue = {"messages queued": self.queued, "bytes in memory": self.resident_bytes}
        return {**super().levels(), **queue}

    @property
    def refused(self) -> int:
        """Messages turned away: none, because a node over its watermark blocks its publishers."""
        return 0

    def balanced(self) -> bool:
        """Return whether memory and disk hold the bytes of all messages in the queue."""
        return self.resident_bytes + self.paged_bytes == self.queued * self._queued_bytes

    def rates(self, end_ps: int) -> tuple[float, float]:
        """Return messages per second before the first paging and from then to `end_ps`."""
        at, before = self._first_page or (end_ps, self.messages)
        later = end_ps - at
        return (
            before * PS_PER_S / at if at else 0.0,
            (self.messages - before) * PS_PER_S / later if later else 0.0,
        )

    def _page(self, messages: int) -> int:
        self.resident_bytes += messages * self._queued_bytes
        self.memory_peak_bytes = max(self.memory_peak_bytes, self.resident_bytes)
        if self.resident_bytes < self._memory:
            return 0
        if self._first_page is None:
            self._first_page = (self.clock.ps, self.messages)
        excess = self.resident_bytes - round(self._page_to)
        self.resident_bytes -= excess
        self.paged_bytes += excess
        blocked = round(excess * PS_PER_S / self._disk_rate)
        self.blocked_ps += blocked
        return blocked


def capacity_of(system: System, size: int) -> Capacity:
    """Return the capacity of the cluster of a system, whose queues are on nodes of their own."""
    kind, queues = system.broker["queue"], system.receivers
    placement = Placement.even(kind, queues, system.nodes, system.copies)
    return Capacity(kind, placement.shares(), system.cards, size, queues, fed=True)


class ClusterBroker(Broker):
    """The node of a cluster that leads one queue.

    A message comes in by one connection, at the pace of the card's law. It is through when the
    slowest is done of that, the process of its queue, the processors, the disks and the network
    of the nodes that keep it, and the confirms for which its sender waits, if it does.

    Attributes:
        shares: How busy each of these is while the stage is at work.
    """

    def __init__(
        self, clock: Clock, name: str, system: System, size: int, mtu: int, streams: Streams
    ) -> None:
        card, capacity = system.broker, capacity_of(system, size)
        each = capacity.ceilings(card.get("window"))
        self._least_ps = {what: capacity.queues * PS_PER_S / rate for what, rate in each.items()}
        super().__init__(clock, name, card, size, mtu, streams)
        self._in_memory = capacity.kind in ("classic", "mirrored")
        self._index_bytes = min(capacity.rabbit["index"], self._queued_bytes)

    def _usual_ps(self, card: Card, message_bytes: int, mtu: int) -> float:
        own = super()._usual_ps(card, message_bytes, mtu)
        slowest = max(own, *self._least_ps.values())
        self.shares: Mapping[str, float] = {
            what: least / slowest for what, least in [*self._least_ps.items(), ("broker", own)]
        }
        return slowest

    def busy(self, end_ps: int) -> dict[str, float]:
        """See `Broker.busy`; what is never busy is left out."""
        whole = self.utilisation(end_ps)
        return {what: whole * share for what, share in self.shares.items() if share}

    def _page(self, messages: int) -> int:
        if self._in_memory:
            return super()._page(messages)
        self.resident_bytes += messages * self._index_bytes
        self.paged_bytes += messages * (self._queued_bytes - self._index_bytes)
        self.memory_peak_bytes = max(self.memory_peak_bytes, self.resident_bytes)
        return 0


def broker_of(
    clock: Clock, number: int, system: System, size: int, mtu: int, streams: Streams
) -> Broker:
    """Return the broker of a receiving node: alone, or with a cluster around it."""
    name = f"broker.{number}"
    if system.clustered:
        return ClusterBroker(clock, name, system, size, mtu, streams)
    return Broker(clock, name, system.broker, size, mtu, streams)
