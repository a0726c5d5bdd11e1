"""One iteration of a scenario: build the system, run it, close the books, read the probes."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain

import numpy as np

from dvsim.core import VortexCard, Window, WordArrival, WordCard, words_of
from dvsim.core.observer import Observer
from dvsim.core.probe import Counter, Iteration, Record
from dvsim.core.schedule import share
from dvsim.core.stage import PS_PER_S, Clock
from dvsim.core.streams import Streams
from dvsim.errors import RunFailed
from dvsim.fabric.network.disorder import disorder_of
from dvsim.kinds.rabbitmq.broker import Broker
from dvsim.kinds.rabbitmq.data_vortex import ReceivingNode
from dvsim.kinds.rabbitmq.fabric import Fabric, fabric_of
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.kinds.rabbitmq.tcp import Harness
from dvsim.scenario.types import Card, slot_of
from dvsim.scenario.word_card import beyond_words

MOST_WORDS = 1 << 17  # of the burst: some milliseconds of this machine
MOST_ROOM = 1 << 40  # words; a ring that is never full


def flow_error(card: Card, message_bytes: int, messages: int) -> float | None:
    """Return how far the flow is from the card word by word, as a share of the time of a burst.

    The burst comes at the full rate of the port, and the ring always has room. None if the card
    cannot be simulated word by word, or one message has more than `MOST_WORDS` words.

    Args:
        card: Of kind "vortex".
        message_bytes: Size of a message.
        messages: Of the burst; as many as have `MOST_WORDS` words, if it is more.
    """
    if beyond_words(card) is not None:
        return None
    return _flow_error(_Asked(card), message_bytes, messages)


class _Asked:
    def __init__(self, card: Card) -> None:
        self.card = card
        self._key = tuple((name, item.value) for name, item in sorted(card.parameters.items()))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and other._key == self._key


@lru_cache(maxsize=64)
def _flow_error(asked: _Asked, message_bytes: int, messages: int) -> float | None:
    card = asked.card
    by_words = WordCard(card, message_bytes, 1)
    messages = min(messages, MOST_WORDS // by_words.words)
    if messages < 1:
        return None
    slots = np.arange(messages * by_words.words, dtype=np.int64) // card["planes"]
    arrival = WordArrival(slots, 1, slot_of(card), 0)
    exact, _ = by_words.take(arrival, messages, Window(MOST_ROOM, 0, 0))
    flow = VortexCard(card, message_bytes).receive(arrival.flow, messages)
    return abs(flow.last_ps - exact.last_ps) / exact.last_ps


def run_iteration(
    scenario: Scenario,
    seed: int,
    replication: int,
    iteration: int,
    observer: Observer | None = None,
) -> Iteration:
    """Simulate one iteration on freshly reset brokers; an observer changes nothing."""
    streams, clock = Streams(seed, replication, iteration), Clock(observer)
    if scenario.system.over_cards:
        return _data_vortex(scenario, streams, clock)
    return _tcp(scenario, streams, clock)


def _data_vortex(scenario: Scenario, streams: Streams, clock: Clock) -> Iteration:
    work, system = scenario.workload, scenario.system
    receivers, words = system.receivers, work.messages * words_of(work.message_bytes)
    fabric = fabric_of(
        clock,
        system.card,
        receivers,
        words,
        system.fidelity or "auto",
        senders=system.senders,
        ordered=system.order == "fabric",
    )
    nodes = [
        ReceivingNode(clock, n + 1, share(work.messages, receivers, n), scenario, streams, fabric)
        for n in range(receivers)
    ]
    clock.run(clock.all_of([node.finished for node in nodes]))

    records: dict[int, Record] = {}
    counters: list[Counter] = []
    for number, node in enumerate(nodes, start=1):
        end = max(node.end_ps, 1)
        records[number] = node.probe.read(end)
        poll_ps = node.poll_ps
        counters += [
            Counter(f"fabric.{number}", "utilisation", node.card.port_busy_ps / end, "1"),
            Counter(f"card.{number}", "utilisation", node.card.dma_busy_ps / end, "1"),
            Counter(f"card.{number}", "windows", node.ring.windows, "1"),
            Counter(f"card.{number}", "overruns", node.ring.overruns, "1"),
            Counter(f"card.{number}", "sram_peak_bytes", node.card.sram_peak_bytes, "B"),
            Counter(f"sender.{number}", "held_back_s", node.held_ps / PS_PER_S, "s"),
            Counter(f"sender.{number}", "held_sram_s", node.held_sram_ps / PS_PER_S, "s"),
            Counter(f"receiver.{number}", "polls", end // poll_ps, "1"),
            Counter(f"receiver.{number}", "extra_polls", node.probe.extra_polls(poll_ps, end), "1"),
            Counter(f"bridge.{number}", "utilisation", node.threads.utilisation(end), "1"),
            Counter(f"bridge.{number}", "messages", node.threads.messages, "1"),
            Counter(f"socket.{number}", "utilisation", node.socket.utilisation(end), "1"),
            *_word_counters(number, node.card),
            *_broker_counters(node.broker, end),
        ]
        if not node.ring.balanced():
            raise RunFailed(f"receiver {number}: the DRAM ring's books do not balance")
        arrived = int(records[number].messages.sum())
        if not node.sent == node.card.messages == arrived == node.broker.queued + node.ring.held:
            raise RunFailed(
                f"receiver {number}: sent {node.sent}, through the card {node.card.messages}, "
                f"seen by the probe {arrived}, queued {node.broker.queued}, "
                f"in the ring {node.ring.held} messages"
            )
    counters += _books(
        scenario,
        clock,
        [node.broker for node in nodes],
        sent=sum(node.sent for node in nodes),
        in_flight=sum(node.ring.held for node in nodes),
    )
    counters.append(_behind(max(node.behind_ps for node in nodes)))
    error = flow_error(system.card, work.message_bytes, nodes[0].usual_burst)
    if error is not None:
        counters.append(Counter("card", "flow_error", error, "1"))
    if system.senders is not None:
        counters += _source_counters(nodes, fabric)
    counters += _fabric_counters(fabric, receivers)
    if system.order == "fabric":
        counters += _order_counters(fabric)
    return Iteration(records, counters)


def _word_counters(number: int, card: VortexCard) -> list[Counter]:
    if not isinstance(card, WordCard):
        return []
    return [
        Counter(f"card.{number}", "dma_loadings", card.loadings, "1"),
        Counter(f"card.{number}", "held_ring_s", card.held_ring_ps / PS_PER_S, "s"),
        Counter(f"card.{number}", "ring_peak_bytes", 8 * card.ring_peak_words, "B"),
        Counter(f"sender.{number}", "held_counters_s", card.held_counters_ps / PS_PER_S, "s"),
    ]


def _fabric_counters(fabric: Fabric, flows: int) -> list[Counter]:
    table = fabric.table
    return [
        Counter("fabric", "cycle_fidelity", fabric.fidelity == "cycle", "1"),
        Counter("fabric", "latency_s", table.latency_ps / PS_PER_S, "s"),
        Counter("fabric", "rate_alone", table.rate(1), "B/s"),
        Counter("fabric", "rate_together", table.rate(flows), "B/s"),
        Counter("fabric", "flow_error", table.error(flows), "1"),
    ]


def _source_counters(nodes: list[ReceivingNode], fabric: Fabric) -> list[Counter]:
    end = max(1, *(node.end_ps for node in nodes))
    busy: dict[int, int] = {}
    for node, flow in zip(nodes, fabric.table.flows, strict=True):
        busy[flow.source] = busy.get(flow.source, 0) + node.card.port_busy_ps
    return [
        Counter(f"source.{port + 1}", "utilisation", spent / end, "1")
        for port, spent in busy.items()
    ]


def _order_counters(fabric: Fabric) -> list[Counter]:
    network = fabric.table.network
    disorder = disorder_of(network, fabric.table.flows)
    wait_s = disorder.wait * network.slot_ps / PS_PER_S
    return [
        Counter("fabric", "late_share", disorder.late, "1"),
        Counter("fabric", "order_words", disorder.held, "1"),
        Counter("fabric", "order_wait_s", wait_s, "s"),
    ]


def _tcp(scenario: Scenario, streams: Streams, clock: Clock) -> Iteration:
    harness = Harness(clock, scenario, streams)
    clock.run(harness.finished)
    end = max(clock.ps, 1)
    counters = [
        Counter(stage.name, "utilisation", stage.utilisation(end), "1")
        for stage in chain.from_iterable(harness.before)
    ]
    for broker in harness.brokers:
        counters += _broker_counters(broker, end)
    passed = {stages[0].DOES: sum(stage.messages for stage in stages) for stages in harness.before}
    if set(passed.values()) != {harness.sent}:
        counted = ", ".join(f"{does} {messages}" for does, messages in passed.items())
        raise RunFailed(f"sent {harness.sent}, {counted} messages")
    counters += _books(
        scenario,
        clock,
        harness.brokers,
        sent=harness.sent,
        in_flight=0,  # the last batch is over
    )
    counters.append(_behind(harness.behind_ps))
    return Iteration({0: harness.probe.read()}, counters)


def _behind(behind_ps: int) -> Counter:
    return Counter("run", "behind_schedule_s", behind_ps / PS_PER_S, "s")


def _broker_counters(broker: Broker, end_ps: int) -> list[Counter]:
    before, while_paging = broker.rates(end_ps)
    number = broker.name.partition(".")[2]
    return [
        *(
            Counter(f"{part}.{number}", "utilisation", busy, "1")
            for part, busy in broker.busy(end_ps).items()
        ),
        Counter(broker.name, "queued", broker.queued, "1"),
        Counter(broker.name, "memory_peak_bytes", broker.memory_peak_bytes, "B"),
        Counter(broker.name, "paged_bytes", broker.paged_bytes, "B"),
        Counter(broker.name, "blocked_s", broker.blocked_ps / PS_PER_S, "s"),
        Counter(broker.name, "rate_before_paging", before, "msg/s"),
        Counter(broker.name, "rate_while_paging", while_paging, "msg/s"),
    ]


def _books(
    scenario: Scenario, clock: Clock, brokers: list[Broker], *, sent: int, in_flight: int
) -> list[Counter]:
    """Check that every message is somewhere: sent = queued + in flight + refused.

    Each side is counted by another component. The senders must also have sent all that was asked
    for, and the brokers' memory and disk must hold as many bytes as their queues have messages for.
    """
    asked = scenario.workload.messages
    queued = sum(broker.queued for broker in brokers)
    refused = sum(broker.refused for broker in brokers)
    if sent != queued + in_flight + refused or asked != sent:
        raise RunFailed(
            f"conservation: {asked} asked for, {sent} sent, {queued} queued, "
            f"{in_flight} in flight, {refused} refused"
        )
    for broker in brokers:
        if not broker.balanced():
            raise RunFailed(f"{broker.name}: memory and disk do not hold what is queued")
    return [
        Counter("conservation", "sent", sent, "1"),
        Counter("conservation", "queued", queued, "1"),
        Counter("conservation", "in_flight", in_flight, "1"),
        Counter("conservation", "refused", refused, "1"),
        Counter("run", "simulated_s", clock.ps / PS_PER_S, "s"),
        Counter("run", "events", clock.events, "1"),
    ]
