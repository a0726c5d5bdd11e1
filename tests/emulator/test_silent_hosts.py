"""Hosts and launchers that say nothing, or do not read: does everybody else give them up?"""

import os
import signal
import subprocess
import time
from pathlib import Path

from emulator_build import PROGRAMS, SMALL, build
from test_death import DIED, gone

WORDS = ["x" * 1000] * 200
"""More than fits into a pipe."""


def job(emulator, folder, *lines, cards, program):
    """Run a job on hosts that are this machine; a script of these lines starts vichost on each."""
    script = folder / "reach"
    script.write_text("\n".join(["#!/bin/sh", "host=$1", "shift", *lines]))
    script.chmod(0o755)
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    options = ["--hosts", cards, "--launch-with", f"{script} {{host}}", "--interface", "lo"]
    return subprocess.run(
        [vicrun, *SMALL, *options, "--", *map(str, program)],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip


def test_a_long_command_line_waits_for_no_host_that_does_not_read(emulator, tmp_path):
    program = ["sh", "-c", "echo $#", *WORDS]
    done = job(emulator, tmp_path, 'exec "$@"', cards="a:1", program=program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "199\n", "")
    done = job(emulator, tmp_path, "exec sleep 1000", cards="a:1", program=program)
    assert (done.returncode, done.stdout) == (1, "")
    assert "vicrun: host a: has not answered in 8 s" in done.stderr


def test_a_vichost_gives_up_a_vicrun_that_says_nothing(emulator):
    begun = time.monotonic()
    with subprocess.Popen(
        [emulator.prefix / "bin" / "vichost"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as host:  # fmt: skip
        try:
            assert host.wait(200) == 1
        finally:
            host.kill()
        assert time.monotonic() - begun > 19
        assert host.stderr.read().startswith("vichost: vicrun is silent: it is given up\n")


def test_a_host_that_was_never_heard_of_is_lost(emulator, tmp_path):
    """Its agent stops between the connection and its first sign of life."""
    shim = tmp_path / "mute.so"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", "-shared", "-fPIC"]
    build.compile_c([PROGRAMS / "mute_agent.c"], shim, flags)
    mark = f"mute-{os.getpid()}"
    mute = f'test "$host" = a || exec env LD_PRELOAD={shim} "$@"'
    program = [Path(emulator.program("opens")), "wait", mark]
    done = job(emulator, tmp_path, mute, 'exec "$@"', cards="a:1,b:1", program=program)
    assert (done.returncode, DIED in done.stdout) == (1, True)
    assert "host a: host b has not been heard of for 5000 ms: the job ends" in done.stderr
    assert gone(mark)


def test_a_launch_command_is_given_up_with_what_it_has_started(emulator, tmp_path):
    """The shell waits for a program that has the standard output of both."""
    done = job(emulator, tmp_path, "sleep 1000", "exit 3", cards="a:1", program=["true"])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("vicrun: host a: has not answered in 8 s")


def test_a_signal_ends_a_job_though_a_host_does_not_hear_it(emulator, tmp_path):
    """What carries the words of vicrun to the second host is stopped."""
    mark, number = f"1000.{os.getpid()}", tmp_path / "number"
    script = tmp_path / "reach"
    deaf = f"sh -c 'echo $$ >{number}; exec cat' | \"$@\""
    script.write_text(f'#!/bin/sh\nhost=$1\nshift\ntest "$host" = a && exec "$@"\n{deaf}\n')
    script.chmod(0o755)
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    options = ["--hosts", "a:1,b:1", "--launch-with", f"{script} {{host}}", "--interface", "lo"]
    program = ["sh", "-c", f"echo 0; exec sleep {mark}"]
    with subprocess.Popen(
        [vicrun, *SMALL, *options, "--host-timeout", "20s", "--", *program],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert [process.stdout.readline() for _ in range(2)] == ["0\n"] * 2
            os.kill(int(number.read_text()), signal.SIGSTOP)
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=200)
        finally:
            process.kill()
    assert process.returncode == 128 + signal.SIGTERM
    assert "host b: its vichost has not answered in 10 s after a signal: it is given up" in errors
    assert gone(mark)
