"""Do the commands of docs/hosts.md work by ssh, with network namespaces as machines?"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import time

import pytest
import ssh_machines
from emulator_build import ROOT
from harness.patience import patience
from test_death import gone

from dvsim.native import emulator_prefix


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    ssh_machines.need(emulator_prefix())
    with ssh_machines.machines(f"{os.getpid()}p", tmp_path_factory.mktemp("ssh")) as made:
        yield made


def commands():
    page = (ROOT / "docs" / "hosts.md").read_text("utf-8")
    return re.findall(r"^    \$ (.*)$", page, re.MULTILINE)


def started(machines, command):
    """Start a command of the page on machine a; hosts may be slow to answer."""
    command = command.replace("emulate --hosts", "emulate --host-timeout 20s --hosts")
    return machines.begin(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def said(machines, command, errors=""):
    """Return what a command prints; it has to work, and to print no other errors than these."""
    code, output, found = run(machines, command)
    assert (code, re.sub(r"in [\d.]+ us", "in time", found)) == (0, errors)
    return output


def run(machines, command):
    job = started(machines, command)
    output, errors = job.communicate(timeout=200)
    return job.returncode, output, errors


def test_the_page(machines):
    """Machine b has a home of its own, so nothing is there that was not copied.

    Its ssh server has no SFTP: scp copies by the older protocol.
    """
    name = "first_bridge.c"
    shutil.copy(ROOT / "emulator" / "examples" / name, machines.home)
    (machines.home / "machines").write_text("a 1\nb 1\n", "utf-8")
    hostname, compile_it, copy, bridge, _, *others = commands()
    assert sorted(said(machines, hostname).splitlines()) == ["[0] a", "[1] b"]
    said(machines, compile_it)
    said(machines, re.sub("^scp ", "scp -O ", copy))
    for command, cards in ((bridge, 3), (others[0], 2), (others[1], 3)):
        said(machines, command, f"{160 * (cards - 1)} messages in time\n")
        lines = (machines.home / "messages").read_text("utf-8").splitlines()
        assert sorted(lines) == [
            f"card {card}: message {number:03}" for card in range(1, cards) for number in range(160)
        ]


def test_the_command_with_a_broker(machines):
    page = (ROOT / "docs" / "emulated-runs.md").read_text("utf-8")
    assert f"    $ {commands()[4]}\n" in page
    code, output, errors = run(machines, commands()[4])
    assert code == 0, errors
    assert "cards on a:2,b:2" in output
    assert len(list(machines.home.glob("runs/h3/dv-256/emu-*/manifest.json"))) == 1
    assert machines.signal("b", 0, "rabbit") == 0


def test_a_machine_that_does_not_let_in(machines):
    accepted = machines.home / ".ssh" / "authorized_keys"
    text = accepted.read_text("utf-8")
    accepted.write_text("", "utf-8")
    try:
        start = time.monotonic()
        code, _, errors = run(machines, "dvsim emulate --hosts a:1,b:1 -- hostname")
        assert time.monotonic() - start < patience(20)
    finally:
        accepted.write_text(text, "utf-8")
    assert code != 0
    assert "Permission denied" in errors
    assert re.search(r"vicrun: host [ab]: ", errors)


def test_a_path_that_a_shell_would_change(machines, tmp_path):
    """ssh hands the command to a shell of the other machine."""
    folder = tmp_path / "it's $HOME & more"
    folder.mkdir()
    for name in ("vicrun", "vichost"):
        shutil.copy(emulator_prefix() / "bin" / name, folder)
    words = [str(folder / "vicrun"), "--host-timeout", "20s", "--hosts", "a:1,b:1", "hostname"]
    code, output, errors = run(machines, shlex.join(words))
    assert (code, sorted(output.split()), errors) == (0, ["a", "b"], "")


def test_ctrl_c_ends_the_programs_of_both(machines):
    """They have no terminal; the signal has only the way through ssh."""
    seconds = f"60.{os.getpid()}"
    program = f"bash -c 'echo $HOSTNAME; exec sleep {seconds}'"
    job = started(machines, f"exec dvsim emulate --hosts a:1,b:1 -- {program}")
    assert sorted(job.stdout.readline() for _ in range(2)) == ["a\n", "b\n"]
    job.send_signal(signal.SIGINT)
    _, errors = job.communicate(timeout=200)
    nobody = "vicrun: SIGINT: no card waits: the programs compute, sleep, or wait elsewhere\n"
    assert (job.returncode, errors) == (128 + signal.SIGINT, nobody)
    assert gone(seconds)
