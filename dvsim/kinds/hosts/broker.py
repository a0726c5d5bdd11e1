"""A broker node: takes messages in, makes them safe, routes them, delivers them.

Accepting, delivering and settling share its threads, so that one thread, as of a RabbitMQ queue,
does one thing at a time; or each of the three steps has threads of its own, in a pipeline. A
federated node is a consumer of the first one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dvsim.core.stage import Clock
from dvsim.kinds.hosts.client import Traffic, sent_by
from dvsim.kinds.hosts.course import Course
from dvsim.kinds.hosts.delivery import CHUNK, DELIVER, DELIVER_FIRST, Queue
from dvsim.kinds.hosts.hop import Arrive, Hop, Machine, Shared, Turns
from dvsim.kinds.hosts.spec import MessagingScenario
from dvsim.kinds.hosts.storage import LOG, SyncedLog, WriteLog
from dvsim.scenario.units import Law

ACCEPT, SETTLE = "broker: accept", "broker: settle"
STEPS = (ACCEPT, DELIVER, SETTLE)
NODE = "broker threads"


class Node:
    """One broker node.

    Args:
        targets: Where what it delivers goes, for each consumer (or node) behind it.
        weights: How many consumers are behind each target.
        wake_ps: Time to wake one of its threads.

    Attributes:
        stages: What can be busy: its threads, its log.
        routed: Course of the messages that have come into its queues.
    """

    def __init__(
        self,
        clock: Clock,
        setting: MessagingScenario,
        host: Machine,
        traffic: Traffic,
        targets: list[Arrive],
        weights: list[int],
        *,
        wake_ps: int,
    ) -> None:
        self._order = [n for n, weight in enumerate(weights) for _ in range(weight)]
        self.routed = Course(clock)
        self._clock, self._setting, self._host, self._traffic = clock, setting, host, traffic
        self._card, self._port = setting.cards["broker"], setting.cards["link"]
        self._wake_ps = wake_ps
        count = self._card["threads"]
        pools = [Turns(clock, count) for _ in range(self._card["steps"])]
        self._pools = {kind: pools[n % len(pools)] for n, kind in enumerate(STEPS)}
        self.hops: list[Hop | Queue] = []
        self._queue: Queue | None = None
        self._own: list[Hop] = []
        self._turn = 0
        self._deliver(targets)
        system = setting.system
        self.log: WriteLog | SyncedLog | None = None
        if system.durability != "none":
            card = setting.cards["storage"]
            size = setting.workload.message_bytes + self._card["log_overhead"]
            if system.durability == "batched":
                self.log = SyncedLog(clock, card, size, self._card["sync_interval"])
            else:
                self.log = WriteLog(clock, card, size)

    @property
    def stages(self) -> list[Shared]:
        """What can be busy: its threads, together or by step, and its log."""
        count = self._card["threads"]
        if self._card["steps"] == 1:
            shared = [Shared(NODE, self.hops, count)]
        else:
            shared = [
                Shared(kind, [hop for hop in self.hops if hop.kind == kind], count)
                for kind in STEPS
            ]
        if count > 1:  # a connection or a queue has no more than one of them at a time
            shared += [Shared(hop.kind, [hop]) for hop in self.hops]
        return shared + ([] if self.log is None else [Shared(LOG, [self.log])])

    def connect(self, safe: Callable[[int], None]) -> Hop:
        """Return the hop that takes in what comes over a new connection.

        `safe` is called with messages that may be acknowledged.
        """
        laws = [self._card["accept"], sent_by(self._port["receive"])]
        if self._setting.system.exchange == "topic":
            laws.append(Law(self._card["match"] * len(self._order), 0))
        cost = self._host.thread(ACCEPT, self._port["receive"].fixed_ps, *laws)
        hop = Hop(
            self._clock,
            ACCEPT,
            self._traffic.frame,
            min(self._traffic.buffer, max(self._traffic.frame, CHUNK * self._traffic.frame)),
            cost,
            partial(self._accepted, safe),
            whole=True,
            shared=self._pools[ACCEPT],
            wake_ps=self._wake_ps,
        )
        self.hops.append(hop)
        return hop

    def settler(self, consumer: int) -> Callable[[int], None]:
        """Return what to call with the acknowledgements of a consumer."""
        queue = self._queue
        if queue is None:
            return lambda _: None
        law = self._card["settle"]
        batch = self._setting.system.acknowledge or 1
        cost = self._host.thread(SETTLE, law.fixed_ps, Law(0, law.per_byte_fs))
        hop = Hop(
            self._clock,
            SETTLE,
            1,
            batch,
            cost,
            partial(queue.acknowledged, consumer),
            shared=self._pools[SETTLE],
            priority=DELIVER_FIRST,
        )
        self.hops.append(hop)
        return hop.arrive

    def _deliver(self, targets: list[Arrive]) -> None:
        system, send = self._setting.system, self._port["send"]
        laws = [self._card["deliver"], sent_by(send)]
        frame = self._traffic.frame
        if system.exchange == "queue":
            examined = len(targets) if system.delivery == "proportional" else 1
            laws.append(Law(self._card["inspect"] * examined, 0))
            cost = self._host.thread(DELIVER, send.fixed_ps, *laws)
            assert system.prefetch is not None  # `messaging_build` has checked it
            self._queue = Queue(
                self._clock,
                system.delivery,
                system.prefetch,
                frame,
                cost,
                targets,
                self._pools[DELIVER],
            )
            self.hops.append(self._queue)
            return
        cost = self._host.thread(DELIVER, send.fixed_ps, *laws)
        limit = max(frame, self._traffic.buffer // frame * frame)
        for target in targets:
            hop = Hop(
                self._clock,
                DELIVER,
                frame,
                limit,
                cost,
                target,
                whole=True,
                shared=self._pools[DELIVER],
                priority=DELIVER_FIRST,
                wake_ps=self._wake_ps,
            )
            self._own.append(hop)
        self.hops += self._own

    def _accepted(self, safe: Callable[[int], None], count: int) -> None:
        messages = count // self._traffic.frame
        if self.log is None:
            self._route(messages)
            safe(messages)
        elif self._setting.system.durability == "log-first":
            self.log.append(messages, partial(self._safe, safe, messages))
        else:
            self._route(messages)
            self.log.append(messages, partial(safe, messages))

    def _safe(self, safe: Callable[[int], None], messages: int) -> None:
        self._route(messages)
        safe(messages)

    def _route(self, messages: int) -> None:
        self.routed.add(messages)
        frame = self._traffic.frame
        if self._queue is not None:
            self._queue.arrive(messages)
            return
        if self._setting.system.exchange == "fanout":
            for hop in self._own:
                hop.arrive(messages * frame)
            return
        each, rest = divmod(messages, len(self._order))
        for step in range(len(self._order)):
            number = self._order[(self._turn + step) % len(self._order)]
            self._own[number].arrive((each + (step < rest)) * frame)
        self._turn = (self._turn + rest) % len(self._order)
