"""A launcher that is stopped hears nobody. Do those who want something of it give up?"""

import os
import signal
import socket
import time

from emulator_build import SMALL
from harness.processes import until
from test_join import place, result, serve
from test_launcher import vicrun

SILENT = "has not answered in 19 s: is its launcher stopped?\n"
__all__ = ["place", "serve"]  # fixtures


def filled(name):
    """Return a socket that nobody accepts at, and as many connections as it takes."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.bind(name)
    door.listen(0)
    calls = []
    while not calls or calls[-1].connect_ex(name) == 0:
        calls.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        calls[-1].setblocking(False)
    return [door, *calls]


def test_who_joins_gives_up(serve):
    """Nobody lets it in; nobody answers; nobody hears that its program has ended."""
    full = filled("full")
    job = serve("-n", "2", "-")
    guest = job.begin("sh", "-c", "echo here; read line; exit 3")
    assert guest.stdout.readline() == "here\n"
    os.kill(job.process.pid, signal.SIGSTOP)
    begun = time.monotonic()
    waits = [guest, job.begin("true"), job.start([*job.vicrun, "--join", "full", "--", "true"])]
    ends = [result(process, text) for process, text in zip(waits, ("\n", "", ""), strict=True)]
    assert time.monotonic() - begun > 18
    assert ends == [
        (3, "", f"vicrun: --join: the job {SILENT}"),
        (1, "", f"vicrun: --join: 's': {SILENT}"),
        (1, "", f"vicrun: --join: 'full': {SILENT}"),
    ]
    os.kill(job.process.pid, signal.SIGCONT)
    until(lambda: job.join("true", card=1)[0] == 0, "a card that nobody has")
    until(lambda: job.join("true")[0] == 0, "the card of who gave up")
    for one in full:
        one.close()


def test_who_serves_takes_no_place_of_it(emulator, place):
    full = filled(str(place))
    done = vicrun(emulator, "-n", "1", *SMALL, "--serve", str(place), "-")
    assert (done.returncode, "is served by another job" in done.stderr) == (2, True)
    for one in full:
        one.close()
