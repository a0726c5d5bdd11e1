"""vicrun: programs that end in odd ways, signals, terminals, and what surrounds a job."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import sys

import pytest
from emulator_build import SMALL
from test_death import gone
from test_launcher import vicrun

TIMED = ("-n", "1", *SMALL, "--mode", "timed")
COUNT = """
import signal
def tell(number, frame):
    global count
    count += number == signal.SIGINT
    print("all" if number == signal.SIGTERM else "interrupted", count, flush=True)
    if number == signal.SIGTERM:
        raise SystemExit
count = 0
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, tell)
print("ready", flush=True)
while True:
    signal.pause()
"""


def start(emulator, *words, before=(), **how):
    pipe = subprocess.PIPE
    command = [*before, str(emulator.prefix / "bin" / "vicrun"), "-n", "1", *SMALL, *words]
    streams = {"stdin": pipe, "stdout": pipe, "stderr": pipe} | how
    return subprocess.Popen(command, text=True, **streams)


def test_a_program_that_has_gone_cannot_be_started_again(emulator, tmp_path):
    program = tmp_path / "once"
    program.write_text('#!/bin/sh\nrm "$0"; exit 3\n')
    program.chmod(0o700)
    done = vicrun(emulator, "-n", "1", *SMALL, "--if-killed", "restart:2", str(program))
    assert done.returncode == 126
    assert "card 0 ended with exit code 3; it is started again" in done.stderr
    assert "card 0 ended with exit code 126, the last of 2 times in a row" in done.stderr


def test_a_signal_ends_what_would_be_started_again(emulator):
    with start(emulator, "--if-killed", "restart:0", "sh", "-c", "exit 3") as job:
        for _ in range(8):  # by then it waits most of the time
            assert "it is started again" in job.stderr.readline()
        job.terminate()
        assert job.wait(200) in (3, 128 + 15)


def test_what_ignores_a_signal_is_ended_too(emulator):
    mark = f"1{os.getpid()}.9"
    script = f"trap '' TERM; sleep {mark} & exit 0"
    assert vicrun(emulator, "-n", "1", *SMALL, "sh", "-c", script).returncode == 0
    assert gone(f"sleep {mark}")


def test_a_program_whose_shell_is_killed_is_ended_with_it(emulator, tmp_path):
    """Else it would have a card that is free."""
    mark, told = f"shell-{os.getpid()}", tmp_path / "told"
    script = f"m={mark}; {emulator.program('opens')} wait $m-mine >{told} & "
    script += f"until grep -qs '^0' {told}; do sleep 0.01; done; kill -9 $$"
    with start(emulator, "--if-killed", "leave", "cat", ":", "sh", "-c", script) as job:
        assert "card 1 was killed by signal 9 (Killed); the others go on" in job.stderr.readline()
        assert gone(f"{mark}-mine")
        assert job.poll() is None
        assert job.communicate("", timeout=200) == ("", "")
    assert job.returncode == 128 + 9


def test_a_signal_that_ends_nothing_is_passed_on(emulator):
    script = "trap 'echo one' USR1; trap 'exit 5' USR2; echo ready; while :; do sleep 0.01; done"
    with start(emulator, "sh", "-c", script) as job:
        assert job.stdout.readline() == "ready\n"
        job.send_signal(signal.SIGUSR1)
        assert job.stdout.readline() == "one\n"
        job.send_signal(signal.SIGUSR2)
        _, errors = job.communicate(timeout=200)
    assert (job.returncode, "ended with exit code 5" in errors) == (5, True)  # it is news


def test_a_signal_that_is_ignored_stays_so(emulator):
    before = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]
    with start(emulator, "sh", "-c", "echo ready; read line; exit 4", before=before) as job:
        assert job.stdout.readline() == "ready\n"
        job.send_signal(signal.SIGHUP)
        assert job.communicate("on\n", timeout=200)[0] == ""
    assert job.returncode == 4


def test_an_interrupt_at_a_terminal_comes_once(emulator):
    """To all processes there, by the terminal: vicrun does not pass it on."""
    terminal, theirs = os.openpty()
    before = ["setsid", "--ctty", "--wait"]
    program = [sys.executable, "-c", COUNT]
    with start(emulator, *program, before=before, stdin=theirs) as job:
        os.close(theirs)
        assert job.stdout.readline() == "ready\n"
        os.write(terminal, b"\x03")
        assert job.stdout.readline() == "interrupted 1\n"
        job.terminate()
        out, _ = job.communicate(timeout=200)
    os.close(terminal)
    assert (job.returncode, out) == (0, "all 1\n")


def test_whoever_ignores_that_its_children_end_can_start_vicrun(emulator):
    """The kernel would wait for the programs, and vicrun for ever."""
    with start(
        emulator, "sh", "-c", "exit 3",
        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    ) as job:  # fmt: skip
        try:
            assert job.wait(200) == 3
        finally:
            job.kill()


def test_streams_that_were_closed_are_not_the_memory_of_the_job(emulator, tmp_path):
    """What a program says there would be written over it."""
    before = ["sh", "-c", 'exec "$@" <&- >&-', "sh"]
    script = f"echo something; exec {emulator.program('opens')} 2>&1 >{tmp_path}/said"
    with start(emulator, "sh", "-c", script, before=before) as job:
        _, errors = job.communicate(timeout=200)
    assert (job.returncode, errors) == (0, "")
    assert "not the memory" not in (tmp_path / "said").read_text()


def test_who_writes_without_end_keeps_nobody_from_being_heard(emulator):
    """It writes faster than its lines get their prefix."""
    died = ["sh", "-c", "sleep 0.5; kill -9 $$"]
    output = {"stdout": subprocess.DEVNULL}
    with start(emulator, "--prefix", "yes", ":", *died, **output) as job:
        try:
            told, _, _ = select.select([job.stderr], [], [], 200)
            assert told and "card 1 was killed by signal 9" in job.stderr.readline()
            job.terminate()
            assert job.wait(200) == 128 + 9
        finally:
            job.kill()


@pytest.mark.parametrize("limit", ["-S -n 40", "-n 80"], ids=["soft", "hard"])
def test_descriptors_for_many_cards(emulator, limit):
    before = ["sh", "-c", f'ulimit {limit}; exec "$@"', "sh"]
    with start(emulator, "-n", "16", "--prefix", "echo", "x", before=before) as job:
        out, errors = job.communicate(timeout=200)
    assert (job.returncode, len(out.splitlines())) == (0, 16), errors


def test_more_cards_than_descriptors_allow_are_refused_before_anything_starts(emulator):
    """And as many as it says are enough for do start."""
    before = ["sh", "-c", 'ulimit -n 60; exec "$@"', "sh"]
    with start(emulator, "-n", "16", "--prefix", "echo", "x", before=before) as job:
        out, errors = job.communicate(timeout=200)
    assert (job.returncode, out) == (2, "")
    possible = re.search(r"enough for (\d+) cards", errors)[1]
    with start(emulator, "-n", possible, "--prefix", "echo", "x", before=before) as job:
        out, errors = job.communicate(timeout=200)
    assert (job.returncode, len(out.splitlines())) == (0, int(possible)), errors


def test_a_job_that_is_larger_than_files_may_be_is_refused_in_words(emulator):
    """Programs get the signal as usual."""
    before = ["sh", "-c", 'ulimit -f 8192; exec "$@"', "sh"]
    with start(emulator, "--set", "sram=33554432", "echo", "x", before=before) as job:
        out, errors = job.communicate(timeout=200)
    assert (job.returncode, out) == (1, ""), errors
    assert "ulimit -f" in errors
    with start(emulator, "grep", "SigIgn", "/proc/self/status", before=before) as job:
        out, errors = job.communicate(timeout=200)
    assert job.returncode == 0, errors
    assert int(out.split()[1], 16) >> (signal.SIGXFSZ - 1) & 1 == 0


def preloaded(vicrun, **environment):
    """Return what a timed program has before all libraries."""
    done = subprocess.run(
        [vicrun, *TIMED, "sh", "-c", 'echo "$LD_PRELOAD"'], capture_output=True, text=True,
        check=True, env={**os.environ, **environment}, timeout=200,
    )  # fmt: skip
    return done.stdout.strip()


def test_threads_of_timed_programs_are_those_that_lie_beside_vicrun(emulator, tmp_path):
    here = emulator.prefix / "bin" / "vicrun"
    threads = emulator.prefix / "bin" / ".." / "lib" / "libvic-threads.so"
    assert preloaded(here, LD_PRELOAD="") == str(threads)
    assert preloaded(here, LD_PRELOAD="libm.so.6") == f"{threads}:libm.so.6"
    alone = tmp_path / "bin" / "vicrun"
    alone.parent.mkdir()
    shutil.copy(here, alone)
    done = subprocess.run(
        [alone, *TIMED, "true"], capture_output=True, text=True, check=False, timeout=200
    )
    assert (done.returncode, "libvic-threads.so" in done.stderr) == (1, True), done.stderr


def test_programs_of_a_timed_job_may_run_on_all_cores(emulator):
    cores = "import os; print(len(os.sched_getaffinity(0)))"
    for options, expected in (((), 1), (("--spread",), len(os.sched_getaffinity(0)))):
        done = vicrun(emulator, *TIMED, *options, sys.executable, "-c", cores)
        assert (done.returncode, done.stdout) == (0, f"{expected}\n"), done.stderr


def test_statistics_may_go_where_errors_go(emulator):
    done = vicrun(emulator, "-n", "1", *SMALL, "--stats-fd", "2", "sh", "-c", "echo mine >&2")
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    assert "mine" in lines and lines[-1].startswith('{"at_ns":')


def test_a_program_may_begin_as_an_option_does(emulator):
    done = vicrun(emulator, "-n", "1", *SMALL, "--", "-x")
    assert (done.returncode, "cannot run '-x': No such file" in done.stderr) == (127, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--if-killed", "bye"], "'bye' is not end, leave, restart or restart:TIMES"),
        (["--fault", "stall card=3 at=1s for=1s"], "stall: the job has no card 3, but 0 .. 0"),
        (["--fault", "kill card=0 at=-5ms"], "at: '-5ms' is not a time"),
        (["--fault", "kill card=0 at=9e18s"], "at: '9e18s' is not a time"),
        (["--fault", "kill card=0 at=nans"], "at: 'nans' is not a time"),
        (["--fault", "kill card=0 at=soon"], "at: 'soon' is not a time"),
        (["--fault", "fifo-drop=0.5x"], "fifo-drop: '0.5x' is not a probability"),
        (["--seed", "99999999999999999999"], "is not a whole number"),
        (["--" + "long" * 12], "no such option"),
        (["--mode", "timed", "--if-killed", "leave"], "in timed mode a death ends the job"),
    ],
)
def test_what_is_out_of_range_is_refused(emulator, arguments, said):
    done = vicrun(emulator, "-n", "1", *SMALL, *arguments, "true")
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_program_that_fails_is_told_before_a_trace_that_cannot_be_written(emulator, tmp_path):
    trace = ["--trace", str(tmp_path)]  # a folder
    done = vicrun(emulator, "-n", "1", *SMALL, *trace, "sh", "-c", "exit 3")
    assert (done.returncode, "Is a directory" in done.stderr) == (3, True)
    assert list(tmp_path.parent.glob(f"{tmp_path.name}.*")) == []


def test_a_trace_goes_into_what_is_no_file(emulator, tmp_path):
    """A link, a pipe or a device is not replaced by a file."""
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to("target")
    os.mkfifo(pipe)
    assert vicrun(emulator, "-n", "1", *SMALL, "--trace", str(link), "true").returncode == 0
    with start(emulator, "--trace", str(pipe), "true") as job:
        try:
            reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            assert job.wait(200) == 0
            assert os.read(reader, 20) == b'{"displayTimeUnit":"'
            os.close(reader)
        finally:
            job.kill()
    assert link.is_symlink() and pipe.is_fifo()
    assert (tmp_path / "target").read_text().startswith('{"displayTimeUnit":"ns"')
    assert {path.name for path in tmp_path.iterdir()} == {"link", "pipe", "target"}
