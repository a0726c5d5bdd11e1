"""Does vicrun say while a job runs what its cards do, without ever waiting for a reader?"""

import json
import os
import subprocess
import sys

import pytest
from emulator_build import SMALL
from trace_rules import check_trace, load_trace

KEYS = {
    "at_ns",
    "card",
    "cards",
    "state",
    "calls",
    "words",
    "wait_ns",
    "fifo",
    "fifo_peak",
    "lost",
}
MODES = [(), ("--mode", "timed")]


def start(emulator, *command, options=(), **how):
    """Start a job whose statistics come through a pipe; return it and the reading end."""
    ours, theirs = os.pipe()
    vicrun = [str(emulator.prefix / "bin" / "vicrun"), *SMALL, "--stats-fd", str(theirs)]
    job = subprocess.Popen([*vicrun, *options, *command], pass_fds=[theirs], **how)
    os.close(theirs)
    return job, ours


def listen(emulator, *command, options=()):
    """Run a job and return its exit code and what it said."""
    job, ours = start(emulator, *command, options=options, stderr=subprocess.DEVNULL)
    with os.fdopen(ours) as stream:
        told = [json.loads(line) for line in stream]
    return job.wait(200), told


def check_surprise(told):
    """Check the lines of the program surprise on three cards; return the last of each card."""
    assert all(one.keys() == KEYS and one["cards"] == 3 for one in told)
    last = told[-3:]
    assert [one["card"] for one in last] == [0, 1, 2]
    assert [one["words"] for one in last] == [6000] * 3
    assert {one["state"] for one in last} == {"ended"}
    assert all(one["fifo"] == 0 for one in last)
    assert [one["at_ns"] for one in told] == sorted(one["at_ns"] for one in told)
    return last


@pytest.mark.parametrize("mode", MODES)
def test_the_last_lines_are_what_stats_prints(emulator, mode):
    command = ("-n", "3", "--", str(emulator.program("surprise")))
    code, told = listen(emulator, *command, options=mode)
    assert code == 0
    last = check_surprise(told)
    assert mode or all(one["fifo_peak"] > 0 for one in last)  # in model time --stats tells it


@pytest.mark.parametrize(("script", "state"), [("kill -9 $$", "died"), ("exit 0", "ended")])
def test_what_became_of_a_program_is_a_state(emulator, script, state):
    _, told = listen(emulator, "-n", "1", "--", "sh", "-c", script)
    assert told[-1]["state"] == state


def test_words_that_wait_in_a_fifo_are_seen_while_they_do(emulator):
    program = str(emulator.program("waiting"))
    job, ours = start(emulator, "-n", "2", "--", program, stdin=subprocess.PIPE)
    with os.fdopen(ours) as stream:
        lines = map(json.loads, stream)
        waiting = next(one for one in lines if one["card"] == 1 and one["fifo"] > 0)
        job.stdin.close()
        *_, last = lines
    assert job.wait(200) == 0
    assert waiting["fifo"] == 5 and waiting["state"] == "open"
    assert last["card"] == 1 and last["fifo"] == 0 and last["fifo_peak"] == 5


def test_a_reader_that_goes_away_or_sleeps_stops_nobody(emulator):
    command = ("-n", "2", "--", str(emulator.program("surprise")))
    job, ours = start(emulator, *command)
    os.close(ours)
    assert job.wait(200) == 0
    job, ours = start(emulator, "-n", "64", "--", "true", stderr=subprocess.DEVNULL)
    assert job.wait(200) == 0  # and nobody has read a line
    os.close(ours)


def test_programs_do_not_inherit_it(emulator):
    """Else the reader would wait for whatever a program leaves behind."""
    ours, theirs = os.pipe()
    script = (
        f"import os\ntry:\n    os.fstat({theirs}); print('open')\nexcept OSError: print('closed')"
    )
    command = [str(emulator.prefix / "bin" / "vicrun"), "-n", "1", "--stats-fd", str(theirs), "--"]
    done = subprocess.run(
        [*command, sys.executable, "-c", script], pass_fds=[theirs], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert done.stdout == "closed\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stats-fd", "77"], "--stats-fd: '77' is not an open file descriptor"),
        (["--stats-fd", "out"], "--stats-fd: 'out' is not an open file descriptor"),
        (["--trace-limit", "1000"], "--trace-limit: goes with --trace"),
        (["--trace-limit", "much"], "--trace-limit: 'much' is not a number of bytes"),
    ],
)
def test_a_wrong_option_is_refused(emulator, options, said):
    done = emulator.run(1, "surprise", options=options)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize("mode", MODES)
def test_the_trace_of_cards_keeps_the_rules_and_its_size(emulator, tmp_path, mode):
    path, limit = tmp_path / "t.json", 60_000
    asked = [*SMALL, *mode, "--trace", str(path)]
    assert emulator.run(3, "surprise", options=asked).returncode == 0
    whole = path.stat().st_size
    check_trace(load_trace(path), ascending=False)
    done = emulator.run(3, "surprise", options=[*asked, "--trace-limit", str(limit)])
    assert done.returncode == 0
    assert path.stat().st_size <= limit < whole
    trace = load_trace(path)
    assert check_trace(trace, ascending=False)
    stride = trace["metadata"]["every_nth_event"]
    assert f"--trace: there was room for one in {stride} events" in done.stderr and stride > 1
    assert trace["metadata"]["clock"] == ("model time" if mode else "this machine's")
