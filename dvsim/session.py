"""From a question to a kept result: reuse what is there, run the rest, write the folders."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from dvsim.asked import backend_of, check_asked, check_extent, scaled
from dvsim.backends.code import code_version, emulated_version
from dvsim.emu.asked import Emulation, check_emulation, fitted, own_scale
from dvsim.making import How, Result, made
from dvsim.results.folder import clear_room, make_room, write_run
from dvsim.results.points import PointsStudy
from dvsim.results.run import Run
from dvsim.results.study_folder import write_study
from dvsim.scenario.load import AnyScenario
from dvsim.scenario.render import to_toml
from dvsim.scenario.types import Scenario

REPLICATIONS = {"sim": 10, "emu": 1}  # unless asked for otherwise


def run_scenarios(
    scenarios: Sequence[AnyScenario],
    *,
    seed: int = 1,
    replications: int | None = None,
    out: Path | None = Path("runs"),
    force: bool = False,
    scale: float | None = None,
    workers: int | None = None,
    backend: str | Emulation = "sim",
    progress: bool = False,
    report: bool = True,
    command: str | Sequence[str] = "dvsim.session.run_scenarios(...)",
) -> list[Result]:
    """Run scenarios, each once for the same scenario, version, seed and replications.

    Parameters
    ----------
    scenarios
        What to run; the results come in this order. Equal ones share a run. One of a system gives
        a `Run`, one of a switch or network alone a `Study`, of messaging a `MessagingStudy`.
    seed, replications
        See `dvsim.backends.sim.simulate`, `dvsim.backends.emu.emulate` and
        `dvsim.backends.switch.study`. None takes 10 replications, and 1 of an emulated run.
    out
        Where run folders go; a complete one that answers the same question is reused. None keeps
        the runs in memory.
    force
        Run even if there is such a folder, and replace it.
    scale
        Multiplies the number of messages, or of slots that count; it is part of the question and
        of the resolved scenario. None takes 1, and of an emulated run what makes it short, see
        `dvsim.emu.asked.own_scale`.
    workers
        Processes; None takes one for each core. Of simulated runs only.
    backend
        ``"sim"``, ``"emu"``, or how to emulate.
    progress
        Show progress on stderr.
    report
        Write ``report.html`` into each new folder.
    command
        What was typed, for the manifest: the words of a command line, or a Python call.

    Raises
    ------
    ScenarioError
        If `seed`, `replications`, `scale`, `workers` or `backend` cannot be, or what they make of
        a scenario, or if there is no such backend for a scenario.
    RunFailed, OutputError
        See `dvsim.making.made` and `dvsim.results.kept`.
    """
    emulation = backend_of(backend)
    times = REPLICATIONS["sim" if emulation is None else "emu"]
    times = times if replications is None else replications
    check_asked(seed=seed, replications=times, scale=scale, workers=workers)
    asked = [_sized(scenario, scale, emulation) for scenario in scenarios]
    if emulation is not None:
        check_emulation(asked, emulation, {"--workers": workers})
    check_extent(asked, times)
    questions = [to_toml(scenario) for scenario in asked]
    version = code_version() if emulation is None else emulated_version()
    how = How(version, seed, times, emulation)
    results: dict[str, Result] = {}
    missing: dict[str, AnyScenario] = {}
    room: list[Path] = []  # folders that were not there before, the innermost first
    for question, scenario in dict(zip(questions, asked, strict=True)).items():
        kept = None if out is None or force else how.find(out, scenario)
        if kept is None:
            missing[question] = scenario
        else:
            results[question] = kept
    try:
        if out is not None:
            for scenario in missing.values():
                room = make_room(how.folder(out, scenario)) + room
        whole = dict(zip(questions, scenarios, strict=True))
        found = made(list(missing.values()), how, workers, progress, command, whole)
        with closing(found):
            for result in found:
                results[to_toml(result.scenario)] = _kept(result, out, how, report=report)
    except BaseException:  # Ctrl-C too
        clear_room(room)
        raise
    return [results[question] for question in questions]


def _sized(scenario: AnyScenario, scale: float | None, emulation: Emulation | None) -> AnyScenario:
    """Return the scenario with as many messages, or slots, as shall be."""
    if emulation is None or not isinstance(scenario, Scenario):
        return scaled(scenario, 1.0 if scale is None else scale)
    sized = scaled(scenario, own_scale(scenario) if scale is None else scale)
    assert isinstance(sized, Scenario)
    return fitted(sized) if sized.workload.messages < scenario.workload.messages else sized


def _kept(result: Result, out: Path | None, how: How, *, report: bool) -> Result:
    if out is None:
        return result
    folder = how.folder(out, result.scenario)
    if isinstance(result, PointsStudy):
        return write_study(result, folder, _study_report if report else None)
    return write_run(result, folder, _report if report else None)


def _report(run: Run, path: Path) -> None:
    from dvsim.report import write_report
    from dvsim.validation import validate

    # what is measured on this machine is not judged by tolerances that were declared for a model
    judged = run.scenario.reference is not None and run.backend == "sim"
    write_report(path, [run], validation=validate([run]) if judged else None)


def _study_report(study: PointsStudy, path: Path) -> None:
    from dvsim.report import write_study_report

    write_study_report(path, [study])
