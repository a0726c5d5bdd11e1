"""Does every wait end, in every mode, whatever happens to what it waits for?

EXPECTED is the rule of vic.h as a table. A new call that waits is one more line there, and one
function in programs/every_wait.c.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress

import pytest
from builds import LIBRARY
from emulator_build import PROGRAMS, SMALL
from harness.processes import until

GOOD, PEER, CLOSED = "good", "VIC_EPEER", "VIC_ECLOSED"
EVENTS = ("peer killed", "peer ended", "launcher killed", "closed")
EXPECTED = {
    # what the wait says if  the peer's program  it ends well,   the launcher is  another thread
    #                        is killed,          the last one,   killed,          closes the card
    "counter_wait":   (PEER, CLOSED, CLOSED, CLOSED),
    "fifo_wait":      (PEER, CLOSED, CLOSED, CLOSED),
    "barrier":        (PEER, PEER,   CLOSED, CLOSED),
    "send":           (PEER, PEER,   CLOSED, CLOSED),
    "send_cached":    (PEER, PEER,   CLOSED, CLOSED),
    "dma_wait":       (PEER, PEER,   CLOSED, CLOSED),
    "message_recv":   (PEER, CLOSED, CLOSED, CLOSED),
    "message_send":   (PEER, CLOSED, CLOSED, CLOSED),
    "message_flush":  (PEER, CLOSED, CLOSED, CLOSED),
    "client_recv":    (PEER, CLOSED, CLOSED, CLOSED),
    "client_publish": (PEER, CLOSED, CLOSED, CLOSED),
    "client_flush":   (PEER, CLOSED, CLOSED, CLOSED),
}  # fmt: skip
IN_MODEL_TIME = {
    # the modelled card holds what its FIFO does not, and says nothing of who reads it
    "send":        (PEER, CLOSED, CLOSED, CLOSED),
    "send_cached": (PEER, CLOSED, CLOSED, CLOSED),
    "dma_wait":    (GOOD, GOOD,   GOOD,   GOOD),
}  # fmt: skip
OF_CLIENT = [row for row in EXPECTED if row.startswith("client")]
OF_CARD = [row for row in EXPECTED if row not in OF_CLIENT]


class Job:
    """A program whose threads wait, its peer, and what they have said."""

    def __init__(self, command, rows, cards):
        self.rows, self.lines = rows, []
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        self.wait_for(lambda: all(f"begun {row}" in self.lines for row in rows), "all to wait")
        self.wait_for(lambda: cards == 1 or self.peer() > 0, "the peer")

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def wait_for(self, true, what):
        until(lambda: true() or not self.reader.is_alive(), what, 60)
        assert true(), (what, self.lines)

    def peer(self):
        return int(next((line.split()[1] for line in self.lines if line.startswith("peer ")), 0))

    def ask(self, command):
        """Have card 0 do something, and wait until it has."""
        done = self.lines.count("done")
        self.process.stdin.write(command)
        self.process.stdin.flush()
        self.wait_for(lambda: self.lines.count("done") > done, command)

    def said(self):
        """Return what each row that has ended said."""
        found = {}
        for line in list(self.lines):
            row, _, rest = line.partition(" ")
            if row in self.rows:
                found[row] = rest.partition("(")[2].rstrip(")") or rest
        return found

    def all_said(self, but=()):
        """Wait until every row has ended; return what they said."""
        rows = set(self.rows) - set(but)
        until(lambda: rows <= set(self.said()) or not self.reader.is_alive(), "all waits", 60)
        return {row: self.said().get(row, "waits") for row in rows}


@pytest.fixture(scope="session")
def program(emulator):
    """Return the program, which knows the library's own headers."""
    return emulator.linked("every_wait", [PROGRAMS / "every_wait.c"], LIBRARY)


@contextmanager
def job(emulator, program, mode, rows, peer="sleeps", behind_shell=False):
    """Start rows as card 0 of a job with a peer, or in loopback; see that nothing of it is left."""
    alone = [str(program), *rows]
    if behind_shell:
        alone = ["sh", "-c", f"{' '.join(alone)}; true"]
    other = ["sh", "-c", f"{program} {peer}; true"] if behind_shell else [str(program), peer]
    launcher = [str(emulator.prefix / "bin" / "vicrun"), *SMALL, "--mode", mode, "-n", "1", "--"]
    command = alone if mode == "loopback" else [*launcher, *alone, ":", *other]
    made = Job(command, rows, 1 if mode == "loopback" else 2)
    try:
        yield made
        made.process.stdin.close()
        assert made.process.wait(15) is not None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(made.process.pid, signal.SIGKILL)
        made.process.wait()
        made.reader.join()
        made.process.stdout.close()


def expected(mode, rows, event):
    table = EXPECTED | (IN_MODEL_TIME if mode == "timed" else {})
    return {row: table[row][EVENTS.index(event)] for row in rows}


def goes_on(started, mode):
    """Signals and forks end no wait."""
    over = {row for row, said in expected(mode, started.rows, "closed").items() if said == GOOD}
    started.all_said(but=set(started.rows) - over)
    for command in "sfs":
        started.ask(command)
    assert set(started.said()) == over, started.lines


CELLS = [(mode, rows) for mode in ("functional", "timed") for rows in (OF_CARD, OF_CLIENT)]
in_jobs = pytest.mark.parametrize(
    ("mode", "rows"), CELLS, ids=[f"{mode}-{rows[-1].partition('_')[0]}" for mode, rows in CELLS]
)


@in_jobs
def test_a_peer_is_killed(emulator, program, mode, rows):
    with job(emulator, program, mode, rows) as started:
        goes_on(started, mode)
        os.kill(started.peer(), signal.SIGKILL)
        assert started.all_said() == expected(mode, rows, "peer killed")


@in_jobs
def test_the_last_peer_ends(emulator, program, mode, rows):
    with job(emulator, program, mode, rows) as started:
        started.process.stdin.close()  # in model time a thread that sleeps elsewhere might go on
        os.kill(started.peer(), signal.SIGUSR1)
        assert started.all_said() == expected(mode, rows, "peer ended")


@in_jobs
def test_the_launcher_is_killed(emulator, program, mode, rows):
    """Programs that it has not started itself live on; its own children end with it."""
    with job(emulator, program, mode, rows, behind_shell=True) as started:
        started.process.kill()
        assert started.all_said() == expected(mode, rows, "launcher killed")
    with job(emulator, program, mode, rows[:1]) as started:
        started.process.kill()
        until(lambda: not started.reader.is_alive(), "its children to end", 15)


@in_jobs
def test_another_thread_closes_the_card(emulator, program, mode, rows):
    rows = [
        row for row in rows if row != "dma_wait"
    ]  # test_full_at_close.py: the rest is given up late
    with job(emulator, program, mode, rows, peer="waits") as started:
        started.ask("c")
        assert started.all_said() == expected(mode, rows, "closed")


@in_jobs
def test_a_peer_writes_over_what_is_shared(emulator, program, mode, rows):
    """Then a wait may see what is not so; but all end with the peer."""
    with job(emulator, program, mode, rows) as started:
        os.kill(started.peer(), signal.SIGUSR2)
        started.wait_for(lambda: "done" in started.lines, "words that are written over")
        os.kill(started.peer(), signal.SIGKILL)
        assert "waits" not in started.all_said().values(), started.lines


@pytest.mark.parametrize(
    "rows",
    [["counter_wait", "fifo_wait", "message_recv"], ["message_send", "message_flush"],
     ["send", "send_cached", "dma_wait"], OF_CLIENT],
)  # fmt: skip
def test_in_loopback(emulator, program, rows):
    with job(emulator, program, "loopback", rows) as started:
        goes_on(started, "loopback")
        started.ask("c")
        assert started.all_said() == expected("loopback", rows, "closed")
