"""Who waits for what, when nothing moves, and when the job is interrupted?"""

import os
import re
import signal
import subprocess
import sys

import pytest
from emulator_build import SMALL

WAITS = [
    "card 0 waits for counter 5 to read 0 (it reads 2)",
    "card 1 waits for cards {} to come (vic_barrier)",
    "card 2 waits for 3 words in its FIFO (0 there)",
    "card 3 waits for a message (vic_message_recv)",
    "card 4 waits for room in the FIFO of card 3 (a send)",
    "card 5 waits for counter 5 to read 0 (it reads 2) or counter 6 to read 0 (it reads 7)"
    " or 2 words in its FIFO (0 there)",
]
"""What each card of programs/standstill.c waits for."""


STANDS_STILL = "standstill: for 5 s every program waits, and nothing is on its way"


@pytest.fixture
def job_of(start_job):
    """Return what starts the program on some cards."""

    def start(emulator, cards, name="standstill", *arguments):
        vicrun = [*emulator.before, str(emulator.prefix / "bin" / "vicrun"), "-n", str(cards)]
        return start_job([*vicrun, *SMALL, str(emulator.program(name)), *arguments])

    return start


def said(job, first, cards):
    """Read a report: is it this one, but for how long each card has waited?"""
    lines = [job.stderr.readline() for _ in range(1 + len(cards))]
    assert lines[0] == f"vicrun: {first}\n"
    found = [re.sub(r", for \d+\.\d s now", "", line) for line in lines[1:]]
    assert found == [f"vicrun:   {card}\n" for card in cards]


def check_one_elsewhere(job):
    """Standstill on 7 cards: the program of the last one is elsewhere until it is killed."""
    elsewhere = "card 6 waits for nothing: its program computes, or waits elsewhere"
    others = [line.format("0, 2, 3, 4, 5, 6") for line in WAITS]
    said(job, "standstill: for 5 s no wait has ended", [*others, elsewhere])
    os.kill(int(job.stdout.readline()), signal.SIGKILL)  # the programs check what their waits say
    assert job.communicate()[1] == "vicrun: card 6 was killed by signal 9 (Killed)\n"
    assert job.returncode == 128 + signal.SIGKILL


def check_interrupted_deadlock(job):
    """Standstill on 6 cards, interrupted when it has been reported."""
    waits = [line.format("0, 2, 3, 4, 5") for line in WAITS]
    said(job, STANDS_STILL, waits)
    job.send_signal(signal.SIGINT)
    said(job, "SIGINT: who waits for what", waits)
    assert job.communicate()[1] == ""
    assert job.returncode == 128 + signal.SIGINT


def check_idle_servers(job):
    """Servers on 4 cards, and a program that is elsewhere: there is no report."""
    elsewhere = int(job.stdout.readline())
    with pytest.raises(subprocess.TimeoutExpired):
        job.wait(timeout=9)  # the first report would come after 6 s, the second after 11
    os.kill(elsewhere, signal.SIGKILL)
    assert job.communicate()[1] == "vicrun: card 3 was killed by signal 9 (Killed)\n"


def test_nothing_moves_while_one_program_is_elsewhere(emulator, job_of):
    check_one_elsewhere(job_of(emulator, 7))


def test_who_interrupts_a_deadlock_is_told_again_who_waits(sanitized, job_of):
    check_interrupted_deadlock(job_of(sanitized, 6))


def test_servers_that_nobody_needs_are_no_standstill(emulator, job_of):
    check_idle_servers(job_of(emulator, 4, "idle", "server"))


def test_a_deadlock_beside_a_server_that_looks_round_is_told(emulator, job_of):
    job = job_of(emulator, 3, "idle", "deadlock")
    assert job.stderr.readline() == "vicrun: standstill: for 5 s no wait has ended\n"
    assert job.stderr.readline().startswith("vicrun:   card 0 waits for ")  # at times for nothing
    for card in (1, 2):
        line = f"vicrun:   card {card} waits for counter 5 to read 0 (it reads 2), for "
        assert job.stderr.readline().startswith(line)


def test_servers_without_anybody_who_could_send_stand_still(emulator, job_of):
    job = job_of(emulator, 3, "idle", "nobody")
    said(
        job, STANDS_STILL,
        ["card 0 waits for a message (vic_message_recv)",
         "card 1 waits for something to receive (vic_client_recv)",
         "card 2 waits for 1 word in its FIFO (0 there)"],
    )  # fmt: skip


def test_a_message_for_a_card_that_opens_none_stands_still(emulator, job_of):
    job = job_of(emulator, 2, "idle", "message")
    said(
        job, "standstill: for 5 s no wait has ended",
        ["card 0 waits for card 1 to open its messages, with the same config (vic_message_send)",
         "card 1 waits for nothing: its program computes, or waits elsewhere"],
    )  # fmt: skip


def test_waits_in_slices_stand_still(emulator, job_of):
    job = job_of(emulator, 2, "idle", "slices")
    said(
        job, STANDS_STILL,
        [f"card {card} waits for counter 5 to read 0 (it reads 2)" for card in range(2)],
    )  # fmt: skip


def test_what_is_said_to_come_in_slices_waits_between_them_too(emulator, job_of):
    job = job_of(emulator, 2, "idle", "announced")
    said(
        job, STANDS_STILL,
        ["card 0 waits for a message (vic_message_recv)",
         "card 1 waits for counter 5 to read 0 (it reads 2)"],
    )  # fmt: skip


RECEIVERS = """
import asyncio, sys
from dvsim import vic

async def take(stream):
    async for item in stream:
        pass

def wait(card):
    how = sys.argv[1 + card.number]
    if how in ("recv", "for", "async"):
        messages = card.messages(max_bytes=4096, window_bytes=4096)
    card.counter_set(5, 1)
    if how == "recv":
        messages.recv()
    if how == "for":
        list(messages)
    if how == "async":
        asyncio.run(take(messages))
    if how == "fifo":
        card.fifo_wait(1, 1)
    if how == "counter":
        card.counter_wait(5)
    if how == "client":
        card.client(max_bytes=4096, ring_bytes=4096).recv()
    if how == "team":
        card.team([card.number, (card.number + 1) % card.cards])

with vic.open() as card:
    try:
        wait(card)
    except vic.PeerDied:
        print("deadlock")
"""
KINDS = {
    "recv": "a message", "for": "a message", "async": "a message", "fifo": "1 word in its FIFO",
    "counter": "counter 5", "client": "something to receive", "team": "the others of its team",
}  # fmt: skip


def python_job(emulator, kinds, *options):
    vicrun = [str(emulator.prefix / "bin" / "vicrun"), "-n", str(len(kinds)), *SMALL, *options]
    return [*vicrun, "--", sys.executable, "-c", RECEIVERS, *kinds]


TOGETHER = pytest.mark.parametrize(
    "kinds", [["recv", "for", "async", "fifo", "counter", "team"], ["client", "fifo"]], ids=" ".join
)
"""A client is told of by messages, which others would receive."""


@TOGETHER
def test_receivers_in_python_stand_still(installed, start_job, kinds):
    """They wait in slices so that Ctrl-C works: these are one wait.

    Before all do one may be told to come to it late, on a busy machine.
    """
    job = start_job(python_job(installed, kinds))
    for _ in range(4):
        first, *lines = [job.stderr.readline() for _ in range(1 + len(kinds))]
        assert "standstill" in first
        if not any("waits for nothing" in line for line in lines):
            break
        assert "no wait has ended" in first
    for card, (kind, line) in enumerate(zip(kinds, lines, strict=True)):
        assert f"card {card} waits for {KINDS[kind]}" in line
        assert float(re.search(r"for (\S+) s now", line)[1]) >= 5


@TOGETHER
def test_receivers_in_python_are_in_a_deadlock_of_model_time(installed, start_job, kinds):
    job = start_job(python_job(installed, kinds, "--mode", "timed"))
    output, errors = job.communicate(timeout=200)
    assert (job.returncode, output) == (1, "deadlock\n" * len(kinds)), errors
    for card, kind in enumerate(kinds):
        assert re.search(rf"card {card} waits for .*{KINDS[kind]}", errors), errors
