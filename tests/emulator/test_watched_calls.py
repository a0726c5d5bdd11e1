"""VIC_DEBUG and --check: is every call told, and who counts on the barrier's counters?"""

import re

import pytest
from emulator_build import SMALL

TOLD = [
    "vic_counter_set(counter=5, n=1) = VIC_OK",
    "vic_put(dest=1, addr=16, n=2, counter=63) = VIC_OK",
    "vic_counter_wait(counter=5, timeout=1000) = failed: the wait timed out (VIC_ETIMEDOUT)",
    "refused: addr 40000 is not in SRAM (32768 words)",
    "vic_send(n=1, dest=1, op=4, addr=0, counter=62) = VIC_OK",
    "vic_put(dest=1, addr=0, n=1, counter=61) = VIC_OK",
    "vic_barrier(timeout=60000000000) = VIC_OK",
    "vic_barrier(timeout=60000000000) = VIC_OK",
]
MODES = pytest.mark.parametrize("options", [[], ["--mode", "timed"]], ids=["functional", "timed"])


@MODES
def test_every_call_is_told_with_its_arguments_status_and_times(sanitized, options):
    calls = sanitized.run(2, "watched_calls", options=[*SMALL, *options], env={"VIC_DEBUG": "1"})
    assert (calls.returncode, calls.stdout) == (0, "")
    lines = [re.sub(r"\d+\.\d{3} us", "T", line) for line in calls.stderr.splitlines()]
    told = [f"vic: card 0: T: {call}" + ("" if "refused" in call else ", T") for call in TOLD]
    assert [line for line in lines if line.startswith("vic: card 0: T: ")] == told
    of_other = [line for line in lines if line.startswith("vic: card 1: ")]
    assert of_other == [f"vic: card 1: T: {call}, T" for call in TOLD[-2:]]
    assert sanitized.run(2, "watched_calls", options=[*SMALL, *options]).stderr == ""


@MODES
def test_the_check_tells_who_uses_the_counters_of_the_barrier(emulator, options):
    done = emulator.run(2, "watched_calls", options=[*SMALL, *options, "--check"])
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == [
        f"vic: check: card 1: counter {counter} belongs to vic_barrier, and card 0 uses it: "
        "on hardware a barrier would break; vic_counter_alloc gives others"
        for counter in (61, 62)
    ]
