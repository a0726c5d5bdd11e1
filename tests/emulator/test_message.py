"""Do messages come once, whole and in order, whatever happens to packets, peers and memory?"""

from pathlib import Path

import pytest
from emulator_build import FAULTS, SMALL, build, good
from emulator_build import PROGRAMS as PROGRAM_FILES

PROGRAMS = (
    "messages",
    "message_limits",
    "message_threads",
    "message_reopen",
    "message_hostile",
)
LAYERS = {"layer.h", "fail.h", "sized.h", "cancel.h", "waits.h", "debug.h"}
"""Headers of libvic that a layer on vic.h may use, besides its own."""
QUICK = {"QUICK": "1"}


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


@pytest.mark.parametrize("name", ["messages", "message_threads"])
def test_a_crowd_of_cards_on_few_cores(emulator, name):
    good(emulator.run(32, name))


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_the_time_of_the_modelled_hardware(emulator, name):
    done = emulator.run(3, name, options=[*SMALL, "--mode", "timed"])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("cards", [1, 2])
def test_sizes_up_to_16_mib(emulator, cards):
    good(emulator.run(cards, "message_sizes", options=[]))


def test_sizes_in_any_order(emulator):
    good(emulator.run(2, "message_sizes", options=["--reorder", "5"], env=QUICK))


def test_a_stream_that_is_longer_than_its_places_count(emulator):
    """What was damaged behind 137 GB was never sent again."""
    sources = [PROGRAM_FILES / "message_wrap.c"]
    good(emulator.run(1, emulator.linked("message_wrap", sources, build.INCLUDES)))


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
def test_forged_pieces(sanitized, order):
    good(sanitized.run(3, "message_forged", options=[*SMALL, *order]))


def test_a_killed_peer(emulator):
    done = emulator.run(3, "message_killed", options=[*SMALL, "--fault", "kill card=1 at=200ms"])
    assert done.returncode == 128 + 9, done.stderr
    assert "FAILED" not in done.stderr


def test_no_packet_surprises_a_counter(emulator):
    good(emulator.run(3, "messages", options=[*SMALL, "--check"]))


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_address_and_undefined_behaviour(sanitized, name, order):
    good(sanitized.run(3, name, options=[*SMALL, *order]))


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_data_races(threaded, name, order):
    good(threaded(name, "-n", "3", *SMALL, *order))


def test_it_uses_vic_h_only():
    """So that it would run on hardware. The other headers named here know nothing of cards."""
    for path in (build.HERE / "src" / "message").glob("*.[ch]"):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith('#include "'):
                name = line.split('"')[1]
                own = (path.parent / name).exists()
                known = {"vic_message.h", "deadline.h", "engine/random.h", "lock.h", *LAYERS}
                assert own or name in known, f"{path.name}: {name}"


def test_fewer_counters(emulator):
    good(emulator.run(3, "messages", options=[*SMALL, "--set", "group_counters=8"]))


@pytest.mark.parametrize("build", ["emulator", "sanitized"])
def test_a_card_that_is_closed_and_opened_again(request, build):
    good(request.getfixturevalue(build).run(2, "message_card"))


def test_headers_that_once_mattered(sanitized):
    kept = sorted(map(str, (Path(__file__).parent / "corpus" / "message").iterdir()))
    assert kept
    good(sanitized.run(1, "message_corpus", *kept))


def test_the_checksum(emulator):
    good(emulator.run(1, "checksum"))


@pytest.mark.parametrize("cards", [2, 8])
def test_looks_and_short_messages_cost_what_the_header_says(emulator, cards):
    """An empty look was 12.5 us with 2 cards and 49 us with 8; words were read singly at 1 us."""
    done = emulator.run(cards, "message_costs", options=["--mode", "timed"])
    assert done.returncode == 0, done.stdout + done.stderr
    ns = {name: int(value) for name, value in (line.split("=") for line in done.stdout.split())}
    assert ns["empty_0"] <= 60
    assert all(ns[f"ready_{size}"] <= 2500 for size in (8, 64, 256))
    assert ns["wait_8"] <= 3700
    assert ns["wait_256"] <= 4600
    for size in (8, 64, 256):  # within four looks
        assert abs(ns[f"wait_{size}"] - ns[f"loop_{size}"]) <= 200
