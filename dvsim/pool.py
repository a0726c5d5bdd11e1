"""Tasks on all cores: the same results in the same order for any number of processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from multiprocessing.connection import wait
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from dvsim.errors import RunFailed, ScenarioError

WORKERS_VARIABLE = "DVSIM_WORKERS"

START_S = 0.3
"""For so long tasks are done in the process that asks for them, before others are started."""

DIED = "a worker process died; is there enough memory?"

UNGUARDED = (
    "worker processes import the script that starts them: put its calls of dvsim below "
    "`if __name__ == '__main__':`, or say workers=1"
)
ENDED_S = 5.0
"""Within which all workers have ended once one has died."""

EXIT_UNGUARDED = 86
"""How a worker ends that would start workers because it imports the script."""

Task = TypeVar("Task")
Done = TypeVar("Done")


class _Spawning(SpawnContext):
    def __init__(self) -> None:
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **how: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: ANN401, N802 - as there
        self.started.append(SpawnProcess(*args, **how))
        return self.started[-1]


def default_workers() -> int:
    """Return how many processes work if nobody says: DVSIM_WORKERS, or one per usable core.

    Under taskset a process may use fewer cores than there are.
    """
    text = os.environ.get(WORKERS_VARIABLE)
    if not text:
        return len(os.sched_getaffinity(0))
    if not (text.isdecimal() and int(text) > 0):
        raise ScenarioError.at(WORKERS_VARIABLE, f"{text!r} is no number of processes")
    return int(text)


SEMAPHORES = (
    "Several processes need 64 KiB there for their semaphores: free or mount it (of a container, "
    "make its shared memory larger), or take one process (DVSIM_WORKERS=1)"
)

_LASTING: ContextVar[tuple[ExitStack, dict[int, Workers]] | None] = ContextVar(
    "lasting", default=None
)
"""Within `lasting`: the processes by their number, and what ends them."""


class Workers:
    """Processes that do tasks; they are started when there is something to do.

    Args:
        workers: Processes; 1 works in this one.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._timer: threading.Timer | None = None
        self._ended = False
        self._context = _Spawning()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """End the processes at once: what is wanted of them has been taken, or nobody wants it.

        They are not asked to end: one that was killed may have had a lock of the pool, and the
        others would wait for that for ever.
        """
        self._ended = True
        self._end_timer()  # else it might start processes after those are ended
        if self._pool is None:
            return
        for child in self._context.started:
            if child.pid is not None:  # else it could not be started
                child.terminate()
        self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def do(self, work: Callable[[Task], Done], tasks: Iterable[Task]) -> Iterator[Done]:
        """Begin tasks and return their results, in order, as they are asked for.

        What is done within `START_S` is done in this process, unless others have been started: that
        takes longer.

        Args:
            work: What is done with a task; a function of a module, which depends on nothing else.
            tasks: What it is done with.
        """
        if self._workers <= 1:
            return map(work, tasks)
        _end_if_importing()
        return self._soon(work, deque(tasks))

    def _soon(self, work: Callable[[Task], Done], tasks: deque[Task]) -> Iterator[Done]:
        lock, futures, failed = threading.Lock(), deque[Future[Done]](), list[BaseException]()

        def start() -> None:
            with lock:
                try:
                    with self._starting() as pool:
                        while tasks and not self._ended:
                            futures.append(pool.submit(work, tasks[0]))
                            tasks.popleft()
                except BaseException as error:
                    failed.append(error)  # to be raised where a result is taken

        if self._pool is None:
            self._timer = threading.Timer(START_S, start)
            self._timer.start()
        else:
            start()
        try:
            while True:
                with lock:
                    if failed:
                        raise failed[0]
                    if futures or not tasks:
                        break
                    task = tasks.popleft()
                yield work(task)
        finally:
            self._end_timer()
        with self._surviving():
            while futures:  # each is freed when the next is asked for
                yield futures.popleft().result()

    def _end_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()

    def begin(self, work: Callable[[Task], Done], task: Task) -> Future[Done]:
        """Begin one task in another process and return its result to come; otherwise as `do`."""
        _end_if_importing()
        with self._starting() as pool:
            return pool.submit(work, task)

    @contextmanager
    def _starting(self) -> Iterator[ProcessPoolExecutor]:
        if self._pool is None:
            try:
                self._pool = ProcessPoolExecutor(
                    self._workers,
                    mp_context=self._context,
                    initializer=_start_worker,
                )
            except (OSError, ImportError) as error:  # of a semaphore
                why = error.strerror if isinstance(error, OSError) else error
                raise RunFailed(f"'/dev/shm': {why}. {SEMAPHORES}") from error
        # the first tasks start the processes, which inherit this mask: Ctrl-C is the parent's
        # alone from their first instruction on, and is delivered here as soon as they are started
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            with self._surviving():
                yield self._pool
        except (OSError, ValueError) as error:  # pipes are closed under it if a worker has died
            if any(map(_has_died, self._context.started)):
                raise RunFailed(DIED) from error
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @contextmanager
    def _surviving(self) -> Iterator[None]:
        try:
            yield
        except BrokenProcessPool as error:
            if self._unguarded():
                raise RunFailed(UNGUARDED) from None  # how the pool broke tells nothing more
            raise RunFailed(DIED) from error

    def _unguarded(self) -> bool:
        children = [child for child in self._context.started if child.pid is not None]
        end = time.monotonic() + ENDED_S
        while time.monotonic() < end:
            ends = [child.exitcode for child in children]
            if None not in ends:
                break
            time.sleep(0.01)  # the pool's own thread is about to end them
        return EXIT_UNGUARDED in [child.exitcode for child in children]


def _has_died(child: BaseProcess) -> bool:
    if child.pid is None:
        return False
    code = child.exitcode  # None, too, while another thread is asking for it
    return bool(wait([child.sentinel], 0)) if code is None else code != 0


@contextmanager
def lasting() -> Iterator[None]:
    """Let the calls of `pooled` in this block share processes, which end with it."""
    with ExitStack() as stack:
        token = _LASTING.set((stack, {}))
        stack.callback(_LASTING.reset, token)
        yield


@contextmanager
def _workers(number: int) -> Iterator[Workers]:
    shared = _LASTING.get()
    if shared is None or number == 1:
        with Workers(number) as pool:
            yield pool
        return
    stack, pools = shared
    if number not in pools:
        pools[number] = stack.enter_context(Workers(number))
    yield pools[number]


def pooled(
    work: Callable[[Task], Done], groups: Sequence[Sequence[Task]], workers: int
) -> Generator[Iterator[Done], None, None]:
    """Do groups of tasks and yield for each group the results of its tasks, all in order.

    The results of a group must be taken before the next group is asked for. Closing the generator
    ends its worker processes. Otherwise as `Workers.do`.
    """
    tasks = list(chain.from_iterable(groups))
    with _workers(workers if len(tasks) > 1 else 1) as pool:
        results = pool.do(work, tasks)
        for group in groups:
            yield islice(results, len(group))


def _end_if_importing() -> None:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(EXIT_UNGUARDED)


def _start_worker() -> None:
    """End this worker when the process that started it ends, however that ends.

    Linux's PR_SET_PDEATHSIG would end it together with the thread that started it.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
