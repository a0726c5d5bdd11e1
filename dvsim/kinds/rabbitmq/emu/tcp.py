"""An iteration over TCP: publisher processes on pika, batch by batch, as `kinds.rabbitmq.tcp`.

Every process sends its share of a batch, in turn to all receivers; the batch is over when the
slowest of them says that its share is queued.
"""

from __future__ import annotations

import json
import os
import selectors
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from dvsim.core.probe import Counter, Record
from dvsim.core.schedule import Schedule, share
from dvsim.emulation.amqp import Queue
from dvsim.emulation.child import Child
from dvsim.emulation.drain import Sending, Sent
from dvsim.emulation.settings import Emulation
from dvsim.emulation.targets import Watch
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.emu.left import leave_batches
from dvsim.kinds.rabbitmq.spec import Scenario

STEP_S = 0.25  # between two looks at the brokers while publishers work
START_S = 120.0  # for a publisher to be ready


def send(
    scenario: Scenario, queues: list[Queue], seed: int, emulation: Emulation, watch: Watch
) -> Sending:
    """Send the messages of an iteration and record each batch."""
    publisher = scenario.system.publisher
    if publisher is None:
        raise ValueError("the TCP path needs a publisher card")
    command = [sys.executable, "-m", "dvsim.emulation.publisher"]
    with ExitStack() as stack:
        children = []
        for number in range(1, publisher["processes"] + 1):
            child = Child(f"publisher {number}", command, talks=True)
            stack.callback(child.end)
            children.append(child)
        crew = _Crew(children, watch)
        for number, child in enumerate(children, start=1):
            asked = (scenario, queues, seed, emulation.at_least_once, f"publisher {number}")
            child.say(_asked(*asked))
        crew.gather(START_S)
        started = time.perf_counter()
        record, behind_s = _batches(scenario, crew)
        wall_s = time.perf_counter() - started
        for child in children:
            child.say("report")
        reports = [json.loads(line) for line in crew.gather(None)]
    leave_batches(emulation.traces, record)
    return Sending(
        records={0: record},
        sent=_sent(reports, scenario, len(queues)),
        counters=[*_counters(reports), Counter("run", "behind_schedule_s", behind_s, "s")],
        wall_s=wall_s,
        commands=[["python", *command[1:], f"# {len(children)} processes"]],
    )


def _asked(scenario: Scenario, queues: list[Queue], seed: int, confirms: bool, name: str) -> str:
    routes = [
        {"target": queue.target.as_json(), "key": queue.key, "queue": queue.name}
        for queue in queues
    ]
    asked: dict[str, Any] = {
        "name": name,
        "size": scenario.workload.message_bytes,
        "seed": seed,
        "exchange": queues[0].exchange,
        "confirms": confirms,
        "routes": routes,
    }
    return json.dumps(asked)


class _Crew:
    def __init__(self, children: list[Child], watch: Watch) -> None:
        self.children = children
        self._watch = watch
        self._texts = [b""] * len(children)
        self._selector = selectors.DefaultSelector()
        for index, child in enumerate(children):
            self._selector.register(child.reader(), selectors.EVENT_READ, index)

    def answers(self, seconds: float) -> Iterator[tuple[int, str]]:
        self._watch.look()
        for key, _ in self._selector.select(max(seconds, 0)):
            index: int = key.data
            data = os.read(key.fd, 65536)
            if not data:
                raise self.children[index].failed()
            *lines, self._texts[index] = (self._texts[index] + data).split(b"\n")
            for line in lines:
                yield index, line.decode()

    def gather(self, seconds: float | None) -> list[str]:
        deadline = None if seconds is None else time.monotonic() + seconds
        answers: dict[int, str] = {}
        while len(answers) < len(self.children):
            answers.update(self.answers(STEP_S))
            if deadline is not None and time.monotonic() > deadline:
                late = next(c for n, c in enumerate(self.children) if n not in answers)
                raise RunFailed(f"{late.name}: not ready after {seconds:.0f} s")
        return [answers[index] for index in range(len(self.children))]


def _batches(scenario: Scenario, crew: _Crew) -> tuple[Record, float]:
    work = scenario.workload
    size = scenario.probe.batch or work.messages
    schedule = Schedule(work.messages_per_second)
    zero = time.perf_counter_ns()
    starts: list[int] = []
    ends: list[int] = []
    counts: list[int] = []
    waiting: list[int] = []  # publishers that have not done their share of a batch
    turns: list[deque[int]] = [deque() for _ in crew.children]  # batches that each has to do
    begun = 0
    while begun < work.messages or any(waiting):
        now_ps = (time.perf_counter_ns() - zero) * 1000
        due_ps = schedule.wait_ps(begun, now_ps) if begun < work.messages else None
        if due_ps == 0 and (schedule.open or not any(waiting)):
            messages = min(size, work.messages - begun)
            starts.append(now_ps - schedule.late_ps(begun, now_ps))
            ends.append(0)
            counts.append(messages)
            waiting.append(_publish(crew.children, turns, len(waiting), begun, messages))
            begun += messages
            continue
        idle_s = STEP_S if not due_ps else min(STEP_S, due_ps / 1e12)
        for index, _ in crew.answers(idle_s):
            batch = turns[index].popleft()
            waiting[batch] -= 1
            if not waiting[batch]:
                ends[batch] = (time.perf_counter_ns() - zero) * 1000
    start = np.array(starts, dtype=np.int64)
    messages_of = np.array(counts, dtype=np.int64)
    took = np.maximum(np.array(ends, dtype=np.int64) - start, 1)
    behind_s = float(took[-1]) / 1e12 if schedule.open else 0.0
    return Record(start, took, messages_of, messages_of), behind_s


def _publish(
    children: list[Child], turns: list[deque[int]], batch: int, first: int, messages: int
) -> int:
    begun = 0
    for index, child in enumerate(children):
        part = share(messages, len(children), index)
        if part:
            child.say(f"publish {first} {part}")
            turns[index].append(batch)
            first += part
            begun += 1
    return begun


def _sent(reports: list[dict[str, Any]], scenario: Scenario, receivers: int) -> list[Sent]:
    totals = []
    for index in range(receivers):
        parts = [report["sent"][index] for report in reports]
        messages = sum(part["messages"] for part in parts)
        expected = share(scenario.workload.messages, receivers, index)
        if messages != expected:
            raise RunFailed(
                f"receiver {index + 1}: {messages:,} of {expected:,} messages were sent"
            )
        total = sum(int(part["digest"], 16) for part in parts) % (1 << 64)
        size = sum(part["bytes"] for part in parts)
        totals.append(Sent(messages, size, f"{total:016x}", first=index, step=receivers))
    return totals


def _counters(reports: list[dict[str, Any]]) -> Iterator[Counter]:
    for number, report in enumerate(reports, start=1):
        messages = sum(part["messages"] for part in report["sent"])
        name = f"publisher.{number}"
        yield Counter(name, "messages", messages, "1")
        if messages:
            yield Counter(name, "cpu_per_message", report["cpu_s"] / messages, "s")
