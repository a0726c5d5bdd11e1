"""Does a job over several hosts say who waits for what, and what cards do, as on one machine?"""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import namespaces
import pytest
from test_hosts import PATIENT, command, run
from test_standstill import (
    STANDS_STILL,
    check_idle_servers,
    check_interrupted_deadlock,
    check_one_elsewhere,
    said,
)
from test_stats_fd import check_surprise, start

EXTRA = [
    "card 0 waits for counter 5 to read 0 (it reads 2)",
    "card 1 waits for counter 5 to read 0 (it reads 2)",
]


@pytest.fixture
def job_of(hosts, start_job):
    """Return what starts a program on cards of two hosts."""

    def start(emulator, cards, name, *arguments):
        options = [*hosts.options(*cards), *PATIENT]
        return start_job(command(emulator, options, emulator.program(name), *arguments))

    return start


def test_nothing_moves_on_any_host(emulator, job_of):
    check_one_elsewhere(job_of(emulator, (3, 4), "standstill"))


def test_who_interrupts_a_deadlock_is_told_who_waits(sanitized, job_of):
    check_interrupted_deadlock(job_of(sanitized, (2, 4), "standstill"))


def test_waits_in_slices_stand_still(emulator, job_of):
    job = job_of(emulator, (1, 1), "idle", "slices")
    said(job, STANDS_STILL, EXTRA)


def test_servers_that_nobody_needs_are_no_standstill(emulator, job_of):
    check_idle_servers(job_of(emulator, (2, 2), "idle", "server"))


def test_a_host_that_does_not_answer_is_named(emulator, hosts, job_of):
    """Its vichost is stopped when the signal comes. The waits of the other host are reported."""
    job = job_of(emulator, (1, 1), "idle", "slices")
    said(job, STANDS_STILL, EXTRA)
    pids = namespaces.run("ip", "netns", "pids", hosts.names[1]).split()
    stopped = [int(pid) for pid in pids if "vichost" in name_of(pid)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    job.send_signal(signal.SIGINT)
    line = f"vicrun: host {hosts.names[1]}: has not said in 1000 ms what its cards wait for\n"
    assert job.stderr.readline() == line
    said(job, "SIGINT: who waits for what", EXTRA)
    for pid in stopped:
        os.kill(pid, signal.SIGCONT)
    assert job.communicate()[1] == ""
    assert job.returncode == 128 + signal.SIGINT


def name_of(pid):
    try:
        return Path(f"/proc/{pid}/comm").read_text("utf-8")
    except OSError:  # it has ended
        return ""


def test_the_last_lines_of_statistics_are_of_all_hosts(emulator, hosts):
    """--stats prints one table, in the order of the cards."""
    options = [*hosts.options(1, 2), *PATIENT, "--stats"]
    program = str(emulator.program("surprise"))
    job, ours = start(emulator, "--", program, options=options, stderr=subprocess.PIPE, text=True)
    with os.fdopen(ours) as stream:
        check_surprise([json.loads(line) for line in stream])
    errors = job.communicate(timeout=60)[1]
    assert job.returncode == 0, errors
    table = re.findall(r"vicrun: +(\d) +\d+ +(\d+) ", errors)
    assert table == [(str(card), "6000") for card in range(3)]
    assert errors.count("words sent") == 1


def test_words_that_wait_in_a_fifo_of_another_host_are_seen(emulator, hosts):
    """The peak says so at the end. The job ends as its standard input is empty."""
    options = [*hosts.options(1, 1), *PATIENT]
    job, ours = start(emulator, "--", str(emulator.program("waiting")), options=options)
    with os.fdopen(ours) as stream:
        told = [json.loads(line) for line in stream]
    assert job.wait(60) == 0
    assert told[-1]["card"] == 1 and told[-1]["fifo"] == 0 and told[-1]["fifo_peak"] == 5


def test_a_descriptor_that_is_not_open_is_refused(emulator, hosts):
    done = run(emulator, [*hosts.options(1, 1), "--stats-fd", "77"], "surprise")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2, "vicrun: --stats-fd: '77' is not an open file descriptor",
    )  # fmt: skip
