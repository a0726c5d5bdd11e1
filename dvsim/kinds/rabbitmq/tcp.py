"""The TCP path: several publisher processes, one link and one broker per receiving node.

The harness publishes in batches. Every publisher process sends its share of a batch, spread over
the topics, so each broker gets the same number of messages. Publishing, carrying and queueing
overlap; the batch is over when the slowest of them is, and its rate is the sample, as in the paper.

In a closed loop a batch starts when the one before is over. In an open loop it starts at its
scheduled time, whatever became of the others, and its duration counts from there, so that waiting
behind a slow system is not left out (coordinated omission).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dvsim.core.observer import Observer
from dvsim.core.probe import BatchProbe
from dvsim.core.schedule import Schedule, share
from dvsim.core.stage import PS_PER_S, Clock, Process, Stage
from dvsim.core.streams import Streams
from dvsim.kinds.rabbitmq.broker import broker_of
from dvsim.scenario.types import Card

if TYPE_CHECKING:
    from dvsim.kinds.rabbitmq.spec import Scenario


class Publisher(Stage):
    """One publisher process; its cost per message is its own CPU time."""

    DOES = "published"

    def __init__(
        self, clock: Clock, name: str, card: Card, message_bytes: int, streams: Streams
    ) -> None:
        super().__init__(clock, name)
        spread = card["run_spread"] * next(streams.normal("publisher/run"))
        cost: int = card["publish"].ps(message_bytes)
        self._per_message = cost * math.exp(spread)
        self._scatter: float = card["publish_scatter"]
        self._draws = streams.normal(f"{name}/scatter")

    def work_ps(self, messages: int) -> int:
        """Return the time to publish a share of a batch."""
        return round(messages * self._per_message * math.exp(self._scatter * next(self._draws)))


class Link(Stage):
    """The network port of broker node `number`."""

    DOES = "carried"

    def __init__(self, clock: Clock, number: int, card: Card, wire_bytes: int) -> None:
        super().__init__(clock, f"link.{number}")
        self._leads_to = f"broker.{number}"
        self._per_message: float = wire_bytes * PS_PER_S / card["rate"]
        self.latency_ps: int = card["latency"]

    def work_ps(self, messages: int) -> int:
        """Return the time to carry a share of a batch."""
        return round(messages * self._per_message)

    def _show_work(self, observer: Observer, end_ps: int, messages: int) -> None:
        arrow, there = observer.arrow(), end_ps + self.latency_ps
        observer.worked(self, self.name, self.clock.ps, end_ps, messages, sends=arrow)
        observer.arrived(self._leads_to, "arrived", there, messages, gets=arrow)


class Harness:
    """The test harness: batch after batch until all messages of the iteration are queued.

    `before` has the stages in front of the brokers, in the order of the path; a stage that is put
    there serves each batch, is counted, and is named as a limit.
    """

    def __init__(self, clock: Clock, scenario: Scenario, streams: Streams) -> None:
        system, work = scenario.system, scenario.workload
        size = work.message_bytes
        if system.publisher is None:
            raise ValueError("the TCP path needs a publisher card")
        processes = range(1, system.publisher["processes"] + 1)
        nodes = range(1, system.receivers + 1)
        wire = size + system.broker["frame_overhead"]
        self.clock = clock
        self.publishers = [
            Publisher(clock, f"publisher.{n}", system.publisher, size, streams) for n in processes
        ]
        self.links = [Link(clock, n, system.card, wire) for n in nodes]
        self.brokers = [
            broker_of(clock, n, system, size, system.card["mtu"], streams) for n in nodes
        ]
        self.before: list[Sequence[Stage]] = [self.publishers, self.links]
        self.probe = BatchProbe()
        self.sent = 0
        self._messages = work.messages
        self._batch = scenario.probe.batch or work.messages
        self._schedule = Schedule(work.messages_per_second)
        self.behind_ps = 0  # how late the last batch was over, against its scheduled start
        self.finished = clock.process(self._run())

    def _run(self) -> Process:
        batches = []
        while self.sent < self._messages:
            batch = min(self._batch, self._messages - self.sent)
            yield self.clock.wait(self._schedule.wait_ps(self.sent, self.clock.ps))
            batches.append(self.clock.process(self._publish(batch)))
            self.sent += batch
            if not self._schedule.open:
                yield batches.pop()
        yield self.clock.all_of(batches)

    def _publish(self, batch: int) -> Process:
        start = self.clock.ps
        served = [
            stage.serve(part)
            for stages in (*self.before[1:], self.brokers, self.before[0])
            for index, stage in enumerate(stages)
            if (part := share(batch, len(stages), index))
        ]
        yield self.clock.all_of(served)
        yield self.clock.wait(self.links[0].latency_ps)
        self.behind_ps = self.clock.ps - start if self._schedule.open else 0
        self.probe.record(start, self.clock.ps, batch)
        if self.clock.observer is not None:
            self.clock.observer.passed("harness", "batch", start, self.clock.ps, batch)
