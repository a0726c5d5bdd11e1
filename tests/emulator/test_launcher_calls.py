"""vicrun: what if a certain call fails, in the launcher, in one who joins, in vicload?

tests/faults lets the first of each call fail in jobs of some kinds; here are those that it does
not come to, each with what must become of the job.
"""

from __future__ import annotations

import errno as e
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from emulator_build import SMALL
from harness.once import once
from harness.processes import until
from test_join import SAY, place, result, serve

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))
from fault import Fault, read_state, shim

HOOKED = ("LD_PRELOAD", "FAULT", "FAULT_STATE", "FAULT_OBJECTS", "FAULT_PROGRAM")
AGAIN, NO_MEMORY = "Resource temporarily unavailable", "Cannot allocate memory"
__all__ = ["place", "serve"]  # fixtures


@pytest.fixture(scope="module")
def library():
    return once("fail.c", shim) / "fail.so"


@pytest.fixture
def failing(library, tmp_path):
    """Return a function that gives the environment of a program in which a call fails.

    Afterwards it has failed.
    """
    state = tmp_path / "state"

    def environment(text, objects="vicrun", program="vicrun"):
        call, number, name, *_ = text.split()
        fault = Fault(call, int(number), getattr(e, name))
        values = (str(library), fault.text, str(state), objects, program)
        state.unlink(missing_ok=True)
        under = {"FAULT_UNDER": "/dev/null"} if call == "open" else {}
        return {**os.environ, **dict(zip(HOOKED, values, strict=True)), **under}

    yield environment
    assert read_state(state)[1] > 0


def vicrun(emulator, env, *words):
    done = subprocess.run(
        [str(emulator.prefix / "bin" / "vicrun"), "-n", "2", *SMALL, *words],
        env=env, capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("calloc 1 ENOMEM", 1, "no memory"),
        ("getrandom 1 EINTR", 1, "no random numbers: Interrupted system call"),
        ("memfd_create 1 EMFILE", 1, "cannot make the memory of the job: Too many open files"),
        ("mmap 1 ENOMEM", 1, "no memory for the job"),
        ("calloc 3 ENOMEM", 1, "no memory for the job"),
        ("calloc 4 ENOMEM", 1, "no memory"),
        ("signalfd 1 EMFILE", 1, "cannot take signals: Too many open files"),
        ("poll 1 ENOMEM", 1, f"cannot watch the programs: {NO_MEMORY}"),
        ("pipe2 1 EMFILE", 1, "Too many open files"),
        ("pipe2 2 EMFILE", 1, "cannot start program 0 of 2: Too many open files"),
        ("pipe2 3 EMFILE", 1, "cannot start program 0 of 2: Too many open files"),
        ("fork 2 EAGAIN", 1, f"cannot start program 1 of 2: {AGAIN}"),
        ("pidfd_open 2 EMFILE", 1, "cannot start program 1 of 2: Too many open files"),
        ("setenv 1 ENOMEM", 126, f"cannot run 'echo': {NO_MEMORY}"),
        ("setenv 2 ENOMEM", 126, f"cannot run 'echo': {NO_MEMORY}"),
        ("setenv 3 ENOMEM", 126, f"cannot run 'echo': {NO_MEMORY}"),
        ("dup2 1 EBUSY", 126, "cannot run 'echo': Device or resource busy"),
        ("dup2 2 EBUSY", 126, "cannot run 'echo': Device or resource busy"),
        ("dup2 3 EBUSY", 126, "cannot run 'echo': Device or resource busy"),
        ("open 2 EMFILE", 126, "cannot run 'echo': Too many open files"),
    ],
)
def test_programs_that_cannot_be_started(emulator, failing, fault, code, said):
    done = vicrun(emulator, failing(fault), "--prefix", "echo", "x")
    assert done[0] == code
    assert done[1].endswith(f"vicrun: {said}\n")


def test_a_refusal_that_is_lost(emulator, failing):
    code, errors = vicrun(emulator, failing("write 1 EIO"), "no-such-program")
    assert (code, "no-such-program" in errors) in {(126, False), (127, True)}  # of the other


def test_a_program_that_cannot_be_started_again(emulator, failing):
    """It was the last one that ran; and the other is not started for ever."""
    for cards, number in (("1", 2), ("2", 3)):
        job = ["-n", cards, "--if-killed", "restart:0", "sh", "-c", "exit 3"]
        code, errors = vicrun(emulator, failing(f"fork {number} EAGAIN"), *job)
        assert code == 1
        assert f"cannot be started again: {AGAIN}; the job ends" in errors


@pytest.mark.parametrize(
    ("fault", "code"),
    [("bind 1 EACCES", 2), ("listen 1 EADDRINUSE", 2), ("rename 1 EIO", 2), ("lstat 2 EACCES", 2),
     ("socket 1 EMFILE", 2), ("stat 1 EACCES", 2)],
)  # fmt: skip
def test_a_door_that_cannot_be_made(emulator, failing, place, fault, code):
    done = vicrun(emulator, failing(fault), "--serve", "s", "true", ":", "-")
    error = os.strerror(getattr(e, fault.split()[2]))
    assert done == (code, f"vicrun: --serve: 's' {error}\n")
    assert [path for path in Path().iterdir() if path.name != "state"] == []


def test_a_door_that_is_there_and_cannot_be_tried(emulator, failing, place):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stale:
        stale.bind("s")
    done = vicrun(emulator, failing("socket 1 EMFILE"), "--serve", "s", "true", ":", "-")
    assert done == (2, "vicrun: --serve: 's' Too many open files\n")
    assert place.exists()


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("socket 1 EMFILE", 1, "vicrun: --join: 's': Too many open files"),
        ("getsockopt 1 ENOBUFS", 1, "vicrun: --join: 's': No buffer space available"),
        ("send 1 ENOBUFS", 1, "vicrun: --join: 's': the job ends, or does not answer"),
        ("signalfd 1 EMFILE", 1, "vicrun: cannot take signals: Too many open files"),
        ("waitid 1 EINTR", 0, ""),
        ("poll 1 EINTR", 0, ""),
        ("poll 1 ENOMEM", 1, f"vicrun: --join: cannot watch the program: {NO_MEMORY}"),
        (
            "send 2 ENOBUFS",
            1,
            "vicrun: --join: cannot tell the job how the program ended: No buffer",
        ),
        ("calloc 2 ENOMEM", 1, "no memory for the job"),
        ("calloc 3 ENOMEM", 1, "vicrun: --join: 's': no memory"),
    ],
)
def test_one_who_joins_and_fails(serve, failing, fault, code, said):
    job = serve("-n", "1", "-")
    done = job.join("true", env=failing(fault))
    assert (done[0], said in done[2]) == (code, True), done
    until(lambda: job.join(*SAY, "0") == (0, "0 of 1\n", ""), "the card to be free")
    assert job.end()[0] == 0


def test_one_who_joins_and_cannot_start_again(serve, failing):
    job = serve("-n", "1", "-", options=("--if-killed", "restart"))
    code, _, errors = job.join("sh", "-c", "exit 3", env=failing("fork 2 EAGAIN"))
    assert (code, errors) == (1, f"vicrun: --join: the program cannot be started again: {AGAIN}\n")
    until(lambda: job.join(*SAY, "0") == (0, "0 of 1\n", ""), "the card to be free")
    code, _, errors = job.end()
    assert (code, errors.count("card 0 ended with exit code 1; the others go on")) == (0, 1)


@pytest.mark.parametrize("fault", ["send 1 ENOBUFS", "recv 2 ENOMEM", "recv 2 EINTR"])
def test_a_launcher_that_cannot_talk_to_a_guest(serve, failing, fault):
    """Nobody waits for what was not said: it hangs up."""
    env = failing(fault)
    job = serve("-n", "1", "-", options=("--if-killed", "restart:0"), env=env)
    script = "test -f once && exit 0; touch once; exit 3"
    assert job.join("sh", "-c", script)[0] == (0 if "EINTR" in fault else 3)
    until(lambda: job.join(*SAY, "0") == (0, "0 of 1\n", ""), "the card to be free")
    assert job.end()[0] == 0


@pytest.mark.parametrize("fault", ["getsockopt 1 ENOBUFS", "accept4 1 EMFILE", "sendmsg 1 ENOBUFS"])
def test_a_launcher_that_cannot_let_somebody_in(serve, failing, fault):
    job = serve("-n", "1", "-", env=failing(fault))
    code, _, errors = job.join("true")
    assert (code, errors) in (
        (1, "vicrun: --join: 's': the job ends, or does not answer\n"),
        (0, ""),  # who was not accepted is asked in again
    )
    assert job.join(*SAY, "0") == (0, "0 of 1\n", "")
    assert job.end()[0] == 0


@pytest.mark.parametrize("fault", ["getsockopt 2 ESRCH", "getsockopt 2 ENOPROTOOPT"])
def test_a_guest_that_is_killed_and_cannot_be_watched(serve, failing, fault):
    """It has gone; or the kernel does not know how to watch who is at the other end."""
    job = serve("-n", "1", "-", options=("--if-killed", "leave"), env=failing(fault))
    guest = job.begin("sh", "-c", "echo here; exec sleep 1000")
    assert guest.stdout.readline() == "here\n"
    guest.kill()
    result(guest)
    until(lambda: job.join(*SAY, "0") == (0, "0 of 1\n", ""), "the card to be free")
    assert job.end()[0] == 0


# ---- vicload


def vicload(emulator, *words, **more):
    done = subprocess.run(
        [str(emulator.prefix / "bin" / "vicload"), *words],
        capture_output=True, text=True, check=False, timeout=200, **more,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


PUBLISH = ("publish", "--bridge", "0", "--key", "k", "--messages", "0", "--bytes", "1")


def test_vicload_without_a_card_says_why(emulator, failing):
    code, _, errors = vicload(emulator, *PUBLISH, env={**os.environ, "VIC_JOB": "x"})
    assert (code, errors.startswith("vicload: VIC_JOB")) == (1, True), errors
    env = failing("calloc 6 ENOMEM", "libvic.so.0", "vicload")  # those before are of the card
    code, _, errors = vicload(emulator, *PUBLISH, env=env)
    assert (code, errors.startswith("vicload: vic_client_open: ")) == (1, True), errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["publish", "-xy"], "no such option '-xy'"),
        (["publish", "--key", "k" * 256], "is not at most 255 bytes long"),
        (["consume", "--queue", "k" * 256], "is not at most 255 bytes long"),
        (["publish", "--window", "0"], "--window: '0' is not a whole number, 1 .. 16777216"),
        (["publish", "--persistent=yes"], "--persistent: 'yes' is too much: it has no value"),
        (["publish", "--persist"], "did you mean '--persistent'?"),
        (["publish", "--persistent", "--messages=x"], "--messages: 'x' is not a whole number"),
        (["publish", "k", "--bridge", "0"], "'k' is one argument too many"),
    ],
)
def test_a_wrong_command_line_of_vicload_is_explained(emulator, words, said):
    code, out, errors = vicload(emulator, *words)
    assert (code, out, said in errors) == (2, "", True), errors


def test_vicload_says_its_version_anywhere(emulator):
    said = vicload(emulator, "--version")
    assert said[0] == 0 and re.fullmatch(r"vicload [\d.]+\n", said[1])
    assert vicload(emulator, "publish", "--version") == said
