"""Do cards that call together get what plain C computes, whatever packets and peers do?"""

import pytest
from emulator_build import FAULTS, SMALL, build, good

PROGRAMS = ("collectives", "collective_limits", "collective_threads")
LAYERS = {"layer.h", "fail.h", "cancel.h", "waits.h", "debug.h"}
"""Headers of libvic that a layer on vic.h may use, besides its own."""
REORDER = ("--reorder", "3")
TIMED = ("--mode", "timed")
STEPS = {
    "barrier": 1, "broadcast": 4, "reduce": 4, "allreduce": 4, "gather": 2, "alltoall": 2, "open": 3
}  # fmt: skip
"""Steps that the calls of collective_mortal.c take; of an opening: moments that are tried."""
CALLS = tuple(STEPS)


@pytest.mark.parametrize("cards", [1, 2, 3, 8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_functional(emulator, name, cards):
    good(emulator.run(cards, name))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_packets_in_any_order(emulator, name, seed):
    good(emulator.run(4, name, options=[*SMALL, "--reorder", str(seed)]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_shallow_and_slow(emulator, name):
    options = [*SMALL, *(text for fault in FAULTS for text in ("--fault", fault))]
    good(emulator.run(3, name, options=options))


@pytest.mark.parametrize("order", [[], REORDER], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_in_the_time_of_the_modelled_hardware(emulator, name, order):
    good(emulator.run(3, name, options=[*SMALL, *TIMED, *order]))


def test_a_crowd_of_cards_on_few_cores(emulator):
    good(emulator.run(32, "collective_threads"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_packet_surprises_a_counter(emulator, name):
    good(emulator.run(3, name, options=[*SMALL, "--check"]))


@pytest.mark.parametrize("mode", [[], TIMED], ids=["functional", "timed"])
def test_what_is_wrong_with_a_call_is_said(emulator, mode):
    good(emulator.run(2, "collective_says", options=[*SMALL, *mode]))


@pytest.mark.parametrize("mode", [[], REORDER, TIMED], ids=["functional", "reordered", "timed"])
@pytest.mark.parametrize("part", ["0", "1", "2", "3", None])
def test_lists_that_differ_fail_that_opening_and_no_later_one(emulator, part, mode):
    env = {} if part is None else {"PART": part}
    good(emulator.run(3, "lists_twice", options=[*SMALL, *mode], env=env))


@pytest.mark.parametrize("mode", [[], REORDER, TIMED], ids=["functional", "reordered", "timed"])
def test_a_card_that_refuses_an_opening_is_not_taken_for_one_that_has_it_open(emulator, mode):
    good(emulator.run(2, "lists_refused", options=[*SMALL, *mode]))


def test_who_writes_over_a_counter_of_teams_keeps_no_call_waiting(emulator):
    good(emulator.run(2, "collective_counted", options=[*SMALL, *REORDER]))


def test_fewer_counters(emulator):
    good(emulator.run(3, "collectives", options=[*SMALL, "--set", "group_counters=8"]))


@pytest.mark.parametrize("mode", [[], TIMED], ids=["functional", "timed"])
@pytest.mark.parametrize("call", CALLS)
def test_a_card_that_dies_in_any_step_ends_the_call_of_the_others(sanitized, call, mode):
    """Nothing of theirs leaks, and nothing comes late into memory that they have freed."""
    for step in range(STEPS[call]):
        env = {"KIND": str(CALLS.index(call)), "STEP": str(step)}
        done = sanitized.run(3, "collective_mortal", options=[*SMALL, *mode], env=env)
        told = "vicrun: card 1 was killed by signal 9 (Killed)\n"
        assert (done.returncode, done.stderr) == (128 + 9, told), step


@pytest.mark.parametrize("mode", [[], TIMED], ids=["functional", "timed"])
@pytest.mark.parametrize("how", ["closed", "ends", "quits", "never"])
def test_a_program_that_ends_is_missed_by_the_next_call_only(emulator, how, mode):
    options = [*SMALL, *mode]
    good(emulator.run(3, "collective_left", options=options, env={"HOW": how}))


@pytest.mark.parametrize("options", [[], REORDER, TIMED], ids=["functional", "reorder", "timed"])
def test_who_closes_and_opens_many_other_teams_has_left_only_if_it_sent_nothing(emulator, options):
    good(emulator.run(3, "collective_hidden", options=[*SMALL, *options]))


def test_who_has_waited_for_hours_still_notices_that_another_card_leaves(emulator):
    good(emulator.run(2, "collective_patient", options=SMALL))


@pytest.mark.parametrize("order", [[], REORDER], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_address_and_undefined_behaviour(sanitized, name, order):
    good(sanitized.run(3, name, options=[*SMALL, *order]))


@pytest.mark.parametrize("order", [[], REORDER], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_data_races(threaded, name, order):
    good(threaded(name, "-n", "3", *SMALL, *order))


def test_it_uses_vic_h_only():
    """So that it would run on hardware. The other headers named here know nothing of cards."""
    for path in (build.HERE / "src" / "collective").glob("*.[ch]"):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith('#include "'):
                name = line.split('"')[1]
                own = (path.parent / name).exists()
                known = {"vic.h", "vic_collective.h", "deadline.h", "engine/random.h", *LAYERS}
                assert own or name in known, path.name
