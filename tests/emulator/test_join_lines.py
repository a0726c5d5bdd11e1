"""The line between a vicrun that joins and the job: what if either end says what it likes?

Here a test stands between the two, or is one of them (join.h).
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
from collections import namedtuple
from pathlib import Path

import pytest
from emulator_build import SMALL
from harness.processes import until
from test_join import SAY, place, result, serve
from test_launcher import vicrun
from test_launcher_lives import COUNT
from test_lost_guest import ask

LAYOUT = struct.Struct("<II20sIIIIIQ200s")
Said = namedtuple("Said", "kind layout version card refused number by_signal last nonce text")
ANSWER, ENDED, AGAIN, SIGNAL = range(0x6A6F6902, 0x6A6F6906)
NOTHING = Said(0, 0, b"", 0, 0, 0, 0, 0, 0, b"")
LOST = "the launcher of the job was killed"
STRANGE = "the job does not answer as it should"
NAME = "between"
TERMINAL = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, lambda *_: None)
job = subprocess.Popen([sys.argv[1], "--serve", "s", "-n", "2", "-"])
while not os.path.exists("s"):
    time.sleep(0.01)
print(job.pid, flush=True)
subprocess.run([sys.argv[1], "--join", "s", "--", sys.executable, "-c", sys.argv[2]])
job.wait()
"""
__all__ = ["place", "serve"]  # fixtures


def packed(kind, **more):
    return LAYOUT.pack(*NOTHING._replace(kind=kind, **more))


class Between:
    """Between a guest and a job."""

    def __init__(self, job, *program):
        self.door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.door.settimeout(200)
        self.door.bind(NAME)
        self.door.listen()
        self.job = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.job.settimeout(200)
        self.job.connect(str(job.place))
        self.process = job.start([*job.vicrun, "--join", NAME, "--", *map(str, program)])
        self.guest, _ = self.door.accept()
        self.guest.settimeout(200)
        self.job.send(self.guest.recv(1000))
        data, self.fds, *_ = socket.recv_fds(self.job, 1000, 2)
        self.answer = Said(*LAYOUT.unpack(data))

    def pass_on(self, fds=None, data=None, **changes):
        """Give the guest its answer, or what is made of it."""
        data = LAYOUT.pack(*self.answer._replace(**changes)) if data is None else data
        socket.send_fds(self.guest, [data], self.fds if fds is None else fds)

    def say(self, kind, **more):
        """Say something to the guest."""
        self.guest.send(packed(kind, **more))

    def hear(self):
        """Return what the guest says."""
        return Said(*LAYOUT.unpack(self.guest.recv(1000)))

    def all_is_read(self):
        """Return whether the guest has read all that was said."""
        unread = array.array("i", [0])
        fcntl.ioctl(self.guest, termios.TIOCOUTQ, unread)
        return unread[0] == 0

    def close(self):
        for line in (self.door, self.job, self.guest):
            line.close()
        for fd in self.fds:
            os.close(fd)


@pytest.fixture
def between(serve):
    made = []

    def start(*program):
        made.append(Between(serve("-n", "2", "-"), *program))
        return made[-1]

    yield start
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": b"x"}, "the job ends, or does not answer"),
        ({"kind": ENDED}, "the job ends, or does not answer"),
        ({"fds": []}, STRANGE),
        ({"card": 99}, STRANGE),
        ({"nonce": 5}, "VIC_JOB is of another job"),
        ({"refused": 1, "text": b"x" * 200}, "x" * 199 + "\n"),
        ({"refused": 1, "text": b"why", "fds": []}, "why\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else "",
)
def test_a_strange_answer_is_an_error(between, changes, said):
    middle = between("true")
    middle.pass_on(**changes)
    code, out, errors = result(middle.process)
    assert (code, out) == (1, "")
    assert errors.startswith(f"vicrun: --join: '{NAME}': ") and errors.count("\n") == 1
    assert said in errors


def test_no_answer_is_an_error(between):
    middle = between("true")
    middle.guest.close()
    assert result(middle.process)[::2] == (
        1,
        f"vicrun: --join: '{NAME}': the job ends, or does not answer\n",
    )


def test_a_descriptor_too_many_does_not_reach_the_program(between):
    script = "for fd in /proc/self/fd/*; do readlink $fd; done"
    middle = between("sh", "-c", script)
    with Path("secret").open("w") as secret:
        middle.pass_on(fds=[*middle.fds, secret.fileno()])
        assert middle.hear().kind == ENDED
        middle.guest.close()
        code, out, _ = result(middle.process)
    assert (code, "vic-job" in out, "secret" in out) == (0, True, False)


def test_what_the_launcher_says_in_odd_moments(between):
    """Nothing comes of it."""
    middle = between("sh", "-c", "echo here; read line; exit 3")
    middle.pass_on()
    process = middle.process
    assert process.stdout.readline() == "here\n"
    middle.say(AGAIN)  # it runs
    middle.say(99)
    until(middle.all_is_read, "the guest to read this while its program runs")
    process.stdin.write("on\n")
    process.stdin.flush()
    ended = middle.hear()
    assert (ended.kind, ended.number, ended.by_signal, ended.last) == (ENDED, 3, 0, 0)
    middle.say(SIGNAL, number=signal.SIGKILL)  # it does not
    middle.say(AGAIN)
    assert process.stdout.readline() == "here\n"
    middle.say(SIGNAL, number=signal.SIGTERM)
    ended = middle.hear()
    assert (ended.number, ended.by_signal, ended.last) == (128 + 15, 1, 0)
    middle.guest.close()
    assert result(process) == (128 + 15, "", "")


@pytest.mark.parametrize("how", ["hung up", "garbage"])
def test_a_guest_without_a_launcher_ends(between, how):
    middle = between("sh", "-c", "echo here; exec sleep 1000")
    middle.pass_on()
    assert middle.process.stdout.readline() == "here\n"
    if how == "garbage":
        middle.guest.send(b"x")
    else:
        middle.guest.shutdown(socket.SHUT_RDWR)
    code, _, errors = result(middle.process)
    assert (code, LOST in errors) == (128 + 9, True)


def test_a_signal_between_two_lives_is_the_end(between):
    middle = between("sh", "-c", "exit 3")
    middle.pass_on()
    assert middle.hear().kind == ENDED  # and it would be told to start it again
    middle.process.send_signal(signal.SIGTERM)
    assert middle.guest.recv(1000) == b""
    assert result(middle.process) == (3, "", "")


def test_a_signal_that_asks_for_something_else_is_not(between):
    middle = between("sh", "-c", "trap 'exit 3' USR1; echo here; while :; do sleep 0.01; done")
    middle.pass_on()
    for _ in range(2):
        assert middle.process.stdout.readline() == "here\n"
        middle.process.send_signal(signal.SIGUSR1)
        assert (ended := middle.hear()).number == 3 and ended.last == 0
        middle.process.send_signal(signal.SIGUSR2)  # for nobody
        middle.say(AGAIN)
    middle.guest.shutdown(socket.SHUT_RDWR)
    assert result(middle.process)[0] in (3, 128 + 9)


def test_who_ends_a_guest_is_not_given_it_back(serve):
    job = serve("-n", "2", "-", options=("--if-killed", "restart:0"))
    guest = job.begin("sh", "-c", "echo here; exec sleep 1000")
    assert guest.stdout.readline() == "here\n"
    guest.send_signal(signal.SIGTERM)
    assert result(guest) == (128 + 15, "", "")
    assert job.join("no-such-program", card=1)[0] == 127  # nor tried again
    assert job.join(*SAY, "0", card=1) == (0, "1 of 2\n", "")
    code, _, errors = job.end()
    assert (code, errors.count("the others go on"), "again" in errors) == (0, 2, False)


def test_a_guest_that_is_killed_is_not_started_again(serve):
    job = serve("-n", "2", "-", options=("--if-killed", "restart"))
    guest = job.begin("sh", "-c", "echo here; exec sleep 1000")
    assert guest.stdout.readline() == "here\n"
    guest.kill()
    result(guest)
    until(lambda: is_free(job), "card 0 to be free")
    code, _, errors = job.end()
    assert (code, errors.count("killed by signal 9 (Killed); the others go on")) == (0, 1)


def is_free(job):
    """Say whether a guest gets card 0."""
    return job.join("true", options=("--card", "0"))[0] == 0


TALKS = """
import socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
    line.connect("s")
    first, *others = map(bytes.fromhex, sys.argv[1:])
    line.send(first)
    line.recv(1000)
    for said in others:
        line.send(said)
    while len(others) > 1 and line.recv(1000):
        pass  # it may have been told to start its program again, before
"""


@pytest.mark.parametrize("then", [[], [packed(ENDED)], [packed(SIGNAL)], [b"x"]])
def test_a_guest_that_does_not_wait_to_be_started_again(serve, then):
    """It hangs up, or says what makes no sense then."""
    job = serve("-n", "1", "-", options=("--if-killed", "restart:0"))
    words = [said.hex() for said in (ask(0), packed(ENDED, number=1), *then)]
    subprocess.run([sys.executable, "-c", TALKS, *words], check=True, timeout=200)
    until(lambda: is_free(job), "the card to be free")
    assert job.end()[0] == 0


def test_a_signal_to_the_job_ends_a_guest_that_waits(serve):
    job = serve("-n", "1", "-", options=("--if-killed", "restart:0"))
    guest = job.begin("sh", "-c", "exit 3")
    for _ in range(8):  # by then it waits most of the time
        assert "it is started again" in job.process.stderr.readline()
    assert job.end()[0] == 0
    assert result(guest)[0] in (3, 128 + 15)


@pytest.mark.parametrize("there", ["nothing", "a file"])
def test_what_has_taken_the_place_of_the_socket_stays(serve, place, there):
    job = serve("-n", "1", "-")
    place.unlink()
    if there == "a file":
        place.write_text("mine")
    assert job.end()[0] == 0
    assert place.exists() == (there == "a file")


def test_doors_that_are_none(emulator, place):
    """A socket of another kind; names too long with the number of the process, or alone."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(str(place))
        other.listen()
        done = vicrun(emulator, "-n", "1", *SMALL, "--serve", str(place), "-")
        assert (done.returncode, "is served by another job" in done.stderr) == (2, True)
    folder = Path("x" * 104)
    folder.mkdir(0o700)
    done = vicrun(emulator, "-n", "1", *SMALL, "--serve", str(folder / "s"), "-")
    assert (done.returncode, "too long for the name of a socket" in done.stderr) == (2, True)
    for name, said in (("x" * 200, "is too long for the name"), ("no", "No such file")):
        done = vicrun(emulator, "--join", name, "true")
        assert (done.returncode, said in done.stderr) == (1, True)


def test_the_door_of_another_user_is_not_entered(emulator, place):
    if os.getuid() != 0:
        pytest.skip("needs root to become another user")
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other,
    ):
        Path(folder).chmod(0o777)
        os.seteuid(65534)
        try:
            other.bind(f"{folder}/s")
            other.listen()
        finally:
            os.seteuid(0)
        done = vicrun(emulator, "--join", f"{folder}/s", "true")
    assert (done.returncode, "is served by another user" in done.stderr) == (1, True)
    Path("theirs").mkdir(0o700)
    os.chown("theirs", 65534, 65534)
    done = vicrun(emulator, "-n", "1", *SMALL, "--serve", "theirs/s", "-")
    assert (done.returncode, "others can write to" in done.stderr) == (2, True)


def test_a_guest_keeps_the_prefix_of_its_card_over_its_lives(serve):
    job = serve("-n", "2", "-", options=("--if-killed", "restart"))
    script = "echo x >>lives; wc -l <lives; test $(wc -l <lives) = 2"
    code, out, _ = job.join("sh", "-c", script, options=("--prefix",))
    assert (code, out) == (0, "[0] 1\n[0] 2\n")
    command = [*job.vicrun, "--join", str(job.place), "--prefix", "--", "echo", "x"]
    with Path("/dev/full").open("w") as full:
        lost = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=200
        )
    assert (lost.returncode, "of card 0 was lost: No space left" in lost.stderr) == (1, True)


def test_an_interrupt_at_the_terminal_of_a_job_comes_once_to_all_who_joined(emulator, place):
    """By the terminal to who joined from there, by the job to who joined from elsewhere."""
    terminal, theirs = os.openpty()
    run = str(emulator.prefix / "bin" / "vicrun")
    inside = ["setsid", "--ctty", "--wait", sys.executable, "-c", TERMINAL, run, COUNT]
    outside = [run, "--join", str(place), "--", sys.executable, "-c", COUNT]
    how = {"stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen(inside, stdin=theirs, **how) as here,
        contextlib.ExitStack() as stack,
    ):
        os.close(theirs)
        job = int(here.stdout.readline())
        stack.callback(os.kill, job, signal.SIGKILL)  # if all is not as it should be
        assert here.stdout.readline() == "ready\n"
        there = subprocess.Popen(outside, start_new_session=True, **how)
        assert there.stdout.readline() == "ready\n"
        os.write(terminal, b"\x03")
        assert here.stdout.readline() == "interrupted 1\n"
        told, _, _ = select.select([there.stdout], [], [], 200)
        assert told and there.stdout.readline() == "interrupted 1\n"
        stack.pop_all()
        os.kill(job, signal.SIGTERM)
        assert there.communicate(timeout=200)[0] == "all 1\n"
        assert here.communicate(timeout=200)[0] == "all 1\n"
    os.close(terminal)
