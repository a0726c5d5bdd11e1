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
from test_standstill import WAITS, said
from test_stats_fd import KEYS

EXTRA = [
    "card 0 waits for counter 5 to read 0 (it reads 2)",
    "card 1 waits for counter 5 to read 0 (it reads 2)",
]


@pytest.fixture(scope="module")
def hosts(emulator):
    namespaces.need(emulator.prefix)
    with namespaces.hosts(f"looks-{os.getpid()}") as made:
        yield made


@pytest.fixture
def job_of(hosts):
    """Return what starts a program on cards of two hosts; it is ended when the test is."""
    jobs = []

    def start(emulator, cards, name, *arguments):
        words = command(
            emulator, [*hosts.options(*cards), *PATIENT], emulator.program(name), *arguments
        )
        jobs.append(
            subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()
        job.communicate()


def test_nothing_moves_on_any_host(emulator, job_of):
    """One program is elsewhere: it is killed, and the waits of all end."""
    job = job_of(emulator, (3, 4), "standstill")
    elsewhere = "card 6 waits for nothing: its program computes, or waits elsewhere"
    others = [line.format("0, 2, 3, 4, 5, 6") for line in WAITS]
    said(job, "standstill: for 5 s no wait has ended", [*others, elsewhere])
    os.kill(int(job.stdout.readline()), signal.SIGKILL)
    assert job.communicate()[1] == "vicrun: card 6 was killed by signal 9 (Killed)\n"
    assert job.returncode == 128 + signal.SIGKILL


def test_who_interrupts_a_deadlock_is_told_who_waits(sanitized, job_of):
    job = job_of(sanitized, (2, 4), "standstill")
    waits = [line.format("0, 2, 3, 4, 5") for line in WAITS]
    said(job, "standstill: for 5 s every program waits, and nothing is on its way", waits)
    job.send_signal(signal.SIGINT)
    said(job, "SIGINT: who waits for what", waits)
    assert job.communicate()[1] == ""
    assert job.returncode == 128 + signal.SIGINT


def test_waits_in_slices_stand_still(emulator, job_of):
    job = job_of(emulator, (1, 1), "idle", "slices")
    said(job, "standstill: for 5 s every program waits, and nothing is on its way", EXTRA)


def test_servers_that_nobody_needs_are_no_standstill(emulator, job_of):
    job = job_of(emulator, (2, 2), "idle", "server")
    elsewhere = int(job.stdout.readline())
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(timeout=9)  # the first report comes after 6 s
    os.kill(elsewhere, signal.SIGKILL)
    assert job.communicate()[1] == "vicrun: card 3 was killed by signal 9 (Killed)\n"


def test_a_host_that_does_not_answer_is_named(emulator, hosts, job_of):
    """Its vichost is stopped when the signal comes: the others' waits are told all the same."""
    job = job_of(emulator, (1, 1), "idle", "slices")
    said(job, "standstill: for 5 s every program waits, and nothing is on its way", EXTRA)
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
    return Path(f"/proc/{pid}/comm").read_text("utf-8")


@pytest.mark.parametrize("mode", [(), ("--mode", "timed")])
def test_the_last_lines_of_statistics_are_of_all_hosts(emulator, hosts, mode):
    """And the table of --stats is one, in the order of the cards."""
    ours, theirs = os.pipe()
    options = [*hosts.options(1, 2), *PATIENT, *mode, "--stats", "--stats-fd", str(theirs)]
    words = command(emulator, options, emulator.program("surprise"))
    job = subprocess.Popen(words, pass_fds=[theirs], stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    with os.fdopen(ours) as stream:
        told = [json.loads(line) for line in stream]
    errors = job.communicate(timeout=60)[1]
    assert job.returncode == 0, errors
    assert all(one.keys() == KEYS and one["cards"] == 3 for one in told)
    last = told[-3:]
    assert [one["card"] for one in last] == [0, 1, 2]
    assert [one["words"] for one in last] == [6000] * 3
    assert {one["state"] for one in last} == {"ended"}
    assert all(one["fifo"] == 0 for one in last)
    assert [one["at_ns"] for one in told] == sorted(one["at_ns"] for one in told)
    table = re.findall(r"vicrun: +(\d) +\d+ +(\d+) ", errors)
    assert table == [(str(card), "6000") for card in range(3)]
    assert errors.count("words sent") == 1


def test_words_that_wait_in_a_fifo_of_another_host_are_seen(emulator, hosts):
    """While they do: the job ends when its input does, which is ours here."""
    ours, theirs = os.pipe()
    options = [*hosts.options(1, 1), *PATIENT, "--stats-fd", str(theirs)]
    words = command(emulator, options, emulator.program("waiting"))
    job = subprocess.Popen(words, pass_fds=[theirs])
    os.close(theirs)
    with os.fdopen(ours) as stream:
        told = [json.loads(line) for line in stream]
    assert job.wait(60) == 0
    assert told[-1]["card"] == 1 and told[-1]["fifo"] == 0 and told[-1]["fifo_peak"] == 5


def test_a_descriptor_that_is_not_open_is_refused(emulator, hosts):
    done = run(emulator, [*hosts.options(1, 1), "--stats-fd", "77"], "surprise")
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2, "vicrun: --stats-fd: '77' is not an open file descriptor",
    )  # fmt: skip
