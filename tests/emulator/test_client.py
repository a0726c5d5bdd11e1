"""Do clients lose nothing, whatever becomes of bridges, packets and peers? Does vicload say so?

docs/client.md tells what it does.
"""

from __future__ import annotations

import json
import re
import subprocess
import zlib

import pytest
from emulator_build import FAULTS, SMALL, build, good
from hypothesis import given, settings
from hypothesis import strategies as st

PROGRAMS = ("client_publish", "client_topics", "client_hostile")


# ---- the library


@pytest.mark.parametrize("cards", [1, 2, 3, 8])
@pytest.mark.parametrize("name", PROGRAMS)
def test_functional(emulator, name, cards):
    good(emulator.run(cards, name))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_packets_in_any_order(emulator, name, seed):
    good(emulator.run(3, name, options=[*SMALL, "--reorder", str(seed)]))


@pytest.mark.parametrize("name", PROGRAMS)
def test_shallow_and_slow(emulator, name):
    options = [*SMALL, *(text for fault in FAULTS for text in ("--fault", fault))]
    good(emulator.run(3, name, options=options))


@pytest.mark.parametrize("name", ["client_publish", "client_topics"])
def test_in_the_time_of_the_modelled_hardware(emulator, name):
    done = emulator.run(2, name, options=[*SMALL, "--mode", "timed"])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["functional", "timed"])
def test_what_calls_say_when_they_cannot(emulator, mode):
    done = emulator.run(1, "client_limits", options=[*SMALL, "--mode", mode])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_address_and_undefined_behaviour(sanitized, name, order):
    good(sanitized.run(3, name, options=[*SMALL, *order]))


@pytest.mark.parametrize("options", [[], ["--reorder", "2"], ["--mode", "timed"]], ids=str)
def test_confirms_reach_a_relay_whose_inbox_is_full(emulator, options):
    done = emulator.run(3, "client_relay", options=[*SMALL, *options])
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_relay_under_sanitizers(sanitized, threaded):
    good(sanitized.run(3, "client_relay"))
    good(threaded("client_relay", "-n", "3", *SMALL))


def test_limits_under_sanitizers(sanitized):
    good(sanitized.run(1, "client_limits"))


def test_a_card_that_is_closed_under_its_client(sanitized):
    good(sanitized.run(1, "client_card"))


def test_no_memory_is_said_and_nothing_is_lost(emulator):
    good(emulator.run(1, "no_memory"))


@pytest.mark.parametrize("order", [[], ["--reorder", "1"]], ids=["in-order", "reordered"])
def test_who_waits_and_for_what(sanitized, order):
    good(sanitized.run(2, "client_waits", options=[*SMALL, *order]))


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("name", ["client_publish", "client_topics"])
def test_data_races(threaded, name, order):
    good(threaded(name, "-n", "3", *SMALL, *order))


@pytest.mark.parametrize("order", [[], ["--reorder", "3"]], ids=["in-order", "reordered"])
def test_data_races_with_a_thread_that_closes_while_others_wait(threaded, order):
    good(threaded("client_waits", "-n", "2", *SMALL, *order))


def test_it_uses_the_public_headers_only():
    """So that it would run on hardware. The other headers named here know nothing of cards."""
    for path in (build.HERE / "src" / "client").glob("*.[ch]"):
        for line in path.read_text("utf-8").splitlines():
            if line.startswith('#include "'):
                name = line.split('"')[1]
                own = (path.parent / name).exists()
                public = {"vic_client.h", "vic_envelope.h"}  # and one more call of messages: from.h
                known = {
                    *public,
                    "message/from.h",
                    "deadline.h",
                    "entropy.h",
                    "engine/random.h",
                    "lock.h",
                    "layer.h",
                    "fail.h",
                    "sized.h",
                    "cancel.h",
                    "waits.h",
                    "debug.h",
                }
                assert own or name in known, f"{path.name}: {name}"


# ---- topics


@pytest.fixture(scope="module")
def library(emulator):
    from cffi import FFI

    ffi = FFI()
    ffi.cdef("int vic_topic_matches(const char *, size_t, const char *, size_t);")
    return ffi.dlopen(str(emulator.prefix / "lib" / "libvic.so.0"))


def matches(library, pattern, topic):
    return library.vic_topic_matches(pattern.encode(), len(pattern), topic.encode(), len(topic))


def expected(pattern, topic):
    """What AMQP 0-9-1 says, 3.1.3.3, word by word."""

    def some(pattern, topic):
        if not pattern:
            return not topic
        if pattern[0] == "#":
            return any(some(pattern[1:], topic[i:]) for i in range(len(topic) + 1))
        return bool(topic) and pattern[0] in {"*", topic[0]} and some(pattern[1:], topic[1:])

    return some(*(text.split(".") if text else [] for text in (pattern, topic)))


words = st.lists(st.sampled_from(["a", "b", "", "ab", "*", "#"]), max_size=6).map(".".join)


@settings(max_examples=200, deadline=None)
@given(words, words)
def test_patterns_are_those_of_amqp(library, pattern, topic):
    assert matches(library, pattern, topic) == expected(pattern, topic)


def test_a_pattern_of_many_hashes_takes_no_time(library):
    assert matches(library, ".".join(["#", "a"] * 40 + ["b"]), ".".join(["a"] * 120)) == 0


# ---- vicload, with a bridge that needs no broker


def body(seed, i, size):
    """The bytes of a message of vicload, from what its help says."""
    mask = 2**64 - 1

    def draw():
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        x = state
        x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ x >> 27) * 0x94D049BB133111EB) & mask
        return x ^ x >> 31

    state = (seed + i * 0x9E3779B97F4A7C15) & mask
    state = draw()
    data = i.to_bytes(8, "little")
    while len(data) < size:
        data += draw().to_bytes(8, "little")
    return data[:size]


def digest(bodies):
    """The sum of the CRC-32 of messages."""
    return f"{sum(map(zlib.crc32, bodies)) % 2**64:016x}"


@pytest.fixture
def job(emulator, tmp_path):
    """Return a function that runs several programs as one job; a name is one of PREFIX/bin."""

    def run(*programs, options=(), code=0):
        line = [str(emulator.prefix / "bin" / "vicrun"), *SMALL[:2], *options]
        for number, (cards, name, *arguments) in enumerate(programs):
            path = emulator.prefix / "bin" / name
            path = path if path.exists() else emulator.program(name)
            line += [":"] * (number > 0) + ["-n", str(cards), str(path), *map(str, arguments)]
        done = subprocess.run(
            line, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=200
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr

    return run


def publish(messages, size, *more, report="report.json"):
    arguments = ["--bridge", 0, "--key", "queue", "--messages", messages, "--bytes", size]
    return ["vicload", "publish", *arguments, "--timeout", "60s", "--report", report, *more]


def consume(messages, *more, queue="queue", report="report.json"):
    arguments = ["--bridge", 0, "--queue", queue, "--messages", messages, "--timeout", "60s"]
    return ["vicload", "consume", *arguments, "--report", report, *more]


def test_the_crc_is_that_of_zlib(emulator):
    texts = [
        "", "a", "abc", "message digest", "abcdefghijklmnopqrstuvwxyz",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "1234567890" * 8,
        *("x" * length for length in (55, 56, 57, 63, 64, 65, 119, 120, 128, 1000)),
    ]  # fmt: skip
    done = subprocess.run(
        [emulator.program("digest"), *texts], capture_output=True, text=True, check=True
    )
    *digests, total = done.stdout.split()
    assert digests[6] == "7ca94a72"  # of the eighty digits
    assert digests == [f"{zlib.crc32(text.encode()):08x}" for text in texts]
    assert total == digest(text.encode() for text in texts)


@pytest.mark.parametrize("size", [0, 1, 8, 100, 70_000])
def test_what_was_published_is_what_was_said(job, tmp_path, size):
    job([1, "fake_broker", "journal"], [1, *publish(50, size, "--seed", 7)])
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["digest"] == digest(body(7, i, size) for i in range(50))
    assert (report["messages"], report["bytes"], report["confirmed"]) == (50, 50 * size, 50)
    assert report["repeated"] == report["returned"] == report["unconfirmed"] == 0
    names = [f"{report['session']}-{i:016x}" for i in range(1, 51)]
    assert (tmp_path / "journal").read_text().split() == names


def test_a_queue_is_shared_by_its_consumers(job, tmp_path):
    takers = [[1, *consume(300, "--credit", credit, report=f"{credit}.json")] for credit in (1, 50)]
    job([1, "fake_broker", "journal"], [1, *publish(600, 40)], *takers)
    sent = json.loads((tmp_path / "report.json").read_text())
    taken = [json.loads((tmp_path / f"{credit}.json").read_text()) for credit in (1, 50)]
    assert sum(part["messages"] for part in taken) == 600
    assert sum(part["bytes"] for part in taken) == sent["bytes"]
    total = sum(int(part["digest"], 16) for part in taken) % 2**64
    assert total == int(sent["digest"], 16)


def test_a_queue_that_is_missing_is_said(job):
    said = job([1, "fake_broker", "journal"], [1, *consume(1, queue="missing")], code=1)
    assert "queue 'missing': no such queue" in said


def test_messages_go_at_the_rate_that_was_asked_for(job, tmp_path):
    job([1, "fake_broker", "journal"], [1, *publish(20, 8, "--rate", 100)])
    assert json.loads((tmp_path / "report.json").read_text())["wall_ns"] >= 19 * 10**7


def test_without_confirms_nothing_is_kept(job, tmp_path):
    job([1, "fake_broker", "journal"], [1, *publish(500, 300, "--at-most-once")])
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["messages"] == 500 and report["confirmed"] == report["unconfirmed"] == 0
    assert len((tmp_path / "journal").read_text().split()) == 500


def test_a_bridge_that_is_not_there_is_given_up(job, tmp_path):
    job([2, *publish(5, 8, "--timeout", "2s")], code=1)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["messages"] == 5 and report["unconfirmed"] == 5


@pytest.mark.parametrize("order", [[], ["--reorder", "5"]], ids=["in-order", "reordered"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_bridge_that_is_killed_again_and_again(job, tmp_path, seed, order):
    """Every message is in the journal of one of its lives at least, and confirmed once."""
    senders = [[1, *publish(1500, 500, report=f"{card}.json")] for card in (1, 2, 3)]
    options = ["--if-killed", "restart:0", *order]
    said = job([1, "fake_broker", "journal", seed, 8], *senders, options=options)
    assert said.count("killed by signal 9") == 7
    journal = (tmp_path / "journal").read_text().split()
    for card in (1, 2, 3):
        report = json.loads((tmp_path / f"{card}.json").read_text())
        assert report["confirmed"] == 1500 and report["unconfirmed"] == 0
        names = {f"{report['session']}-{i:016x}" for i in range(1, 1501)}
        assert names <= set(journal)
    assert len(set(journal)) == 4500 <= len(journal)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("", "'' is not publish or consume"),
        ("publich", "did you mean 'publish'?"),
        ("publish --bridge 0 --messages 1 --bytes 1", "vicload publish: --key is needed"),
        ("publish --brigde 0", "no such option '--brigde'; did you mean '--bridge'?"),
        ("publish --queue x", "--queue is not for publish"),
        ("consume --rate 5", "--rate is not for consume"),
        ("publish --bytes -1", "--bytes: '-1' is not a whole number"),
        ("publish --rate fast", "--rate: 'fast' is not a number"),
        ("publish --timeout 5", "--timeout: '5' is not a time, such as 30s"),
        ("publish --bytes", "--bytes: needs a value"),
        ("publish --bridge 0 --key k --messages 1 --bytes 1 x", "'x' is one argument too many"),
        ("publish --bridge 3 --key k --messages 1 --bytes 1", "there is no card 3, only 0 .. 0"),
    ],
)
def test_a_wrong_command_line_is_explained(emulator, line, text):
    done = subprocess.run(
        [emulator.prefix / "bin" / "vicload", *line.split()],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 2 and text in done.stderr
    assert done.stderr.startswith("vicload")


def test_help_names_every_option(emulator):
    done = subprocess.run(
        [emulator.prefix / "bin" / "vicload", "--help"], capture_output=True, text=True, check=True
    )
    source = (build.HERE / "load" / "options.c").read_text()
    known = re.findall(r'\{"(--[\w-]+)", OPTION_', source)
    assert len(known) > 10 and all(name in done.stdout for name in known)
    assert max(map(len, done.stdout.splitlines())) <= 112


def test_a_report_that_cannot_be_written_is_said(job):
    said = job(
        [1, "fake_broker", "journal"], [1, *publish(1, 1, report="missing/report.json")], code=1
    )
    assert "'missing/report.json' cannot be written" in said
