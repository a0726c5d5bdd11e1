"""One run of one point: build the system, let it run, see that nothing is lost, read figures.

Of many runs the table of their stages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import simpy

from dvsim.core.observer import Observer
from dvsim.core.schedule import share
from dvsim.core.stage import Clock, Process
from dvsim.core.streams import Streams
from dvsim.errors import RunFailed
from dvsim.kinds.hosts.client import GRAINS, Traffic
from dvsim.kinds.hosts.course import Course, Floats, latencies_us, merged
from dvsim.kinds.hosts.metrics import STAGE_COLUMNS
from dvsim.kinds.hosts.spec import MessagingScenario
from dvsim.kinds.hosts.systems import Brokered, Peers

if TYPE_CHECKING:
    from dvsim.kinds.study import Done

SKIPPED = 0.2  # share of a flow that is not counted: the system fills up
WINDOW_GRAINS = 32
NAN = float("nan")
BITS, MEGA, NS_PER_S, PS_PER_US = 8, 10**6, 10**9, 10**6


class Outcome(NamedTuple):
    """What one run gives."""

    metrics: dict[str, float]  # by the names of `dvsim.kinds.hosts.metrics.METRICS`
    stages: dict[tuple[str, int], float]  # utilisation by stage and number among those alike
    events: int  # of SimPy
    fidelity: str = "cycle"
    notes: str = ""


def flow(scenario: MessagingScenario, seed: int, replication: int) -> Outcome:
    """Run one replication of a point."""
    try:
        return run_point(scenario, seed, replication)
    except OverflowError as error:
        raise RunFailed(f"a time is too large for 64 bits: {error}") from error


def stages_of(runs: Sequence[Done]) -> pd.DataFrame:
    """Return how busy each stage of each point was in each run."""
    used = [
        (run.point, run.replication, *stage, share)
        for run in runs
        for stage, share in run.reading.stages.items()
    ]
    return pd.DataFrame(used, columns=list(STAGE_COLUMNS)).astype(dict(STAGE_COLUMNS))


def run_point(
    setting: MessagingScenario, seed: int, replication: int, observer: Observer | None = None
) -> Outcome:
    """Simulate one replication of one point; an observer changes nothing."""
    clock, flow, engine = Clock(observer), setting.workload, setting.cards["client"]
    frame = flow.message_bytes + engine["frame_overhead"]
    traffic = Traffic(frame, grain(setting), setting.system.buffer)
    draws = Streams(seed, replication, 0)
    make = Peers if setting.peer else Brokered
    system: Peers | Brokered = make(clock, setting, traffic, draws)
    if flow.mode == "ping":
        metrics = _ping(clock, setting, system)
    else:
        metrics = _flow(clock, setting, system)
    _check(setting, system)
    names = Counter[str]()
    stages: dict[tuple[str, int], float] = {}
    for shared in system.stages:
        stages[shared.stage, names[shared.stage]] = shared.utilisation(max(1, clock.ps))
        names[shared.stage] += 1
    metrics |= {"links": system.links, "busiest": max(stages.values())}
    return Outcome(metrics, stages, clock.events)


def grain(setting: MessagingScenario) -> int:
    """Return how many messages an application hands over in one event.

    A four-hundredth of what it sends, a thirty-second of what it may have on the way, and no more
    than fill a buffer: so finely that nobody waits for the end of a batch.
    """
    flow = setting.workload
    each = flow.messages // (flow.streams if setting.peer else flow.publishers)
    most = [each // GRAINS, setting.system.buffer // flow.message_bytes]
    if flow.window is not None:
        most.append(flow.window // WINDOW_GRAINS)
    return max(1, min(most))


def _ping(clock: Clock, setting: MessagingScenario, system: Peers | Brokered) -> dict[str, float]:
    flow = setting.workload
    connect: int = setting.cards["link"]["connect"]
    begun, publisher, consumer = Course(clock), system.publishers[0], system.consumers[0]
    set_up = 0

    def pings() -> Process:
        nonlocal set_up
        for number in range(flow.messages):
            begun.add(1)
            if flow.connection is not None and number % flow.connection == 0:
                set_up += connect
                yield clock.timeout(connect)
            there = _until(
                clock, lambda: consumer.consumed.messages == begun.messages, [consumer.consumed]
            )
            publisher.publish(1, None)
            yield there

    clock.run(clock.process(pings()))
    spent = latencies_us(begun, consumer.consumed, 0.0)
    share = set_up / PS_PER_US / float(spent.sum())
    return _metrics(NAN, NAN, setting) | _quantiles(spent, "latency") | {"setup": share}


def _flow(clock: Clock, setting: MessagingScenario, system: Peers | Brokered) -> dict[str, float]:
    flow = setting.workload
    _start(setting, system)
    courses = [consumer.consumed for consumer in system.consumers]
    expected = system.expected(flow.messages)
    safe = system.safe if isinstance(system, Brokered) else None

    def over() -> bool:
        consumed = sum(course.messages for course in courses)
        return consumed >= expected and (safe is None or safe.messages >= flow.messages)

    clock.run(_until(clock, over, [*courses, *([] if safe is None else [safe])]))
    out = merged(courses).rate(SKIPPED)
    taken = system.taken.rate(SKIPPED) * (flow.streams if setting.peer else 1)
    metrics = _metrics(taken, out, setting)
    counts = np.array([course.messages for course in courses], dtype=np.float64)
    metrics["fairness"] = float(counts.sum() ** 2 / (counts.size * (counts**2).sum()))
    if flow.window is None and flow.rate is None:
        return metrics
    begun = [publisher.begun for publisher in system.publishers]
    if setting.peer:
        pairs = list(zip(begun, courses, strict=True))
    elif setting.system.exchange == "fanout":
        pairs = [(merged(begun), course) for course in courses]
    else:
        pairs = [(merged(begun), merged(courses))]
    spent = np.concatenate([latencies_us(start, end, SKIPPED) for start, end in pairs])
    metrics |= _quantiles(spent, "latency")
    if safe is not None:
        acknowledged = latencies_us(merged(begun), safe, SKIPPED)
        metrics |= {"ack_mean": float(acknowledged.mean())}
        metrics |= {"ack_p99": float(np.quantile(acknowledged, 0.99))}
    return metrics


def _start(setting: MessagingScenario, system: Peers | Brokered) -> None:
    flow, publishers = setting.workload, system.publishers
    for number, publisher in enumerate(publishers):
        messages = share(flow.messages, len(publishers), number)
        if flow.rate is None:
            publisher.publish(messages, flow.window)
        else:
            publisher.publish_at(messages, flow.rate / len(publishers), number / len(publishers))


def _until(clock: Clock, over: Callable[[], bool], courses: Iterable[Course]) -> simpy.Event:
    event = simpy.Event(clock)

    def look() -> None:
        if not event.triggered and over():
            event.succeed()

    for course in courses:
        course.listener = look
    return event


def _metrics(taken: float, out: float, setting: MessagingScenario) -> dict[str, float]:
    size, flow = setting.workload.message_bytes, setting.workload
    streams = flow.streams if setting.peer else flow.consumers
    return {
        "rate_in": taken,
        "rate_out": out,
        "megabytes": out * size / MEGA,
        "megabits": out * size * BITS / MEGA,
        "density": streams / out * NS_PER_S,
        **dict.fromkeys(("latency", "p50", "p99", "max", "setup", "ack_mean", "ack_p99"), NAN),
        "fairness": NAN,
    }


def _quantiles(spent: Floats, mean: str) -> dict[str, float]:
    p50, p99 = np.quantile(spent, [0.5, 0.99])
    return {
        mean: float(spent.mean()),
        "p50": float(p50),
        "p99": float(p99),
        "max": float(spent.max()),
    }


def _check(setting: MessagingScenario, system: Peers | Brokered) -> None:
    asked = setting.workload.messages
    begun = sum(publisher.begun.messages for publisher in system.publishers)
    passed = sum(publisher.passed.messages for publisher in system.publishers)
    consumed = sum(consumer.consumed.messages for consumer in system.consumers)
    if not (begun == passed == asked and consumed == system.expected(asked)):
        message = (
            f"conservation: {asked} asked for, {begun} begun, {passed} sent, {consumed} of "
            f"{system.expected(asked)} consumed"
        )
        raise RunFailed(message)
