"""Points of a sweep that can be run, and who runs them: this process, others, or Dask."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dvsim.contract.find import kind_of
from dvsim.contract.kind import How
from dvsim.contract.load import Template
from dvsim.core.code import code_version
from dvsim.errors import Argument, DvsimError, Fault, RunFailed, ScenarioError
from dvsim.pool import DIED, Workers, default_workers
from dvsim.progress import Part, Progress
from dvsim.scenario.document import OVERRIDES
from dvsim.scenario.find import is_file
from dvsim.scenario.override import Override
from dvsim.scenario.render import to_toml
from dvsim.scenario.spec import Spec, plain
from dvsim.study.execute import Executor, check_extent, simulate
from dvsim.study.folder import keep_many
from dvsim.study.precision import PILOT, needed, pilot_seed, shares_of
from dvsim.study.store import contents_of, find_kept, first_of, folder_of, joined
from dvsim.study.sweeps.grid import PLAIN, Point, number_of, setting_of
from dvsim.table.manifest import Manifest
from dvsim.table.result import Result

VARY = Argument("vary")
MANY = 5_000  # points that take some seconds to be checked


@dataclass(frozen=True)
class PointTrial:
    """A point that can be run."""

    number: int  # of the point, from 0
    scenario: Spec  # resolved and scaled
    folder: str  # of its run, below the root of runs, with ``/``
    # How many replications it gets; None of one whose pilot is still to be run.
    times: int | None = None
    begun: Result | None = None  # the run of fewer replications that is kept


@dataclass(frozen=True)
class Refused:
    """A point that is no valid scenario."""

    number: int
    error: str


class Outcome(NamedTuple):
    """What came of a point."""

    # Of each of its points: what its scenario itself varies, and the remarks.
    points: Sequence[Mapping[str, float | str]] = ()
    # Its values: the place among these points, replication, metric and value.
    values: Sequence[tuple[int, int, str, float]] = ()
    error: str = ""  # what went wrong instead; empty if nothing did


def trials_of(
    template: Template,
    points: Sequence[Point],
    overrides: Sequence[Override],
    how: How,
    scale: float | None = None,
    progress: bool = False,
) -> list[PointTrial | Refused]:
    """Check every point.

    Args:
        template: The scenario as its files have it.
        points: What is varied.
        overrides: What is set in all points.
        how, scale: As in `dvsim.session.run_scenarios`.
        progress: Show on stderr how many of `MANY` points or more are checked.
    """
    varied = {key for point in points for key, _ in point.values}
    if twice := template.twice([*overrides, *points[0].settings]):
        raise ScenarioError(twice)
    trials: list[PointTrial | Refused] = []
    first: ScenarioError | None = None
    alone: set[str] = set()  # keys whose values were checked each by itself
    with Progress(
        len(points), visible=progress and len(points) > MANY, what="points checked"
    ) as shown:
        for number, point in enumerate(points):
            shown.done("before the first run", 1, {})
            try:
                spec = template.resolved([*overrides, *point.settings]).scenario
                spec = _with_one_row(spec, template.base, point)
                scenario = spec.scaled(1.0 if scale is None else scale)
                check_extent([scenario], how.replications)
            except ScenarioError as refused:
                error = ScenarioError(_of_vary(refused.faults, varied))
                first = first or error
                for key in {fault.key for fault in error.faults if fault.file == VARY} - alone:
                    alone.add(key)
                    _check_alone(template, overrides, points, key)
                trials.append(Refused(number, _faults(error)))
                continue
            text = to_toml(scenario)
            folder = folder_of(how, Path(), scenario, text).as_posix()
            trials.append(PointTrial(number, scenario, folder))
    if first is not None and all(isinstance(trial, Refused) for trial in trials):
        raise first
    return trials


def _with_one_row(spec: Spec, base: Spec | None, point: Point) -> Spec:
    """Return a point with one value of what its scenario varies together with a swept key.

    Where the scenario does not have the value of that key, the others have their first.
    """
    swept = {key.rpartition(".")[2] for key, _ in point.values}
    for table in () if base is None else base.vary:
        if any(spec.value(key) not in table[key] for key in swept.intersection(table)):
            for key in spec.keys:
                if key in table:
                    spec = spec.fixed(key, table[key][0])
    return spec


def _check_alone(
    template: Template, overrides: Sequence[Override], points: Sequence[Point], full: str
) -> None:
    key, place = next(
        (key, place)
        for place, (key, _) in enumerate(points[0].values)
        if f".{full}".endswith(f".{key}")
    )
    values = dict.fromkeys(point.values[place][1] for point in points)
    wrong = [
        fault for value in values for fault in template.wrong([*overrides, setting_of(key, value)])
    ]
    faults = [fault for fault in _of_vary(wrong, [key]) if fault.file == VARY]
    if faults:
        raise ScenarioError(faults)


def _of_vary(faults: Iterable[Fault], varied: Collection[str]) -> list[Fault]:
    return [
        replace(fault, file=VARY)
        if fault.file == OVERRIDES.file
        and any(f".{fault.key}".endswith(f".{key}") for key in varied)
        else fault
        for fault in faults
    ]


def keys_of(points: Sequence[Point]) -> tuple[list[dict[str, float | str]], dict[str, str]]:
    """Return the varied values of each point as a table holds them, and the unit of each key.

    The values of a key are numbers if all of them are, in one unit; else they are the texts.
    """
    columns: dict[str, list[float | str]] = {}
    units: dict[str, str] = {}
    for position, (key, _) in enumerate(points[0].values):
        texts = [point.values[position][1] for point in points]
        numbers = {text: number_of(text) for text in dict.fromkeys(texts)}
        kinds = {None if number is None else number.unit for number in numbers.values()}
        if key.endswith("_bytes") and kinds <= {PLAIN, "B"}:
            kinds = {"B"}  # a plain number is bytes there
        units[key] = kinds.pop() or "" if len(kinds) == 1 else ""
        numeric = units[key] != ""
        value = {
            text: float(number.value) if numeric and number is not None else text.strip("\"'")
            for text, number in numbers.items()
        }
        columns[key] = [value[text] for text in texts]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return rows, units


def pilot_of(how: How) -> How:
    """Return how the pilot of a point is run."""
    return replace(how, seed=pilot_seed(how.seed), replications=PILOT, first=1, pilot=True)


def times_of(pilot: Result, precision: float) -> int:
    """Return how many replications a point gets by its pilot."""
    return needed(max(shares_of(pilot)), precision)


def known(root: Path, trial: PointTrial, how: How) -> Result | None:
    """Return the first replications of a kept point without samples, None if not all are there."""
    found = find_kept(how, root, trial.scenario, ("runs",))
    if found is None or found.replications < how.replications:
        return None
    return first_of(found, how.replications)


def outcome_of(trial: PointTrial, result: Result) -> Outcome:
    """Return the rows of a sweep that the result of a point gives."""
    points, values = [], []
    notes, flow, times = result.notes(), result.flow_errors(), result.replications
    limit = "" if result.limit is None else str(result.limit)
    shares = shares_of(result) if times > 1 else [math.nan] * len(result.points)
    for number, (keys, share) in enumerate(zip(result.scenario.points, shares, strict=True)):
        remarks: dict[str, float | str] = {
            "replications": times,
            "precision": share,
            "bottleneck": limit,
            "note": notes.get(number, ""),
            "fidelity": "flow" if number in flow else "",
            "run": trial.folder,
            "error": "",
        }
        points.append({key: text_or_number(value) for key, value in keys.items()} | remarks)
        values += [
            (number, replication, name, value)
            for name in result.METRICS
            for replication, value in result.each(number, name).items()
        ]
    return Outcome(points, values)


def text_or_number(value: object) -> float | str:
    """Return a value of a scenario as a table of points has it."""
    converted = plain(value)
    if converted is None:
        return "none"
    return float(converted) if isinstance(converted, bool | int) else converted


def find(root: Path, trial: PointTrial, how: How, precision: float | None) -> Outcome | PointTrial:
    """Return what is kept of a point, or the point with what is known of it, to be run."""
    scenario, times = trial.scenario, how.replications if precision is None else None
    try:
        if precision is not None and (pilot := known(root, trial, pilot_of(how))) is not None:
            times = times_of(pilot, precision)
        if times is not None:
            result = known(root, trial, replace(how, replications=times))
            if result is not None:
                return outcome_of(trial, result)
        return replace(trial, times=times, begun=find_kept(how, root, scenario))
    except RunFailed as error:
        return Outcome(error=one_line(error))


def one_line(error: Exception) -> str:
    """Return an error as a table holds it."""
    return "; ".join(str(error).splitlines())


def _faults(error: ScenarioError) -> str:
    short = (replace(fault, file=Path(fault.file).name) for fault in error.faults)
    return "; ".join(map(str, short))


# Who does the points: this process, processes of this machine, or a dask cluster.
#
# All take chunks and give futures, so that the rest need not know; what comes out is the same. A
# point depends on nothing but its scenario, the version and the seed. A worker writes nothing: it
# may be a process of this machine or of another one that sees none of its files.

CHUNK_S = 0.5  # of work in a chunk: what an interruption may lose, and what overheads are shared by
MOST_POINTS = 64  # points of a chunk
AHEAD = 2  # chunks that wait for each worker
NO_WORKERS = "has no workers: the sweep waits for one; `dask worker` prints why it ended"
REACH_S = 20  # to a scheduler
IDLE_S = 5.0  # without a result, after which a scheduler without workers is reported


class Chunk(NamedTuple):
    """Points that are done in one go, each until it is precise; `command` is for manifests."""

    trials: Sequence[PointTrial]
    how: How
    precision: float | None
    command: str | Sequence[str]


class Kept(NamedTuple):
    """A run that is to be kept: its folder below the root of runs, and what is in that."""

    folder: str
    contents: Mapping[str, bytes]
    manifest: Manifest


class Done(NamedTuple):
    """A point that is done."""

    number: int  # of the point
    outcome: Outcome  # what came of it
    runs: Sequence[Kept]  # its pilot and its run, as far as they were not kept
    took_s: float  # how long it took


def warm(_: None) -> None:
    """Do nothing: by then everything is imported."""


def work(chunk: Chunk) -> list[Done]:
    """Do points."""
    here = code_version()
    if here != chunk.how.version:
        raise RunFailed(f"a worker has dvsim {here}, and {chunk.how.version} is asked for")
    hows = chunk.how, chunk.precision, chunk.command
    return [_point(trial, *hows) for trial in chunk.trials]


def _point(
    trial: PointTrial, how: How, precision: float | None, command: str | Sequence[str]
) -> Done:
    started = time.perf_counter()
    scenario, times = trial.scenario, trial.times
    runs: list[Kept] = []

    def result_of(how: How, begun: Result | None = None) -> Result:
        first = 1 if begun is None else begun.replications + 1
        if begun is not None and first > how.replications:
            return first_of(begun, how.replications)
        (result,) = simulate([scenario], replace(how, first=first), 1, False, command, {})
        result = result if begun is None else joined(begun, result)
        folder = folder_of(how, Path(), scenario).as_posix()
        runs.append(Kept(folder, contents_of(result), result.manifest))
        return result

    try:
        if times is None:
            assert precision is not None
            times = times_of(result_of(pilot_of(how)), precision)
        outcome = outcome_of(trial, result_of(replace(how, replications=times), trial.begun))
    except DvsimError as failed:
        outcome, runs = Outcome(error=one_line(failed)), []
    return Done(trial.number, outcome, runs, time.perf_counter() - started)


class Workplace(NamedTuple):
    """Something that does chunks: how many at a time (0: none yet), and what begins one."""

    workers: Callable[[], int]
    submit: Callable[[Chunk], Future[list[Done]]]


def _here(chunk: Chunk) -> Future[list[Done]]:
    future: Future[list[Done]] = Future()
    future.set_result(work(chunk))
    return future


@contextmanager
def executor(workers: int, scheduler: str | None = None) -> Generator[Workplace, None, None]:
    """Give who does the points; what it started has ended afterwards.

    Args:
        workers: Processes of this machine; 1 works in this one. Without meaning with a scheduler.
        scheduler: Address of a dask scheduler, ``tcp://host:8786``, or a file that it has written.
    """
    if scheduler is not None:
        with _client(scheduler) as client:  # more workers may come; a chunk survives its worker
            submit = partial(client.get_executor(pure=False).submit, work)
            yield Workplace(lambda: sum(client.nthreads().values()), submit)
    elif workers == 1:
        yield Workplace(lambda: 1, _here)
    else:
        with Workers(workers) as pool:
            for _ in range(workers):  # they import dvsim while points are still being checked
                pool.begin(warm, None)
            yield Workplace(lambda: workers, partial(pool.begin, work))


@contextmanager
def _client(scheduler: str) -> Generator[Any, None, None]:
    try:
        from distributed import Client
    except ImportError:
        message = "needs dask.distributed: pip install 'vortexsim[cluster]'"
        raise ScenarioError.at(Argument("scheduler"), message) from None
    there = is_file(Path(scheduler))
    a_file = "://" not in scheduler and (scheduler.endswith(".json") or there)
    if a_file and not there:
        raise ScenarioError.at(Argument("scheduler"), "no such file", scheduler)
    _check_encryption(scheduler, Path(scheduler).read_bytes() if a_file else scheduler.encode())
    where = {"scheduler_file": scheduler} if a_file else {"address": scheduler}
    try:
        connect: Any = Client  # has no types
        client = connect(**where, timeout=REACH_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunFailed(f"no dask scheduler answers at {scheduler}: {error}") from error
    try:
        yield client
    finally:
        client.close(timeout=REACH_S)


def _check_encryption(scheduler: str, address: bytes) -> None:
    from distributed.security import Security

    configured: Any = Security  # has no types
    connection = configured().get_connection_args("client")
    encrypted, message = b"tls://" in address, ""
    if encrypted and connection["ssl_context"] is None:
        message = "TLS needs distributed.comm.tls.client.cert and .key in dask's configuration"
    elif connection["require_encryption"] and not encrypted:
        message = "is not tls://, which distributed.comm.require-encryption of dask asks for"
    if message:
        raise ScenarioError.at(Argument("scheduler"), message, scheduler)


@dataclass(frozen=True)
class Chunks(Executor[PointTrial]):
    """Points of a sweep, some at a time, each to its numbers; runs are kept by chunk."""

    name: str  # of what is swept, for the progress
    # How each point is run, and how well it shall be known instead.
    how: How
    precision: float | None
    # Where run folders are looked for, and where new ones go; None for nowhere.
    kept: Path | None
    out: Path | None
    workers: int | None = None  # processes; None takes one for each core
    scheduler: str | None = None  # of a dask cluster, see `executor`
    # Show progress on stderr; what was typed, for the manifests.
    progress: bool = False
    command: str | Sequence[str] = ""
    _times: list[float] = field(default_factory=list)
    _begun: dict[str, PointTrial] = field(default_factory=dict)

    @property
    def took_s(self) -> float:
        """How long all points took that were run."""
        return sum(self._times)

    def question(self, trial: PointTrial) -> str:
        """Return the folder of the run."""
        return trial.folder

    def find(self, trial: PointTrial) -> Outcome | None:
        """Return what is kept of a point; None if there is nothing, or too little."""
        if self.kept is None:
            return None
        found = find(self.kept, trial, self.how, self.precision)
        if isinstance(found, Outcome):
            return found
        self._begun[trial.folder] = found
        return None

    def run(self, trials: Sequence[PointTrial]) -> Iterator[tuple[PointTrial, Outcome]]:
        """Run points and keep those that did not fail, a chunk at a time."""
        times = self.how.replications if self.precision is None else None
        missing = [self._begun.pop(trial.folder, replace(trial, times=times)) for trial in trials]
        by_number = {trial.number: trial for trial in trials}
        parts: dict[Hashable, Part] = {
            trial.number: Part(1, _expected_s(trial.scenario)) for trial in missing
        }
        processes = min(self.workers or default_workers(), len(missing))
        with (
            Progress(len(missing), visible=self.progress, what="points", parts=parts) as shown,
            executor(processes, self.scheduler) as by,
        ):
            idle = partial(shown.note, f"the dask scheduler {self.scheduler} {NO_WORKERS}")
            for some in done(missing, self.how, self.precision, self.command, by, idle):
                runs = [run for trial in some for run in trial.runs]
                if self.out is not None and runs:
                    keep_many({self.out / run.folder: (run.contents, run.manifest) for run in runs})
                for trial in some:
                    self._times.append(trial.took_s)
                    shown.done(self.name, 1, {}, trial.number, trial.took_s)
                    yield by_number[trial.number], trial.outcome


def _expected_s(scenario: Spec) -> float:
    kind = kind_of(scenario)
    return sum(float(kind.seconds(scenario.at(n))) for n in range(len(scenario.points)))


def done(
    trials: Sequence[PointTrial],
    how: How,
    precision: float | None,
    command: str | Sequence[str],
    by: Workplace,
    on_idle: Callable[[], None],
) -> Iterator[list[Done]]:
    """Do points and yield them as they come, chunk by chunk, in any order.

    A chunk has as many points as take about `CHUNK_S`, by those that are done; near the end they
    are smaller, so that no worker is left alone with the last. `on_idle` is called once
    when there are no workers, and again when all have gone after some had come.
    """
    waiting, running = deque(trials), set[Future[list[Done]]]()
    took_s, finished, was_idle = 0.0, 0, False
    while waiting or running:
        present = by.workers()
        workers = max(1, present)
        ahead = AHEAD if workers > 1 else 1
        while waiting and len(running) < ahead * workers:
            size = round(CHUNK_S * finished / took_s) if took_s else 1
            size = max(1, min(size, MOST_POINTS, len(waiting) // (ahead * workers)))
            chunk = [waiting.popleft() for _ in range(size)]
            running.add(by.submit(Chunk(chunk, how, precision, command)))
        some, running = wait(running, IDLE_S, return_when=FIRST_COMPLETED)
        idle = not some and not present
        if idle and not was_idle:
            on_idle()
        was_idle = idle
        for future in some:
            outcomes = _result(future)
            finished += len(outcomes)
            took_s += sum(outcome.took_s for outcome in outcomes)
            yield outcomes


def _result(future: Future[list[Done]]) -> list[Done]:
    try:
        return future.result()
    except (DvsimError, KeyboardInterrupt):
        raise
    except BrokenProcessPool as error:
        raise RunFailed(DIED) from error
    except Exception as error:
        if type(error).__name__ != "KilledWorker":  # of a package that may not be there
            raise
        message = "a chunk of points has ended one dask worker after the other"
        raise RunFailed(f"{message}; is there enough memory?") from error
