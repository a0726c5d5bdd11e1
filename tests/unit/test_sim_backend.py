"""Are the tables the same for any number of workers, and are failures passed on?"""

import itertools
import multiprocessing
import os
import signal
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from harness.processes import until

from dvsim.contract.find import kind_of
from dvsim.contract.kind import How, Job
from dvsim.contract.load import load
from dvsim.core.probe import Iteration, Record
from dvsim.errors import RunFailed
from dvsim.kinds import study
from dvsim.kinds.rabbitmq import rows
from dvsim.pool import Workers

SCENARIOS = [
    load("h3/dv-2048", ["workload.messages=40_000"]),
    load("h3/fdr-8192", ["workload.messages=200_000"]),
]


def simulate(scenarios, seed=1, replications=10, workers=1):
    """Yield the results of scenarios."""
    job = Job(How("0.2.0", seed, replications), workers, False, "", {})
    return kind_of(scenarios[0]).made(scenarios, job)


def tables(workers):
    return list(simulate(SCENARIOS, seed=3, replications=2, workers=workers))


def test_any_number_of_workers_gives_the_same_tables():
    for one, together in zip(tables(1), tables(3), strict=True):
        pd.testing.assert_frame_equal(one.sides["samples"], together.sides["samples"])
        pd.testing.assert_frame_equal(one.values, together.values)
        assert sorted(one.sides["samples"]["replication"].unique()) == [1, 2]


def too_small_for_a_message():
    """Make a scenario that `load` would refuse."""
    scenario = load("h3/dv-131072", ["workload.messages=10"])
    parameters = dict(scenario.system.card.parameters)
    parameters["sram"] = replace(parameters["sram"], value=1024)
    card = replace(scenario.system.card, parameters=parameters)
    return replace(scenario, system=replace(scenario.system, card=card))


def test_a_parameter_that_the_core_refuses_fails_the_run_by_name():
    small = too_small_for_a_message()
    with pytest.raises(RunFailed, match="h3/dv-131072: the card cannot receive messages of 131"):
        next(simulate([small], replications=1))


def test_a_failure_in_a_worker_process_arrives_here():
    small = too_small_for_a_message()
    with pytest.raises(RunFailed, match="larger than its SRAM"):
        next(simulate([small], replications=2, workers=2))


def test_a_worker_that_is_killed_fails_the_run(monkeypatch):
    def kill_all(*_):
        for child in multiprocessing.active_children():
            child.kill()

    monkeypatch.setattr(study.Progress, "done", kill_all)
    with pytest.raises(RunFailed, match="a worker process died; is there enough memory"):
        list(simulate(SCENARIOS, replications=1000, workers=2))


def die_with_the_lock_of_results(go):
    """Be killed as soon as the result is sent, by when nobody else can send one."""
    frame = sys._getframe()
    while frame.f_code.co_name != "_process_worker":
        frame = frame.f_back
    results = frame.f_locals["result_queue"]
    send = results.put

    def send_and_die(result):
        send(result)
        results._wlock.acquire()
        os.kill(os.getpid(), signal.SIGKILL)

    results.put = send_and_die
    while not go.exists():
        time.sleep(0.01)


def test_a_worker_that_is_killed_when_all_is_done_stops_nobody(tmp_path):
    with Workers(2) as pool:
        last = pool.begin(die_with_the_lock_of_results, tmp_path / "go")
        assert pool.begin(abs, -1).result(timeout=60) == 1  # so there is another process
        (tmp_path / "go").touch()
        last.result(timeout=60)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OverflowError("int too large"), "h3/dv-2048: a time or a count is too large for 64 bits"),
        (MemoryError(), "h3/dv-2048: an iteration has more samples than fit into memory"),
    ],
)
def test_a_run_that_grows_too_large_fails_by_name(monkeypatch, error, message):
    def grow(*_):
        raise error

    monkeypatch.setattr(rows, "run_iteration", grow)
    with pytest.raises(RunFailed, match=message):
        next(simulate(SCENARIOS))


def test_counts_beyond_32_bits_are_kept(monkeypatch):
    many = 3 * 2**31
    record = Record(*(np.array([value]) for value in (0, 1, many, many)))
    monkeypatch.setattr(rows, "run_iteration", lambda *_: Iteration({300: record}, []))
    samples = next(simulate(SCENARIOS, replications=1)).sides["samples"]
    assert samples[["receiver", "pieces", "messages"]].iloc[0].tolist() == [300, many, many]


def test_the_work_of_all_tasks_is_added_up(monkeypatch):
    clock = itertools.count(0, 2.5)
    record = Record(*(np.array([value]) for value in (0, 1, 1, 1)))
    monkeypatch.setattr(rows, "run_iteration", lambda *_: Iteration({1: record}, []))
    monkeypatch.setattr(study.time, "perf_counter", lambda: next(clock))
    assert next(simulate(SCENARIOS, replications=2)).manifest.wall_s == 2 * 2.5


def wait_for_workers(*_):
    deadline = time.monotonic() + 60
    while not multiprocessing.active_children():
        assert time.monotonic() < deadline, "no worker process was started"
        time.sleep(0.01)


def test_closing_ends_the_worker_processes(monkeypatch):
    monkeypatch.setattr(study.Progress, "done", wait_for_workers)
    running = simulate(SCENARIOS, replications=2, workers=2)
    next(running)
    running.close()
    until(lambda: not multiprocessing.active_children(), "the end of the processes")


def test_only_its_own_worker_processes_are_ended():
    """A script that calls dvsim may have other processes, and other sweeps in other threads."""
    of_the_script = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
    of_the_script.start()
    try:
        with Workers(2) as another:
            assert another.begin(abs, -1).result(timeout=60) == 1
            with Workers(2) as pool:
                assert pool.begin(abs, -2).result(timeout=60) == 2
            of_the_script.join(timeout=0.5)
            assert of_the_script.is_alive()
            assert another.begin(abs, -3).result(timeout=60) == 3
    finally:
        of_the_script.kill()
        of_the_script.join()


def test_a_worker_that_cannot_be_started_leaves_nothing_to_end(monkeypatch):
    def refuse(_):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refuse)
    with pytest.raises(BlockingIOError), Workers(2) as pool:
        pool.begin(abs, -1)
