"""VIC_DEBUG and --check: is every call told, and who counts on the barrier's counters?"""

import os
import re
import subprocess

import pytest
from emulator_build import ROOT, SMALL

INCLUDE = ROOT / "emulator" / "include"

TOLD = [
    "vic_open() = VIC_OK",
    "vic_counter_set(counter=5, n=1) = VIC_OK",
    "vic_put(dest=1, addr=16, n=2, counter=63) = VIC_OK",
    "vic_counter_wait(counter=5, timeout=1000) = failed: the wait timed out (VIC_ETIMEDOUT)",
    "refused: addr 40000 is not in SRAM (32768 words)",
    "vic_send(n=1, dest=1, op=4, addr=0, counter=62) = VIC_OK",
    "vic_put(dest=1, addr=0, n=1, counter=61) = VIC_OK",
    "vic_barrier(timeout=60000000000) = VIC_OK",
    "vic_barrier(timeout=60000000000) = VIC_OK",
    "vic_close() = VIC_OK",
]
UNTIMED = ("vic_open", "vic_close", "refused")
"""Of which it is not told how long they took."""

IN_LAYERS = """\
vic_open() = VIC_OK
vic_message_open(max_bytes=0, window_bytes=0, flags=0) = VIC_OK, T
vic_message_send(dest=1, bytes=5, timeout=60000000000) = VIC_OK, T
vic_message_flush(timeout=60000000000) = VIC_OK, T
vic_message_send(dest=9, bytes=1, timeout=0) = failed: card 9 does not exist (0 .. 1), T
vic_barrier(timeout=60000000000) = VIC_OK, T
vic_message_close() = VIC_OK, T
vic_team_open(n=0, timeout=60000000000) = VIC_OK, T
vic_allreduce(op=0, n=1, timeout=60000000000) = VIC_OK, T
vic_barrier(timeout=60000000000) = VIC_OK, T
vic_team_close() = VIC_OK, T
vic_client_open(max_bytes=0, ring_bytes=0, window_messages=0, window_bytes=0, flags=4) = VIC_OK, T
vic_client_publish(bridge=0, key="orders?", bytes=5, timeout=60000000000) = VIC_OK, T
vic_client_recv(timeout=60000000000) = VIC_OK with kind=1, src=0, key="orders?", bytes=5, T
vic_client_ack(id=1, reject=0) = VIC_OK, T
vic_client_flush(timeout=60000000000) = VIC_OK, T
vic_client_close() = VIC_OK, T
{descriptor}
vic_close() = VIC_OK"""
DESCRIPTOR = {
    "functional": "vic_event_fd(counters=1, fifo_min=0) = VIC_OK with fd=N, T",
    "timed": "refused: timed mode has no descriptors: "
    "model time stands while a program waits elsewhere; vic_wait",
}
EACH = """\
vic_message_open(max_bytes=1024, window_bytes=0, flags=0) = VIC_OK
vic_message_send(dest=0, bytes=5, timeout=LONG) = VIC_OK
vic_message_recv(capacity=16, timeout=LONG) = VIC_OK with bytes=5
vic_message_recv(capacity=16, timeout=0) = failed: the wait timed out (VIC_ETIMEDOUT)
vic_message_flush(timeout=LONG) = VIC_OK
vic_message_flush_to(dest=0, timeout=LONG) = VIC_OK
vic_message_ends(peer=0) = VIC_OK with ends=0
vic_message_close() = VIC_OK
vic_message_open(max_bytes=0, window_bytes=0, flags=0) = failed: the size of the config is 0; here it is 24
vic_team_open(n=0, timeout=LONG) = VIC_OK
vic_team_barrier(timeout=LONG) = VIC_OK
vic_broadcast(root=0, n=2, timeout=LONG) = VIC_OK
vic_reduce(root=0, op=2, n=2, timeout=LONG) = VIC_OK
vic_allreduce(op=0, n=2, timeout=LONG) = VIC_OK
vic_gather(root=0, n=2, timeout=LONG) = VIC_OK
vic_alltoall(n=2, timeout=LONG) = VIC_OK
vic_team_close() = VIC_OK
vic_client_open(max_bytes=0, ring_bytes=0, window_messages=0, window_bytes=0, flags=0) = failed: the size of the config is 0; here it is 24
vic_client_open(max_bytes=1024, ring_bytes=4096, window_messages=0, window_bytes=0, flags=4) = VIC_OK
vic_client_bind(pattern="a.#") = VIC_OK
vic_client_topic(topic="a.b", bytes=5, timeout=LONG) = VIC_OK with cards=1
vic_client_recv(timeout=LONG) = VIC_OK with kind=10, src=0, key="a.b", bytes=5
vic_client_release(id=1) = VIC_OK
vic_client_unbind(pattern="a.#") = VIC_OK
vic_client_topic(topic="a.b", bytes=5, timeout=LONG) = VIC_OK
vic_client_recv(timeout=0) = failed: the wait timed out (VIC_ETIMEDOUT)
vic_client_publish(bridge=0, key="k", bytes=5, timeout=LONG) = VIC_OK
vic_client_recv(timeout=LONG) = VIC_OK with kind=1, src=0, key="k", bytes=5
vic_client_ack(id=3, reject=0) = VIC_OK
vic_client_publish(bridge=0, key="k", bytes=5, timeout=LONG) = VIC_OK
vic_client_recv(timeout=LONG) = VIC_OK with kind=1, src=0, key="k", bytes=5
vic_client_ack_within(id=4, reject=0, timeout=LONG) = VIC_OK
vic_client_flush(timeout=LONG) = VIC_OK
vic_client_publish(bridge=0, key=NULL, bytes=5, timeout=0) = failed: the key, queue, topic or pattern is NULL
vic_client_subscribe(bridge=0, queue="a queue?? whose name is longer than what one line tells of …, credit=1) = VIC_OK with subscription=1
vic_client_unsubscribe(subscription=1) = VIC_OK
vic_client_subscribe(bridge=0, queue="q", credit=1) = VIC_OK
vic_client_subscribe(bridge=1, queue="q", credit=1) = failed: card 1 does not exist (0 .. 0)
vic_client_counts() = VIC_OK
vic_client_close() = VIC_OK
"""  # noqa: E501
"""What a card alone is told of each call of the layers; all say how long it took."""
HEADERS = [INCLUDE / f"vic_{layer}.h" for layer in ("message", "client", "collective")]
MODES = pytest.mark.parametrize("options", [[], ["--mode", "timed"]], ids=["functional", "timed"])


def of_card(card, lines):
    """Return the lines of a card, without what they begin with."""
    before = f"vic: card {card}: T: "
    return [line.removeprefix(before) for line in lines if line.startswith(before)]


@MODES
def test_every_call_is_told_with_its_arguments_status_and_times(sanitized, options):
    calls = sanitized.run(2, "watched_calls", options=[*SMALL, *options], env={"VIC_DEBUG": "1"})
    assert (calls.returncode, calls.stdout) == (0, "")
    lines = [re.sub(r"\d+\.\d{3} us", "T", line) for line in calls.stderr.splitlines()]
    told = [call + ("" if call.startswith(UNTIMED) else ", T") for call in TOLD]
    assert of_card(0, lines) == told
    assert of_card(1, lines) == [told[0], *told[-3:]]
    assert sanitized.run(2, "watched_calls", options=[*SMALL, *options]).stderr == ""


@pytest.mark.parametrize("mode", DESCRIPTOR)
def test_calls_of_the_layers_are_told_and_what_they_call_behind_their_names(sanitized, mode):
    options = [*SMALL, "--mode", mode]
    calls = sanitized.run(2, "watched_layers", options=options, env={"VIC_DEBUG": "1"})
    assert (calls.returncode, calls.stdout) == (0, "")
    lines = [re.sub(r"\d+\.\d{3} us", "T", line) for line in calls.stderr.splitlines()]
    lines = [re.sub(r"fd=\d+", "fd=N", line) for line in lines]
    told = IN_LAYERS.format(descriptor=DESCRIPTOR[mode]).splitlines()
    assert [line for line in of_card(0, lines) if " > " not in line] == told
    received = "vic_message_recv(capacity=64, timeout=60000000000) = VIC_OK with bytes=5, src=0, T"
    assert received in of_card(1, lines)
    inner = {line.rpartition("(")[0].rpartition(" > ")[0] for line in lines if " > " in line}
    assert {"vic_message_send", "vic_allreduce", "vic_client_publish > vic_message_send"} <= {
        before.removeprefix("vic: card 0: T: ") for before in inner
    }
    (without_card,) = [line for line in lines if not line.startswith("vic: card ")]
    opening = "vic: vic_message_open(max_bytes=0, window_bytes=0, flags=0) = failed: "
    assert without_card.startswith(opening)
    assert sanitized.run(2, "watched_layers", options=options).stderr == ""


@MODES
def test_each_call_of_the_layers_is_told_without_a_handle_and_with_one(sanitized, options):
    calls = sanitized.run(1, "watched_each", options=[*SMALL, *options], env={"VIC_DEBUG": "1"})
    assert (calls.returncode, calls.stdout) == (0, "")
    lines = [re.sub(r"\d+\.\d{3} us", "T", line) for line in calls.stderr.splitlines()]
    lines = [line for line in lines if " > " not in line]
    told = EACH.replace("LONG", str(60 * 10**9)).splitlines()
    assert of_card(0, lines)[1:-1] == [f"{line}, T" for line in told]
    declared = {
        name.removesuffix("_sized")
        for header in HEADERS
        for name in re.findall(r"^VIC_API int (vic_\w+)\(", header.read_text("utf-8"), re.M)
    }
    refused = re.findall(r"^vic: (vic_\w+)\(.*\) = failed: ", "\n".join(lines), re.M)
    assert sorted(refused) == sorted(declared)
    good = {line.partition("(")[0] for line in told if " = VIC_OK" in line}
    assert good == declared


def test_an_opening_that_fails_is_told(emulator):
    alone = [str(emulator.program("watched_calls"))]
    env = {**os.environ, "VIC_DEBUG": "1", "VIC_JOB": "nonsense"}
    done = subprocess.run(alone, env=env, capture_output=True, text=True, check=False)
    line = "vic: vic_open() = failed: VIC_JOB is not 'descriptor:nonce' as the launcher sets it"
    assert done.stderr.splitlines()[0] == line


@MODES
def test_the_check_tells_who_uses_the_counters_of_the_barrier(emulator, options):
    done = emulator.run(2, "watched_calls", options=[*SMALL, *options, "--check"])
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == [
        f"vic: check: card 1: counter {counter} belongs to vic_barrier, and card 0 uses it: "
        "on hardware a barrier would break; vic_counter_alloc gives others"
        for counter in (61, 62)
    ]
