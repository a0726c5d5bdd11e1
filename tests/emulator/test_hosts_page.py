"""Do the commands of docs/hosts.md work, with network namespaces as machines?"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import namespaces
from emulator_build import ROOT

from dvsim.native import emulator_prefix


def commands():
    page = (ROOT / "docs" / "hosts.md").read_text("utf-8")
    return re.findall(r"^    \$ (.*)$", page, re.MULTILINE)


def as_here(command, hosts):
    """Return a command of the page with the names of these hosts, and how they are reached."""
    first, second = hosts.names
    command = re.sub(r"\ba:(\d),b:(\d)", rf"{first}:\1,{second}:\2", command)
    within = "--launch-with 'ip netns exec {host}' --host-timeout 20s"
    reached = f"dvsim emulate --interface {namespaces.LINK} {within} --hosts"
    return command.replace("dvsim emulate --hosts", reached)


def test_the_page(tmp_path):
    namespaces.need(emulator_prefix())
    for name in ("alltoall.c", "example.h"):
        (tmp_path / name).write_bytes((ROOT / "emulator" / "examples" / name).read_bytes())
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with namespaces.hosts(f"{os.getpid()}p") as hosts:
        (tmp_path / "machines").write_text("".join(f"{name} 2\n" for name in hosts.names))
        ran = [as_here(command, hosts) for command in commands()]
        for command in ran:
            done = subprocess.run(
                command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False,
                env={**os.environ, "PATH": path}, timeout=60,
            )  # fmt: skip
            assert (done.returncode, done.stderr) == (0, ""), command
    assert len(ran) == 5
    assert shlex.split(ran[0])[-1] == "hostname"
