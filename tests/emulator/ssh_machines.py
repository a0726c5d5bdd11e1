"""Machines for tests, reached by ssh: network namespaces, each with an ssh server of its own.

They are called ``a`` and ``b`` and have one account, whose home is a folder of the test: with a key
that both servers accept, and the keys of both servers. The files of the system that say otherwise
are covered for the processes of these machines alone; none is changed.
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

import namespaces
import pytest

SERVER = "/usr/sbin/dropbear"
"""Of a package without a service, so that no port of the system opens when it is installed."""

ENTER = """\
mount --bind "{folder}/hosts" /etc/hosts && mount --bind "{folder}/passwd" /etc/passwd || exit
hostname "$1" && shift && cd && exec "$@"
"""


def need(prefix: Path) -> None:
    """Skip a test if there can be no such machines; as root in CI it fails instead."""
    namespaces.need(prefix)
    missing = [name for name in (SERVER, "ssh") if shutil.which(name) is None]
    if missing:
        reason = f"needs {' and '.join(missing)} (tests/install-packages)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


class Machines:
    """Machines ``a`` and ``b``.

    Attributes
    ----------
    names
        Of the machines, and of the namespace behind each.
    home
        Of the account. ``~/dvsim`` is the virtual environment of these tests.
    """

    def __init__(self, hosts: namespaces.Hosts, folder: Path) -> None:
        self.names = dict(zip("ab", hosts.names, strict=True))
        self.home = folder / "home"
        self._folder = folder
        self._addresses = dict(zip("ab", (at for _, at in hosts.addresses()), strict=True))

    def on(self, name: str, *command: str) -> list[str]:
        """Return the command that runs another one in the home on a machine."""
        enter = ["unshare", "--uts", "sh", str(self._folder / "enter"), name]
        return ["ip", "netns", "exec", self.names[name], *enter, *command]

    def environment(self) -> dict[str, str]:
        """Return the variables of somebody who sits there, and has dvsim on the path."""
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
            command = self.on(name, SERVER, "-E", "-s", "-r", key, *where)
            subprocess.run(command, stdout=log, stderr=log, env=self.environment(), check=True)
        return next(line for line in made.stdout.splitlines() if line.startswith("ssh-"))

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, "utf-8")


@contextmanager
def machines(mark: str, folder: Path) -> Iterator[Machines]:
    """Make them, and end whatever runs on them afterwards."""
    with namespaces.hosts(mark) as hosts:
        made = Machines(hosts, folder)
        try:
            made.start()
            yield made
        finally:
            for name in made.names:
                made.signal(name, signal.SIGKILL)
