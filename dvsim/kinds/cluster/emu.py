"""Backend "emu": the points of a scenario on real RabbitMQ nodes, each on a cluster of its size.

Replications take turns over the points, so that what else the machine does meets all of them. An
emulated run is measured: the same question gives other numbers each time.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from dvsim.broker import Brokers
from dvsim.contract.kind import Job, Plain
from dvsim.emulation.alarms import Alarm, Death
from dvsim.emulation.amqp import Target
from dvsim.emulation.credentials import credentials_of
from dvsim.emulation.messages import Asked, Seen
from dvsim.emulation.queues import Place, measured
from dvsim.emulation.settings import CLUSTERS, Emulation
from dvsim.errors import Argument, Fault, RunFailed
from dvsim.kinds.cluster.measures import MS, QUANTILES, quantiles
from dvsim.kinds.cluster.metrics import METRICS
from dvsim.kinds.cluster.run import PS, consumers_of, deaths_of, factor_of
from dvsim.kinds.cluster.spec import ClusterScenario
from dvsim.kinds.points import PointsKind
from dvsim.kinds.study import Done, study_of
from dvsim.progress import Progress
from dvsim.table.manifest import Emulated, Question
from dvsim.table.result import Result

SECONDS, MESSAGES = 10, 20_000  # of a point, unless a scale is given
MOST = 10**7  # messages of a closed loop, which ends by time
MOST_CLIENTS = 300  # connections of one process
LEAST_BYTES = 16  # number and time of a message
PRIVATE = {
    "kill": "ends private nodes",
    "alarm": "sets a limit of private nodes",
    "fill": "sets a limit of private nodes",
}
ALARMS: Mapping[str, Literal["memory", "disk"]] = {"alarm": "memory", "fill": "disk"}
"""Events that are alarms of nodes, and whose limit it is."""

BEHIND_S = 1.0  # of publishing, as in the simulated metric


def own_scale(scenario: ClusterScenario) -> float:
    """Return the scale that makes points short: `SECONDS` or `MESSAGES`, whichever is less."""
    works = [scenario.at(point).workload for point in range(len(scenario.points))]
    longest = max(work.seconds for work in works)
    most = max((work.rate or 0.0) * work.seconds for work in works)
    return min(1.0, SECONDS / longest, MESSAGES / max(1.0, most))


def unsuited(scenario: ClusterScenario, emulation: Emulation) -> Iterator[Fault]:
    """Yield what real nodes here cannot do."""
    name = scenario.name
    if emulation.nodes is not None:
        yield Argument("nodes").fault("of a cluster are system.nodes: set nodes=3")
    if emulation.clusters != CLUSTERS:
        yield Argument("clusters").fault("a scenario of kind cluster is one cluster")
    yield from emulation.hosts.faults(name, 0, 0) if emulation.hosts is not None else ()
    if emulation.bridge is not None:
        yield Argument("bridge").fault("a scenario of kind cluster has no bridge")
    if emulation.traces is not None:
        yield Argument("trace").fault("clients of a cluster leave none; backend sim has one")
    for point in range(len(scenario.points)):
        at_point = scenario.at(point)
        work, system = at_point.workload, at_point.system
        clients = work.publishers + (work.consumers or 1)
        if emulation.urls:
            for event in at_point.happening:
                if event.what in PRIVATE:
                    message = f"event.what = '{event.what}' {PRIVATE[event.what]}, and not these"
                    yield Argument("urls").fault(message)
        yield from _simulated_alone(at_point)
        if clients > MOST_CLIENTS or (work.rate and consumers_of(at_point) > MOST_CLIENTS):
            message = f"backend emu has at most {MOST_CLIENTS} publishers and consumers"
            yield Fault(name, None, "workload.publishers", message)
        if work.message_bytes < LEAST_BYTES:
            message = f"must be at least {LEAST_BYTES} with backend emu, is {work.message_bytes}"
            yield Fault(name, None, "workload.message_bytes", message)
        if emulation.urls and len(emulation.urls) != system.nodes:
            message = f"are {len(emulation.urls)} nodes, and system.nodes is {system.nodes}"
            yield Argument("urls").fault(message)
        if emulation.urls and system.queue == "mirrored":
            message = "mirrors are a policy, which only private nodes get"
            yield Argument("urls").fault(message)
        if system.queue == "stream" and consumers_of(at_point) > work.queues:
            message = "consumers of a stream do not share it; backend emu has one for each"
            yield Fault(name, None, "workload.consumers", message)


def _simulated_alone(scenario: ClusterScenario) -> Iterator[Fault]:
    seconds = scenario.workload.seconds
    limits = [event for event in scenario.happening if event.what in ALARMS]
    for event in limits:
        if event.what == "fill" and event.factor < 1:
            message = f"a volume is full with backend emu, which is 1, not {event.factor:g}"
            yield Fault(scenario.name, None, "event.factor", message)
    if len(limits) > len({limit.what for limit in limits}):
        first, second = (limit.during(seconds) for limit in limits)
        if set(first) & set(second):
            message = "is as the other one, at the same time; backend emu has one of a sort at once"
            yield Fault(scenario.name, None, "then.what", message)
    if scenario.system.mirrors == "away":
        message = "'away' is simulated alone; the policy of backend emu makes mirrors anew"
        yield Fault(scenario.name, None, "system.mirrors", message)


def emulated(
    kind: PointsKind, scenarios: Sequence[ClusterScenario], job: Job
) -> Generator[Result, None, None]:
    """Measure scenarios and yield the study of each."""
    how = job.how
    question = {id(own): kind.question(own, how.emulation) for own in scenarios}
    tasks = sum(len(own.points) for own in scenarios) * how.replications
    with Progress(tasks, visible=job.progress, what="runs") as shown:
        for scenario in scenarios:
            runs = []
            downs: list[list[Any]] = []
            for done in _runs(scenario, how.emulation, how.replications, shown, downs):
                runs.append(done)
                shown.done(scenario.name, 1, {})
            runs.sort(key=lambda run: (run.point, run.replication))
            known = Emulated(question=Question(**question[id(scenario)]), downs=downs)
            yield study_of(kind, scenario, job, runs, emulated=known)


def _runs(
    scenario: ClusterScenario,
    emulation: Emulation,
    replications: int,
    shown: Progress,
    downs: list[list[Any]],
) -> Iterator[Done]:
    """Yield the runs of a scenario as they are measured, size by size of the cluster.

    `downs` gets the nodes that died, with the seconds from the beginning of their run at which they
    died and answered again.
    """
    points = [scenario.at(number) for number in range(len(scenario.points))]
    for nodes in dict.fromkeys(point.system.nodes for point in points):
        own = [number for number, point in enumerate(points) if point.system.nodes == nodes]
        shown.under_way("reaching brokers" if emulation.urls else "starting brokers", 0.0, 0.0)
        with _place(emulation, nodes) as place:
            for queue in dict.fromkeys(points[number].system.queue for number in own):
                copies = points[own[0]].copies if queue in ("quorum", "stream") else None
                measured(place, Asked(64, 500, 100, queue=queue, copies=copies))  # loads its code
            for replication in range(1, replications + 1):
                for number in own:
                    started = time.perf_counter()
                    try:
                        seen = measured(place, asked_of(points[number]))
                    except RunFailed as error:
                        raise RunFailed(f"{scenario.name}: {error}") from error
                    downs += map(list, seen.downs)
                    reading = Plain(metrics_of(points[number], seen), "measured")
                    yield Done(number, replication, reading, time.perf_counter() - started)


@contextmanager
def _place(emulation: Emulation, nodes: int) -> Iterator[Place]:
    if emulation.urls:
        user, password = credentials_of(emulation.credentials)
        yield Place(tuple(Target(url, user, password) for url in emulation.urls))
        return

    with Brokers(clusters=1, nodes=nodes) as brokers:
        yield Place.of(brokers)


def asked_of(scenario: ClusterScenario) -> Asked:
    """Return what a point asks of real nodes."""
    work, system = scenario.workload, scenario.system
    due: list[float] | None = None
    if work.rate is not None:
        rates = [work.rate * factor_of(scenario, "peak", at) for at in range(work.seconds)]
        published = np.cumsum([0.0, *rates])
        count = max(1, math.floor(published[-1]))
        due = np.interp(np.arange(count), published, np.arange(work.seconds + 1)).tolist()
    taking = work.processing * PS

    def processing(now: float) -> float:
        return taking * factor_of(scenario, "slow", int(now))

    return Asked(
        size=work.message_bytes,
        messages=MOST if due is None else len(due),
        window=(work.credit or work.window) if due is None else work.window,
        due=due,
        seconds=float(work.seconds),
        prefetch=work.prefetch,
        acknowledge=work.acknowledged,
        queue=system.queue,
        copies=None if system.queue == "classic" else scenario.copies,
        publishers=work.publishers,
        queues=work.queues,
        balanced=system.leaders == "balanced",
        consumers=(work.consumers or 1) if due is None else consumers_of(scenario),
        processing=processing if taking else None,
        deaths=[Death(during.start, during.stop, nodes) for during, nodes in deaths_of(scenario)],
        alarms=[
            Alarm(ALARMS[event.what], during.start, during.stop, range(event.victims))
            for event in scenario.happening
            if event.what in ALARMS
            for during in [event.during(work.seconds)]
        ],
        away_s=scenario.cards["broker"]["failover"] * PS,
    )


def metrics_of(scenario: ClusterScenario, seen: Seen) -> dict[str, float]:
    """Return metrics of what was seen; those of clouds and of single queues are not numbers."""
    work = scenario.workload
    open_s = float(work.seconds) if work.rate is not None else 0.0
    late = np.array(seen.latencies)
    numbers: dict[str, Any] = dict.fromkeys(METRICS, float("nan"))
    numbers |= {
        "rate_in": seen.confirmed / max(open_s, seen.seconds),
        "rate_out": seen.delivered / max(open_s, seen.received_s),
        **dict(
            zip(
                ("p50", "p95", "p99", "max"),
                (value * MS for value in quantiles(late, np.ones(len(late)), QUANTILES)),
                strict=True,
            )
        ),
        "waiting": 0.0 if scenario.system.queue == "stream" else float(seen.queued),
        "held": float(seen.published - seen.confirmed - seen.refused),
        "redelivered": float(seen.again),
        "resent": float(seen.resent),
        "blocked": min(1.0, seen.blocked_s / open_s) if open_s else 0.0,
        "unstable": float(open_s > 0 and seen.received_s > open_s + BEHIND_S),
    }
    if seen.busy:
        numbers["cpu"] = max(seen.busy) / seen.seconds / len(os.sched_getaffinity(0))
    if seen.syncs:  # in as many seconds as were asked for
        numbers["fsyncs"] = max(seen.syncs) / max(open_s, seen.seconds) * work.seconds
    return numbers
