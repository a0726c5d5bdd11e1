"""Are quick tasks done at once, and slow ones by several processes, in the same order?"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import pytest
from harness.processes import until

from dvsim.errors import RunFailed, ScenarioError
from dvsim.pool import WORKERS_VARIABLE, Workers, default_workers, lasting, pooled

SLOW = -1


def who(task):
    """Return the task's number and who did it; `SLOW` lasts until there are other processes."""
    number, seconds = task
    if seconds == SLOW:
        until(multiprocessing.active_children, "another process")
    else:
        time.sleep(seconds)
    return number, os.getpid()


def others():
    return {child.pid for child in multiprocessing.active_children()}


def test_quick_tasks_start_no_process(monkeypatch):
    monkeypatch.setattr("dvsim.pool.START_S", 200)  # quick is what is done by then
    with Workers(2) as pool:
        done = list(pool.do(who, [(number, 0) for number in range(50)]))
    assert done == [(number, os.getpid()) for number in range(50)]


def test_slow_tasks_are_shared_out_and_come_in_order():
    groups = [[(0, SLOW), (1, 0), (2, 0)], [(3, 0.1), (4, 0.1)]]
    found = [list(group) for group in pooled(who, groups, 2)]
    assert [[number for number, _ in group] for group in found] == [[0, 1, 2], [3, 4]]
    pids = [pid for group in found for _, pid in group]
    assert pids[0] == os.getpid()
    assert os.getpid() not in pids[1:]


def test_processes_last_from_one_call_to_the_next_and_end_with_the_block():
    def pids(first_s):
        groups = pooled(who, [[(0, first_s), (1, 0.1), (2, 0.1)]], 2)
        return {pid for group in groups for _, pid in group}

    with lasting():
        first, there = pids(SLOW), others()
        assert os.getpid() in first and there
        second = pids(0.1)
        assert there <= others()
        assert second <= others()
    assert multiprocessing.active_children() == []


def test_processes_that_lasted_end_with_an_error_too():
    with pytest.raises(RunFailed), lasting():
        list(chain.from_iterable(pooled(who, [[(0, SLOW), (1, 0.1)]], 2)))
        children = multiprocessing.active_children()
        raise RunFailed("elsewhere")
    assert children

    def alive():
        others()  # this waits for those that have ended, unless a thread of the pool does
        return [child for child in children if Path(f"/proc/{child.pid}").exists()]

    until(lambda: not alive(), "an end")


def test_processes_that_cannot_be_started_are_an_error(monkeypatch):
    tried = threading.Event()

    @contextmanager
    def refused(_):
        tried.set()
        raise OSError("no more processes")
        yield

    monkeypatch.setattr(Workers, "_starting", refused)
    with Workers(2) as pool, pytest.raises(OSError, match="no more processes"):
        list(pool.do(lambda _: tried.wait(200), range(2)))


def test_results_that_nobody_wants_leave_no_thread():
    with Workers(2) as pool:
        results = pool.do(who, [(number, 0) for number in range(5)])
        assert next(results)[0] == 0
        results.close()
    assert not [one for one in threading.enumerate() if isinstance(one, threading.Timer)]


def test_workers_outlive_the_thread_that_started_them():
    with Workers(2) as pool:
        starts = threading.Thread(target=lambda: pool.begin(abs, -1).result(timeout=60))
        starts.start()
        starts.join()
        assert pool.begin(who, (2, 0.2)).result(timeout=60)[0] == 2


def test_a_variable_says_how_many_processes_work(monkeypatch):
    monkeypatch.setenv(WORKERS_VARIABLE, "3")
    assert default_workers() == 3
    monkeypatch.delenv(WORKERS_VARIABLE)
    assert default_workers() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "²"])
def test_a_variable_that_is_no_number_of_processes_is_refused(monkeypatch, text):
    monkeypatch.setenv(WORKERS_VARIABLE, text)
    with pytest.raises(ScenarioError, match=f"DVSIM_WORKERS: '{text}' is no number of processes"):
        default_workers()


def test_a_script_without_a_main_guard_is_told_so_in_one_line(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import dvsim\n"
        "try:\n"
        "    dvsim.run('h3/dv-8', messages=200_000, workers=2, replications=40)\n"
        "except dvsim.RunFailed as error:\n"
        "    print(error if error.__suppress_context__ else repr(error.__cause__))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("worker processes import the script that starts them: put its")
    assert done.stdout.count("\n") == 1


def test_no_process_is_started_once_the_workers_have_ended(monkeypatch):
    """An error in the caller ends them while they are being started."""
    begun, starting = threading.Event(), Workers._starting

    @contextmanager
    def slow(self):
        begun.set()
        time.sleep(0.7)
        with starting(self) as pool:
            yield pool

    monkeypatch.setattr(Workers, "_starting", slow)
    with Workers(2) as pool:
        results = pool.do(who, [(number, 0.5) for number in range(4)])
        next(results)
        assert begun.wait(60)
    results.close()
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("dies", [True, False], ids=["a worker died", "all live"])
def test_a_start_that_fails_is_a_death_if_a_worker_has_died(monkeypatch, dies):
    """Its pipes are closed while the next worker is given them."""

    def closed(*_):
        raise ValueError("bad value(s) in fds_to_keep")

    with Workers(2) as workers:
        assert workers.begin(abs, -1).result() == 1
        if dies:
            (child, *_) = workers._context.started
            child.kill()
            child.join()
        monkeypatch.setattr(workers._pool, "submit", closed)
        with pytest.raises(RunFailed if dies else ValueError, match="died" if dies else "fds"):
            workers.begin(abs, -1)
