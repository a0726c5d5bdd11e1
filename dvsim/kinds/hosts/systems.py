"""Both patterns: streams from host to host with nothing between, or clients around broker nodes.

With brokers every message crosses a link to the broker and one away. Each client has a host of its
own, so the ports of the broker host are what many streams share: one way in, one way out. Federated
nodes hang on the first one and have their own consumers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dvsim.core.stage import Clock
from dvsim.core.streams import Streams
from dvsim.kinds.hosts.broker import Node
from dvsim.kinds.hosts.client import Consumer, Publisher, Traffic, delayed
from dvsim.kinds.hosts.course import Course
from dvsim.kinds.hosts.hop import Arrive, Hop, Machine, Shared, Turns
from dvsim.kinds.hosts.port import BURST, link, ping_grain
from dvsim.kinds.hosts.spec import MessagingScenario

WIRE = "link"
INGRESS, EGRESS, BETWEEN = "link to the broker", "link to the consumer", "link between brokers"


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
        return [*_threads(self), Shared(WIRE, self._wires)]

    @property
    def taken(self) -> Course:
        """Course of what was taken in: of the first stream, as good as any."""
        return self.publishers[0].passed

    def expected(self, messages: int) -> int:
        """Return how many messages are consumed when so many are published."""
        return messages

    def _credit(self, clock: Clock, latency_ps: int, number: int, messages: int) -> None:
        delayed(clock, latency_ps, partial(self.publishers[number].allow, messages))


class Brokered:
    """The system of pattern ``broker``.

    Attributes:
        safe: Course of the messages that the first node has acknowledged.
        publishers, consumers: The clients.
        links: Links that a message crosses, mean over the consumers.
    """

    def __init__(
        self, clock: Clock, setting: MessagingScenario, traffic: Traffic, draws: Streams
    ) -> None:
        flow, system, cards = setting.workload, setting.system, setting.cards
        self._clock, self._setting, self._traffic = clock, setting, traffic
        card = cards["broker"]
        self._threads: int = card["threads"] * card["steps"]
        self._draws, self._engine, self._card = draws, cards["client"], cards["link"]
        self._latency: int = self._card["latency"]
        self.safe = Course(clock)
        self.consumers: list[Consumer] = []
        self._ports: dict[Turns, list[Hop]] = {}
        self._settlers: list[Callable[[int], None]] = [lambda _: None] * flow.consumers
        ping = ping_grain(self._card, traffic.frame)
        self._grain = ping if flow.mode == "ping" else BURST
        members = [range(node, flow.consumers, system.brokers) for node in range(system.brokers)]
        self._sizes = list(map(len, members))
        self.nodes: list[Node] = []
        leaves = [self._node(number, list(members[number])) for number in range(1, system.brokers)]
        root = self._node(0, list(members[0]), leaves)
        self.nodes = [root, *leaves]
        port = Turns(clock)
        self.publishers = []
        for number in range(flow.publishers):
            accepts = root.connect(partial(self._acknowledge, number))
            wire = self._wire(INGRESS, accepts, port)
            host = self._client(f"publisher.{number}")
            self.publishers.append(
                Publisher(clock, self._engine, self._card, host, traffic, wire.arrive)
            )
        further = sum(self._sizes[1:]) / sum(self._sizes)
        self.links = 2 + further

    @property
    def stages(self) -> list[Shared]:
        """What can be busy: each thread of a client, the ports, threads and logs of the nodes."""
        shared = _threads(self)
        shared += [Shared(wires[0].kind, wires) for wires in self._ports.values()]
        for node in self.nodes:
            shared += node.stages
        return shared

    @property
    def taken(self) -> Course:
        """Course of the messages that have come into the queues of the first node."""
        return self.nodes[0].routed

    def expected(self, messages: int) -> int:
        """Return how many messages are consumed when so many are published."""
        copies = (
            self._setting.workload.consumers if self._setting.system.exchange == "fanout" else 1
        )
        return messages * copies

    def _node(self, number: int, members: list[int], leaves: list[Node] | None = None) -> Node:
        clock, traffic = self._clock, self._traffic
        away = Turns(clock)
        targets: list[Arrive] = [self._consumer(member, away) for member in members]
        for leaf in leaves or []:
            taken = leaf.connect(lambda _: None)
            targets.append(self._wire(BETWEEN, taken, away).arrive)
        host = Machine(
            self._setting.cards["host"], f"broker.{number}", 1, self._threads, self._draws
        )
        weights = [1] * len(members) + (self._sizes[1:] if leaves else [])
        node = Node(
            clock, self._setting, host, traffic, targets, weights, wake_ps=self._engine["wake"]
        )
        for member in members:
            self._settlers[member] = node.settler(members.index(member))
        return node

    def _consumer(self, member: int, port: Turns) -> Arrive:
        flow, system = self._setting.workload, self._setting.system
        slower = (system.slowdown - 1) * member / max(1, flow.consumers - 1)
        consumer = Consumer(
            self._clock,
            self._engine,
            self._card,
            self._client(f"consumer.{member}"),
            self._traffic,
            lambda _: None,
            slowdown=1 + slower,
            acknowledge=system.acknowledge,
            on_acknowledged=partial(self._settle, member),
        )
        self.consumers.append(consumer)
        return self._wire(EGRESS, consumer.hops[0], port).arrive

    def _wire(self, kind: str, into: Hop, port: Turns) -> Hop:
        card, frame = self._card, self._traffic.frame
        wire = link(self._clock, kind, card, frame, into, port, grain=self._grain)
        self._ports.setdefault(port, []).append(wire)
        return wire

    def _client(self, name: str) -> Machine:
        return Machine(self._setting.cards["host"], name, 1, self._engine["threads"], self._draws)

    def _acknowledge(self, number: int, messages: int) -> None:
        self.safe.add(messages)
        allow = partial(self.publishers[number].allow, messages)
        delayed(self._clock, self._latency, allow)

    def _settle(self, member: int, messages: int) -> None:
        delayed(self._clock, self._latency, partial(self._settlers[member], messages))


def _threads(system: Peers | Brokered) -> list[Shared]:
    clients: list[Publisher | Consumer] = [*system.publishers, *system.consumers]
    return [Shared(hop.kind, [hop]) for client in clients for hop in client.hops]
