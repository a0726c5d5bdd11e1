"""One iteration on real programs: make queues, send, record, check by draining, remove the queues.

Iterations run one after the other in one process, so that each has the machine for itself.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from dvsim.core.probe import Counter, Iteration
from dvsim.emulation.amqp import Queue
from dvsim.emulation.child import busy_share
from dvsim.emulation.drain import Drained, Sending, drain
from dvsim.emulation.settings import Emulation
from dvsim.emulation.targets import Shown, Targets, Watch
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.emu import data_vortex, tcp
from dvsim.kinds.rabbitmq.spec import Scenario


class Outcome(NamedTuple):
    """An iteration as a backend returns it, and facts on its programs and brokers (JSON types)."""

    iteration: Iteration
    facts: dict[str, Any]


def run_iteration(
    scenario: Scenario, emulation: Emulation, where: Targets, seed: int, shown: Shown
) -> Outcome:
    """Run one iteration on queues of its own, and remove them again.

    Args:
        scenario: What is sent, and over which path.
        emulation: The settings of the run.
        where: The brokers.
        seed: Of the contents of the messages.
        shown: Shows the progress.
    """
    messages, receivers = scenario.workload.messages, scenario.system.receivers
    token = secrets.token_hex(4)
    shown("constructing", 0.0, 0.0)
    with ExitStack() as stack, _blaming(where):
        queues = [
            stack.enter_context(Queue(where.target(receiver), receiver, token))
            for receiver in range(1, receivers + 1)
        ]
        before, spent = where.machines(), where.cpu_s()
        watch = Watch(where, queues, messages, shown)
        path = data_vortex if scenario.system.over_cards else tcp
        sending = path.send(scenario, queues, seed, emulation, watch)
        after = where.machines()
        counters = [*sending.counters, *_broker_counters(where, spent, messages)]
        for name, busy in before.items():
            counters.append(Counter(name, "busy", busy_share(busy, after[name]), "1"))
        depths = [queue.depth() for queue in queues]
        drained = _drained(queues, sending, messages, shown)
        counters += _queue_counters(depths, drained)
        counters += _books(scenario, sending)
        brokers = [{"receiver": q.receiver, "url": q.target.url, **q.broker()} for q in queues]
        facts = {"brokers": brokers, "commands": sending.commands}
        if where.team is not None:
            facts["hosts"] = where.team.facts()
    return Outcome(Iteration(sending.records, counters), facts)


@contextmanager
def _blaming(where: Targets) -> Iterator[None]:
    try:
        yield
    except RunFailed:
        where.check()
        raise


def _drained(queues: list[Queue], sending: Sending, messages: int, shown: Shown) -> list[Drained]:
    results, before, started = [], 0, time.monotonic()
    for queue, sent in zip(queues, sending.sent, strict=True):

        def progress(taken: int, before: int = before) -> None:
            rate = (before + taken) / max(time.monotonic() - started, 1e-9)
            shown("draining", 0.5 + (before + taken) / messages / 2, rate)

        results.append(drain(queue, sent, progress))
        before += sent.messages
    return results


def _broker_counters(
    where: Targets, before: list[float] | None, messages: int
) -> Iterator[Counter]:
    after = where.cpu_s()
    if before is None or after is None:
        return
    # each receiver has its share of the messages, and clusters share the receivers
    for number, (start, end) in enumerate(zip(before, after, strict=True), start=1):
        yield Counter(f"broker.{number}", "cpu_s", end - start, "s")
    total = sum(after) - sum(before)
    yield Counter("broker", "cpu_per_message", total / messages, "s")


def _queue_counters(depths: list[int], drained: list[Drained]) -> Iterator[Counter]:
    for number, (depth, result) in enumerate(zip(depths, drained, strict=True), start=1):
        yield Counter(f"queue.{number}", "depth", depth, "1")
        yield Counter(f"queue.{number}", "duplicates", result.duplicates, "1")
        yield Counter(f"queue.{number}", "drain_s", result.wall_s, "s")


def _books(scenario: Scenario, sending: Sending) -> Iterator[Counter]:
    asked = scenario.workload.messages
    published = sum(sender.messages for sender in sending.sent)
    seen = sum(int(record.messages.sum()) for record in sending.records.values())
    if not asked == published == seen:
        raise RunFailed(
            f"{asked:,} messages asked for, {published:,} sent, {seen:,} seen by the probe"
        )
    yield Counter("conservation", "sent", published, "1")
    yield Counter("conservation", "queued", published, "1")
    yield Counter("conservation", "in_flight", 0, "1")
    yield Counter("conservation", "refused", 0, "1")
    yield Counter("run", "wall_s", sending.wall_s, "s")
