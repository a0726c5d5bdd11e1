"""Streams from one host to another with nothing between, over one pair of ports."""

from __future__ import annotations

from functools import partial

from dvsim.core.stage import Clock
from dvsim.core.streams import Streams
from dvsim.kinds.hosts.client import Consumer, Publisher, Traffic, delayed
from dvsim.kinds.hosts.course import Course
from dvsim.kinds.hosts.hop import Hop, Shared, Turns
from dvsim.kinds.hosts.machine import Machine
from dvsim.kinds.hosts.port import BURST, link, ping_grain
from dvsim.kinds.hosts.spec import MessagingScenario

WIRE = "link"


class Peers:
    """The system of pattern ``peer``.

    Attributes:
        publishers, consumers: One of each for a stream.
        links: Links that every message crosses.
    """

    links = 1.0

    def __init__(
        self, clock: Clock, setting: MessagingScenario, traffic: Traffic, draws: Streams
    ) -> None:
        flow, cards = setting.workload, setting.cards
        streams, engine, card = flow.streams, cards["client"], cards["link"]
        threads = streams * engine["threads"]
        hosts = [
            Machine(cards["host"], name, streams, threads, draws) for name in ("sender", "receiver")
        ]
        port = Turns(clock)
        grain = ping_grain(card, traffic.frame) if flow.mode == "ping" else BURST
        self.publishers: list[Publisher] = []
        self.consumers: list[Consumer] = []
        self._wires: list[Hop] = []
        for number in range(streams):
            credit = partial(self._credit, clock, card["latency"], number)
            consumer = Consumer(clock, engine, card, hosts[1], traffic, credit)
            wire = link(clock, WIRE, card, traffic.frame, consumer.hops[0], port, grain=grain)
            self.consumers.append(consumer)
            self._wires.append(wire)
            self.publishers.append(Publisher(clock, engine, card, hosts[0], traffic, wire.arrive))

    @property
    def stages(self) -> list[Shared]:
        """What can be busy: each thread, and the port that all streams share."""
        clients: list[Publisher | Consumer] = [*self.publishers, *self.consumers]
        own = [hop for client in clients for hop in client.hops]
        return [Shared(hop.kind, [hop]) for hop in own] + [Shared(WIRE, self._wires)]

    @property
    def taken(self) -> Course:
        """Course of what was taken in: of the first stream, as good as any."""
        return self.publishers[0].passed

    def expected(self, messages: int) -> int:
        """Return how many messages are consumed when so many are published."""
        return messages

    def _credit(self, clock: Clock, latency_ps: int, number: int, messages: int) -> None:
        delayed(clock, latency_ps, partial(self.publishers[number].allow, messages))
