"""Programs that join a job over several hosts: each host has a socket of its own."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest
from harness.processes import until
from test_death import DIED
from test_hosts import PATIENT, command
from test_join import SAY, result


class Job:
    """A job on two hosts with a folder that both see."""

    def __init__(self, emulator, hosts, stack, folder, *cards, options=(), first=("opens", "wait")):
        folder.chmod(0o700)
        self.emulator, self.hosts, self.stack, self.folder = emulator, hosts, stack, folder
        places = [*hosts.options(*cards), *PATIENT, *options, "--serve", "s-{host}"]
        name, *arguments = first
        begins = name if name.startswith("/") else str(emulator.program(name))
        programs = ["-n", "1", begins, *arguments, ":"]
        programs += ["-n", str(sum(cards) - 1), "-"]
        self.process = self.start(command(emulator, places, "x")[:-2] + programs)
        sockets = [folder / f"s-{name}" for name in hosts.names]
        until(lambda: all(map(Path.exists, sockets)), "a socket on each host")

    def start(self, words):
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, cwd=self.folder)
        self.stack.callback(process.communicate)
        self.stack.callback(process.kill)
        return process

    def begin(self, host, *program, card=None):
        """Start to join on a host."""
        name = self.hosts.names[host]
        chosen = ["--card", str(card)] if card is not None else []
        vicrun = str(self.emulator.prefix / "bin" / "vicrun")
        enter = ["ip", "netns", "exec", name, vicrun, "--join", f"s-{name}"]
        return self.start([*enter, *chosen, "--", *map(str, program)])

    def join(self, host, *program, card=None):
        return result(self.begin(host, *program, card=card))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return result(self.process)


@pytest.fixture
def serve(emulator, hosts, tmp_path):
    with contextlib.ExitStack() as stack:
        yield lambda *cards, **options: Job(emulator, hosts, stack, tmp_path, *cards, **options)


def test_each_host_takes_those_who_join_there(serve, hosts, tmp_path):
    job = serve(2, 2)
    assert job.join(0, *SAY, "0") == (0, "1 of 4\n", "")
    assert job.join(1, *SAY, "5", card=3) == (5, "3 of 4\n", "")
    assert job.join(1, *SAY, "0", card=3) == (0, "3 of 4\n", "")
    code, out, errors = job.join(1, *SAY, "0", card=1)
    assert (code, out) == (1, "")
    assert f"card 1 is on another host, {hosts.names[0]}: join it there" in errors
    busy = [job.begin(1, "sh", "-c", "echo here; exec sleep 100") for _ in range(2)]
    assert [guest.stdout.readline() for guest in busy] == ["here\n"] * 2
    assert "all 2 cards of this host have a program" in job.join(1, "true")[2]
    assert job.end()[0] == 128 + signal.SIGTERM
    assert [result(guest)[0] for guest in busy] == [128 + signal.SIGTERM] * 2
    assert list(tmp_path.iterdir()) == []


def test_those_who_join_are_cards_as_others(serve, emulator):
    """They use all calls between hosts, one program after another on the same cards."""
    job = serve(1, 2, first=("exchange",))
    guests = [job.begin(1, emulator.program("exchange")) for _ in range(2)]
    for process in (*guests, job.process):
        assert result(process) == (0, "", "")


def test_a_host_that_had_ended_goes_on_when_somebody_joins_there(serve, emulator):
    """The job ends with the last program that joined, on whichever host."""
    after = "until test -e {}; do sleep 0.01; done; "
    opens = f"{after.format('first')} exec {emulator.program('opens')}"
    job = serve(2, 1, first=("/bin/sh", "-c", opens))
    first = job.begin(0, "sh", "-c", f"touch first; {after.format('last')}")
    until((job.folder / "first").exists, "a program that joined")
    last = job.begin(1, "sh", "-c", f"touch last; {after.format('over')}")
    assert result(first) == (0, "", "")
    (job.folder / "over").touch()
    assert result(last) == (0, "", "")
    assert result(job.process) == (0, "0 \n", "")


def runs(pid):
    """Return whether there is such a process that has not ended, even if nobody waits for it."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_guest_that_is_stopped_keeps_no_host_when_the_launcher_is_killed(serve, tmp_path):
    """The launch command only starts the vichost, which is not killed with vicrun."""
    script, made = tmp_path / "starts", tmp_path / "vichosts"
    record = f'sh -c \'echo $$ >>{made}; exec "$@"\' - "$@"'
    script.write_text(f'#!/bin/sh\nhost=$1\nshift\nip netns exec "$host" {record}\ntrue\n')
    script.chmod(0o755)
    job = serve(1, 1, options=("--launch-with", f"{script} {{host}}"))
    guest = job.begin(1, "sh", "-c", "echo here; exec sleep 100")
    assert guest.stdout.readline() == "here\n"
    vichosts = made.read_text().split()
    assert len(vichosts) == 2
    guest.send_signal(signal.SIGSTOP)
    job.process.kill()
    until(lambda: not any(map(runs, vichosts)), "both vichosts to end", 60)
    guest.send_signal(signal.SIGCONT)
    code, _, errors = result(guest)
    assert code == 128 + 9
    assert errors.startswith("vicrun: --join: the launcher of the job was killed\n")


def test_a_guest_that_is_killed_ends_the_job_on_all_hosts(serve, emulator):
    job = serve(1, 1)
    guest = job.begin(1, "sh", "-c", f"echo $$; exec {emulator.program('opens')} wait")
    process = int(guest.stdout.readline())
    assert guest.stdout.readline() == "0 \n"
    os.kill(process, signal.SIGKILL)
    out, errors = job.process.communicate(timeout=200)
    assert DIED in out, errors
    assert "card 1 was killed by signal 9" in errors
    assert result(guest)[0] == 128 + signal.SIGKILL
