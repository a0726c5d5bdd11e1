"""From a question to a kept result: reuse what is there, simulate the rest, write the folders."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from numbers import Integral
from pathlib import Path

from dvsim.backends.code import code_version
from dvsim.backends.sim import simulate
from dvsim.backends.switch import study
from dvsim.errors import Fault, ScenarioError
from dvsim.progress import Progress
from dvsim.results import study_folder
from dvsim.results.folder import clear_room, find_run, make_room, run_folder, write_run
from dvsim.results.manifest import build_manifest, study_manifest
from dvsim.results.run import Run
from dvsim.results.study import TABLES, Study
from dvsim.results.study_folder import find_study, write_study
from dvsim.scenario import switch_build
from dvsim.scenario.bounds import REPLICATIONS, SEED, TASKS, WORKERS, extent
from dvsim.scenario.document import dotted
from dvsim.scenario.load import AnyScenario
from dvsim.scenario.render import to_toml
from dvsim.scenario.switch_types import SwitchScenario
from dvsim.scenario.types import Scenario

BACKEND = "sim"
LARGEST_SCALE = 1000


Result = Run | Study
How = tuple[str, int, int]  # version, seed, replications


def run_scenarios(
    scenarios: Sequence[AnyScenario],
    *,
    seed: int = 1,
    replications: int = 10,
    out: Path | None = Path("runs"),
    force: bool = False,
    scale: float = 1.0,
    workers: int | None = None,
    progress: bool = False,
    report: bool = True,
    command: str | Sequence[str] = "dvsim.session.run_scenarios(...)",
) -> list[Result]:
    """Run scenarios, each once for the same scenario, version, seed and replications.

    Parameters
    ----------
    scenarios
        What to run; the results come in this order. Equal ones share a run. One of a system gives
        a `Run`, one of a switch or network alone a `Study`.
    seed, replications
        See `dvsim.backends.sim.simulate` and `dvsim.backends.switch.study`.
    out
        Where run folders go; a complete one that answers the same question is reused. None keeps
        the runs in memory.
    force
        Simulate even if there is such a folder, and replace it.
    scale
        Multiplies the number of messages, or of slots that count; it is part of the question and
        of the resolved scenario.
    workers
        Processes; None takes one for each core.
    progress
        Show progress on stderr.
    report
        Write ``report.html`` into each new folder.
    command
        What was typed, for the manifest: the words of a command line, or a Python call.

    Raises
    ------
    ScenarioError
        If `seed`, `replications`, `scale` or `workers` is out of range, or what they make of a
        scenario.
    RunFailed, OutputError
        See `simulate`, `study` and `dvsim.results.kept`.
    """
    check_asked(seed=seed, replications=replications, scale=scale, workers=workers)
    asked = [scaled(scenario, scale) for scenario in scenarios]
    _check_extent(asked, replications)
    questions = [to_toml(scenario) for scenario in asked]
    how = (code_version(), seed, replications)
    results: dict[str, Result] = {}
    missing: dict[str, AnyScenario] = {}
    room: list[Path] = []  # folders that were not there before, the innermost first
    for question, scenario in dict(zip(questions, asked, strict=True)).items():
        kept = None if out is None or force else _find(out, scenario, how)
        if kept is None:
            missing[question] = scenario
        else:
            results[question] = kept
    try:
        if out is not None:
            for scenario in missing.values():
                room = make_room(_folder(out, scenario, how)) + room
        made = _made(list(missing.values()), how, workers, progress, command)
        with closing(made):
            for result in made:
                results[to_toml(result.scenario)] = _kept(result, out, how, report=report)
    except BaseException:  # Ctrl-C too
        clear_room(room)
        raise
    return [results[question] for question in questions]


def _folder(out: Path, scenario: AnyScenario, how: How) -> Path:
    alone = isinstance(scenario, SwitchScenario)
    return run_folder(out, scenario, *how, study_folder.BACKEND if alone else BACKEND)


def _find(out: Path, scenario: AnyScenario, how: How) -> Result | None:
    if isinstance(scenario, SwitchScenario):
        return find_study(out, scenario, *how)
    return find_run(out, scenario, *how, BACKEND)


def _kept(result: Result, out: Path | None, how: How, *, report: bool) -> Result:
    if out is None:
        return result
    folder = _folder(out, result.scenario, how)
    if isinstance(result, Study):
        return write_study(result, folder, _study_report if report else None)
    return write_run(result, folder, _report if report else None)


def scaled(scenario: AnyScenario, scale: float) -> AnyScenario:
    """Return the scenario with its messages, or its slots that count, multiplied; at least one."""

    def times(number: int) -> int:
        return max(1, round(number * scale))

    if isinstance(scenario, Scenario):
        messages = times(scenario.workload.messages)
        return replace(scenario, workload=replace(scenario.workload, messages=messages))
    vary = tuple(
        {key: tuple(map(times, values)) if key == "slots" else values for key, values in t.items()}
        for t in scenario.vary
    )
    slots = times(scenario.setting.traffic.slots)
    return replace(scenario, setting=scenario.setting.put("slots", slots), vary=vary)


def _made(
    scenarios: Sequence[AnyScenario],
    how: How,
    workers: int | None,
    progress: bool,
    command: str | Sequence[str],
) -> Generator[Result, None, None]:
    """Yield the result of each scenario, systems first; closing it ends the worker processes."""
    processes = workers or os.cpu_count() or 1
    systems = [scenario for scenario in scenarios if isinstance(scenario, Scenario)]
    if systems:
        yield from _simulated(systems, how, processes, progress, command)
    alone = [scenario for scenario in scenarios if isinstance(scenario, SwitchScenario)]
    if alone:
        yield from _studied(alone, how, processes, progress, command)


def _simulated(
    scenarios: Sequence[Scenario],
    how: How,
    workers: int,
    progress: bool,
    command: str | Sequence[str],
) -> Generator[Run, None, None]:
    """Simulate scenarios of a system and yield the run of each."""
    started = datetime.now(UTC)
    version, seed, replications = how
    tasks = sum(scenario.workload.iterations for scenario in scenarios) * replications
    with Progress(tasks, visible=progress) as shown:
        tables = simulate(
            scenarios,
            seed=seed,
            replications=replications,
            workers=workers,
            on_task=shown.task_done,
        )
        with closing(tables):
            for scenario, (samples, counters, work_s) in zip(scenarios, tables, strict=True):
                manifest = build_manifest(
                    scenario,
                    version=version,
                    seed=seed,
                    replications=replications,
                    backend=BACKEND,
                    command=command,
                    started=started,
                    wall_s=work_s,
                    counters=counters,
                )
                yield Run(scenario, seed, replications, BACKEND, None, manifest, samples, counters)


def _studied(
    scenarios: Sequence[SwitchScenario],
    how: How,
    workers: int,
    progress: bool,
    command: str | Sequence[str],
) -> Generator[Study, None, None]:
    """Run scenarios of a switch or network and yield the study of each."""
    started = datetime.now(UTC)
    version, seed, replications = how
    runs = sum(len(scenario.points) for scenario in scenarios) * replications
    with Progress(runs, visible=progress, what="runs") as shown:
        found = study(
            scenarios,
            seed=seed,
            replications=replications,
            workers=workers,
            on_task=shown.runs_done,
        )
        with closing(found):
            for scenario, tables in zip(scenarios, found, strict=True):
                manifest = study_manifest(
                    scenario,
                    version=version,
                    seed=seed,
                    replications=replications,
                    backend=study_folder.BACKEND,
                    command=command,
                    started=started,
                    wall_s=tables.work_s,
                    node_updates=tables.node_updates,
                    slot_ps=tables.slot_ps,
                )
                named = {name: getattr(tables, name) for name in TABLES}
                yield Study(scenario, seed, replications, None, manifest, **named)


def _report(run: Run, path: Path) -> None:
    from dvsim.report import write_report
    from dvsim.validation import validate

    compared = validate([run]) if run.scenario.reference else None
    write_report(path, [run], validation=compared)


def _study_report(study: Study, path: Path) -> None:
    from dvsim.report import write_study_report

    write_study_report(path, [study])


def check_asked(
    *, seed: int, replications: int = 1, scale: float = 1.0, workers: int | None = None
) -> None:
    """Raise ScenarioError for what is out of range, or no number at all; by its option."""
    faults = [
        *_whole("--seed", seed, 0, SEED),
        *_whole("--replications", replications, 1, REPLICATIONS),
        *(_whole("--workers", workers, 1, WORKERS) if workers is not None else ()),
    ]
    if not 0 < scale <= LARGEST_SCALE:
        message = f"{scale:g} is not above 0 and at most {LARGEST_SCALE}"
        faults.append(Fault("--scale", None, "", message))
    if faults:
        raise ScenarioError(faults)


def _whole(option: str, value: int, least: int, most: int) -> Iterator[Fault]:
    if isinstance(value, bool) or not isinstance(value, Integral):
        yield Fault(option, None, "", f"{value!r} is not a whole number")
    elif value < 0:
        yield Fault(option, None, "", f"{value} is negative")
    elif value < least:
        yield Fault(option, None, "", f"{value} is less than {least}")
    elif value > most:
        yield Fault(option, None, "", f"{value} is more than {most}")


def _check_extent(scenarios: Sequence[AnyScenario], replications: int) -> None:
    """Refuse what the scale, or the number of replications, makes too much of a scenario."""
    faults = []
    for scenario in scenarios:
        if isinstance(scenario, Scenario):
            found = list(extent(scenario))
            tasks, what = scenario.workload.iterations * replications, "iterations"
        else:
            points = map(scenario.at, range(len(scenario.points)))
            found = [fault for point in points for fault in switch_build.extent(point)]
            tasks, what = len(scenario.points) * replications, "runs"
        for key, message in found:
            faults.append(Fault(scenario.name, None, dotted(key), message))
        if tasks > TASKS:
            message = f"{scenario.name} has {tasks} {what} then, and may have {TASKS}"
            faults.append(Fault("--replications", None, "", message))
    if faults:
        raise ScenarioError(faults)
