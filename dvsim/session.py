"""From a question to a kept result: reuse what is there, run the rest, write the folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dvsim.asked import backend_of, check_asked, check_extent, check_precision
from dvsim.backends.code import code_version, emulated_version
from dvsim.backends.pool import lasting
from dvsim.emulation.asked import Emulation, check_emulation
from dvsim.kinds.base import How, kind_of
from dvsim.making import Result, made
from dvsim.results.folder import find_kept, folder_of, write_result
from dvsim.results.kept import clear_room, make_room
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec

REPLICATIONS = {"sim": 10, "emu": 1}  # unless asked for otherwise


def run_scenarios(
    scenarios: Sequence[Spec],
    *,
    seed: int = 1,
    replications: int | None = None,
    out: Path | None = Path("runs"),
    force: bool = False,
    scale: float | None = None,
    workers: int | None = None,
    backend: str | Emulation = "sim",
    progress: bool = False,
    report: bool = False,
    command: str | Sequence[str] = "dvsim.session.run_scenarios(...)",
    begun: Sequence[Result] = (),
) -> list[Result]:
    """Run scenarios, each once for the same scenario, version, seed and replications.

    Parameters
    ----------
    scenarios
        What to run; the results come in this order. Equal ones share a run. One of a system gives
        a `Run`, one of a switch or network alone a `Study`, of messaging a `MessagingStudy`.
    seed, replications
        See `dvsim.backends.sim.simulate`, `dvsim.backends.emu.emulate` and
        `dvsim.kinds.switch.model.study`. None takes 10 replications, and 1 of an emulated run.
    out
        Where run folders go; a complete one that answers the same question is reused. None keeps
        the runs in memory.
    force
        Run even if there is such a folder, and replace it.
    scale
        Multiplies the number of messages, or of slots that count; it is part of the question and
        of the resolved scenario. None takes 1, and of an emulated run what makes it short, see
        `dvsim.emulation.asked.own_scale`.
    workers
        Processes; None takes one for each core. Of simulated runs only.
    backend
        ``"sim"``, ``"emu"``, or how to emulate.
    progress
        Show progress on stderr.
    report
        Write ``report.html`` into each new folder: 5 MB. `dvsim report` makes one of any folders.
    command
        What was typed, for the manifest: the words of a command line, or a Python call.
    begun
        Simulated results of fewer replications of the same seed, to go on from where a kind can;
        the answer is the same.

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
    asked: list[Spec] = [kind_of(one).sized(one, scale, emulation) for one in scenarios]
    if emulation is not None:
        check_emulation(asked, emulation, {"--workers": workers})
    check_extent(asked, times)
    questions = [to_toml(scenario) for scenario in asked]
    version = code_version() if emulation is None else emulated_version()
    how = How(version, seed, times, emulation, {to_toml(one.scenario): one for one in begun})
    results: dict[str, Result] = {}
    missing: dict[str, Spec] = {}
    room: list[Path] = []  # folders that were not there before, the innermost first
    for question, scenario in dict(zip(questions, asked, strict=True)).items():
        kept: Any = None if out is None or force else find_kept(how, out, scenario)
        if kept is None:
            missing[question] = scenario
        else:
            results[question] = replace(kept, scenario=scenario)  # which knows its own file
    try:
        if out is not None:
            for scenario in missing.values():
                room = make_room(folder_of(how, out, scenario)) + room
        whole = dict(zip(questions, scenarios, strict=True))
        ordered = list(missing.values())
        if emulation is None:  # no process shall wait at the end for a long task of another
            ordered.sort(key=_longest_s, reverse=True)
        found = made(ordered, how, workers, progress, command, whole)
        with closing(found):
            for result in found:
                results[to_toml(result.scenario)] = _kept(result, out, how, report=report)
    except BaseException:  # Ctrl-C too
        clear_room(room)
        raise
    return [results[question] for question in questions]


def run_enough(
    scenarios: Sequence[Spec],
    more: Callable[[Sequence[Result]], Sequence[bool]],
    steps: Sequence[int],
    **asked: Any,  # noqa: ANN401 - as of `run_scenarios`
) -> list[Result]:
    """Run scenarios with as many replications as their results ask for.

    How many that are depends on the results alone, in the order of their replications: never on
    the number of workers, nor on what is kept.

    Parameters
    ----------
    scenarios
        What to simulate.
    more
        From the results so far to whether each needs more replications.
    steps
        Replications of the first look, of the second, …; after the last nothing is asked.
    **asked
        As of `run_scenarios`, but for `replications`.
    """
    with lasting():
        results = run_scenarios(scenarios, replications=steps[0], **asked)
        for times in steps[1:]:
            places = [place for place, needed in enumerate(more(results)) if needed]
            if not places:
                break
            begun = [results[place] for place in places]
            some = [scenarios[place] for place in places]
            found = run_scenarios(some, replications=times, begun=begun, **asked)
            for place, result in zip(places, found, strict=True):
                results[place] = result
    return results


def run_precisely(
    scenarios: Sequence[Spec],
    precision: float,
    **asked: Any,  # noqa: ANN401 - as of `run_scenarios`
) -> list[Result]:
    """Run scenarios until what is asked of them is known well enough.

    What that is says `dvsim.results.precision`.

    Parameters
    ----------
    scenarios
        What to simulate.
    precision
        The largest half of a 95 % interval, as a share of the value. There are 3 to 30
        replications, and 30 may be too few.
    **asked
        As of `run_scenarios`, but for `replications`.

    Raises
    ------
    ScenarioError
        If the precision cannot be.
    """
    from dvsim.results.precision import wider
    from dvsim.results.statistics import STEPS

    check_precision(precision)
    return run_enough(scenarios, partial(wider, share=precision), STEPS, **asked)


def _longest_s(scenario: Spec) -> float:
    """Return about how long the longest task of a scenario takes."""
    seconds, points = kind_of(scenario).seconds, range(len(scenario.points))
    return max(float(seconds(one)) / one.tasks for one in map(scenario.at, points))


def _kept(result: Result, out: Path | None, how: How, *, report: bool) -> Result:
    if out is None:
        return result
    page = _page if report and kind_of(result.scenario).pages else None
    return write_result(result, folder_of(how, out, result.scenario), page)


def _page(result: Result, path: Path) -> None:
    from dvsim.evidence.validation import validate
    from dvsim.report import write_results

    write_results(path, [result], validate([result]) if result.judged else None, form="html")
