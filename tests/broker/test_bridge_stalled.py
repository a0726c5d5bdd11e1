"""vicbridge never waits for who reads what it says, nor for a broker that says nothing."""

import os
import shlex
import signal
import socket
import subprocess
import sys
import threading

import pytest
from bridge_job import Job, take

from dvsim.native import emulator_prefix

SUBSCRIBER = """
import sys
from dvsim import vic
with vic.open() as card, card.client() as client:
    for number in range(900):
        client.subscribe(2, f"no.such.queue.{number}." + "x" * 200)
    answered = 0
    while answered < 900:
        try:
            client.recv(60)
        except vic.Refused:
            answered += 1
    print("answered", answered, flush=True)
"""


@pytest.fixture
def job(tmp_path, broker, unique):
    job = Job(tmp_path, broker, unique)
    yield job
    job.close()


@pytest.mark.parametrize(
    "how", ["nobody reads it", "it is full", "its reader has gone", "it is closed"]
)
def test_nobody_reads_its_standard_error(job, connect, how):
    """Nine hundred lines of 300 bytes: the bridge goes on, and says how many are missing."""
    read, write = os.pipe()
    command = shlex.join(job.bridge("--exit-with-clients"))
    into = {"it is full": "2>/dev/full", "it is closed": "2>&-"}.get(
        how, f"2>/proc/self/fd/{write}"
    )
    if how == "its reader has gone":
        into = "2> >(exit)"
    bridge = ["bash", "-c", f"exec {command} {into}"]
    programs = [[sys.executable, "-c", SUBSCRIBER], job.publish(300, 64, bridge=2), bridge]
    command = [str(word) for word in _vicrun(programs)]
    with (job.folder / "log").open("a") as log:
        job.process = subprocess.Popen(command, stdout=log, stderr=log, pass_fds=[write])
    os.close(write)
    job.end()
    assert "answered 900" in job.log
    assert job.report()["confirmed"] == 300
    os.set_blocking(read, False)
    said = os.read(read, 1 << 20).decode() if how == "nobody reads it" else ""
    os.close(read)
    assert said.count("\n") < 900
    assert len(take(connect(job.brokers).channel(), job.name).ids) == 300


def test_who_reads_late_is_told_how_many_lines_are_missing(job):
    read, write = os.pipe()
    said = []

    def late():
        job.eventually(lambda: "answered 900" in job.log, "all answers")
        with os.fdopen(read, "rb") as pipe:
            said.append(pipe.read().decode())

    bridge = [
        "bash",
        "-c",
        f"exec {shlex.join(job.bridge('--exit-with-clients'))} 2>/proc/self/fd/{write}",
    ]
    waits = [
        "sh",
        "-c",
        f"until grep -q 'answered 900' {job.folder}/log; do sleep 0.1; done; sleep 1",
    ]
    with (job.folder / "log").open("a") as log:
        command = _vicrun([[sys.executable, "-c", SUBSCRIBER], waits, bridge])
        job.process = subprocess.Popen(command, stdout=log, stderr=log, pass_fds=[write])
    os.close(write)
    reader = threading.Thread(target=late)
    reader.start()
    job.end()
    reader.join()
    lines = said[0].splitlines()
    missing = [line for line in lines if "lines were dropped" in line]
    assert missing
    dropped = sum(int(line.split()[2]) for line in missing)
    told = sum("no.such.queue" in line for line in lines)
    assert 900 <= dropped + told <= 910  # and a few of its own
    assert all(line.startswith("vicbridge[2]: ") for line in lines)


def test_figures_into_a_fifo_that_nobody_reads(job):
    os.mkfifo(job.folder / "stats.csv")
    job.start(
        job.publish(200, 64), job.bridge("--exit-with-clients", "--stats-interval", "100us")
    ).end()
    assert job.report()["confirmed"] == 200


def test_a_signal_ends_a_login_that_is_not_answered(job):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"amqp://127.0.0.1:{silent.getsockname()[1]}"
        job.start(["sleep", "100"], job.bridge(url=url), options=["--if-killed", "leave"])
        with silent.accept()[0] as connection:
            assert connection.recv(8) == b"AMQP\0\0\t\1"
            job.kill("vicbridge", number=signal.SIGTERM)
            assert connection.recv(8) == b""  # it has hung up: the login itself waits for 10 s
            job.eventually(lambda: not job.pids("vicbridge"), "its end")
    assert "imed out" not in job.log and "timeout" not in job.log
    job.close()


def _vicrun(programs):
    words = [str(emulator_prefix() / "bin" / "vicrun"), "-n", "1"]
    for number, program in enumerate(programs):
        words += [":"] * (number > 0) + list(program)
    return words
