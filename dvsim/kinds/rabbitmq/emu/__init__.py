"""Backend "emu": the harness of `dvsim.emulation`, iteration after iteration on the same brokers.

An emulated run is measured: the same question gives other samples each time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from dvsim.core.probe import Iteration
from dvsim.core.streams import Streams
from dvsim.emulation.settings import Emulation
from dvsim.emulation.targets import broker_targets
from dvsim.errors import DvsimError, RunFailed
from dvsim.kinds.rabbitmq.emu.iteration import run_iteration
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.kinds.rabbitmq.tables import Gathered, Tables

OnTask = Callable[[Scenario, Iteration, float], None]
OnPhase = Callable[[str, float, float], None]


class Emulated(NamedTuple):
    """The tables of a scenario, and what is known of how they were made (JSON types)."""

    tables: Tables
    facts: dict[str, Any]


def emulate(
    scenarios: Sequence[Scenario],
    emulation: Emulation,
    *,
    seed: int = 1,
    replications: int = 1,
    on_task: OnTask,
    on_phase: OnPhase,
) -> Generator[Emulated, None, None]:
    """Emulate scenarios and yield the tables of each, in order, as soon as it is complete.

    Closing the generator ends its brokers.

    Args:
        scenarios: What to run, see `dvsim.emulation.settings.check_emulation`.
        emulation: Where and how.
        seed, replications: Replication 1 .. `replications`; the seed is that of the contents of the
            messages.
        on_task: Called after each finished iteration, with the time that it took in seconds.
        on_phase: Called now and then while one runs: what is done, the share of it, messages per
            second.
    """
    on_phase("reaching brokers" if emulation.urls else "starting brokers", 0.0, 0.0)
    with broker_targets(emulation) as where:
        for scenario in scenarios:
            gathered = Gathered()
            facts: dict[str, Any] = {}
            numbers = range(1, replications + 1), range(1, scenario.workload.iterations + 1)
            for replication, number in product(*numbers):
                started = time.perf_counter()
                shown = partial(_phase, on_phase, scenario.name)
                asked = (scenario, emulation, where, _seed(seed, replication, number), shown)
                try:
                    outcome = run_iteration(*asked)
                except DvsimError as error:
                    which = f"replication {replication}, " if replications > 1 else ""
                    message = f"{scenario.name}, {which}iteration {number}: {error}"
                    raise RunFailed(message) from error
                facts = facts or outcome.facts
                took_s = time.perf_counter() - started
                gathered.add(replication, number, outcome.iteration, took_s)
                on_task(scenario, outcome.iteration, took_s)
            yield Emulated(gathered.tables(), facts)


def _phase(on_phase: OnPhase, name: str, what: str, share: float, rate: float) -> None:
    on_phase(f"{name}, {what}", share, rate)


def _seed(seed: int, replication: int, iteration: int) -> int:
    return int(Streams(seed, replication, iteration).generator("bodies").integers(1, 2**63))
