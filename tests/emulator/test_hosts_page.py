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


def run(machines, command):
    job = started(machines, command)
    output, errors = job.communicate(timeout=60)
    return job.returncode, output, errors


def test_the_page(machines):
    for name in ("alltoall.c", "example.h"):
        (machines.home / name).write_bytes((ROOT / "emulator" / "examples" / name).read_bytes())
    (machines.home / "machines").write_text("a 2\nb 2\n", "utf-8")
    ran = [run(machines, command) for command in commands()]
    assert [(code, errors) for code, _, errors in ran] == [(0, "")] * 5
    assert sorted(ran[0][1].splitlines()) == ["[0] a", "[1] b"]


def test_a_machine_that_does_not_let_in(machines):
    accepted = machines.home / ".ssh" / "authorized_keys"
    text = accepted.read_text("utf-8")
    accepted.write_text("", "utf-8")
    try:
        start = time.monotonic()
        code, _, errors = run(machines, "dvsim emulate --hosts a:1,b:1 -- hostname")
        assert time.monotonic() - start < 10
    finally:
        accepted.write_text(text, "utf-8")
    assert code != 0
    assert "Permission denied" in errors
    assert re.search(r"vicrun: host [ab]: ", errors)


def test_a_path_that_a_shell_would_change(machines):
    """The other machine's shell reads the command that ssh hands over."""
    folder = machines.home / "it's $HOME & more"
    folder.mkdir()
    for name in ("vicrun", "vichost"):
        shutil.copy(emulator_prefix() / "bin" / name, folder)
    words = [str(folder / "vicrun"), "--host-timeout", "20s", "--hosts", "a:1,b:1", "hostname"]
    code, output, errors = run(machines, shlex.join(words))
    assert (code, sorted(output.split()), errors) == (0, ["a", "b"], "")


def test_ctrl_c_ends_the_programs_of_both(machines):
    """They have no terminal: the signal reaches them through ssh alone."""
    seconds = f"60.{os.getpid()}"
    program = f"bash -c 'echo $HOSTNAME; exec sleep {seconds}'"
    job = started(machines, f"exec dvsim emulate --hosts a:1,b:1 -- {program}")
    assert sorted(job.stdout.readline() for _ in range(2)) == ["a\n", "b\n"]
    job.send_signal(signal.SIGINT)
    _, errors = job.communicate(timeout=60)
    assert (job.returncode, errors) == (128 + signal.SIGINT, "")
    assert gone(seconds)
