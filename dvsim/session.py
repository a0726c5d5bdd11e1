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
from dvsim.errors import Fault, ScenarioError
from dvsim.progress import Progress
from dvsim.results.folder import find_run, make_room, run_folder, write_run
from dvsim.results.manifest import build_manifest
from dvsim.results.run import Run
from dvsim.scenario.bounds import REPLICATIONS, SEED, TASKS, WORKERS, extent
from dvsim.scenario.render import to_toml
from dvsim.scenario.types import Scenario

BACKEND = "sim"
LARGEST_SCALE = 1000


def run_scenarios(
    scenarios: Sequence[Scenario],
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
) -> list[Run]:
    """Run scenarios, each once for the same scenario, version, seed and replications.

    Parameters
    ----------
    scenarios
        What to run; the results come in this order. Equal ones share a run.
    seed, replications
        See `dvsim.backends.sim.simulate`.
    out
        Where run folders go; a complete one that answers the same question is reused. None keeps
        the runs in memory.
    force
        Simulate even if there is such a folder, and replace it.
    scale
        Multiplies the number of messages; it is part of the question and of the resolved scenario.
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
        See `simulate` and `dvsim.results.folder`.
    """
    _check(seed, replications, scale, workers)
    asked = [scaled(scenario, scale) for scenario in scenarios]
    _check_extent(asked, replications)
    questions = [to_toml(scenario) for scenario in asked]
    how = (code_version(), seed, replications, BACKEND)
    runs: dict[str, Run] = {}
    missing: dict[str, Scenario] = {}
    for question, scenario in dict(zip(questions, asked, strict=True)).items():
        kept = None if out is None or force else find_run(out, scenario, *how)
        if kept is not None:
            runs[question] = kept
            continue
        missing[question] = scenario
        if out is not None:
            make_room(run_folder(out, scenario, *how))
    made = _simulated(list(missing.values()), seed, replications, workers, progress, command)
    with closing(made):
        for question, run in zip(missing, made, strict=True):
            if out is None:
                runs[question] = run
            else:
                folder = run_folder(out, run.scenario, *how)
                runs[question] = write_run(run, folder, _report if report else None)
    return [runs[question] for question in questions]


def scaled(scenario: Scenario, scale: float) -> Scenario:
    """Return the scenario with its number of messages multiplied, at least one."""
    messages = max(1, round(scenario.workload.messages * scale))
    return replace(scenario, workload=replace(scenario.workload, messages=messages))


def _simulated(
    scenarios: Sequence[Scenario],
    seed: int,
    replications: int,
    workers: int | None,
    progress: bool,
    command: str | Sequence[str],
) -> Generator[Run, None, None]:
    """Simulate scenarios and yield the run of each; closing it ends the worker processes."""
    if not scenarios:
        return
    started = datetime.now(UTC)
    tasks = sum(scenario.workload.iterations for scenario in scenarios) * replications
    with Progress(tasks, visible=progress) as shown:
        tables = simulate(
            scenarios,
            seed=seed,
            replications=replications,
            workers=workers or os.cpu_count() or 1,
            on_task=shown.task_done,
        )
        with closing(tables):
            for scenario, (samples, counters, work_s) in zip(scenarios, tables, strict=True):
                manifest = build_manifest(
                    scenario,
                    version=code_version(),
                    seed=seed,
                    replications=replications,
                    backend=BACKEND,
                    command=command,
                    started=started,
                    wall_s=work_s,
                    counters=counters,
                )
                yield Run(scenario, seed, replications, BACKEND, None, manifest, samples, counters)


def _report(run: Run, path: Path) -> None:
    from dvsim.report import write_report
    from dvsim.validation import validate

    compared = validate([run]) if run.scenario.reference else None
    write_report(path, [run], validation=compared)


def _check(seed: int, replications: int, scale: float, workers: int | None) -> None:
    """Refuse what is out of range, or no number at all."""
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


def _check_extent(scenarios: Sequence[Scenario], replications: int) -> None:
    """Refuse what the scale, or the number of replications, makes too much of a scenario."""
    faults = []
    for scenario in scenarios:
        for key, message in extent(scenario):
            faults.append(Fault(scenario.name, None, ".".join(key), message))
        tasks = scenario.workload.iterations * replications
        if tasks > TASKS:
            message = f"{scenario.name} has {tasks} iterations then, and may have {TASKS}"
            faults.append(Fault("--replications", None, "", message))
    if faults:
        raise ScenarioError(faults)
