"""Simulates or emulates systems and yields their runs, with progress."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from dvsim.contract.find import kind_of
from dvsim.contract.kind import Job
from dvsim.core.probe import Iteration
from dvsim.kinds.rabbitmq.sim import simulate
from dvsim.kinds.rabbitmq.size import size_facts, size_text
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.kinds.rabbitmq.tables import Tables
from dvsim.kinds.study import manifest_of
from dvsim.progress import Part, Progress
from dvsim.scenario.render import to_toml
from dvsim.study.manifest import run_facts
from dvsim.study.run import Run


def simulated(scenarios: Sequence[Scenario], job: Job) -> Generator[Run, None, None]:
    """Simulate scenarios and yield the run of each."""
    how = job.how
    parts: dict[Hashable, Part] = {
        id(scenario): Part(scenario.tasks * len(how.numbers), _expected_s(scenario))
        for scenario in scenarios
    }
    tasks = sum(part.tasks for part in parts.values())
    with Progress(tasks, visible=job.progress, parts=parts) as shown:
        simulated = simulate(
            scenarios,
            seed=how.seed,
            replications=how.replications,
            workers=job.workers,
            on_task=partial(_count, shown),
            first=how.first,
        )
        with closing(simulated):
            for scenario, tables in zip(scenarios, simulated, strict=True):
                yield _run(scenario, job, tables)


def emulated(scenarios: Sequence[Scenario], job: Job) -> Generator[Run, None, None]:
    """Emulate scenarios and yield the run of each."""
    from dvsim.kinds.rabbitmq.emu import emulate

    how, whole, emulation = job.how, job.whole, job.how.emulation
    parts: dict[Hashable, Part] = {
        id(scenario): Part(scenario.tasks * how.replications, scenario.workload.messages)
        for scenario in scenarios
    }
    tasks = sum(part.tasks for part in parts.values())
    with Progress(tasks, visible=job.progress, parts=parts) as shown:
        for scenario in scenarios:
            shown.note(size_text(scenario, whole[to_toml(scenario)], emulation))
        emulated = emulate(
            scenarios,
            emulation,
            seed=how.seed,
            replications=how.replications,
            on_task=partial(_count, shown),
            on_phase=shown.under_way,
        )
        with closing(emulated):
            for scenario, (tables, facts) in zip(scenarios, emulated, strict=True):
                size = size_facts(scenario, whole[to_toml(scenario)])
                known = {"question": emulation.question(), **size, **facts}
                yield _run(scenario, job, tables, known)


def _expected_s(scenario: Scenario) -> float:
    return float(kind_of(scenario).seconds(scenario)) / scenario.workload.iterations


def _run(
    scenario: Scenario, job: Job, tables: Tables, emulated: dict[str, Any] | None = None
) -> Run:
    facts = run_facts(scenario, tables.counters, emulated)
    manifest = manifest_of(scenario, job, tables.work_s, facts)
    asked = (scenario, job.how.seed, job.how.replications, manifest["backend"])
    return Run(*asked, None, manifest, tables.samples, tables.counters)


def _count(shown: Progress, scenario: Scenario, iteration: Iteration, took_s: float) -> None:
    own = {item.metric: item.value for item in iteration.counters if item.component == "run"}
    amounts = {"events/s": own.get("events", 0), "simulated s per s": own.get("simulated_s", 0)}
    shown.done(scenario.name, 1, amounts, id(scenario), took_s)
