"""Does all output of several hosts arrive, however slowly it is read, and does each job end?"""

import contextlib
import fcntl
import os
import signal
import subprocess
import time

import pytest
from emulator_build import SMALL
from harness.patience import patience
from harness.processes import children, until
from test_stalled_reader import PAGE, SET_SIZE, stalled

PATIENT = ("--host-timeout", "20s")


@contextlib.contextmanager
def started(emulator, hosts, *program):
    """Yield a job on two hosts; its output is a short pipe that nobody reads yet."""
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    output, write = os.pipe()
    fcntl.fcntl(output, SET_SIZE, PAGE)
    with (
        subprocess.Popen(
            [vicrun, *SMALL, *hosts.options(1, 1), *PATIENT, "--", *program],
            stdout=write, stderr=subprocess.PIPE, text=True,
        ) as job,
        os.fdopen(output) as job.stdout,
    ):  # fmt: skip
        os.close(write)
        try:
            yield job
        finally:
            job.kill()


def counted(last):
    """Return what ``seq`` writes. Without --prefix lines of two hosts may be cut by each other."""
    return "".join(f"{number}\n" for number in range(1, last + 1))


def test_a_signal_ends_the_job_though_nobody_reads(emulator, hosts):
    with started(emulator, hosts, "yes") as job:
        stalled(job)
        job.send_signal(signal.SIGTERM)
        assert job.wait(60) == 128 + signal.SIGTERM
        told = "vicrun: --hosts: output of the programs was lost: nobody reads it\n"
        assert job.stderr.read().endswith(told)


def test_hosts_end_though_nobody_reads_and_all_that_was_written_comes(emulator, hosts):
    """It is more than fits into the pipe, and too little to stop programs."""
    with started(emulator, hosts, "seq", "10000") as job:
        stalled(job)
        until(lambda: not children(job.pid), "the end of what started the hosts", 60)
        assert job.poll() is None
        said, errors = job.communicate(timeout=200)
    assert (job.returncode, errors) == (0, "")
    assert sorted(said) == sorted(2 * counted(10000))


def test_programs_that_write_much_wait_and_lose_nothing(emulator, hosts):
    with started(emulator, hosts, "seq", "100000") as job:
        stalled(job)
        assert children(job.pid)
        said, errors = job.communicate(timeout=200)
    assert (job.returncode, errors) == (0, "")
    assert sorted(said) == sorted(2 * counted(100000))


def test_launch_commands_that_do_not_end_are_killed_together(emulator, tmp_path):
    """Each has a second, and none has to wait for the second of another."""
    if not (emulator.prefix / "bin" / "vichost").exists():
        pytest.skip("needs libfabric (tests/install-packages)")
    script, names = tmp_path / "lingers", "abcde"
    script.write_text('#!/bin/sh\nshift\n"$@"\nexec sleep 1000 >&- 2>&-\n')
    script.chmod(0o755)
    hosts = ["--hosts", ",".join(f"{name}:1" for name in names), "--interface", "lo"]
    vicrun = [str(emulator.prefix / "bin" / "vicrun"), *SMALL, *hosts, *PATIENT]
    with subprocess.Popen(
        [*vicrun, "--launch-with", f"{script} {{host}}", "--", "true"],
        stderr=subprocess.PIPE, text=True,
    ) as job:  # fmt: skip
        until(lambda: len(children(job.pid)) == len(names), "the hosts", 60)
        until(lambda: len(children(job.pid)) < len(names), "one that is killed", 60)
        first = time.monotonic()
        until(lambda: not children(job.pid), "the others", 60)
        assert time.monotonic() - first < patience(2.5)
        assert (job.wait(60), job.stderr.read().count("it is killed\n")) == (1, len(names))


def test_a_launch_command_that_closes_its_output_and_does_not_end_is_killed(
    emulator, hosts, tmp_path
):
    script = tmp_path / "lingers"
    lingers = f'[ "$host" = {hosts.names[0]} ] || exit 0\nexec sleep 1000 >&- 2>&-\n'
    script.write_text(f'#!/bin/sh\nhost=$1\nshift\nip netns exec "$host" "$@"\n{lingers}')
    script.chmod(0o755)
    options = hosts.options(1, 1)
    options[options.index("--launch-with") + 1] = f"{script} {{host}}"
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    done = subprocess.run(
        [vicrun, *SMALL, *options, *PATIENT, "--", "true"],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    end = "has closed its standard output and does not end: it is killed\n"
    assert (done.returncode, done.stderr) == (
        1,
        f"vicrun: host {hosts.names[0]}: '{script} {{host}}' {end}",
    )
