"""What queues at their places ask of each node, and the rates that this allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from dvsim.core.cluster.costs import PS, Work, schedulers, work_of
from dvsim.core.cluster.disk import ENTRY, Chunks, Log, Use, flushes
from dvsim.core.cluster.placement import Shares
from dvsim.scenario.card_kinds import ACKNOWLEDGED
from dvsim.scenario.types import Card

Floats = NDArray[np.float64]
NOTHING = 1e-9  # messages a second of who does nothing, so that nothing is divided by 0
ROUNDS = 100  # halvings of the range of a rate


class Capacity:
    """What a cluster can do while its queues are where they are.

    Args:
        kind: The type of the queues.
        shares: What each node leads and follows.
        cards: ``host``, ``storage`` and ``rabbit``.
        size: Of a message.
        queues: How many there are.
        fed: Publishers are at the leaders, and nobody consumes.
        acknowledge: Messages that one acknowledgement is for.

    Attributes:
        members: Copies that each node keeps, its own and others', by queue.
        paces: Bytes a second that the volume of each node writes now.
        logs: Of each node.
        serial, process: Seconds that the process of a queue takes for a message; messages a second
            of all of them.
        wire: Messages a second that the network lets each node send for; infinite where no card
            says it.
    """

    def __init__(
        self,
        kind: str,
        shares: Shares,
        cards: Mapping[str, Card],
        size: int,
        queues: int,
        *,
        fed: bool = False,
        acknowledge: int = ACKNOWLEDGED,
    ) -> None:
        self.kind, self.shares, self.size, self.queues = kind, shares, size, queues
        self.host, self.volume, self.rabbit = (
            cards[name] for name in ("host", "storage", "rabbit")
        )
        self.pace: float = self.host["pace"]
        self.work: Work = work_of(
            kind,
            shares,
            self.rabbit,
            self.pace,
            size,
            fed=fed,
            acknowledge=acknowledge,
            link=(self.host.get("link_latency") or 0) * PS,
        )
        self.members = shares.led + shares.followed
        self.paces: list[float] = []
        self.write_at([self.volume["bandwidth"]] * len(self.members))
        base_kind = "classic" if kind == "mirrored" else kind
        byte = self.rabbit.get("queue_byte") or 0
        self.serial: float = (self.rabbit[f"queue_{base_kind}"] + byte * size) * PS * self.pace
        self.process: float = queues / self.serial
        network = self.host.get("port_rate") or float("inf")
        self.wire: Floats = network / np.maximum(self.work.sent, NOTHING)

    def write_at(self, paces: list[float]) -> None:
        """Let the volume of each node write so many bytes a second from now on."""
        if self.paces == paces:
            return
        self.paces = paces
        self.logs = [
            Log.of(self.rabbit, self.volume, self.pace, self.size, self.queues * float(share), pace)
            for share, pace in zip(self.members, paces, strict=True)
        ]

    def written(self, kept: float) -> Floats:
        """Return the messages a second of the whole cluster that each volume can write.

        Args:
            kept: The share that nobody has consumed when it is written, or written again.
        """
        if self.kind == "quorum":
            copy = self.logs[0].frame * (1 + kept)
        elif self.kind == "stream":
            copy = self.size + ENTRY
        else:
            copy = self.rabbit["flush_bytes"] + kept * self.size
        rates: Floats = np.array(self.paces) / (np.maximum(self.members, NOTHING) * copy)
        return rates

    def use(self, node: int, rate: float, kept: float) -> Use:
        """Return what a node does to its volume.

        Args:
            node: By number.
            rate: Messages a second of the whole cluster.
            kept: The share that nobody has consumed when it is written, or written again.
        """
        log, share = self.logs[node], float(self.members[node])
        if self.kind == "quorum":
            return log.used(min(rate * share, 1 / log.entry), kept)
        queues = self.queues * share
        if self.kind == "stream":
            chunks = Chunks.of(self.volume, self.size)
            return chunks.used(rate * share, queues)
        return flushes(self.rabbit, self.volume, self.size, rate * share, kept, queues)

    def disk_work(self, uses: list[Use]) -> Floats:
        """Return the processor seconds that writes cost each node in a second."""
        operation = self.rabbit["disk_operation"] * PS * self.pace
        seconds: Floats = np.array([use.operations for use in uses]) * operation
        return seconds

    def confirmed(self, window: float, most: float | None = None) -> float:
        """Return the rate at which messages are confirmed if a window of them may be unconfirmed.

        A confirm takes the links between nodes and, of a quorum queue, `credit_cycles` cycles of
        the log.

        Args:
            window: Messages to all queues.
            most: Messages a second that are wanted; None for what the processes of queues can do.
        """
        most = self.process if most is None else most
        busiest = max(float(self.members.max()), NOTHING)
        if self.kind != "quorum":
            return min(most, window / max(self.work.confirm, NOTHING))
        cycles, log = float(self.rabbit["credit_cycles"]), self.logs[int(self.members.argmax())]

        def fits(rate: float) -> bool:
            return rate * (self.work.confirm + cycles * log.cycle(rate * busiest)) <= window

        return highest(fits, most)

    def ceilings(self, window: float | None) -> dict[str, float]:
        """Return the most messages a second, by what does not allow more; nobody consumes.

        Args:
            window: Messages that may be on the way to each queue without a confirm; None for any
                number.
        """
        nodes = range(len(self.members))
        power, taking = schedulers(self.host), self.work.taking

        def can(node: int) -> float:
            def fits(rate: float) -> bool:
                use = self.use(node, rate, 1.0)
                return bool(rate * taking[node] + self.disk_work([use])[0] <= power)

            return highest(fits, power / max(taking[node], NOTHING))

        rates = [can(node) for node in nodes]
        leads = self.shares.led > 0
        ceilings = {
            "queue": self.process,
            "leader": min(rates[node] for node in nodes if leads[node]),
            "follower": min((rates[n] for n in nodes if not leads[n]), default=float("inf")),
            "disk": min(self._written(node) for node in nodes),
            "network": float(self.wire.min()),
        }
        if window is not None:
            ceilings["confirms"] = self.confirmed(window * self.queues)
        return ceilings

    def _written(self, node: int) -> float:
        share, volume = self.members[node], self.volume
        if not share > 0:
            return float("inf")
        most = volume["bandwidth"] / self.use(node, 1 / share, 1.0).bytes
        if self.kind == "quorum":
            most = min(most, 1 / self.logs[node].entry)
        return float(most / share)


def highest(holds: Callable[[float], bool], most: float) -> float:
    """Return the largest rate up to `most` at which something holds that fails above."""
    low, high = 0.0, most
    if holds(most):
        return most
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
