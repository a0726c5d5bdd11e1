"""Does the library keep vic.h, in order and out of order, crowded, as threads, under sanitizers?"""

import pytest
from emulator_build import CONFORMANCE, SMALL, good


@pytest.mark.parametrize("cards", [1, 2, 5])
@pytest.mark.parametrize("name", CONFORMANCE)
def test_functional(emulator, name, cards):
    good(emulator.run(cards, name))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", CONFORMANCE)
def test_packets_in_any_order(emulator, name, seed):
    good(emulator.run(3, name, options=[*SMALL, "--reorder", str(seed)]))


@pytest.mark.parametrize("name", CONFORMANCE)
def test_a_crowd_of_cards_on_few_cores(emulator, name):
    good(emulator.run(32, name))


@pytest.mark.parametrize("name", ["exchange", "surprise", "threads", "barriers", "any_of"])
def test_shallow_and_slow(emulator, name):
    """Extra polls, slow transfers, a FIFO of three words, a card that stalls."""
    faults = ("fifo-depth=3", "dma-slow=3", "extra-polls=0.3", "stall card=1 at=2ms for=5ms")
    options = [*SMALL, *(text for fault in faults for text in ("--fault", fault))]
    good(emulator.run(2, name, options=options))


@pytest.mark.parametrize("name", CONFORMANCE)
def test_watched(emulator, name, tmp_path):
    done = emulator.run(3, name, options=[*SMALL, "--stats", "--trace", str(tmp_path / "trace")])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", CONFORMANCE)
def test_address_and_undefined_behaviour(sanitized, name, order):
    good(sanitized.run(3, name, options=[*SMALL, *order]))


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", CONFORMANCE)
def test_data_races_between_cards(threaded, name, order):
    good(threaded(name, "-n", "3", *SMALL, *order))


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", ["exchange", "threads", "queries", "one_reader"])
def test_data_are_visible_before_the_counter_goes_down(ordered, name, order):
    good(ordered(name, "-n", "3", *SMALL, *order))


def test_fewer_counters(emulator):
    for name in ("limits", "any_of"):
        good(emulator.run(2, name, options=[*SMALL, "--set", "group_counters=8"]))


@pytest.mark.parametrize("options", [[], ["--mode", "timed"]], ids=["functional", "timed"])
def test_two_cards_whose_packets_have_no_room_can_close(emulator, options):
    good(emulator.run(2, "both_close", options=[*SMALL, *options]))
