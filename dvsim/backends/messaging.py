"""Backend "messaging": the points of a scenario of messaging, each with its replications.

A run depends on nothing but the tables and cards of its point, the seed and its replication; the
points share their random numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import NamedTuple

import pandas as pd

from dvsim.backends.pool import pooled
from dvsim.errors import RunFailed
from dvsim.messaging.run import Outcome, run_point
from dvsim.results.messaging import POINT_COLUMNS, STAGE_COLUMNS
from dvsim.scenario.messaging_types import MessagingScenario, Setting

OnTask = Callable[[str, int, int], None]

QUICK = 4  # runs; as many are done before a process has started


class Tables(NamedTuple):
    """What comes out of one scenario, see `dvsim.results.messaging`; `work_s` is added up."""

    points: pd.DataFrame
    stages: pd.DataFrame
    work_s: float
    events: int


class Task(NamedTuple):
    """One replication of one point."""

    name: str
    setting: Setting
    point: int
    seed: int
    replication: int


class Done(NamedTuple):
    """What a task gives."""

    task: Task
    outcome: Outcome
    work_s: float


def study_messaging(
    scenarios: Sequence[MessagingScenario],
    *,
    seed: int = 1,
    replications: int = 10,
    workers: int = 1,
    on_task: OnTask | None = None,
) -> Generator[Tables, None, None]:
    """Run all points of scenarios and yield the tables of each, in order.

    Closing the generator ends its worker processes.

    Parameters
    ----------
    scenarios
        What to run.
    seed, replications
        Replication 1 .. `replications` of `seed`; the points share their random numbers.
    workers
        Processes; 1 runs in this one, and so do a few runs.
    on_task
        Called in this process with the name of a scenario, runs and events, for progress.

    Raises
    ------
    RunFailed
        If messages are lost or invented, or a worker dies.
    """
    groups = [
        [
            Task(scenario.name, scenario.at(point), point, seed, replication)
            for point in range(len(scenario.points))
            for replication in range(1, replications + 1)
        ]
        for scenario in scenarios
    ]
    few = sum(map(len, groups)) <= QUICK
    with closing(pooled(run_task, groups, 1 if few else workers)) as results:
        for scenario, found in zip(scenarios, results, strict=True):
            done = []
            for one in found:
                done.append(one)
                if on_task:
                    on_task(scenario.name, 1, one.outcome.events)
            yield _gather(done)


def run_task(task: Task) -> Done:
    """Run one task; what a worker process does."""
    started = time.perf_counter()
    try:
        outcome = run_point(task.setting, task.seed, task.replication)
    except RunFailed as error:
        raise RunFailed(f"{task.name}: {error}") from error
    except OverflowError as error:
        message = f"{task.name}: a time is too large for 64 bits: {error}"
        raise RunFailed(message) from error
    return Done(task, outcome, time.perf_counter() - started)


def _gather(done: Sequence[Done]) -> Tables:
    rows = [
        one.outcome.metrics | {"point": one.task.point, "replication": one.task.replication}
        for one in done
    ]
    points = pd.DataFrame(rows, columns=list(POINT_COLUMNS)).astype(dict(POINT_COLUMNS))
    used = [
        (one.task.point, stage, share)
        for one in done
        for stage, share in one.outcome.stages.items()
    ]
    stages = pd.DataFrame(used, columns=list(STAGE_COLUMNS))
    stages = stages.groupby(["point", "stage"], sort=False, as_index=False).mean()
    return Tables(
        points=points,
        stages=stages.astype(dict(STAGE_COLUMNS)),
        work_s=sum(one.work_s for one in done),
        events=sum(one.outcome.events for one in done),
    )
