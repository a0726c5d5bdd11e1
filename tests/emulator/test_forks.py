"""Does a child made by fork() of a program with a card end its calls, and leave its parent alone?

Before there were handlers for forks it took the locks as other threads of its parent had left them.
"""

import subprocess

import pytest
from emulator_build import SMALL
from python_job import run_python

TIMED = [*SMALL, "--mode", "timed"]
MODES = pytest.mark.parametrize("options", [SMALL, TIMED], ids=["functional", "timed"])

FORKS = """
import multiprocessing, os
from dvsim import vic

def child(answers, go):
    go.acquire()
    try:
        card.counter_set(0, 1)
    except vic.Closed:
        answers.put((os.getpid(), "closed"))
    os.environ.pop("VIC_JOB")  # one of its own
    with vic.open() as mine:
        mine.counter_set(0, 1)
        mine.put(dest=0, addr=1, words=[os.getpid()], counter=0)
        mine.counter_wait(0)
        answers.put((os.getpid(), int(mine.read(1, 1)[0])))

forks = multiprocessing.get_context("fork")
with vic.open() as card:
    answers, go = forks.Queue(), forks.Semaphore(0)
    workers = [forks.Process(target=child, args=(answers, go)) for _ in range(2)]
    for worker in workers:
        worker.start()
        go.release()
    said = {answers.get(timeout=200) for _ in range(4)}
    for worker in workers:
        worker.join(50)
    pids = [worker.pid for worker in workers]
    assert said == {(pid, what) for pid in pids for what in ("closed", pid)}, said
    assert [worker.exitcode for worker in workers] == [0, 0]
    card.counter_set(0, 1)
    card.put(dest=0, addr=1, words=[5], counter=0)
    card.counter_wait(0)
print("good")
"""


def good(done):
    assert done.returncode == 0, done.stdout + done.stderr


@MODES
def test_the_cards_messages_and_clients_of_its_parent_are_closed_to_a_child(emulator, options):
    good(emulator.run(1, "forks", "closed", options=options))


def test_a_child_takes_no_lock_that_another_thread_of_its_parent_had(emulator):
    good(emulator.run(1, "forks", "locked", options=TIMED))


def test_the_end_of_a_childs_thread_is_no_end_of_its_parents(emulator):
    good(emulator.run(2, "forks", "ends", options=TIMED))


@pytest.mark.parametrize("how", ["opening", "workers"])
def test_a_child_has_a_loopback_card_of_its_own(emulator, how):
    """Also two at a time, and one whose parent was just opening its own."""
    program = [str(emulator.program("forks")), how]
    good(subprocess.run(program, capture_output=True, text=True, check=False, timeout=200))


@MODES
def test_processes_that_python_forks(installed, options):
    done = run_python(installed, 1, FORKS, *options)
    good(done)
    assert done.stdout == "good\n"
