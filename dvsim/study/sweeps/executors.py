"""Who does the points: this process, processes of this machine, or a dask cluster.

All take chunks and give futures, so that the rest need not know; what comes out is the same. A
point depends on nothing but its scenario, the version and the seed, and a worker writes nothing: it
may be a process of this machine or of another one that sees none of its files.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dvsim.contract.find import kind_of
from dvsim.contract.kind import How
from dvsim.core.code import code_version
from dvsim.errors import Argument, DvsimError, RunFailed, ScenarioError
from dvsim.pool import DIED, Workers, default_workers
from dvsim.progress import Part, Progress
from dvsim.scenario.find import is_file
from dvsim.scenario.spec import Spec
from dvsim.study.execute import Executor, simulate
from dvsim.study.folder import keep_many
from dvsim.study.point_numbers import PointNumbers
from dvsim.study.store import contents_of, first_of, folder_of, joined
from dvsim.study.sweeps.trials import Outcome, PointTrial, find, one_line, pilot_of, times_of

CHUNK_S = 0.5  # of work in a chunk: what an interruption may lose, and what overheads are shared by
MOST = 64  # points of a chunk
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
    manifest: Mapping[str, Any]


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
    scenario, kind, times = trial.scenario, kind_of(trial.scenario), trial.times
    runs: list[Kept] = []

    def numbers(how: How, begun: Any = None) -> Sequence[PointNumbers]:  # noqa: ANN401 - of its kind
        first = 1 if begun is None else begun.replications + 1
        if first > how.replications:
            result = first_of(begun, how.replications)
        else:
            (result,) = simulate([scenario], replace(how, first=first), 1, False, command, {})
            result = result if begun is None else joined(begun, result)
            folder = folder_of(how, Path(), scenario).as_posix()
            runs.append(Kept(folder, contents_of(result), result.manifest))
        found: Sequence[PointNumbers] = kind.point_numbers(scenario, kind.brief(result))
        return found

    try:
        if times is None:
            assert precision is not None
            times = times_of(scenario, numbers(pilot_of(how)), precision)
        found = numbers(replace(how, replications=times), trial.begun)
        outcome = Outcome(found, times, trial.folder)
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
            size = max(1, min(size, MOST, len(waiting) // (ahead * workers)))
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
