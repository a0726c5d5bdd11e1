"""The Data Vortex path: sender, fabric, card, ring, poll thread, bridge, broker, probe.

One sender feeds one receiving node. The poll thread wakes every poll interval; when a buffer of the
DRAM ring is free it puts a credit into the sender's surprise FIFO. The sender reacts and releases
what the receiver's software can take over in a certain time, at a pace that differs from burst to
burst; the burst flows through the card into the buffer. One that does not fit overruns the buffer
and the sender is held back. The bridge pushes the messages of one buffer into the broker
while the other fills, so that in the long run the AMQP socket sets the pace::

    Sender --burst--> Fabric --> VortexCard --> DramRing --> BridgeThreads + AmqpSocket --> Broker
       ^                                            |
       +----------- credit (FIFO) <-- PollThread <--+
"""

from __future__ import annotations

import math

from dvsim.core import Arrival, Burst, DramRing, VortexCard, WordArrival, WordCard, WordRing
from dvsim.core.observer import Observer
from dvsim.core.probe import IntervalProbe
from dvsim.core.schedule import Schedule
from dvsim.core.stage import Clock, Happening, Inbox, Process, Stage, Through
from dvsim.core.streams import Streams
from dvsim.kinds.rabbitmq.broker import broker_of
from dvsim.kinds.rabbitmq.fabric import Fabric
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.scenario.types import Card

HEAP_BINARY = 64  # bytes; Erlang keeps a larger binary outside of the heap of a process


class BridgeThreads(Stage):
    """Threads of one process (a card can be opened once) that turn pieces into AMQP messages."""

    def __init__(self, clock: Clock, name: str, card: Card, message_bytes: int) -> None:
        super().__init__(clock, name)
        self.per_message_ps: float = card["convert"].ps(message_bytes) / card["threads"]

    def work_ps(self, messages: int) -> int:
        """Return the time that all threads together take for a batch."""
        return round(messages * self.per_message_ps)


class AmqpSocket(Stage):
    """The loopback socket into the local broker; a thread that pushes holds it.

    A message takes ``push(n)``, and ``push_off_heap`` more if its body is too long for the heap of
    the broker's processes, so that they share it by reference and count who does.
    """

    def __init__(
        self, clock: Clock, name: str, card: Card, message_bytes: int, streams: Streams
    ) -> None:
        super().__init__(clock, name)
        spread = card["run_spread"] * next(streams.normal(f"{name}/run"))
        sockets: int = min(card["sockets"], card["threads"])
        cost: int = card["push"].ps(message_bytes)
        if message_bytes > HEAP_BINARY:
            cost += card["push_off_heap"]
        self.per_message_ps = cost * math.exp(spread) / sockets
        self._scatter: float = card["push_scatter"]
        self._draws = streams.normal(f"{name}/scatter")

    def work_ps(self, messages: int) -> int:
        """Return the time to push a batch through the socket."""
        return round(messages * self.per_message_ps * math.exp(self._scatter * next(self._draws)))


def _card_and_ring(
    card: Card, size: int, threads: int, fidelity: str
) -> tuple[VortexCard, DramRing]:
    ring, buffers = card["ring"], card["ring_buffers"]
    if fidelity == "cycle":
        by_words = WordCard(card, size, buffers)
        return by_words, WordRing(by_words, ring, buffers, threads)
    flow = VortexCard(card, size)
    return flow, DramRing(ring, buffers, threads, flow.words)


class ReceivingNode:
    """A sender and the node it sends to, as SimPy processes.

    Args:
        number: 1 for the node of the ``.A`` queue, 2 for ``.B``, and so on.
        messages: How many messages the sender has.
        fabric: What all nodes share; flow `number` - 1 is this node's.
    """

    def __init__(
        self,
        clock: Clock,
        number: int,
        messages: int,
        scenario: Scenario,
        streams: Streams,
        fabric: Fabric,
    ) -> None:
        system, size = scenario.system, scenario.workload.message_bytes
        if system.bridge is None:
            raise ValueError("the Data Vortex path needs a bridge card")
        bridge = system.bridge
        self.clock = clock
        self.card, self.ring = _card_and_ring(system.card, size, bridge["threads"], fabric.fidelity)
        self.threads = BridgeThreads(clock, f"bridge.{number}", bridge, size)
        self.socket = AmqpSocket(clock, f"socket.{number}", bridge, size, streams)
        self.broker = broker_of(clock, number, system, size, bridge["mtu"], streams)
        self.probe = IntervalProbe(self.card, scenario.probe.interval_ps or 0)
        self.sent = 0
        self.held_ps = 0  # waiting for a buffer after an overrun
        self.held_sram_ps = 0  # held back by a full SRAM
        self.end_ps = 0  # when the last message was in the broker
        self.behind_ps = 0  # how late the last burst was sent, against the schedule
        self._messages = messages
        self._fabric, self._flow = fabric, number - 1
        offered = scenario.workload.messages_per_second
        self._schedule = Schedule(offered / system.receivers if offered else None)
        self.poll_ps = bridge["poll_interval"]
        self._release_ps: int = bridge["release"]
        self.usual_burst = self.card.moved_in(self._release_ps)
        self._reaction_ps = bridge["reaction"]
        self._pace_scatter: float = system.card["vic_scatter"]
        self._stop_scatter = bridge["stop_scatter"]
        self._reaction_draws = streams.uniform(f"sender.{number}/reaction")
        self._pace_draws = streams.normal(f"card.{number}/pace")
        self._stop_draws = streams.normal(f"ring.{number}/stop")
        self._drain_ps = max(
            self.threads.per_message_ps, self.socket.per_message_ps, self.broker.median_ps
        )
        self._credit: Inbox[None] = Inbox(clock)
        self._free: Inbox[int | None] = Inbox(clock)
        for buffer in range(system.card["ring_buffers"]):
            self._free.put(buffer)
        self._received = Happening(clock).happen()  # the burst before the first one
        self.finished = clock.all_of(
            [clock.process(self._sender()), clock.process(self._poll_thread())]
        )

    def _poll_thread(self) -> Process:
        while self.sent < self._messages:
            yield self._free.get()
            yield self._received
            yield self.clock.wait(-self.clock.ps % self.poll_ps)
            self.card.push_credit(self.clock.ps)
            self._received = Happening(self.clock)
            self._credit.put(None)
            yield self._received

    def _sender(self) -> Process:
        draining: list[Through] = []
        held = False  # whether the burst before this one overran its buffer
        while self.sent < self._messages:
            asked = self.clock.ps
            yield self._credit.get()
            self.card.pop_credit()
            if held:
                self.held_ps += self.clock.ps - asked
            yield self.clock.wait(round(self._reaction_ps * next(self._reaction_draws)))
            yield self.clock.wait(self._schedule.wait_ps(self.sent, self.clock.ps))
            due = self._schedule.due(self.clock.ps, self._messages)
            self.card.set_pace(math.exp(self._pace_scatter * next(self._pace_draws)))
            offered = min(self.card.moved_in(self._release_ps), due - self.sent)
            taken = self._fill(offered)
            held = taken < offered
            self.sent += taken
            self.behind_ps = self._schedule.late_ps(self.sent - 1, self.clock.ps)
            drained = self._drain(taken)
            draining = [drained, *[drain for drain in draining if not drain.processed]]
            arrival = yield self._fabric.send(self._flow, taken * self.card.words)
            burst = self._receive(arrival, taken)
            self.held_sram_ps += burst.held_ps
            if self.clock.observer is not None:
                self._show_burst(self.clock.observer, arrival, burst, taken)
            yield self.clock.wait(burst.last_ps - self.clock.ps)
            drained.part()
            self._received.happen()
        yield self.clock.all_of(draining)
        self.end_ps = self.clock.ps

    def _receive(self, arrival: Arrival | WordArrival, messages: int) -> Burst:
        if isinstance(arrival, Arrival):
            burst = self.card.receive(arrival, messages)
            self.probe.record(burst.first_ps, burst.last_ps, messages)
            return burst
        if not isinstance(self.card, WordCard):
            raise TypeError("words come from a fabric at cycle fidelity to a card at flow fidelity")
        window = self.ring.window(arrival.sent_ps)
        burst, pieces_ps = self.card.take(arrival, messages, window)
        self.probe.record_pieces(pieces_ps)
        return burst

    def _fill(self, offered: int) -> int:
        """Offer a burst to the ring and return how many of its messages fit.

        The threads empty the buffer while it fills, once they are done with the one before.
        """
        return self.ring.fill(
            offered,
            arrival_ps=self.card.move_ps(offered) // offered,
            drain_ps=round(self._drain_ps),
            wait_ps=self.socket.backlog_ps(self._drain_ps),
            stop=math.exp(self._stop_scatter * next(self._stop_draws)),
        )

    def _drain(self, messages: int) -> Through:
        """Push a buffer into the broker; threads, socket and broker overlap with its arrival.

        The arrival is for the sender to tell.
        """
        stages, begin = (self.threads, self.socket, self.broker), self.clock.ps

        def done() -> None:
            self.ring.drain(messages)
            self._show_levels()
            if self.clock.observer is not None:
                name = f"sender.{self._flow + 1}"
                self.clock.observer.passed(name, "burst", begin, self.clock.ps, messages)
            self._free.put(None)

        through = Through(self.clock, 1 + len(stages), done)
        self._show_levels()
        for stage in stages:
            stage.take(messages, through.part)
        return through

    def _show_levels(self) -> None:
        observer = self.clock.observer
        if observer is not None:
            number, now = self._flow + 1, self.clock.ps
            on_the_way = self.sent - self.broker.queued
            observer.level(self, f"sender.{number}", "messages in flight", now, on_the_way)
            observer.level(self.ring, f"ring.{number}", "messages", now, self.ring.held)

    def _show_burst(
        self, observer: Observer, arrival: Arrival | WordArrival, burst: Burst, messages: int
    ) -> None:
        number, arrow = self._flow + 1, observer.arrow()
        flow = arrival if isinstance(arrival, Arrival) else arrival.flow
        into = (flow.first_ps, max(flow.last_ps, burst.sent_ps))
        sent, moved = (flow.sent_ps, into[1]), (burst.first_ps, burst.last_ps)
        observer.worked(self._fabric, f"fabric.{number}", *sent, messages, sends=arrow)
        observer.worked(self.card, f"card.{number}", *moved, messages, gets=arrow)
        size = 8 * self.card.words * messages
        for at in sorted({*into, burst.first_ps, burst.last_ps}):
            held = size * (_share(at, *into) - _share(at, burst.first_ps, burst.last_ps))
            held = min(max(held, 0), self.card.sram_peak_bytes)
            observer.level(self.card, f"card.{number}", "bytes in the SRAM", at, round(held))


def _share(at: int, begin: int, end: int) -> float:
    return min(1.0, max(0.0, (at - begin) / max(1, end - begin)))
