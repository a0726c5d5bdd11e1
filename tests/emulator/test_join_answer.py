"""Who joins has its answer before the launcher goes on: is all that it must find done by then?"""

from __future__ import annotations

import os
import signal
import socket

import pytest
from emulator_build import PROGRAMS, build
from harness.processes import until
from test_join import place, result, serve
from test_lost_guest import ask

STILL_THERE = "the wait timed out (VIC_ETIMEDOUT), opens 3\n"
__all__ = ["place", "serve"]  # fixtures


@pytest.fixture
def held(tmp_path):
    """An environment in which vicrun stops after an answer, and the file that lets it go on."""
    shim, go = tmp_path / "hold.so", tmp_path / "go"
    flags = ["-std=c11", *build.WARNINGS, "-Werror", "-shared", "-fPIC"]
    build.compile_c([PROGRAMS / "hold_answer.c"], shim, flags)
    yield {**os.environ, "LD_PRELOAD": str(shim), "HOLD_UNTIL": str(go)}, go
    go.touch()


def test_a_card_that_is_joined_again_is_its_own_from_the_answer_on(serve, emulator, held):
    """Its program that had ended does not count any more, and what opens now is not put out."""
    env, go = held
    job = serve("-n", "1", emulator.program("opens"), ":", "-n", "1", "sleep", "100", env=env)
    guests = []

    def joins():
        """Its first line, or nothing while the card still has a program."""
        guests.append(job.begin(emulator.program("joined"), options=("--card", "0")))
        guests.append(guests[-1].stdout.readline())
        return guests[-1] != ""

    until(joins, "card 0 to be free")
    guest, said = guests[-2:]
    assert said == STILL_THERE
    go.touch()
    assert result(guest, "\n") == (0, STILL_THERE, "")


def test_a_card_that_nobody_took_after_all_has_ended_as_before(serve, emulator):
    """Who asked has hung up before the answer: the others are told that its card has ended."""
    job = serve("-n", "1", emulator.program("joined"), ":", "-n", "1", emulator.program("opens"))

    def ended():
        job.process.stdin.write("\n")
        job.process.stdin.flush()
        line = job.process.stdout.readline()
        while line == "0 \n":  # of the other
            line = job.process.stdout.readline()
        return line == "the card is closed, or the job has ended (VIC_ECLOSED), opens 1\n"

    until(ended, "card 1 to end")
    job.process.send_signal(signal.SIGSTOP)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as launcher:
        launcher.connect("s")
        launcher.send(ask(1))
    job.process.send_signal(signal.SIGCONT)
    assert "has no card 9" in job.join("true", options=("--card", "9"))[2]  # it has been answered
    assert ended()
    code, _, errors = job.end()
    assert (code, errors) == (128 + 15, "")
