"""Machines for tests, reached by ssh: network namespaces, each with an ssh server of its own.

They are called ``a`` and ``b`` and have one account, whose home is a folder of the test: with a key
that both servers accept, and the keys of both servers. Machine b has a home of its own at the same
path, or shares that of a. Only their processes see other files than the system's in place of
/etc/hosts and /etc/passwd; no file of the system is changed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import namespaces

SERVER = "/usr/sbin/dropbear"
"""Its package starts no service: no port of the system opens when it is installed."""

ENTER = """\
mount --bind "{folder}/hosts" /etc/hosts && mount --bind "{folder}/passwd" /etc/passwd || exit
hostname "$1" && mount --bind "$2" "{folder}/home" || exit
shift 2 && cd && exec "$@"
"""


def need(prefix: Path) -> None:
    """Skip a test if there can be no such machines; as root in CI it fails instead."""
    namespaces.need(prefix, SERVER, "ssh")


class Machines:
    """Machines ``a`` and ``b``.

    Attributes
    ----------
    names
        The namespace of each machine.
    home
        The home folder of the account. ``~/dvsim`` is the virtual environment of these tests.
    homes
        The folder that each machine has there.
    """

    def __init__(self, hosts: namespaces.Hosts, folder: Path, *, shared: bool) -> None:
        self.names = dict(zip("ab", hosts.names, strict=True))
        self.home = folder / "home"
        self.homes = {"a": self.home, "b": self.home if shared else folder / "home-b"}
        self._folder = folder
        self._addresses = dict(zip("ab", (at for _, at in hosts.addresses()), strict=True))

    def begin(self, command: str, **how: Any) -> subprocess.Popen[Any]:
        """Start a line of shell on machine a, as somebody who works there and has no input."""
        words = self._on("a", "bash", "-ec", command)
        environment = self._environment()
        return subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, **how)

    def _on(self, name: str, *command: str) -> list[str]:
        """Return the command that runs another one on a machine, in the home folder."""
        enter = ["unshare", "--uts", "sh", str(self._folder / "enter"), name, str(self.homes[name])]
        return ["ip", "netns", "exec", self.names[name], *enter, *command]

    def _environment(self) -> dict[str, str]:
        """Return the variables of the account, with dvsim on the path."""
        path = f"{self.home}/dvsim/bin:{os.environ['PATH']}"
        return {**os.environ, "HOME": str(self.home), "PATH": path}

    def signal(self, name: str, number: int, word: str = "") -> int:
        """Send a signal to the processes with a word in their command; return to how many."""
        command = ["ip", "netns", "pids", self.names[name]]
        listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        reached = 0
        for pid in map(int, listed.split()):
            with suppress(OSError):
                if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, number)
                    reached += 1
        return reached

    def start(self) -> None:
        """Fill the home and start the servers; they answer afterwards."""
        keys = self.home / ".ssh"
        keys.mkdir(parents=True, mode=0o700)
        (self.home / "dvsim").symlink_to(sys.prefix)
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(keys / "id_ed25519")]
        subprocess.run(key, check=True)
        (keys / "id_ed25519.pub").rename(keys / "authorized_keys")
        if self.homes["b"] != self.home:
            shutil.copytree(self.home, self.homes["b"], symlinks=True)
        account = f"root:x:0:0::{self.home}:/bin/sh\n"
        named = [f"{address} {name}\n" for name, address in self._addresses.items()]
        self._write("passwd", account)
        self._write("hosts", "127.0.0.1 localhost\n" + "".join(named))
        self._write("enter", ENTER.format(folder=self._folder))
        known = [f"{name} {self._serve(name)}\n" for name in self.names]
        (keys / "known_hosts").write_text("".join(known), "utf-8")

    def _serve(self, name: str) -> str:
        """Start the server of a machine, and return its public key."""
        key = str(self._folder / f"key-{name}")
        made = subprocess.run(
            ["dropbearkey", "-t", "ed25519", "-f", key], capture_output=True, text=True, check=True
        )
        where = ["-p", f"{self._addresses[name]}:22", "-P", f"{key}.pid"]
        with (self._folder / f"log-{name}").open("wb") as log:  # it returns when it listens
            command = self._on(name, SERVER, "-E", "-s", "-r", key, *where)
            subprocess.run(command, stdout=log, stderr=log, env=self._environment(), check=True)
        return next(line for line in made.stdout.splitlines() if line.startswith("ssh-"))

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, "utf-8")


@contextmanager
def machines(mark: str, folder: Path, *, shared: bool = False) -> Iterator[Machines]:
    """Make them, and end whatever runs on them afterwards."""
    with namespaces.hosts(mark) as hosts:
        made = Machines(hosts, folder, shared=shared)
        try:
            made.start()
            yield made
        finally:
            for name in made.names:
                made.signal(name, signal.SIGKILL)
