"""Timed mode: what becomes of threads, and of programs that memory or the launcher leave?"""

import os
import subprocess
from dataclasses import replace

import builds
import pytest
from emulator_build import SMALL, in_place
from harness.processes import until
from test_death import ENDED

TIMED = [*SMALL, "--mode", "timed"]
GOOD = "good"
WAITS = ("counter", "fifo", "barrier", "own", "read", "send_cached", "long put", "dma_send")
FREE = ("semaphore", "condition", "write", "send", "put", "close")
SLEPT = "times a thread slept outside of the library"


def good(done):
    assert done.returncode == 0, done.stdout + done.stderr


def test_calls_of_posix_give_what_posix_says_in_model_time_and_out_of_it(emulator):
    done = emulator.run(1, "timed_posix", options=TIMED)
    good(done)
    assert done.stderr == ""


@pytest.mark.parametrize("options", [SMALL, TIMED], ids=["functional", "timed"])
def test_no_memory_is_a_status_and_the_card_works_on(emulator, options):
    good(emulator.run(1, "short_memory", "calls", options=options))


def test_replies_that_there_is_no_memory_for_come_later(emulator):
    good(emulator.run(1, "short_memory", "reordered", options=[*SMALL, "--reorder", "3"]))


def test_no_memory_for_a_thread_is_a_thread_that_was_not_made(emulator):
    good(emulator.run(1, "short_memory", "threads", options=TIMED))


def test_no_memory_for_the_first_call_of_a_thread_is_a_status(emulator):
    """And none for a thread that closes the card."""
    good(emulator.run(1, "short_memory", "first", options=TIMED))


def test_whoever_waits_goes_on_when_the_launcher_is_killed(emulator, tmp_path):
    """Each wait ends, threads wait for each other as ever, calls that do not wait do nothing."""
    script = f"{emulator.program('timed_orphan')} $PPID >{tmp_path}/$VIC_CARD; true"
    vicrun = str(emulator.prefix / "bin" / "vicrun")
    done = subprocess.run([vicrun, "-n", "2", *TIMED, "sh", "-c", script], check=False, timeout=200)
    assert done.returncode == -9
    said = [tmp_path / card for card in "01"]
    until(
        lambda: said[0].read_text().endswith("end\n") and said[1].read_text().endswith("\n"),
        "both programs to end",
    )
    assert said[1].read_text() == f"other: {ENDED}\n"
    *statuses, opened, reason, _ = said[0].read_text().splitlines()
    found = dict(line.split(": ", 1) for line in statuses)
    waits = dict.fromkeys(
        (*WAITS, "counter_get", "dma_test", "dma_wait", "fifo_poll", "barrier again"), ENDED
    )
    assert found == waits | dict.fromkeys(FREE, GOOD)
    assert opened == "open: VIC_JOB names no job that can be joined (VIC_ENOJOB)"
    assert reason == "the launcher of the job was killed, or has ended"


def test_a_thread_outside_of_model_time_ends_a_wait_in_it(emulator, tmp_path):
    """Also while the process waits for the launcher, as another card stands still."""
    os.mkfifo(tmp_path / "pipe")
    good(emulator.run(2, "timed_lives", "outside", str(tmp_path / "pipe"), options=TIMED))


@pytest.mark.parametrize(
    ("how", "says"), [("sleeper", SLEPT), ("spinner", "computed for 1"), ("lasting", "")]
)
def test_no_deadlock_while_a_thread_that_lost_its_turn_may_come_back(emulator, how, says):
    done = emulator.run(1, "timed_lives", how, options=TIMED)
    good(done)
    assert says in done.stderr
    assert "deadlock" not in done.stderr


@pytest.mark.parametrize("how", ["closed", "under"])
def test_a_card_is_closed_whatever_its_threads_do(emulator, how):
    good(emulator.run(1, "timed_lives", how, options=TIMED))


def test_more_threads_wait_than_the_launcher_knows_of(emulator):
    """Any news wakes them then: nothing is later for it."""
    done = emulator.run(1, "timed_lives", "crowd", options=TIMED)
    good(done)
    assert done.stdout == "told=2048\n"


def test_threads_of_a_card_take_turns_in_the_barrier(emulator):
    """Until a time that each says; what is over with the look that sees it free is over."""
    runs = [emulator.run(2, "timed_lives", "two", options=TIMED) for _ in range(2)]
    for done in runs:
        good(done)
        assert done.stdout.split() == ["behind=3000", "first=6000", "behind=6050"]
        assert done.stderr == ""  # nor does the end of one card disturb threads of the other


def test_a_card_can_be_opened_again_and_again(emulator):
    good(emulator.run(1, "opens", "many", options=TIMED))


@pytest.mark.parametrize("program", [("timed_lives", "crowd"), ("timed_posix",)])
def test_threads_may_make_their_first_calls_at_the_same_time(program):
    """The library keeps their marks in a list, whose lock is none of the program's."""
    good(builds.racing().run(1, *program, options=TIMED))


@pytest.mark.parametrize(("how", "cards"), [("two", 2), ("closed", 1), ("crowd", 1)])
def test_threads_of_a_program_do_not_race(emulator, threaded, how, cards):
    """Each asks whether it has the turn without a lock, while others give and take it."""
    watched = replace(emulator, before=in_place())
    done = watched.run(cards, threaded.program("timed_lives"), how, options=TIMED)
    good(done)
    assert "ThreadSanitizer" not in done.stderr, done.stderr
