"""The one loop of all studies: ask a design, find or run what it asks for, keep that, tell it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any, Generic, TypeVar

from dvsim.contract.find import kind_named, kind_of
from dvsim.contract.kind import How, Job
from dvsim.core.code import code_version, emulated_version
from dvsim.emulation.settings import Emulation
from dvsim.errors import Argument, Fault, ScenarioError, nearest
from dvsim.pool import default_workers
from dvsim.scenario.bounds import REPLICATIONS, SEED, TASKS, WORKERS
from dvsim.scenario.document import dotted
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec
from dvsim.study.design import Answer, Design, Trial
from dvsim.study.folder import clear_room, make_room
from dvsim.study.precision import pilot_seed
from dvsim.study.store import find_kept, first_of, folder_of, joined, write_result
from dvsim.table.result import Result

BACKENDS = ("sim", "emu")
LARGEST_SCALE = 1000
PRECISION = (0.001, 0.5)
DEFAULT_PRECISION = 0.05  # of simulated runs, unless the number of replications is asked for
DEFAULT_REPLICATIONS = {"sim": 10, "emu": 1}  # of verdicts, traces, emulated runs


def backend_of(asked: str | Emulation) -> Emulation | None:
    """Return how to emulate, None for backend sim.

    Raises:
        ScenarioError: If there is no such backend.
    """
    if isinstance(asked, Emulation):
        return asked
    if asked not in BACKENDS:
        message = f"no such backend '{asked}'; there are {' and '.join(BACKENDS)}"
        raise ScenarioError.at(Argument("backend"), message, hint=nearest(str(asked), BACKENDS))
    return Emulation() if asked == "emu" else None


def check_asked(
    *, seed: int, replications: int = 1, scale: float | None = None, workers: int | None = None
) -> None:
    """Raise ScenarioError for what is out of range, or no number at all; by its argument."""
    faults = [
        *Argument("seed").whole(seed, 0, SEED),
        *Argument("replications").whole(replications, 1, REPLICATIONS),
        *(Argument("workers").whole(workers, 1, WORKERS) if workers is not None else ()),
    ]
    if isinstance(scale, bool) or not isinstance(scale, Real | None):
        faults.append(Argument("scale").fault(f"{scale!r} is not a number"))
    elif scale is not None and not 0 < scale <= LARGEST_SCALE:
        message = f"{scale:g} is not above 0 and at most {LARGEST_SCALE}"
        faults.append(Argument("scale").fault(message))
    if faults:
        raise ScenarioError(faults)


def check_precision(share: float) -> None:
    """Raise ScenarioError for a precision that cannot be."""
    least, most = PRECISION
    if not least <= share <= most:
        message = f"{share:g} is not a share from {least:g} to {most:g}, or from 0.1% to 50%"
        near = f"{share:g}%" if least <= share / 100 <= most else None
        raise ScenarioError.at(Argument("precision"), message, hint=near)


def check_extent(scenarios: Sequence[Spec], replications: int) -> None:
    """Refuse what the scale, or the number of replications, makes too much of a scenario."""
    faults = []
    for scenario in scenarios:
        kind, tasks = kind_of(scenario), scenario.tasks * replications
        for point in range(len(scenario.points)):
            for key, message in kind.extent(scenario.at(point)):
                faults.append(Fault(scenario.name, None, dotted(key), message))
        if tasks > TASKS:
            message = f"{scenario.name} has {tasks} {scenario.TASKS} then, and may have {TASKS}"
            faults.append(Argument("replications").fault(message))
    if faults:
        raise ScenarioError(faults)


T = TypeVar("T")


class Executor(ABC, Generic[T]):
    """Where trials are run, and where their results are kept."""

    def question(self, trial: T) -> Hashable:
        """Return what a trial asks: those that ask the same are run once."""
        return id(trial)

    def check(self, trials: Sequence[T]) -> None:
        """Refuse what cannot be run."""

    def find(self, trial: T) -> Any | None:  # noqa: ANN401 - whatever the design is told
        """Return the result of a trial that is kept, None if there is none."""
        return None

    @abstractmethod
    def run(self, trials: Sequence[T]) -> Iterator[tuple[T, Any]]:
        """Run trials, keep their results, and yield each as it is there."""


def execute(design: Design[T, Answer], by: Executor[T]) -> Answer:
    """Return the answer of a design, after running whatever it asks for that is not kept."""
    with closing(design):
        while trials := design.ask():
            by.check(trials)
            groups: dict[Hashable, list[T]] = {}
            for trial in trials:
                groups.setdefault(by.question(trial), []).append(trial)
            missing: dict[int, list[T]] = {}
            for same in groups.values():
                result = by.find(same[0])
                if result is None:
                    missing[id(same[0])] = same
                    continue
                for trial in same:
                    design.tell(trial, result)
            for first, result in by.run([same[0] for same in missing.values()]) if missing else ():
                for trial in missing[id(first)]:
                    design.tell(trial, result)
    return design.answer


@dataclass(frozen=True)
class Runs(Executor[Trial]):
    """Runs on this machine, a task for each replication or iteration; whole results in folders.

    Attributes:
        seed: Of trials that name none.
        out: Where run folders go; a complete one that answers the same question is reused. None
            keeps the results in memory.
        force: Run even if there is such a folder, and replace it.
        workers: Processes; None takes one for each core. Of simulated runs only.
        emulation: How real programs are run; None simulates.
        progress: Show progress on stderr.
        command: What was typed, for the manifests.
    """

    seed: int
    out: Path | None
    force: bool = False
    workers: int | None = None
    emulation: Emulation | None = None
    progress: bool = False
    command: str | Sequence[str] = ""

    def question(self, trial: Trial) -> Hashable:
        """Return scenario, seed and replications."""
        return to_toml(trial.scenario), trial.seed, trial.replications, trial.pilot

    def check(self, trials: Sequence[Trial]) -> None:
        """Refuse what is too much."""
        for times in {trial.replications for trial in trials}:
            check_extent([item.scenario for item in trials if item.replications == times], times)

    def find(self, trial: Trial) -> Result | None:
        """Return the result that is kept, with the scenario that knows its own file."""
        kept = self._kept(trial)
        if kept is None or kept.replications < trial.replications:
            return None
        part: Result = replace(first_of(kept, trial.replications), scenario=trial.scenario)
        return part

    def _kept(self, trial: Trial) -> Any | None:  # noqa: ANN401 - a result of any kind
        if self.out is None or self.force:
            return None
        return find_kept(self._how(trial), self.out, trial.scenario)

    def run(self, trials: Sequence[Trial]) -> Iterator[tuple[Trial, Result]]:
        """Run what is missing of trials, those that are run alike together, the longest first."""
        created: list[Path] = []  # folders that were not there before, the innermost first
        together: dict[tuple[int, ...], tuple[How, list[Trial]]] = {}
        try:
            for trial in trials:
                begun = trial.begun
                if begun is None and self.emulation is None:  # one measurement is of one time
                    begun = self._kept(trial)
                how = self._how(trial, 1 if begun is None else begun.replications + 1)
                alike = (how.seed, how.first, how.replications)
                together.setdefault(alike, (how, []))[1].append(replace(trial, begun=begun))
                if self.out is not None:
                    created = make_room(folder_of(how, self.out, trial.scenario)) + created
            by_question = {self.question(trial): trial for trial in trials}
            for how, some in together.values():
                for trial, result in self._run(some, how):
                    yield by_question[self.question(trial)], result
        except BaseException:  # Ctrl-C too
            clear_room(created)
            raise

    def _run(self, trials: list[Trial], how: How) -> Iterator[tuple[Trial, Result]]:
        if self.emulation is None:  # no process shall wait at the end for a long task of another
            trials = sorted(trials, key=lambda trial: _longest_s(trial.scenario), reverse=True)
        asked = {to_toml(trial.scenario): trial for trial in trials}
        unscaled = {question: item.whole or item.scenario for question, item in asked.items()}
        scenarios = [trial.scenario for trial in trials]
        results = simulate(scenarios, how, self.workers, self.progress, self.command, unscaled)
        with closing(results):
            for result in results:
                trial = asked[to_toml(result.scenario)]
                whole = result if trial.begun is None else joined(trial.begun, result)
                if self.out is not None:
                    whole = write_result(whole, folder_of(how, self.out, whole.scenario))
                yield trial, whole

    def _how(self, trial: Trial, first: int = 1) -> How:
        seed = self.seed if trial.seed is None else trial.seed
        version = code_version() if self.emulation is None else emulated_version()
        seed = pilot_seed(seed) if trial.pilot else seed
        return How(version, seed, trial.replications, self.emulation, first, trial.pilot)


def simulate(
    scenarios: Sequence[Spec],
    how: How,
    workers: int | None,
    progress: bool,
    command: str | Sequence[str],
    whole: Mapping[str, Spec],
) -> Generator[Result, None, None]:
    """Run scenarios and yield the result of each, kind by kind; closing it ends what works for it.

    `whole` has the scenarios before they were scaled, by question.

    Raises:
        RunFailed: If a run fails or does not fit in memory, or a worker dies.
    """
    groups: dict[str, list[Spec]] = {}
    for scenario in scenarios:
        groups.setdefault(scenario.KIND, []).append(scenario)
    for name, group in groups.items():
        job = Job(how, workers or default_workers(), progress, command, whole)
        with closing(kind_named(name).made(group, job)) as results:
            yield from results


def _longest_s(scenario: Spec) -> float:
    seconds, points = kind_of(scenario).seconds, range(len(scenario.points))
    return max(float(seconds(point)) / point.tasks for point in map(scenario.at, points))
