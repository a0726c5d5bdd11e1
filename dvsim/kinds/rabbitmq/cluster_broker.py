"""A broker of a system that is a node of a cluster: what its copies, disks and network allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dvsim.core.cluster.capacity import Capacity
from dvsim.core.cluster.placement import Placement
from dvsim.core.stage import PS_PER_S, Clock
from dvsim.core.streams import Streams
from dvsim.kinds.rabbitmq.broker import Broker

if TYPE_CHECKING:
    from dvsim.kinds.rabbitmq.spec import System
    from dvsim.scenario.types import Card


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
        """See `Broker._page`: of a log only the index is in memory, and nothing is paged."""
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
