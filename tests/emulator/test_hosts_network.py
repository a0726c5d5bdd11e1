"""Does what the network does between hosts change nothing but the time: loss, a rate, a cut?"""

import subprocess
import time
from contextlib import contextmanager

import namespaces
import pytest
from test_hosts import PATIENT, command, run

LOSS = "meta l4proto tcp numgen random mod 100 < {} counter drop"
CUT_S = 0.6
MOST_JOBS = 40


@pytest.mark.parametrize("name", ["exchange", "surprise", "messages"])
@pytest.mark.parametrize("percent", [1, 10])
def test_packets_are_lost(emulator, hosts, name, percent):
    """The programs look at every word that comes, and at every word that should have.

    A job of 35 packets may well lose none of a hundred: then there is another one.
    """
    with hosts.firewall(LOSS.format(percent)) as lost:
        for _ in range(MOST_JOBS):
            done = run(emulator, [*hosts.options(1, 2), *PATIENT], name)
            assert (done.returncode, done.stderr) == (0, "")
            if lost():
                break
        assert lost() > 0


@contextmanager
def slowed(hosts, rate, latency):
    """Let the first host send no faster than that."""
    limit = ["root", "tbf", "rate", rate, "burst", "32k", "latency", latency]
    hosts.on(0, "tc", "qdisc", "add", "dev", namespaces.LINK, *limit)
    try:
        yield
    finally:
        hosts.on(0, "tc", "qdisc", "del", "dev", namespaces.LINK, "root")


def test_a_slow_link(emulator, hosts):
    with slowed(hosts, "20mbit", "400ms"):
        done = run(emulator, [*hosts.options(1, 2), *PATIENT], "exchange")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_host_that_sends_much_over_a_slow_link_is_not_lost(emulator, hosts):
    """A frame of the greatest length takes 4.2 s there, in which nothing is heard of the host."""
    with slowed(hosts, "1mbit", "2s"):
        done = run(emulator, [*hosts.options(1, 1), "--host-timeout", "4s"], "bulk")
    assert (done.returncode, done.stderr) == (0, "")


def test_two_jobs_at_once_on_the_same_hosts(emulator, hosts):
    """Each host takes free ports, so two jobs never share one."""
    words = command(emulator, [*hosts.options(1, 2), *PATIENT], emulator.program("exchange"))
    jobs = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        errors = [job.communicate(timeout=200)[1] for job in jobs]
    finally:
        for job in jobs:
            job.kill()
    assert [(job.returncode, said) for job, said in zip(jobs, errors, strict=True)] == [(0, "")] * 2


@pytest.mark.parametrize("name", ["exchange", "surprise", "messages"])
def test_a_cut_that_heals(emulator, hosts, tmp_path, name):
    """All programs begin before the cut, and send their first word to the other host in it."""
    script = f'echo begun >&2; until test -e {tmp_path}/cut; do sleep 0.01; done; exec "$0"'
    job = subprocess.Popen(
        command(emulator, [*hosts.options(1, 2), *PATIENT], "/bin/sh", "-c", script,
                str(emulator.program(name))),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert [job.stderr.readline() for _ in range(3)] == ["begun\n"] * 3
        hosts.cut(off=True)
        (tmp_path / "cut").touch()
        start = time.monotonic()
        time.sleep(CUT_S)
        assert job.poll() is None
        hosts.cut(off=False)
        _, errors = job.communicate(timeout=200)
    finally:
        job.kill()
        hosts.cut(off=False)
    assert (job.returncode, errors) == (0, "")
    assert time.monotonic() - start > CUT_S
