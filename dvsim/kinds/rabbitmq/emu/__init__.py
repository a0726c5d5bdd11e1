"""Backend "emu": the harness of `dvsim.emulation`, iteration after iteration on the same brokers.

An emulated run is measured: the same question gives other samples each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from dvsim.core.streams import Streams
from dvsim.emulation.targets import broker_targets
from dvsim.errors import DvsimError, RunFailed
from dvsim.kinds.rabbitmq.emu.iteration import run_iteration
from dvsim.kinds.rabbitmq.rows import replicate
from dvsim.kinds.rabbitmq.size import size_facts, size_text
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.kinds.study import Done, study_of
from dvsim.progress import Part, Progress
from dvsim.scenario.render import to_toml
from dvsim.table.manifest import Emulated, Question

if TYPE_CHECKING:
    from dvsim.contract.kind import Job
    from dvsim.kinds.points import PointsKind
    from dvsim.table.result import Result

OnPhase = Callable[[str, float, float], None]


def emulated(
    kind: PointsKind, scenarios: Sequence[Scenario], job: Job
) -> Generator[Result, None, None]:
    """Emulate scenarios and yield the result of each, in order; closing it ends the brokers.

    The seed is that of the contents of the messages.
    """
    how, emulation = job.how, job.how.emulation
    tasks = sum(scenario.tasks for scenario in scenarios) * how.replications
    parts: dict[Hashable, Part] = {
        id(scenario): Part(scenario.tasks * how.replications, scenario.workload.messages)
        for scenario in scenarios
    }
    with Progress(tasks, visible=job.progress, parts=parts) as shown:
        for scenario in scenarios:
            shown.note(size_text(scenario, job.whole[to_toml(scenario)], emulation))
        shown.under_way("reaching brokers" if emulation.urls else "starting brokers", 0.0, 0.0)
        with broker_targets(emulation) as where:
            for scenario in scenarios:
                facts: dict[str, Any] = {}
                runs = []
                for replication in range(1, how.replications + 1):
                    started, iterations = time.perf_counter(), []
                    for number in range(1, scenario.workload.iterations + 1):
                        phase = partial(_phase, shown.under_way, scenario.name)
                        seed, begun = _seed(how.seed, replication, number), time.perf_counter()
                        try:
                            outcome = run_iteration(scenario, emulation, where, seed, phase)
                        except DvsimError as error:
                            which = f"replication {replication}, " * (how.replications > 1)
                            message = f"{scenario.name}, {which}iteration {number}: {error}"
                            raise RunFailed(message) from error
                        facts = facts or outcome.facts
                        iterations.append(outcome.iteration)
                        took_s = time.perf_counter() - begun
                        shown.done(scenario.name, 1, {}, id(scenario), took_s)
                    reading = replicate(scenario, replication, iterations)
                    runs.append(Done(0, replication, reading, time.perf_counter() - started))
                size = size_facts(scenario, job.whole[to_toml(scenario)])
                made = Emulated(question=Question(**emulation.question()), **size, **facts)
                yield study_of(kind, scenario, job, runs, emulated=made)


def _phase(on_phase: OnPhase, name: str, what: str, share: float, rate: float) -> None:
    on_phase(f"{name}, {what}", share, rate)


def _seed(seed: int, replication: int, iteration: int) -> int:
    return int(Streams(seed, replication, iteration).generator("bodies").integers(1, 2**63))
