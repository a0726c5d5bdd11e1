"""Who does the points: this process, processes of this machine, or a dask cluster.

All take chunks and give futures, so that the rest need not know; what comes out is the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dvsim.backends.pool import DIED, Workers
from dvsim.errors import DvsimError, Fault, RunFailed, ScenarioError
from dvsim.kinds.base import How
from dvsim.scenario.find import is_file
from dvsim.study.sweeps.asked import Asked
from dvsim.study.sweeps.work import Chunk, Done, warm, work

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_S = 0.5  # of work in a chunk: what an interruption may lose, and what overheads are shared by
MOST = 64  # points of a chunk
AHEAD = 2  # chunks that wait for each worker
REACH_S = 20  # to a scheduler


class Executor(Protocol):
    """Something that does chunks, `workers` of them at a time."""

    @property
    def workers(self) -> int:
        """How many it does at a time."""

    def submit(self, chunk: Chunk) -> Future[list[Done]]:
        """Begin a chunk."""


class Here:
    """The process itself; a chunk is done when `submit` returns."""

    workers = 1

    def submit(self, chunk: Chunk) -> Future[list[Done]]:
        """Do a chunk."""
        future: Future[list[Done]] = Future()
        future.set_result(work(chunk))  # an error is raised at once, and ends the sweep
        return future


class Processes:
    """Processes of this machine, which import dvsim while the points are still being checked."""

    def __init__(self, pool: Workers, workers: int) -> None:
        self.workers = workers
        self._pool = pool
        for _ in range(workers):
            pool.begin(warm, None)

    def submit(self, chunk: Chunk) -> Future[list[Done]]:
        """Begin a chunk."""
        return self._pool.begin(work, chunk)


class Cluster:
    """The workers of a dask scheduler; a chunk whose worker dies is done by another one."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - of a package without types
        self._client = client
        self._executor = client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        """Threads of all workers that are there now, at least one: more may come."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, chunk: Chunk) -> Future[list[Done]]:
        """Begin a chunk."""
        future: Future[list[Done]] = self._executor.submit(work, chunk)
        return future


@contextmanager
def executor(workers: int, scheduler: str | None = None) -> Generator[Executor, None, None]:
    """Give who does the points; what it started has ended afterwards.

    Parameters
    ----------
    workers
        Processes of this machine; 1 works in this one. Without meaning with a scheduler.
    scheduler
        Address of a dask scheduler, ``tcp://host:8786``, or a file that it has written.

    Raises
    ------
    ScenarioError
        If dask is not installed, or there is no such file.
    RunFailed
        If the scheduler does not answer, or a process dies.
    """
    if scheduler is not None:
        with _client(scheduler) as client:
            yield Cluster(client)
    elif workers == 1:
        yield Here()
    else:
        with Workers(workers) as pool:
            yield Processes(pool, workers)


@contextmanager
def _client(scheduler: str) -> Generator[Any, None, None]:
    try:
        from distributed import Client
    except ImportError:
        message = "needs dask.distributed: pip install 'vortexsim[cluster]'"
        raise ScenarioError([Fault("--scheduler", None, "", message)]) from None
    there = is_file(Path(scheduler))
    a_file = "://" not in scheduler and (scheduler.endswith(".json") or there)
    if a_file and not there:
        raise ScenarioError([Fault("--scheduler", None, scheduler, "no such file")])
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


def done(
    asked: Sequence[Asked],
    how: How,
    precision: float | None,
    command: str | Sequence[str],
    by: Executor,
) -> Iterator[list[Done]]:
    """Do points and yield them as they come, chunk by chunk, in any order.

    A chunk has as many points as take about `CHUNK_S`, by those that are done; near the end they
    are smaller, so that no worker is left alone with the last.

    Raises
    ------
    RunFailed
        If a worker process dies, or has other code.
    """
    waiting, running = deque(asked), set[Future[list[Done]]]()
    took_s, finished = 0.0, 0
    while waiting or running:
        workers = by.workers
        ahead = AHEAD if workers > 1 else 1
        while waiting and len(running) < ahead * workers:
            size = round(CHUNK_S * finished / took_s) if took_s else 1
            size = max(1, min(size, MOST, len(waiting) // (ahead * workers)))
            chunk = [waiting.popleft() for _ in range(size)]
            running.add(by.submit(Chunk(chunk, how, precision, command)))
        some, running = wait(running, return_when=FIRST_COMPLETED)
        for future in some:
            found = _result(future)
            finished += len(found)
            took_s += sum(one.took_s for one in found)
            yield found


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
