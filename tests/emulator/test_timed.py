"""Timed mode: is it exact, does it cost what the card says, and does everything end that must?"""

import json
import re
import signal
import subprocess
import sys
import time

import pytest
from emulator_build import CONFORMANCE, SMALL

TIMED = [*SMALL, "--mode", "timed"]
# a transfer that waits in a shallow card, as one does in functional mode
SHALLOW = [*TIMED, "--set", "send_words=32"]
HASH = re.compile(r"trace hash ([0-9a-f]{16})")


def traced(done):
    """Return the trace hash of a run that went well, and was exact."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not exact" not in done.stderr
    assert "slept outside" not in done.stderr
    return HASH.search(done.stderr)[1]


def values(text):
    return {name: int(value) for name, value in re.findall(r"^(\w+)=(\d+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("cards", [1, 2, 5, 16])
@pytest.mark.parametrize("name", CONFORMANCE)
def test_the_contract_is_kept_in_model_time(emulator, name, cards):
    done = emulator.run(cards, name, options=SHALLOW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("name", CONFORMANCE)
def test_packets_in_any_order(emulator, name):
    done = emulator.run(3, name, options=[*SHALLOW, "--reorder", "5"])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["exchange", "surprise", "threads", "barriers", "any_of"])
def test_shallow_and_slow(emulator, name):
    faults = ("fifo-depth=3", "dma-slow=3", "extra-polls=0.3", "stall card=1 at=20us for=50us")
    options = [*SHALLOW, *(text for fault in faults for text in ("--fault", fault))]
    done = emulator.run(2, name, options=options)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["exchange", "threads", "surprise"])
def test_all_runs_are_the_same_on_one_core_and_on_all(emulator, name):
    runs = [[], ["--spread"], [], ["--spread"]]
    assert (
        len({traced(emulator.run(3, name, options=[*SHALLOW, "--stats", *o])) for o in runs}) == 1
    )


def test_when_the_others_end_does_not_change_when_a_wait_ends(emulator):
    """With this seed a card that knows of the barrier's end may be the last before it looks."""
    runs = [
        emulator.run(
            4, "last_barrier", options=[*SMALL, "--mode", "timed", "--stats"],
            env={"SEED": "77", "LINGERS_MS": ms},
        )
        for ms in ("0", "0", "0", "300")
    ]  # fmt: skip
    assert len({traced(run) for run in runs}) == 1


def test_all_runs_are_the_same_on_a_loaded_machine(emulator):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    try:
        options = [*SHALLOW, "--stats"]
        loaded = {traced(emulator.run(4, "exchange", options=options)) for _ in range(2)}
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert loaded == {traced(emulator.run(4, "exchange", options=options))}


def test_the_order_in_which_programs_start_does_not_matter(emulator):
    options = [*TIMED, "--stats"]
    together = emulator.run(3, "timed_ring", "wait", options=options)
    apart = emulator.run(3, "timed_ring", "wait", "late", options=options)
    assert traced(together) == traced(apart)
    assert sorted(together.stdout.split("\n")) == sorted(apart.stdout.split("\n"))


@pytest.mark.parametrize("pair", [("wait", "poll"), ("fifo", "fifopoll")], ids=lambda pair: pair[0])
def test_a_wait_takes_as_long_as_a_loop_of_looks(emulator, pair):
    runs = [emulator.run(3, "timed_ring", how, options=[*TIMED, "--stats"]) for how in pair]
    assert len({traced(done) for done in runs}) == 1
    assert len({tuple(sorted(done.stdout.split("\n"))) for done in runs}) == 1


def test_more_cards_than_a_switch_has_ports(emulator):
    """65 cards and more have a network of two levels, whose links upwards are drawn by the seed."""
    options = [*TIMED, "--stats"]
    runs = [emulator.run(80, "timed_crowd", options=options) for _ in range(2)]
    assert len({traced(done) for done in runs}) == 1
    assert len({tuple(sorted(done.stdout.split())) for done in runs}) == 1
    other = emulator.run(80, "timed_crowd", options=[*options, "--seed", "2"])
    assert traced(other) != traced(runs[0])


def test_a_seed_changes_the_network_only(emulator):
    """With exit `any` and one level no choice is random: the same trace; --reorder is another."""
    options = [*TIMED, "--stats"]
    first = traced(emulator.run(3, "exchange", options=options))
    assert first != traced(emulator.run(3, "exchange", options=[*options, "--reorder", "1"]))


def test_calls_cost_what_the_card_says(emulator):
    """By hand, from 400 ns, 1 us, 0.5 GB/s, 50 ns, 1 us and 7.88 GB/s; a slot is 29.1 ns."""
    done = emulator.run(2, "timed_costs", options=TIMED)
    assert done.returncode == 0, done.stderr
    found = values(done.stdout)
    exact = {
        "send1": 32, "compute": 5000, "nothing": 0, "send": 3200, "write": 1600, "cached": 1600,
        "read": 100_000, "preset": 16, "get": 50, "poll": 50, "put": 320, "dma_start": 32,
        "test": 50, "any": 50, "relax": 50, "strided": 3200, "get_call": 3200, "try": 3200,
        "timeout": 1000,
    }  # fmt: skip
    assert {name: found[name] for name in exact} == exact
    engine = 400 + 1000 + 100 * 8 / 7.88 + 400
    assert 32 + engine <= found["put_engine"] <= 32 + engine + 29.1 + 50
    assert engine <= found["dma_wait"] + found["test"] <= engine + 29.1 + 50
    # a store of two words, PCIe, a link, the switch, a link, PCIe, a look
    assert 32 + 400 + 20 + 29 + 20 + 400 <= found["arrival"] - found["sent"] <= 1200


def test_another_card_has_other_costs(emulator):
    changed = ["--set", "pio_write=100000", "--set", "pio_read=300000", "--set", "poll_mirror=7000"]
    done = emulator.run(2, "timed_costs", options=[*TIMED, *changed])
    found = values(done.stdout)
    assert (found["read"], found["get"], found["relax"]) == (30_000, 7, 7)


def test_threads_wait_for_each_other_in_model_time(emulator):
    """Three times 10 us under a lock, 5 us until a signal, 30 us until a post, and a few looks."""
    runs = [emulator.run(2, "timed_locks", options=[*TIMED, "--stats"]) for _ in range(3)]
    assert len({traced(done) for done in runs}) == 1
    assert len({tuple(sorted(done.stdout.split())) for done in runs}) == 1
    found = values(runs[0].stdout)
    expected = {"locks": 30_000, "cond": 5000, "sem": 30_000, "timeout": 2 * 10**9, "sleep": 10**9}
    assert found.keys() == expected.keys()
    for name, least in expected.items():
        assert least <= found[name] <= least + 500, (name, found[name])


def test_a_deadlock_says_who_waits_for_what(emulator):
    done = emulator.run(2, "timed_stuck", "deadlock", options=TIMED)
    assert done.returncode == 1, done.stderr
    assert "deadlock at " in done.stderr
    assert "card 0 waits for 2 words in its FIFO" in done.stderr
    assert "card 1 waits for counter 4 to read 0 (it reads 5)" in done.stderr
    assert "FAILED" not in done.stderr


@pytest.mark.parametrize(
    ("how", "waits"),
    [
        (["message"], "vic_message_recv"),
        (["client"], "vic_client_recv"),
        (["client", "message"], "vic_client_recv"),
        (["counter", "client", "message"], "counter 5 to read 0 (it reads 1)"),
        (["fifo", "threads"], "1 word in its FIFO"),
        (["team", "client"], "its team"),
    ],
    ids=" ".join,
)
def test_a_deadlock_of_receivers_is_found(emulator, how, waits):
    """Though some look round while they wait: at the same model time in each run."""
    runs = [emulator.run(3, "receivers", *how, options=[*TIMED, "--stats"]) for _ in range(2)]
    for done in runs:
        assert (done.returncode, done.stdout) == (1, "-5\n" * 3), done.stderr
        assert re.search(rf"card 0 waits for .*{re.escape(waits)}", done.stderr)
    assert len({HASH.search(done.stderr)[1] for done in runs}) == 1
    assert len({re.search(r"deadlock at (\S+)", done.stderr)[1] for done in runs}) == 1


@pytest.mark.parametrize("later", ["late", "retries"])
def test_a_receiver_that_is_sent_something_late_is_in_no_deadlock(emulator, later):
    """The sender computes for 20 s of model time, or waits with a timeout again and again."""
    done = emulator.run(2, "receivers", "message", later, options=TIMED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n0\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT])
def test_who_interrupts_a_timed_job_is_told_who_waits_for_what(emulator, start_job, number):
    program = [str(emulator.program("receivers")), "counter", "elsewhere"]
    job = start_job([str(emulator.prefix / "bin" / "vicrun"), "-n", "2", *TIMED, "--", *program])
    assert job.stdout.readline() == "elsewhere\n"
    time.sleep(0.5)  # card 0 waits by then
    job.send_signal(number)
    errors = job.communicate(timeout=200)[1]
    assert job.returncode == 128 + number
    assert errors.startswith(f"vicrun: {number.name}: ")
    assert "card 0 waits for counter 5 to read 0 (it reads 1)" in errors
    assert "card 1 waits for nothing" in errors


def test_two_cards_that_fill_each_others_fifo(emulator):
    options = [*TIMED, "--set", "send_words=16"]
    done = emulator.run(2, "timed_stuck", "fifo", options=options)
    assert done.returncode == 1, done.stderr
    assert (
        "card 0 waits for room for its packets; its packets wait for room in the FIFO of card 1"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ("cached", "room for its packets; its packets wait for room in the FIFO of card 1"),
        ("put", "room for its packets; its packets wait for room in the FIFO of card 1"),
        ("long", "a transfer"),
        ("transfer", "a transfer"),
    ],
)
def test_packets_that_a_full_fifo_stops_for_ever(emulator, how, what):
    done = emulator.run(2, "timed_edges", how, options=[*TIMED, "--set", "send_words=16"])
    assert done.returncode == 1, done.stderr
    assert f"card 0 waits for {what}\n" in done.stderr
    assert "FAILED" not in done.stderr


@pytest.mark.parametrize("options", [[], ["--fault", "extra-polls=0.5"]], ids=["", "extra-polls"])
@pytest.mark.parametrize("how", ["sizes", "times"])
def test_more_words_and_longer_times_than_there_is_room_for(emulator, how, options):
    done = emulator.run(1, "timed_edges", how, options=[*TIMED, *options])
    assert done.returncode == 0, done.stderr


def test_a_card_that_opens_and_closes_faster_than_others_hear_of_it(emulator):
    done = emulator.run(2, "timed_edges", "openings", options=TIMED)
    assert done.returncode == 0, done.stderr


def test_what_a_program_is_told_of_its_card(emulator):
    """VIC_INFO: the sizes, the faults, and in timed mode the costs."""
    options = [*TIMED, "--set", "pio_write=450000", "--fault", "stall card=0 at=2us for=3us"]
    done = emulator.run(1, "timed_edges", "times", options=options, env={"VIC_INFO": "1"})
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^vic: card 0: (.{16}) +(\S+)  ", done.stderr, re.MULTILINE)
    told = {name.strip(): value for name, value in rows}
    wanted = {"fifo_words": "64", "pio_write": "450000", "planes": "16", "extra_polls": "0"}
    wanted |= {"stall at": "2000", "stall for": "3000", "spread": "0"}
    assert told | wanted == told


@pytest.mark.parametrize("how", ["last", "barrier", "late", "reopen"])
def test_ends_of_waits(emulator, how):
    runs = [emulator.run(2, "timed_stuck", how, options=[*TIMED, "--stats"]) for _ in range(2)]
    assert len({traced(done) for done in runs}) == 1
    assert runs[0].stdout.split() == runs[1].stdout.split() or how != "reopen"


def test_a_card_is_killed_at_its_time(emulator):
    options = [*TIMED, "--fault", "kill card=1 at=1ms", "--stats"]
    runs = [emulator.run(3, "timed_stuck", "killed", options=options) for _ in range(2)]
    for done in runs:
        assert done.returncode == 137
        assert [1_000_800 <= int(text) <= 1_000_900 for text in done.stdout.split()] == [True, True]
    assert len({HASH.search(done.stderr)[1] for done in runs}) == 1


def test_a_program_that_computes_in_silence_is_told_of(emulator):
    done = emulator.run(1, "timed_stuck", "silent", options=TIMED)
    assert done.returncode == 0
    assert re.search(r"card 0 computed for [\d.]+ ms between its calls", done.stderr)


def test_a_lossy_fifo_loses_the_same_words_each_time(emulator):
    options = [*SHALLOW, "--fault", "fifo-drop=1"]
    runs = [emulator.run(2, "timed_stuck", "fifo", options=options) for _ in range(2)]
    lost = {re.search(r"(\d+) FIFO words were lost", done.stderr)[1] for done in runs}
    assert len(lost) == 1
    assert int(lost.pop()) > 0


def test_a_trace_is_in_model_time(emulator, tmp_path):
    options = [*TIMED, "--trace", str(tmp_path / "trace")]
    texts = []
    for _ in range(2):
        assert emulator.run(2, "timed_ring", "fifo", options=options).returncode == 0
        texts.append((tmp_path / "trace").read_text("utf-8"))
    assert texts[0] == texts[1]
    events = json.loads(texts[0])["traceEvents"]
    sends = [event for event in events if event["name"] == "vic_send"]
    assert len(sends) == 40
    assert all(event["dur"] == 0.032 for event in sends)
    assert sum(event["name"] == "packets" for event in events) == 40
    arrows = {event["id"]: event for event in events if event["ph"] == "s"}
    for send, arrow in zip(sends, sorted(arrows.values(), key=lambda one: one["id"]), strict=True):
        assert send["ts"] <= arrow["ts"] <= send["ts"] + send["dur"] + 0.0011  # each its own call
    assert {event["args"]["words"] for event in events if event["name"] == "FIFO"} == {1}


def test_a_packet_before_its_preset_is_reported(emulator):
    done = emulator.run(2, "timed_stuck", "early", options=[*TIMED, "--check"])
    assert done.returncode == 0, done.stderr
    assert "card 1: counter 5 read 0 when a packet of card 0 came" in done.stderr


@pytest.mark.parametrize("name", CONFORMANCE)
def test_address_and_undefined_behaviour(sanitized, name):
    done = sanitized.run(3, name, options=SHALLOW)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", [*CONFORMANCE, "collectives", "messages", "client_topics"])
def test_data_races_between_cards_and_coordinator(threaded, name):
    done = threaded(name, "-n", "3", *SHALLOW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not exact" not in done.stdout


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("pio_read=700000", "pio_read crosses PCIe twice"),
        ("pio_write=10", "pio_write must be 1 ns .. 1 s"),
        ("planes=0", "planes must be 1 .. 64"),
    ],
)
def test_impossible_cards_are_refused(emulator, setting, message):
    done = emulator.run(2, "timed_ring", options=[*TIMED, "--set", setting])
    assert done.returncode == 2
    assert message in done.stderr
