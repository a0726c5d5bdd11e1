"""Studies as they are made: the points of scenarios, each run with its replications, on all cores.

A run depends on nothing but the scenario of its point, the seed and its replication; the points
share their random numbers. Tables are put together in the order of points and replications, so the
bytes are the same for any number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Hashable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.contract.kind import How, Job
from dvsim.errors import RunFailed
from dvsim.pool import pooled
from dvsim.progress import Part, Progress
from dvsim.scenario.spec import Spec
from dvsim.table.manifest import build_manifest, used_by
from dvsim.table.metrics import VALUES
from dvsim.table.result import Result

if TYPE_CHECKING:
    from dvsim.kinds.points import PointsKind

SMALL_S = 0.04  # runs of fewer seconds share a task


class Task(NamedTuple):
    """Some replications of one point."""

    scenario: Spec
    point: int
    seed: int
    replications: Sequence[int]


class Done(NamedTuple):
    """A run that is done, and the wall time that it took in its process."""

    point: int
    replication: int
    reading: Any
    work_s: float


def studies(kind: PointsKind, scenarios: Sequence[Spec], job: Job) -> Generator[Result, None, None]:
    """Run scenarios of one kind and yield the study of each; see `Kind.made`."""
    how = job.how
    groups = [list(_tasks(kind, own, how)) for own in scenarios]
    runs_of = [sum(len(task.replications) for task in group) for group in groups]
    parts: dict[Hashable, Part] = {
        (id(own), point): Part(len(how.numbers), kind.seconds(own.at(point)))
        for own in scenarios
        for point in range(len(own.points))
    }
    with Progress(sum(runs_of), visible=job.progress, what="runs", parts=parts) as shown:
        rows = pooled(run_task, groups, job.workers)
        with closing(rows):
            for scenario, results in zip(scenarios, rows, strict=True):
                runs: list[Done] = []
                for some in results:
                    runs += some
                    part, took_s = (
                        (id(scenario), some[0].point),
                        sum(point.work_s for point in some),
                    )
                    shown.done(scenario.name, len(some), _amounts(kind, some), part, took_s)
                yield study_of(kind, scenario, job, runs)


def run_task(task: Task) -> list[Done]:
    """Run one task; what a worker process does."""
    kind = kind_of(task.scenario)
    done = []
    for replication in task.replications:
        started = time.perf_counter()
        try:
            reading = kind.replicate(task.scenario, task.seed, replication)
        except RunFailed as error:
            raise RunFailed(f"{task.scenario.name}: {error}") from error
        done.append(Done(task.point, replication, reading, time.perf_counter() - started))
    return done


def values_of(kind: PointsKind, runs: Sequence[Done]) -> pd.DataFrame:
    """Return the metrics of runs as rows, with the columns of `VALUES`."""
    names = list(kind.units)
    columns = {
        "point": np.repeat([run.point for run in runs], len(names)),
        "replication": np.repeat([run.replication for run in runs], len(names)),
        "iteration": 0,
        "component": "",
        "instance": 0,
        "metric": names * len(runs),
        "value": [run.reading.metrics.get(name, np.nan) for run in runs for name in names],
    }
    return pd.DataFrame(columns).astype(dict(VALUES))


def halves_of(study: Result) -> dict[tuple[int, str], tuple[float, float]]:
    """Return by point and metric the value and half of its 95 % interval."""
    rows = study.estimates()[["point", "metric", "value", "high"]].itertuples(index=False)
    return {(point, metric): (value, high - value) for point, metric, value, high in rows}


def _tasks(kind: PointsKind, scenario: Spec, how: How) -> Iterator[Task]:
    numbers = how.numbers
    for point in range(len(scenario.points)):
        at_point = scenario.at(point)
        size = max(1, int(SMALL_S / max(kind.seconds(at_point), 1e-9)))
        for first in range(0, len(numbers), size):
            yield Task(at_point, point, how.seed, numbers[first : first + size])


def _amounts(kind: PointsKind, runs: Sequence[Done]) -> dict[str, float]:
    return {rate: sum(getattr(r.reading, name) for r in runs) for name, rate in kind.work.items()}


def study_of(
    kind: PointsKind,
    scenario: Spec,
    job: Job,
    runs: Sequence[Done],
    **facts: Any,  # noqa: ANN401 - fields of a manifest
) -> Result:
    """Return the study of runs that have just finished; `facts` are for its manifest."""
    how, work = job.how, kind.work if job.how.emulation is None else ()
    counts = {name: float(sum(getattr(run.reading, name) for run in runs)) for name in work}
    manifest = build_manifest(
        scenario.name,
        version=kind.version(how),
        seed=how.seed,
        replications=how.replications,
        backend=kind.backend(how),
        command=job.command,
        started=job.started,
        wall_s=sum(run.work_s for run in runs),
        counts=counts,
        **used_by(scenario),
        **facts,
    )
    asked = (scenario, how.seed, how.replications, None, manifest)
    return Result(*asked, kind.rows(runs), kind.gathered(scenario, how.seed, runs))
