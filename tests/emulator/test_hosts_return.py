"""Programs that are killed on one of several hosts and started again: see test_return.py."""

from pathlib import Path

import pytest
from emulator_build import PROGRAMS, build
from test_death import DIED, ENDED
from test_hosts import PATIENT, run
from test_return import RESTART, check_flushed, deaths


def again(emulator, hosts, cards, name, *arguments, options=()):
    """Run a job whose killed programs are started again; it has to succeed. Return its output."""
    options = [*hosts.options(*cards), *PATIENT, *RESTART, *options]
    done = run(emulator, options, name, *arguments)
    assert done.returncode == 0, done.stderr
    return done


def test_a_program_that_left_is_as_one_that_has_ended(emulator, hosts):
    script = 'case $VIC_CARD in 1) kill -9 $$;; 0) exec "$0" wait;; 2) exec "$0" barrier; esac'
    options = [*hosts.options(2, 1), *PATIENT, "--if-killed", "leave"]
    program = emulator.program("opens")
    done = run(emulator, options, Path("/bin/sh"), "-c", script, str(program))
    assert done.returncode == 128 + 9
    assert done.stderr == "vicrun: card 1 was killed by signal 9 (Killed); the others go on\n"
    assert (done.stdout.count(DIED), done.stdout.count(ENDED)) == (1, 1)


@pytest.mark.parametrize("cards", [(1, 3), (2, 2), (3, 1)], ids=str)
@pytest.mark.parametrize("what", ["fifo", "barrier"])
def test_nobody_waits_for_what_a_dead_program_left_half_done(emulator, hosts, what, cards):
    """Three programs are killed 20 times each, at any moment."""
    done = again(emulator, hosts, cards, "mortal", what, "1", "20")
    assert deaths(done) == [1] * 20 + [2] * 20 + [3] * 20


@pytest.mark.parametrize("cards", [(1, 2), (1, 4), (2, 2)], ids=str)
def test_room_that_was_taken_and_never_used_is_given_back(emulator, hosts, cards):
    """A program that uses our headers takes more room than the FIFO has, life by life."""
    halfway = emulator.linked("halfway", [PROGRAMS / "halfway.c"], build.INCLUDES)
    done = again(emulator, hosts, cards, halfway, "30", options=["--set", "fifo_words=16"])
    assert deaths(done) == [1] * 30


@pytest.mark.parametrize("cards", [(1, 2), (2, 1)], ids=str)
def test_a_card_comes_back_as_it_was_left(emulator, hosts, cards):
    assert deaths(again(emulator, hosts, cards, "comeback")) == [1] * 3


@pytest.mark.parametrize("who", ["senders", "receiver", "all"])
def test_no_message_that_was_flushed_is_missing(emulator, hosts, tmp_path, who):
    words = ["message_mortal", who, "1", "10", str(tmp_path)]
    done = again(emulator, hosts, (2, 2), *words)
    check_flushed(done, tmp_path, who, 10)


def test_messages_of_a_dead_sender_do_not_come_behind_those_of_its_next_life(emulator, hosts):
    assert deaths(again(emulator, hosts, (1, 1), "message_return")) == [1]
