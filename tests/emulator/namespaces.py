"""Hosts for tests: network namespaces, each with one end of a veth pair, made and removed here.

They need root: without it the tests on them are skipped, which continuous integration never is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

LINK = "cards0"
"""The interface of each host."""


class Hosts:
    """Hosts ``a``, ``b`` and so on that see each other and nothing else."""

    def __init__(self, mark: str, letters: str = "ab") -> None:
        self.names = [f"vic-{mark}-{letter}" for letter in letters]
        self.switch = f"vic-{mark}-switch"
        """The namespace with the bridge that connects more than two hosts."""

    def text(self, cards: Sequence[int]) -> str:
        """Return ``--hosts`` with so many cards on each; a host with none is left out."""
        shares = zip(self.names, cards, strict=True)
        return ",".join(f"{name}:{count}" for name, count in shares if count > 0)

    def addresses(self) -> list[tuple[str, str]]:
        """Return the name and the address of each."""
        return [(name, f"10.77.0.{number}") for number, name in enumerate(self.names, start=1)]

    def options(self, *cards: int) -> list[str]:
        """Return the options of a job on them."""
        within = "ip netns exec {host}"
        return ["--hosts", self.text(cards), "--launch-with", within, "--interface", LINK]

    def on(self, host: int, *command: str) -> str:
        """Return what a command prints on a host."""
        return run("ip", "netns", "exec", self.names[host], *command)

    def cut(self, *, off: bool, host: int = 1) -> None:
        """Cut a host off from the others, or connect it again."""
        run("ip", "-n", self.names[host], "link", "set", LINK, "down" if off else "up")

    @contextmanager
    def firewall(self, rule: str, host: int = 0) -> Iterator[Callable[[], int]]:
        """Let a host treat the packets that come to it by a rule of nft, such as ``drop``.

        Yields how many packets a ``counter`` of the rule has counted so far.
        """

        def hits() -> int:
            return int(
                re.search(r"counter packets (\d+)", self.on(host, "nft", "list table inet t"))[1]
            )

        text = f"table inet t {{ chain c {{ type filter hook input priority 0; {rule}; }}; }}"
        self.on(host, "nft", text)
        try:
            yield hits
        finally:
            self.on(host, "nft", "delete table inet t")


def run(*command: str) -> str:
    """Return what a command prints; it has to work."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def need(prefix: Path, *programs: str) -> None:
    """Skip a test without root, or if a program or vichost is missing; as root in CI it fails."""
    missing = [name for name in ("ip", "nft", *programs) if shutil.which(name) is None]
    missing += [] if (prefix / "bin" / "vichost").exists() else ["libfabric"]
    if os.geteuid() != 0:
        pytest.skip("needs root to make network namespaces")
    if missing:
        reason = f"needs {' and '.join(missing)} (tests/install-packages)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def _link(made: Hosts) -> None:
    """Connect two hosts by a cable, more by a bridge."""
    if len(made.names) == 2:
        first, second = made.names
        run("ip", "link", "add", LINK, "netns", first, "type", "veth",
            "peer", "name", LINK, "netns", second)  # fmt: skip
        return
    run("ip", "netns", "add", made.switch)
    run("ip", "-n", made.switch, "link", "add", "bridge", "type", "bridge")
    run("ip", "-n", made.switch, "link", "set", "bridge", "up")
    for number, name in enumerate(made.names):
        port = f"port{number}"
        run("ip", "link", "add", LINK, "netns", name, "type", "veth",
            "peer", "name", port, "netns", made.switch)  # fmt: skip
        run("ip", "-n", made.switch, "link", "set", port, "master", "bridge", "up")


@contextmanager
def hosts(mark: str, letters: str = "ab") -> Iterator[Hosts]:
    """Make them all, and remove them whatever happens."""
    made = Hosts(mark, letters)
    try:
        for name in made.names:
            run("ip", "netns", "add", name)
        _link(made)
        for name, address in made.addresses():
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", LINK)
            run("ip", "-n", name, "link", "set", LINK, "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        yield made
    finally:
        for name in [*made.names, made.switch]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
