"""Waits in Python: other threads run, ctrl-C and closing end them, time is model time."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from python_job import run_python

from dvsim import vic


def test_a_wait_lets_other_threads_run(card):
    card.counter_set(0, 1)
    waiter = threading.Thread(target=card.counter_wait, args=(0,))
    waiter.start()
    card.put(0, 0, 1, 0)  # this thread could not if the other held the interpreter
    waiter.join(timeout=200)
    assert not waiter.is_alive()


def test_closing_ends_a_wait_of_another_thread(card):
    card.counter_set(0, 1)
    ended = []

    def wait():
        try:
            card.counter_wait(0)
        except vic.Closed as error:
            ended.append(error)

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(0.02)
    card.close()
    waiter.join(timeout=200)
    assert len(ended) == 1


WAITING = """
import os
from dvsim import vic
card = vic.open()
card.counter_set(0, 1)
try:
    os.write(1, b"waits\\n")
    {wait}
except KeyboardInterrupt:
    os.write(1, b"interrupted %d\\n" % card.counter_get(0))
    raise SystemExit(7)
"""


@pytest.mark.parametrize(
    "wait", ["card.counter_wait(0)", "card.fifo_wait(1, 1)", "card.counter_wait(0, 10**12)"]
)
def test_ctrl_c_ends_a_wait(installed, wait):
    command = [sys.executable, "-c", WAITING.format(wait=wait)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "waits\n"
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=200)
    assert out == "interrupted 1\n"  # and the card goes on
    assert child.returncode == 7


def test_timed_waits_are_of_model_time(installed):
    code = """
from dvsim import vic
with vic.open() as card:
    card.counter_set(0, 1)
    start = card.time_ns()
    try:
        card.counter_wait(0, 300_000_000)
    except vic.TimedOut:
        print(card.time_ns() - start)
    card.barrier()
"""
    done = run_python(installed, 2, code, "--mode", "timed", "--prefix")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == sorted(["[0]", "[1]", *["300000000"] * 2])


def test_python_threads_are_in_model_time(installed):
    """What they wait for, locks, events, sleep, joins: three runs are the same to the byte."""
    code = """
import queue, threading, time
from dvsim import vic
with vic.open() as card:
    start = card.time_ns()
    lock, ready, out = threading.Lock(), threading.Event(), queue.Queue()

    def work(number):
        with lock:
            card.compute_ns(10_000)
        time.sleep(0.001)
        ready.wait()
        out.put((number, card.time_ns() - start))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    ready.set()
    for thread in threads:
        thread.join()
    print([out.get() for _ in threads], card.time_ns() - start)
    card.barrier()
"""
    runs = [
        run_python(installed, 2, code, "--mode", "timed", "--stats", "--prefix") for _ in range(3)
    ]
    assert all(done.returncode == 0 for done in runs), runs
    assert not any("slept outside" in done.stderr for done in runs)
    assert len({tuple(sorted(done.stdout.splitlines())) for done in runs}) == 1
    assert len({done.stderr.split("trace hash ")[1].split()[0] for done in runs}) == 1
    times = [int(text) for text in re.findall(r"\d{6,}", runs[0].stdout)]
    assert all(500_000_000 <= time <= 500_001_000 for time in times)
    assert len(times) == 2 * 4


def test_a_timed_deadlock_is_told(installed):
    code = """
from dvsim import vic
with vic.open() as card:
    card.counter_set(0, 1)
    card.counter_wait(0)
"""
    done = run_python(installed, 2, code, "--mode", "timed")
    assert done.returncode == 1
    assert "deadlock at" in done.stderr
    assert done.stderr.count("PeerDied") == 2
    assert done.stderr.count("; deadlock: every program waits, and nothing is on its way") == 2


def test_ctrl_c_ends_a_timed_wait_with_its_peer(installed):
    command = [str(installed.prefix / "bin" / "vicrun"), "-n", "2", "--mode", "timed", "--"]
    code = WAITING.format(
        wait="exec('while True: pass') if card.query_attr().card else card.counter_wait(0)"
    )
    with subprocess.Popen(
        [*command, sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    ) as job:
        assert [job.stdout.readline() for _ in range(2)] == ["waits\n"] * 2
        time.sleep(0.1)
        job.send_signal(signal.SIGINT)
        job.communicate(timeout=200)
    assert job.returncode == 7


def test_ctrl_c_ends_a_barrier_of_a_job(installed):
    command = [str(installed.prefix / "bin" / "vicrun"), "-n", "2", "--", sys.executable, "-c"]
    code = WAITING.format(wait="card.barrier() if card.query_attr().card else card.counter_wait(0)")
    with subprocess.Popen([*command, code], stdout=subprocess.PIPE, text=True) as job:
        assert [job.stdout.readline() for _ in range(2)] == ["waits\n"] * 2
        time.sleep(0.1)
        job.send_signal(signal.SIGINT)
        out, _ = job.communicate(timeout=200)
    assert out == "interrupted 1\n" * 2
    assert job.returncode == 7
