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
LEFT = f"{PEER} or {CLOSED}"  # the card has left a team, and so have all others: what is seen first
EVENTS = ("peer killed", "peer ended", "launcher killed", "closed")
EXPECTED = {
    # what the wait says if  the peer's program  it ends well,   the launcher is  another thread
    #                        is killed,          the last one,   killed,          closes the card
    "counter_wait":     (PEER, CLOSED, CLOSED, CLOSED),
    "wait":             (PEER, CLOSED, CLOSED, CLOSED),
    "event_fd":         (PEER, CLOSED, CLOSED, CLOSED),
    "fifo_wait":        (PEER, CLOSED, CLOSED, CLOSED),
    "barrier":          (PEER, PEER,   CLOSED, CLOSED),
    "send":             (PEER, PEER,   CLOSED, CLOSED),
    "send_cached":      (PEER, PEER,   CLOSED, CLOSED),
    "dma_wait":         (PEER, PEER,   CLOSED, CLOSED),
    "message_recv":     (PEER, CLOSED, CLOSED, CLOSED),
    "message_send":     (PEER, CLOSED, CLOSED, CLOSED),
    "message_flush":    (PEER, CLOSED, CLOSED, CLOSED),
    "message_flush_to": (PEER, CLOSED, CLOSED, CLOSED),
    "client_recv":      (PEER, CLOSED, CLOSED, CLOSED),
    "client_publish":   (PEER, CLOSED, CLOSED, CLOSED),
    "client_flush":     (PEER, CLOSED, CLOSED, CLOSED),
    "client_topic":     (PEER, CLOSED, CLOSED, CLOSED),
    "client_ack":       (PEER, CLOSED, CLOSED, CLOSED),
    "team_open":        (PEER, LEFT,   CLOSED, CLOSED),
    "team_barrier":     (PEER, LEFT,   CLOSED, CLOSED),
    "team_broadcast":   (PEER, LEFT,   CLOSED, CLOSED),
    "team_reduce":      (PEER, LEFT,   CLOSED, CLOSED),
    "team_allreduce":   (PEER, LEFT,   CLOSED, CLOSED),
    "team_gather":      (PEER, LEFT,   CLOSED, CLOSED),
    "team_alltoall":    (PEER, LEFT,   CLOSED, CLOSED),
}  # fmt: skip
IN_MODEL_TIME = {
    # the modelled card holds what its FIFO does not, and says nothing of who reads it
    "send":        (PEER, CLOSED, CLOSED, CLOSED),
    "send_cached": (PEER, CLOSED, CLOSED, CLOSED),
    "dma_wait":    (GOOD, GOOD,   GOOD,   GOOD),
}  # fmt: skip
NOT_IN_MODEL_TIME = ("event_fd",)
OF_CARD = [row for row in EXPECTED if not row.startswith(("client", "team"))]
OF_CLIENT = ["client_recv", "client_publish", "client_flush"]
FULL_RING = ["client_topic", "client_ack"]
OF_TEAM = [row for row in EXPECTED if row.startswith("team")]
GROUPS = {"card": OF_CARD, "client": OF_CLIENT, "ring": FULL_RING, "team": OF_TEAM}
assert sorted(EXPECTED) == sorted(row for rows in GROUPS.values() for row in rows)


class Job:
    """A program whose threads wait, its peer, and what they have said."""

    def __init__(self, command, rows, cards, pipe=None):
        self.rows, self.lines = rows, []
        env = os.environ | ({"COMMANDS": pipe} if pipe else {})
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True, env=env,
        )  # fmt: skip
        self.commands = self.process.stdin
        if pipe:
            os.mkfifo(pipe)
            self.commands = os.fdopen(os.open(pipe, os.O_RDWR), "w")
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        self.wait_for(lambda: all(f"begun {row}" in self.lines for row in rows), "all to wait")
        self.wait_for(lambda: cards == 1 or self.peer() > 0, "the peer")

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())

    def wait_for(self, true, what):
        until(lambda: true() or not self.reader.is_alive(), what)
        assert true(), (what, self.lines)

    def peer(self):
        return int(next((line.split()[1] for line in self.lines if line.startswith("peer ")), 0))

    def ask(self, command):
        """Have card 0 do something, and wait until it has."""
        done = self.lines.count("done")
        self.commands.write(command)
        self.commands.flush()
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
        try:
            until(lambda: rows <= set(self.said()) or not self.reader.is_alive(), "all waits")
        finally:
            print(self.lines)  # shown if it fails
        return {row: self.said().get(row, "waits") for row in rows}


@pytest.fixture(scope="session")
def program(emulator):
    """Return the program, which knows the library's own headers."""
    return emulator.linked("every_wait", [PROGRAMS / "every_wait.c"], LIBRARY)


@contextmanager
def job(emulator, program, mode, rows, peer="sleeps", behind_shell=False, over=None):
    """Start rows as card 0 of a job with a peer, or in loopback; see that nothing of it is left.

    Over hosts, with ``over``: their options, and where to make the pipe of the commands.
    """
    options, pipe = over or (["--mode", mode, "-n", "2"], None)
    command = [str(program), peer, *rows]
    if behind_shell:
        command = ["sh", "-c", f"{' '.join(command)}; true"]
    if mode != "loopback":
        command = [str(emulator.prefix / "bin" / "vicrun"), *SMALL, *options, "--", *command]
    made = Job(command, rows, 1 if mode == "loopback" else 2, pipe)
    try:
        yield made
        made.commands.close()
        assert made.process.wait(200) is not None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(made.process.pid, signal.SIGKILL)
        made.process.wait()
        made.reader.join()
        made.commands.close()
        made.process.stdin.close()
        made.process.stdout.close()


def expected(mode, rows, event):
    table = EXPECTED | (IN_MODEL_TIME if mode == "timed" else {})
    return {row: table[row][EVENTS.index(event)] for row in rows}


def ends(started, mode, event):
    """Wait until every row has ended, and compare what they said with the table."""
    table = expected(mode, started.rows, event)
    said = started.all_said()
    assert said == {
        row: said[row] if said[row] in what.split(" or ") else what for row, what in table.items()
    }


def goes_on(started, mode):
    """Signals and forks end no wait."""
    over = {row for row, said in expected(mode, started.rows, "closed").items() if said == GOOD}
    started.all_said(but=set(started.rows) - over)
    for command in "sfs":
        started.ask(command)
    assert set(started.said()) == over, started.lines


def cells():
    """Return the modes, each with the rows that run together there."""
    for mode in ("functional", "timed"):
        for name, rows in GROUPS.items():
            here = [row for row in rows if mode != "timed" or row not in NOT_IN_MODEL_TIME]
            yield pytest.param(mode, here, id=f"{mode}-{name}")


in_jobs = pytest.mark.parametrize(("mode", "rows"), list(cells()))


@in_jobs
def test_a_peer_is_killed(emulator, program, mode, rows):
    with job(emulator, program, mode, rows) as started:
        goes_on(started, mode)
        os.kill(started.peer(), signal.SIGKILL)
        ends(started, mode, "peer killed")


@in_jobs
def test_the_last_peer_ends(emulator, program, mode, rows):
    with job(emulator, program, mode, rows) as started:
        started.commands.close()  # in model time a thread that sleeps elsewhere might go on
        os.kill(started.peer(), signal.SIGUSR1)
        ends(started, mode, "peer ended")


@in_jobs
def test_the_launcher_is_killed(emulator, program, mode, rows):
    """Programs that it has not started itself live on; its own children end with it."""
    with job(emulator, program, mode, rows, behind_shell=True) as started:
        started.process.kill()
        ends(started, mode, "launcher killed")
    with job(emulator, program, mode, rows[:1]) as started:
        started.process.kill()
        until(lambda: not started.reader.is_alive(), "its children to end")


@in_jobs
def test_another_thread_closes_the_card(emulator, program, mode, rows):
    rows = [
        row for row in rows if row != "dma_wait"
    ]  # test_full_at_close.py: the rest is given up late
    with job(emulator, program, mode, rows, peer="waits") as started:
        started.ask("c")
        ends(started, mode, "closed")


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
        ends(started, "loopback", "closed")


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("rows", GROUPS.values(), ids=GROUPS)
def test_over_hosts(emulator, program, hosts, tmp_path, rows, event):
    """The peer is on another host. The programs of a killed launcher are killed by their hosts."""
    peer = "waits" if event == "closed" else "sleeps"
    rows = [row for row in rows if row != "dma_wait" or event != "closed"]
    over = [*hosts.options(1, 1), "--host-timeout", "20s"], str(tmp_path / "commands")
    with job(emulator, program, "functional", rows, peer, over=over) as started:
        goes_on(started, "functional")
        if event == "closed":
            started.ask("c")
        elif event == "launcher killed":
            started.process.kill()
            until(lambda: not started.reader.is_alive(), "its programs to end")
            return
        else:
            number = signal.SIGKILL if event == "peer killed" else signal.SIGUSR1
            os.kill(started.peer(), number)
        ends(started, "functional", event)
