"""Backend "sim": the SimPy system model, one task per replication and iteration, on all cores.

A task depends on nothing but the scenario, the seed and its own numbers, and the tables are put
together in the order of those numbers; so the bytes are the same for any number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

from dvsim.core.probe import Iteration
from dvsim.errors import RunFailed
from dvsim.kinds.rabbitmq.iteration import run_iteration
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.kinds.rabbitmq.tables import Gathered, Tables
from dvsim.pool import pooled

OnTask = Callable[[Scenario, Iteration, float], None]


class Task(NamedTuple):
    """One iteration of one replication."""

    scenario: Scenario
    seed: int
    replication: int
    iteration: int


class Done(NamedTuple):
    """A task that is done, and the wall time that it took in its process."""

    iteration: Iteration
    work_s: float


def simulate(
    scenarios: Sequence[Scenario],
    *,
    seed: int = 1,
    replications: int = 10,
    workers: int = 1,
    on_task: OnTask | None = None,
    first: int = 1,
) -> Generator[Tables, None, None]:
    """Simulate scenarios and yield the tables of each, in order, as soon as it is complete.

    Closing the generator ends its worker processes.

    Args:
        scenarios: What to simulate.
        seed, replications: Replication `first` .. `replications` of `seed`; common random numbers
            across scenarios.
        workers: Processes; 1 runs in this one.
        on_task: Called in this process after each finished iteration, for progress, with the wall
            time that it took.
        first: The first replication that is run.
    """
    tasks = [
        [
            Task(scenario, seed, replication, iteration)
            for replication in range(first, replications + 1)
            for iteration in range(1, scenario.workload.iterations + 1)
        ]
        for scenario in scenarios
    ]
    with closing(pooled(run_task, tasks, workers)) as results:
        for group, done in zip(tasks, results, strict=True):
            yield _gather(group, done, on_task)


def run_task(task: Task) -> Done:
    """Run one task; what a worker process does."""
    name, started = task.scenario.name, time.perf_counter()
    try:
        iteration = run_iteration(*task)
    except ValueError as error:  # the C core refuses a parameter
        raise RunFailed(f"{name}: {error}") from error
    except OverflowError as error:
        message = f"{name}: a time or a count is too large for 64 bits: {error}"
        raise RunFailed(message) from error
    except MemoryError as error:
        message = f"{name}: an iteration has more samples than fit into memory"
        raise RunFailed(message) from error
    return Done(iteration, time.perf_counter() - started)


def _gather(tasks: Sequence[Task], results: Iterator[Done], on_task: OnTask | None) -> Tables:
    gathered = Gathered()
    for task, (iteration, took_s) in zip(tasks, results, strict=True):
        gathered.add(task.replication, task.iteration, iteration, took_s)
        if on_task:
            on_task(task.scenario, iteration, took_s)
    return gathered.tables()
