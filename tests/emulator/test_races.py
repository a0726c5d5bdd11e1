"""What happens between two steps of a wait: are they in the right order, and looked at again?

The library is built so that it pauses between such steps (emulator/src/race.h). Each of these tests
fails if the second look is taken out.
"""

import builds
import pytest
from emulator_build import SMALL


@pytest.fixture(scope="module")
def racing() -> builds.Emulator:
    return builds.racing()


@pytest.mark.parametrize("cards", [2, 3])
def test_a_barrier_that_times_out_when_it_is_complete_is_complete(racing, cards):
    done = racing.run(cards, "barriers")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_card_sent_before_it_died_has_come(racing):
    for _ in range(8):
        done = racing.run(2, "last_word")
        assert done.stdout == "good\n", done.stderr
        assert done.returncode == 137


@pytest.mark.parametrize("mode", [[], ["--mode", "timed"]], ids=["functional", "timed"])
def test_what_the_last_card_sends_itself_has_come(emulator, mode):
    """The fault extra-polls hides what has come, but not from the look that ends a wait."""
    done = emulator.run(3, "overlooked", options=["--fault", "extra-polls=0.5", *mode])
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)


@pytest.mark.parametrize("order", [[], ["--reorder", "2"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("mode", [[], ["--mode", "timed"]], ids=["functional", "timed"])
def test_cards_that_have_left_still_answer_and_take(emulator, mode, order):
    """A late packet is not lost because the card that it is for has ended."""
    done = emulator.run(3, "after_the_end", options=[*mode, *order])
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)


@pytest.mark.parametrize("what", ["barrier", "queries"])
def test_a_wait_ends_when_all_others_have_ended_and_nothing_comes(emulator, what):
    """Over hosts: the same program in over_hosts.py."""
    done = emulator.run(2, "far_ends", what, options=SMALL)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("what", ["words", "fifo", "words-here", "fifo-here"])
def test_answers_to_a_third_card_come_before_the_end_of_who_asked(emulator, what):
    """Over hosts: over_hosts.py, and test_hosts.py."""
    done = emulator.run(3, "far_ends", what, options=SMALL)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize(
    "options", [[], ["--reorder", "1"], ["--mode", "timed"]], ids=["functional", "reorder", "timed"]
)
def test_a_flush_that_ends_has_asked_who_has_ended_once_more(emulator, options):
    done = emulator.run(2, "message_last", options=[*SMALL, *options])
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("seed", ["6", "8"])
def test_a_poll_that_ends_looks_at_what_was_only_half_there(emulator, seed):
    done = emulator.run(2, "message_polled", options=[*SMALL, "--reorder", seed])
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_flush_that_ends_takes_what_the_receiving_thread_has_not_taken(emulator):
    done = emulator.run(2, "client_last")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("order", [[], ["--reorder", "1"]], ids=["in-order", "reordered"])
def test_a_send_to_a_full_fifo_that_nobody_reads_ends(emulator, order):
    """Over hosts: the same program in over_hosts.py."""
    done = emulator.run(3, "nobody_reads", options=[*SMALL, *order])
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
