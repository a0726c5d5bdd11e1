"""From a question to a kept result: reuse what is there, simulate the rest, write the folders."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dvsim._version import __version__
from dvsim.backends.sim import simulate
from dvsim.errors import Fault, ScenarioError
from dvsim.results.folder import find_run, load_run, run_folder, write_run
from dvsim.results.manifest import build_manifest
from dvsim.results.run import Run

if TYPE_CHECKING:
    from dvsim.progress import Progress
    from dvsim.scenario.types import Scenario

BACKEND = "sim"


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
) -> list[Run]:
    """Run scenarios, each once for the same scenario, version, seed and replications.

    Parameters
    ----------
    scenarios
        What to run; the results come in this order.
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

    Raises
    ------
    ScenarioError
        If `seed`, `replications` or `scale` is out of range.
    RunFailed, OutputError
        See `simulate` and `dvsim.results.folder.write_run`.
    """
    _check(seed, replications, scale)
    asked = [scaled(scenario, scale) for scenario in scenarios]
    runs: dict[int, Run] = {}
    if out is not None and not force:
        for position, scenario in enumerate(asked):
            folder = find_run(out, scenario, __version__, seed, replications, BACKEND)
            if folder is not None:
                runs[position] = load_run(folder)
    missing = [position for position in range(len(asked)) if position not in runs]
    if missing:
        with _show(progress, [asked[position] for position in missing], replications) as shown:
            _simulate(asked, missing, runs, seed, replications, out, workers, shown, report)
    return [runs[position] for position in range(len(asked))]


def scaled(scenario: Scenario, scale: float) -> Scenario:
    """Return the scenario with its number of messages multiplied, at least one."""
    messages = max(1, round(scenario.workload.messages * scale))
    return replace(scenario, workload=replace(scenario.workload, messages=messages))


def _simulate(
    asked: Sequence[Scenario],
    missing: Sequence[int],
    runs: dict[int, Run],
    seed: int,
    replications: int,
    out: Path | None,
    workers: int | None,
    shown: Progress,
    report: bool,
) -> None:
    tables = simulate(
        [asked[position] for position in missing],
        seed=seed,
        replications=replications,
        workers=workers or os.cpu_count() or 1,
        on_task=shown.task_done,
    )
    for position in missing:
        scenario, started, clock = asked[position], datetime.now(UTC), time.perf_counter()
        samples, counters = next(tables)
        manifest = build_manifest(
            scenario,
            seed=seed,
            replications=replications,
            backend=BACKEND,
            command=["dvsim", *sys.argv[1:]],
            started=started,
            wall_s=time.perf_counter() - clock,
            counters=counters,
        )
        run = Run(scenario, seed, replications, BACKEND, None, manifest, samples, counters)
        if out is not None:
            folder = run_folder(out, scenario, __version__, seed, replications, BACKEND)
            run = write_run(run, folder, _report if report else None)
        runs[position] = run
    next(tables, None)  # lets the generator close its worker processes


def _report(run: Run, path: Path) -> None:
    from dvsim.report import write_report
    from dvsim.validation import validate

    compared = validate([run]) if run.scenario.reference else None
    write_report(path, [run], validation=compared)


def _show(progress: bool, scenarios: Sequence[Scenario], replications: int) -> Progress:
    from dvsim.progress import Progress

    tasks = sum(scenario.workload.iterations for scenario in scenarios) * replications
    return Progress(tasks, visible=progress)


def _check(seed: int, replications: int, scale: float) -> None:
    faults = []
    if seed < 0:
        faults.append(Fault("--seed", None, "", f"{seed} is negative"))
    if replications < 1:
        faults.append(Fault("--replications", None, "", f"{replications} is less than 1"))
    if not 0 < scale <= 1000:
        faults.append(Fault("--scale", None, "", f"{scale:g} is not above 0 and at most 1000"))
    if faults:
        raise ScenarioError(faults)
