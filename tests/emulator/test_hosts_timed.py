"""Timed mode over hosts: the same times and the same trace on however many hosts the cards are."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from emulator_build import SMALL
from harness.processes import children
from test_death import gone
from test_hosts import PATIENT

HASH = re.compile(r"trace hash ([0-9a-f]{16})")
HOSTS = "abcd"
TIMED = [*SMALL, "--mode", "timed"]
SPLITS = [(4, 0, 0, 0), (1, 3, 0, 0), (1, 1, 1, 1)]
"""Of four cards, over one, two and four hosts."""


def run(emulator, options, name, *arguments):
    command = [str(emulator.prefix / "bin" / "vicrun"), *TIMED, *PATIENT, *options, "--"]
    return subprocess.run(
        [*command, str(emulator.program(name)), *arguments],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip


def traced(done, code=0):
    """Return the trace hash and the clocks of a run that ended as it should, and was exact."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "not exact" not in done.stderr
    return HASH.search(done.stderr)[1], re.findall(r"card \d+: clock [\d.]+ us", done.stderr)


def alone(emulator, cards, name, *arguments, options=(), code=0):
    done = emulator.run(cards, name, *arguments, options=[*TIMED, "--stats", *options])
    return traced(done, code)


@pytest.mark.parametrize("split", SPLITS, ids=str)
def test_the_same_trace_on_one_two_and_four_hosts(emulator, hosts, split):
    done = run(emulator, [*hosts.options(*split), "--stats"], "exchange")
    assert traced(done) == alone(emulator, 4, "exchange")


@pytest.mark.parametrize(
    "name", ["queries", "threads", "barriers", "peers", "any_of", "collectives"]
)
def test_what_programs_do_is_the_same_over_hosts(emulator, hosts, name):
    """Queries, threads, timeouts, cards opened again, collectives."""
    done = run(emulator, [*hosts.options(2, 1, 0, 0), "--stats"], name)
    assert traced(done) == alone(emulator, 3, name)


@pytest.mark.parametrize("split", [(64, 0, 0, 0), (32, 32, 0, 0), (16, 16, 16, 16)], ids=str)
def test_64_cards(emulator, hosts, split):
    done = run(emulator, [*hosts.options(*split), "--stats"], "timed_crowd")
    assert traced(done) == alone(emulator, 64, "timed_crowd")


def test_a_full_fifo_stops_its_senders_and_a_deadlock_is_seen(emulator, hosts):
    """All wait for room in the FIFO of a card on another host."""
    shallow = ["--set", "send_words=16"]
    done = run(emulator, [*hosts.options(1, 1, 0, 0), "--stats", *shallow], "timed_stuck", "fifo")
    assert traced(done, 1) == alone(emulator, 2, "timed_stuck", "fifo", options=shallow, code=1)
    assert "deadlock at" in done.stderr
    assert "its packets wait for room in the FIFO of card 0" in done.stderr


def test_a_card_is_killed_at_its_time(emulator, hosts):
    options = ["--fault", "kill card=1 at=1ms"]
    done = run(emulator, [*hosts.options(1, 1, 1, 0), "--stats", *options], "timed_stuck", "killed")
    alike = alone(emulator, 3, "timed_stuck", "killed", options=options, code=137)
    assert traced(done, 137) == alike
    assert [1_000_800 <= int(text) <= 1_000_900 for text in done.stdout.split()] == [True, True]


def test_faults_and_another_order_are_the_same(emulator, hosts):
    options = ["--fault", "extra-polls=0.3", "--reorder", "3"]
    done = run(emulator, [*hosts.options(2, 1, 0, 0), "--stats", *options], "surprise")
    assert traced(done) == alone(emulator, 3, "surprise", options=options)


def begun(program, mark):
    """Return how many processes run a program with this argument."""
    wanted = [os.fsencode(program), os.fsencode(mark)]
    count = 0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        count += [words[0], words[-2:-1]] == [wanted[0], wanted[1:]]
    return count


def test_a_lost_host_ends_the_job(emulator, hosts):
    """Waits of the others end with VIC_EPEER, wherever the coordinator is."""
    mark, program = f"timed-{os.getpid()}", str(emulator.program("timed_stuck"))
    command = [str(emulator.prefix / "bin" / "vicrun"), *TIMED, *hosts.options(1, 2, 0, 0)]
    process = subprocess.Popen(
        [*command, *PATIENT, "--", program, "killed", mark],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while begun(program, mark) < 3:
        assert process.poll() is None
    os.kill(max(children(process.pid)), signal.SIGKILL)
    output, errors = process.communicate(timeout=200)
    assert process.returncode == 137, errors
    assert len(output.split()) == 1
    assert "its vichost" in errors
    assert gone(mark)
