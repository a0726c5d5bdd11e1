"""Programs that are killed: do the others go on, and does what comes back find its card?"""

import re
import signal
import struct
import subprocess

import pytest
from emulator_build import PROGRAMS, SMALL, build
from test_death import DIED, ENDED, gone, opened, start
from test_launcher import ends_in_turn, vicrun

AGAIN = "it is started again"
RESTART = (*SMALL, "--if-killed", "restart:0")


def deaths(done):
    """Return how often each card was started again."""
    return sorted(int(card) for card in re.findall(rf"card (\d+) .*{AGAIN}", done.stderr))


def run_one_killed(emulator, *options):
    """Card 1 kills itself; cards 0 and 2 wait: one for a counter, the other for the barrier."""
    opens = str(emulator.program("opens"))
    programs = [opens, "wait", ":", "sh", "-c", "kill -9 $$", ":", opens, "barrier"]
    return vicrun(emulator, "-n", "1", *SMALL, *options, "--", *programs)


def test_usually_a_death_is_told_to_all(emulator):
    done = run_one_killed(emulator)
    assert (done.returncode, done.stdout.count(DIED)) == (128 + 9, 2)


def test_a_program_that_left_is_as_one_that_has_ended(emulator):
    """Nobody crosses the barrier; who waits for a counter does until all others have ended."""
    done = run_one_killed(emulator, "--if-killed", "leave")
    assert done.returncode == 128 + 9
    assert done.stderr == "vicrun: card 1 was killed by signal 9 (Killed); the others go on\n"
    assert (done.stdout.count(DIED), done.stdout.count(ENDED)) == (1, 1)


def test_a_program_that_always_dies_soon_ends_the_job(emulator):
    done = run_one_killed(emulator, "--if-killed", "restart")
    assert (done.returncode, deaths(done)) == (128 + 9, [1] * 4)
    assert "the last of 5 times in a row within 1 s of its start: the job ends" in done.stderr
    assert done.stdout.count(DIED) == 2


def test_a_program_that_fails_is_started_again_until_it_does_not(emulator, tmp_path):
    script = f"echo x >>{tmp_path}/lives; test $(wc -l <{tmp_path}/lives) = 4"
    for times, code in (("5", 0), ("3", 1)):
        (tmp_path / "lives").unlink(missing_ok=True)
        done = vicrun(
            emulator, "-n", "1", *SMALL, "--if-killed", f"restart:{times}", "sh", "-c", script
        )
        assert done.returncode == code, done.stderr
        assert deaths(done) == [0] * min(3, int(times) - 1)


def test_a_program_that_cannot_be_run_is_not_tried_again(emulator):
    done = vicrun(emulator, "-n", "1", *RESTART, "no-such-program")
    assert (done.returncode, deaths(done)) == (127, [])


def test_the_exit_code_of_one_that_left_is_returned(emulator, tmp_path):
    first, second = ends_in_turn(tmp_path)
    script = f"case $VIC_CARD in 1) {first};; 0) ({second}); esac; exit 0"
    done = vicrun(emulator, "-n", "2", *SMALL, "--if-killed", "leave", "sh", "-c", script)
    assert done.returncode == 7
    assert done.stderr == "vicrun: card 1 ended with exit code 7; the others go on\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--if-killed", "restrt"], "'restrt' is not end, leave, restart or restart:TIMES"),
        (["--if-killed", "restart:x"], "'restart:x' is not"),
        (["--if-killed", "leave:1"], "'leave:1' is not"),
        (["--if-killed", ""], "'' is not"),
        (["--mode", "timed", "--if-killed", "leave"], "in timed mode a death ends the job"),
    ],
)
def test_what_makes_no_sense_is_refused(emulator, arguments, said):
    done = vicrun(emulator, "-n", "2", *arguments, "true")
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("what", ["fifo", "barrier"])
def test_nobody_waits_for_what_a_dead_program_left_half_done(emulator, what, seed):
    """Three programs are killed 40 times each, in the middle of anything."""
    done = emulator.run(4, "mortal", what, str(seed), "40", options=RESTART)
    assert done.returncode == 0, done.stderr
    assert deaths(done) == [1] * 40 + [2] * 40 + [3] * 40


@pytest.mark.parametrize("cards", [3, 6])
def test_a_push_that_was_never_finished_stops_no_fifo(emulator, cards):
    """Not one word of others is lost or out of its order: by a program that knows our headers."""
    halfway = emulator.linked("halfway", [PROGRAMS / "halfway.c"], build.INCLUDES)
    options = ["-n", str(cards), *RESTART, "--set", "fifo_words=16"]
    done = vicrun(emulator, *options, str(halfway), "30")
    assert done.returncode == 0, done.stderr
    assert deaths(done) == [1] * 30


@pytest.mark.parametrize("what", ["fifo", "barrier"])
def test_deaths_lead_to_no_bad_access(sanitized, what):
    done = sanitized.run(3, "mortal", what, "1", "5", options=RESTART)
    assert "Sanitizer" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


def test_a_card_comes_back_as_it_was_left(emulator):
    """SRAM, counters and FIFO outlive the program; what it was in the middle of does not."""
    done = emulator.run(3, "comeback", options=RESTART)
    assert done.returncode == 0, done.stderr
    assert deaths(done) == [1] * 3


def test_a_program_behind_a_shell_comes_back_too(emulator):
    script = f"{emulator.program('comeback')}; exit $?"
    done = vicrun(emulator, "-n", "3", *RESTART, "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert deaths(done) == [1] * 3


def test_output_of_all_lives_is_prefixed(emulator, tmp_path):
    script = (
        f"echo x >>{tmp_path}/lives; wc -l <{tmp_path}/lives; test $(wc -l <{tmp_path}/lives) = 3"
    )
    done = vicrun(emulator, "-n", "1", *RESTART, "--prefix", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (0, "[0] 1\n[0] 2\n[0] 3\n")


@pytest.mark.parametrize("how", ["leave", "restart"])
def test_a_signal_ends_the_job_all_the_same(emulator, how):
    process = start(emulator, 2, "wait", options=[*SMALL, "--if-killed", how])
    opened(process, 2)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=200)
    assert (process.returncode, errors) == (128 + 15, "")


def test_a_signal_ends_what_waits_to_be_started_again(emulator, tmp_path):
    """One that always fails pauses longer and longer: the signal comes in a pause, or not."""
    mark = f"pause-{tmp_path.name}"
    script = f": {mark}; echo started; exit 3"
    command = ["--if-killed", "restart:0", "-n", "1", *SMALL, "sh", "-c", script]
    process = subprocess.Popen(
        [str(emulator.prefix / "bin" / "vicrun"), *command],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    for _ in range(8):
        assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=200)
    assert process.returncode in (3, 128 + 15)
    assert gone(mark)


def notes(folder, cards):
    """Return what came and what was flushed, as (card, number), and the same twice or more."""
    rows = [
        row
        for card in range(cards)
        for row in struct.iter_unpack("<4I", (folder / str(card)).read_bytes())
    ]
    came = [(src, first) for what, src, first, _ in rows if what == 0]
    flushed = {(r[1], n) for r in rows if r[0] == 1 for n in range(r[2], r[3] + 1)}
    return set(came), flushed, len(came) - len(set(came))


def check_flushed(done, folder, who, times):
    """Check a run of message_mortal with 4 cards, of which some were killed so many times.

    Each killed receiver may miss one message: it got that, and could not write it down.
    """
    killed = {"senders": [1, 2, 3], "receiver": [0], "all": [0, 1, 2, 3]}[who]
    assert deaths(done) == sorted(killed * times)
    came, flushed, twice = notes(folder, 4)
    assert twice == 0
    assert len(flushed) > 0
    assert len(flushed - came) <= deaths(done).count(0)


@pytest.mark.parametrize("order", [(), ("--reorder", "3")], ids=["in-order", "reordered"])
@pytest.mark.parametrize("who", ["senders", "receiver", "all"])
def test_no_message_that_was_flushed_is_missing(emulator, tmp_path, who, order):
    done = emulator.run(
        4, "message_mortal", who, "1", "20", str(tmp_path), options=[*RESTART, *order]
    )
    assert done.returncode == 0, done.stderr
    check_flushed(done, tmp_path, who, 20)


def test_messages_of_a_dead_sender_do_not_come_behind_those_of_its_next_life(emulator):
    done = emulator.run(2, "message_return", options=RESTART)
    assert done.returncode == 0, done.stderr
    assert deaths(done) == [1]
