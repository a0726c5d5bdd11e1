"""Whoever dies, wherever in a call, whoever started it: do the promises of vic.h hold?

A process dies at each of the first steps of a call (programs/deaths.c). DEATHS=all takes more of
them. Afterwards no process is left; the memory of a job has no name that could be.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from builds import stepping
from emulator_build import SMALL
from harness.patience import patience
from harness.processes import until
from test_death import DIED, ENDED, gone

ALL = os.environ.get("DEATHS") == "all"
WHERE = ("put", "send", "get", "fifo", "barrier", "wait", "message", "team", "open", "close")
MODES = {
    "functional": ("-n", "3"),
    "timed": ("-n", "3", "--mode", "timed"),
    "hosts": ("--hosts", "localhost:2,127.0.0.1:1", "--launch-with", "env NAME={host}",
              "--host-timeout", "20s"),
}  # fmt: skip
PYTHON = "import subprocess, sys; subprocess.run(sys.argv[1:], close_fds=False)"
POOL = (
    "import multiprocessing, os, sys; pool = multiprocessing.get_context('fork').Pool(1); "
    "worker = multiprocessing.active_children()[0]; "
    "pool.apply_async(os.execv, (sys.argv[1], sys.argv[1:])); worker.join(); pool.terminate()"
)
STARTERS = {
    "a shell": 'sh -c \'"$@"; true\' sh "$@"; true',
    "a shell that has more to do": '"$@"; sleep 3; exit 0',
    "its own session": 'setsid -w "$@"; true',
    "a loop that gives up": 'for try in 1; do "$@"; done; true',
    "a background job": '"$@" & wait; exit 0',
    "a pool": f'{sys.executable} -c "{POOL}" "$@"',
    "python": f'{sys.executable} -c "{PYTHON}" "$@"',
}
"""Who starts the program of a card, and ends with exit code 0 whatever becomes of it."""
STEPS = (1, 2, 3, 5, 8, 13, 1000) if ALL else (2, 1000)


@pytest.fixture(scope="module")
def steps(emulator):
    """Return the emulator whose calls count their steps."""
    return stepping()


def run(steps, mode, *command, options=()):
    """Run programs in a mode; none of their processes may be left."""
    vicrun = [str(steps.prefix / "bin" / "vicrun"), *SMALL, *MODES[mode], *options, "--"]
    mark = f"DEATHS_MARK={os.getpid()}-{time.monotonic_ns()}"
    done = subprocess.run(
        [*vicrun, *map(str, command)], capture_output=True, text=True, check=False,
        timeout=patience(100), env={**os.environ, **dict([mark.split("=")])},
    )  # fmt: skip
    assert gone(mark, "environ")
    return done


def need(steps, mode):
    if mode == "hosts" and not (steps.prefix / "bin" / "vichost").exists():
        pytest.skip("needs libfabric")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", WHERE)
def test_what_its_dead_predecessors_left_keeps_nobody_from_anything(steps, mode, where):
    need(steps, mode)
    lives = 60 if ALL else 6 if mode == "hosts" else 20
    done = run(steps, mode, steps.program("deaths"), "again", where, lives)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", WHERE)
def test_waits_end_when_the_program_dies(steps, mode, where):
    need(steps, mode)
    for step in STEPS:
        done = run(steps, mode, steps.program("deaths"), "once", where, step)
        assert (done.returncode, "FAILED" in done.stderr) == (128 + signal.SIGKILL, False), step


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("starter", STARTERS)
def test_a_death_counts_whoever_started_the_process(steps, mode, starter):
    need(steps, mode)
    open_card = [where for where in WHERE if where != "close"]  # else it is nobody's death
    for where in open_card if ALL else ("put", "open"):
        script = f'test $VIC_CARD = 1 || exec "$@"; {STARTERS[starter]}'
        program = [steps.program("deaths"), "once", where, 1000]
        done = run(steps, mode, "sh", "-c", script, "sh", *program)
        assert (done.returncode != 0, "FAILED" in done.stderr) == (True, False), done.stderr


@pytest.mark.parametrize("code", [0, 4])
def test_an_exit_code_counts_behind_a_shell_too(steps, code):
    """If the card is open; with exit code 0 the program has ended well."""
    script = 'test $VIC_CARD = 1 || exec "$@"; "$@"; true'
    done = run(steps, "functional", "sh", "-c", script, "sh", steps.program("deaths"), "exit", code)
    assert (done.returncode, "FAILED" in done.stderr) == (4 if code else 1, code == 0)


@pytest.mark.parametrize(("policy", "lives"), [("leave", 1), ("restart:3", 3)])
def test_the_others_go_on_if_they_shall(steps, policy, lives):
    """With restart the program of the card is started again, its shell and all."""
    script = 'test $VIC_CARD = 1 || exec true; "$@"; true'
    program = [steps.program("deaths"), "once", "put", 1000]
    options = ["--if-killed", policy]
    done = run(steps, "functional", "sh", "-c", script, "sh", *program, options=options)
    assert (done.returncode != 0, done.stderr.count("Killed")) == (True, lives)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", WHERE)
def test_a_program_that_replaces_itself_opens_its_card_again(steps, mode, where):
    need(steps, mode)
    for us in (0, 500, 5000):
        done = run(steps, mode, steps.program("deaths"), "exec", where, us)
        assert (done.returncode, "FAILED" in done.stderr) == (0, False), done.stderr


@pytest.mark.parametrize("mode", MODES)
def test_a_process_lives_without_its_first_thread(steps, mode):
    """Its state in /proc is that of a zombie."""
    need(steps, mode)
    done = run(steps, mode, steps.program("deaths"), "thread")
    assert (done.returncode, done.stderr) == (0, "")


def looks(said):
    return said.exists() and said.read_text() == "looks\n"


VICTIMS = {"launcher": ENDED, "agent": DIED, "shell": DIED}
"""Who is killed, and what cards say then that had nothing to do with it."""
BETWEEN = "echo $$ >{1}/shell.$VIC_CARD; {0} shortly >{1}/said.$VIC_CARD & wait; true"


@pytest.mark.parametrize(
    ("victim", "mode"),
    [
        (victim, mode)
        for victim in VICTIMS
        for mode in MODES
        if victim != "agent" or mode == "hosts"
    ],
)
def test_waits_end_when_somebody_above_the_program_dies(steps, victim, mode, tmp_path):
    """Of card 2, whose program goes on behind a shell if nobody ends it; nothing is left."""
    need(steps, mode)
    (room := tmp_path / "room").mkdir()
    mark = f"DEATHS_MARK={os.getpid()}-{time.monotonic_ns()}"
    env = {**os.environ, "TMPDIR": str(room), **dict([mark.split("=")])}
    vicrun = [str(steps.prefix / "bin" / "vicrun"), *SMALL, *MODES[mode], "--"]
    script = BETWEEN.format(steps.program("looker"), tmp_path)
    said = [tmp_path / f"said.{card}" for card in range(3)]
    with subprocess.Popen([*vicrun, "sh", "-c", script], env=env, stderr=subprocess.PIPE) as job:
        try:
            until(lambda: all(map(looks, said)), "cards", 30)
            shell = (tmp_path / "shell.2").read_text()
            above = Path(f"/proc/{int(shell)}/stat").read_text().rsplit(")", 1)[1].split()[1]
            os.kill(
                int({"launcher": job.pid, "agent": above, "shell": shell}[victim]), signal.SIGKILL
            )
            job.communicate(timeout=patience(100))
        finally:
            job.kill()
    code = {"launcher": -signal.SIGKILL, "shell": 128 + signal.SIGKILL}
    assert job.returncode == code.get(victim, job.returncode) != 0
    assert gone(mark, "environ")
    assert [one.read_text() for one in said[:2]] == [
        f"looks\n{VICTIMS[victim]}\n{VICTIMS[victim]}\n"
    ] * 2
    assert list(room.iterdir()) == []


@pytest.mark.parametrize("far", ["localhost:2", "127.0.0.1:1", "both"])
def test_what_ends_with_the_launcher_has_not_died(steps, far, tmp_path):
    """A far agent is not killed with it, as behind ssh, but finds that it has hung up."""
    need(steps, "hosts")
    reach, mark = tmp_path / "reach", f"DEATHS_MARK={os.getpid()}-{time.monotonic_ns()}"
    near = {"localhost:2": "127.0.0.1", "127.0.0.1:1": "localhost"}.get(far, "none")
    reach.write_text(
        f'#!/bin/sh\nhost=$1\nshift\ntest $host = {near} || far="setsid -fw"\nexec $far "$@"\n'
    )
    reach.chmod(0o755)
    options = [*MODES["hosts"][:2], "--launch-with", f"{reach} {{host}}"]
    vicrun = [steps.prefix / "bin" / "vicrun", *SMALL, *options, "--"]
    said = [tmp_path / f"said.{card}" for card in range(3)]
    script = "trap '' TERM; " + BETWEEN.format(steps.program("looker"), tmp_path)
    env = {**os.environ, **dict([mark.split("=")])}
    with subprocess.Popen([*vicrun, "sh", "-c", script], env=env) as job:
        try:
            until(lambda: all(map(looks, said)), "cards", 30)
        finally:
            job.kill()
    assert gone(mark, "environ")
    assert {line for one in said for line in one.read_text().splitlines()} == {"looks", ENDED}


def test_who_is_not_waited_for_is_dead(steps):
    """The supervisor starts the next process before it asks what became of the last one."""
    program = steps.program("deaths")
    lives = f"VIC_CARD=1 {program} once put 1000 & sleep 0.3; exec {program} thread"
    script = f"test $VIC_CARD = 1 || exec {program} thread; {lives}"
    done = run(steps, "functional", "sh", "-c", script)
    assert (done.returncode, done.stderr) == (0, "")


def test_processes_in_namespaces_of_their_own_have_the_same_number(steps):
    """Each life of a card in a new PID namespace, in which it is process 1 or 2."""
    if subprocess.run(["unshare", "-pf", "true"], check=False).returncode != 0:
        pytest.skip("needs to make PID namespaces")
    program = steps.program("deaths")
    life = f"unshare -pf --mount-proc {program}"
    script = f"test $VIC_CARD = 1 || exec {life} thread; {life} once send 20; exec {life} thread"
    done = run(steps, "functional", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    for _ in range(8):  # the launcher may look at any moment of an opening
        done = run(steps, "functional", "sh", "-c", f"{life} once put 1000; true")
        assert (done.returncode != 0, "FAILED" in done.stderr) == (True, False)
