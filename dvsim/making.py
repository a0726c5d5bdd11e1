"""How scenarios are run, by whichever backend, and the results as they are made."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from dvsim.backends.emu import emulate
from dvsim.backends.messaging import study_messaging
from dvsim.backends.pool import usable_cores
from dvsim.backends.sim import simulate
from dvsim.backends.switch import study
from dvsim.backends.tables import Tables
from dvsim.emu.asked import Emulation, size_facts, size_text
from dvsim.progress import Progress
from dvsim.results.folder import find_run, run_folder
from dvsim.results.manifest import build_manifest, study_manifest
from dvsim.results.messaging import MessagingStudy
from dvsim.results.points import PointsStudy
from dvsim.results.run import Run
from dvsim.results.study import TABLES, Study
from dvsim.results.study_folder import find_study, study_backend
from dvsim.scenario.load import AnyScenario
from dvsim.scenario.messaging_types import MessagingScenario
from dvsim.scenario.render import to_toml
from dvsim.scenario.switch_types import SwitchScenario
from dvsim.scenario.types import Scenario

Result = Run | PointsStudy


@dataclass(frozen=True)
class How:
    """How scenarios are run: with the scenario, all that an answer depends on."""

    version: str
    seed: int
    replications: int
    emulation: Emulation | None

    @property
    def backend(self) -> str:
        """Of scenarios of a system."""
        return "sim" if self.emulation is None else "emu"

    def folder(self, out: Path, scenario: AnyScenario) -> Path:
        """Return the folder of an answer."""
        alone = study_backend(scenario)
        asked = (self.version, self.seed, self.replications, alone or self.backend)
        return run_folder(out, scenario, *asked, None if alone else self._emulated)

    def find(self, out: Path, scenario: AnyScenario) -> Result | None:
        """Return the answer that is kept, None if there is none."""
        asked = (self.version, self.seed, self.replications)
        if not isinstance(scenario, Scenario):
            return find_study(out, scenario, *asked)
        return find_run(out, scenario, *asked, self.backend, self._emulated)

    @property
    def _emulated(self) -> dict[str, Any] | None:
        return None if self.emulation is None else self.emulation.question()


def made(
    scenarios: Sequence[AnyScenario],
    how: How,
    workers: int | None,
    progress: bool,
    command: str | Sequence[str],
    whole: Mapping[str, AnyScenario],
) -> Generator[Result, None, None]:
    """Yield the result of each scenario, systems first; closing it ends what works for it.

    `whole` has the scenarios before they were scaled, by question.

    Raises
    ------
    RunFailed
        See `simulate`, `emulate` and `study`.
    """
    processes = workers or usable_cores()
    systems = [scenario for scenario in scenarios if isinstance(scenario, Scenario)]
    if systems and how.emulation is not None:
        yield from _emulated(systems, how, how.emulation, progress, command, whole)
    elif systems:
        yield from _simulated(systems, how, processes, progress, command)
    alone = [scenario for scenario in scenarios if isinstance(scenario, SwitchScenario)]
    if alone:
        yield from _studied(alone, how, processes, progress, command)
    hosts = [scenario for scenario in scenarios if isinstance(scenario, MessagingScenario)]
    if hosts:
        yield from _messaging(hosts, how, processes, progress, command)


def _simulated(
    scenarios: Sequence[Scenario],
    how: How,
    workers: int,
    progress: bool,
    command: str | Sequence[str],
) -> Generator[Run, None, None]:
    """Simulate scenarios of a system and yield the run of each."""
    started = datetime.now(UTC)
    tasks = sum(scenario.workload.iterations for scenario in scenarios) * how.replications
    with Progress(tasks, visible=progress) as shown:
        found = simulate(
            scenarios,
            seed=how.seed,
            replications=how.replications,
            workers=workers,
            on_task=shown.task_done,
        )
        with closing(found):
            for scenario, tables in zip(scenarios, found, strict=True):
                yield _run(scenario, how, tables, started, command)


def _emulated(
    scenarios: Sequence[Scenario],
    how: How,
    emulation: Emulation,
    progress: bool,
    command: str | Sequence[str],
    whole: Mapping[str, AnyScenario],
) -> Generator[Run, None, None]:
    """Emulate scenarios of a system and yield the run of each."""
    started = datetime.now(UTC)
    tasks = sum(scenario.workload.iterations for scenario in scenarios) * how.replications
    with Progress(tasks, visible=progress) as shown:
        for scenario in scenarios:
            shown.note(size_text(scenario, whole[to_toml(scenario)], emulation))
        found = emulate(
            scenarios,
            emulation,
            seed=how.seed,
            replications=how.replications,
            on_task=shown.task_done,
            on_phase=shown.under_way,
        )
        with closing(found):
            for scenario, (tables, facts) in zip(scenarios, found, strict=True):
                size = size_facts(scenario, whole[to_toml(scenario)])
                known = {"question": emulation.question(), **size, **facts}
                yield _run(scenario, how, tables, started, command, known)


def _run(
    scenario: Scenario,
    how: How,
    tables: Tables,
    started: datetime,
    command: str | Sequence[str],
    emulated: dict[str, Any] | None = None,
) -> Run:
    """Return a run that has just finished."""
    manifest = build_manifest(
        scenario,
        version=how.version,
        seed=how.seed,
        replications=how.replications,
        backend=how.backend,
        command=command,
        started=started,
        wall_s=tables.work_s,
        counters=tables.counters,
        emulated=emulated,
    )
    asked = (scenario, how.seed, how.replications, how.backend)
    return Run(*asked, None, manifest, tables.samples, tables.counters)


class _About(NamedTuple):
    """What the manifest of a study says besides how it was asked."""

    name: str
    backend: str
    command: str | Sequence[str]
    started: datetime
    wall_s: float

    def manifest(self, how: How, known: dict[str, Any]) -> dict[str, Any]:
        """Return the manifest; `known` is what this backend counted."""
        return study_manifest(
            version=how.version,
            seed=how.seed,
            replications=how.replications,
            known=known,
            **self._asdict(),
        )


def _studied(
    scenarios: Sequence[SwitchScenario],
    how: How,
    workers: int,
    progress: bool,
    command: str | Sequence[str],
) -> Generator[Study, None, None]:
    """Run scenarios of a switch or network and yield the study of each."""
    started = datetime.now(UTC)
    runs = sum(len(scenario.points) for scenario in scenarios) * how.replications
    with Progress(runs, visible=progress, what="runs") as shown:
        found = study(
            scenarios,
            seed=how.seed,
            replications=how.replications,
            workers=workers,
            on_task=shown.runs_done,
        )
        with closing(found):
            for scenario, tables in zip(scenarios, found, strict=True):
                known = {"node_updates": tables.node_updates, "slot_ps": tables.slot_ps}
                about = _About(scenario.name, "switch", command, started, tables.work_s)
                manifest = about.manifest(how, known)
                named = {name: getattr(tables, name) for name in TABLES}
                yield Study(scenario, how.seed, how.replications, None, manifest, **named)


def _messaging(
    scenarios: Sequence[MessagingScenario],
    how: How,
    workers: int,
    progress: bool,
    command: str | Sequence[str],
) -> Generator[MessagingStudy, None, None]:
    """Run scenarios of messaging over hosts and yield the study of each."""
    started = datetime.now(UTC)
    runs = sum(len(scenario.points) for scenario in scenarios) * how.replications
    with Progress(runs, visible=progress, what="runs") as shown:
        found = study_messaging(
            scenarios,
            seed=how.seed,
            replications=how.replications,
            workers=workers,
            on_task=shown.points_done,
        )
        with closing(found):
            for scenario, tables in zip(scenarios, found, strict=True):
                known = {"events": tables.events}
                about = _About(scenario.name, "messaging", command, started, tables.work_s)
                manifest = about.manifest(how, known)
                asked = (scenario, how.seed, how.replications, None, manifest)
                yield MessagingStudy(*asked, tables.points, tables.stages)
