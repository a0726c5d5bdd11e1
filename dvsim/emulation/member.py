"""One host of an emulated run: what the harness asks of it, over standard input and output.

``python -P -m dvsim.emulation.member`` reads requests, one a line: a JSON list of what is asked and
its arguments. A line answers each: ``{"answer": …}`` or ``{"error": text}``. An empty list says
that the harness is there. When that is not heard for `SILENCE_S`, or standard input ends, all that
was started here ends, and what was written is removed.
"""

from __future__ import annotations

import fcntl
import json
import os
import queue
import select
import signal
import socket
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from dvsim._version import __version__
from dvsim.broker import Brokers
from dvsim.broker.compile_bridge import vicbridge
from dvsim.broker.files import PrivateFolder, write_private
from dvsim.broker.install import find
from dvsim.emulation.child import TAIL, cpu_s, machine
from dvsim.errors import DvsimError, RunFailed
from dvsim.machine import machine_facts

SILENCE_S = 20.0
REACH_S = 5.0
PREFIX = "dvsim-host-"  # of the folder where the programs of this host write
ADDRESS_OF = 0x8915  # SIOCGIFADDR of Linux


class Ended(BaseException):
    """The harness has ended, or has hung up."""


class Member:
    """The requests: each public method is one, with its arguments."""

    def __init__(self) -> None:
        self._folder: PrivateFolder | None = None
        self._brokers: Brokers | None = None
        self._address: str | None = ""

    def hello(self, name: str, interface: str | None, broker: bool) -> dict[str, Any]:
        """Make a folder that nobody else can read, and return it with the version.

        With `broker` also return the address of a node (None if there is none), after looking for
        what a node needs.
        """
        if broker:
            find()
            self._address = address_of(name, interface)

        self._folder = PrivateFolder(prefix=PREFIX)
        folder = str(self._folder.path)
        return {"version": __version__, "folder": folder, "address": self._address}

    def facts(self) -> dict[str, Any]:
        """Return which machine this is."""
        return machine_facts()

    def clock(self) -> int:
        """Return CLOCK_MONOTONIC in nanoseconds, by which bridges say when an interval began."""
        return time.monotonic_ns()

    def bridge(self) -> str:
        """Return the path of vicbridge; compile it if that has not been done."""
        return str(vicbridge())

    def brokers(self, clusters: int, nodes: int) -> dict[str, Any]:
        """Start private clusters, and return how to reach the first node of each."""
        self._brokers = Brokers(clusters=clusters, nodes=nodes, address=self._address or "")
        urls = [cluster.nodes[0].url for cluster in self._brokers.clusters]
        return {"urls": urls, "user": self._brokers.user, "password": self._brokers.password}

    def reach(self, address: str, port: int) -> None:
        """Connect to a broker of another host and hang up."""
        try:
            socket.create_connection((address, port), REACH_S).close()
        except TimeoutError:
            reason = f"no answer in {REACH_S:.0f} s: is there a firewall?"
        except OSError as error:
            reason = str(error.strerror).lower()
        else:
            return
        raise RunFailed(f"a bridge there does not reach the broker {address}:{port}: {reason}")

    def look(self) -> str | None:
        """Return which node has died, and the end of its log; None if all live."""
        return dead_node(self._brokers)

    def busy(self) -> dict[str, Any]:
        """Return the CPU seconds of all cores, and those of the nodes of each cluster."""
        clusters = self._brokers.clusters if self._brokers is not None else ()
        spent = [cpu_s(node.pid for node in cluster.nodes if node.pid) for cluster in clusters]
        return {"cores": list(machine()), "clusters": spent}

    def write(self, name: str, text: str) -> str:
        """Write a file that nobody else can read, and return its path."""
        path = self._path(name)
        path.unlink(missing_ok=True)
        try:
            write_private(path, text)
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return str(path)

    def take(self, name: str) -> str:
        """Return the text of a file, and remove the file."""
        path = self._path(name)
        try:
            text = path.read_text("utf-8", "replace")
            path.unlink()
        except OSError as error:
            raise RunFailed(f"{name}: {error.strerror}") from error
        return text

    def close(self) -> None:
        """End and remove everything."""
        if self._brokers is not None:
            self._brokers.close()
        if self._folder is not None:
            self._folder.close()

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        if Path(name).name != name or name == "..":
            raise RunFailed(f"'{name}' is not the name of a file")
        return self._folder.path / name


def dead_node(brokers: Brokers | None) -> str | None:
    """Return which private node has died, and the end of its log; None if all live."""
    for node in brokers.nodes if brokers is not None else ():
        if not node.alive:
            lines = node.log.strip().splitlines()[-TAIL:]
            return f"broker {node.name} at {node.url} died" + "".join(
                f"\n  {line}" for line in lines
            )
    return None


def address_of(host: str, interface: str | None) -> str | None:
    """Return the IPv4 address of an interface, or without one that of the name of this host.

    None: the name stands for loopback, another machine, or nothing.
    """
    if interface is not None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            try:
                reply = fcntl.ioctl(asked, ADDRESS_OF, struct.pack("256s", interface.encode()[:15]))
            except OSError:
                names = " ".join(name for _, name in socket.if_nameindex())
                reason = f"it has no interface '{interface}' with an address, but {names}"
                raise RunFailed(reason) from None
            return socket.inet_ntoa(reply[20:24])
    name = host.rpartition("@")[2]
    with suppress(OSError), socket.socket() as probe:
        address = socket.gethostbyname(name)
        probe.bind((address, 0))
        if not address.startswith("127."):
            return address
    return None


def main() -> None:
    """Answer requests until the harness ends or hangs up."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # so that no print looks like an answer
    signal.signal(signal.SIGTERM, _end)
    requests: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    member = Member()
    try:
        while True:
            request, *arguments = json.loads(requests.get())
            try:
                answer = {"answer": getattr(member, request)(*arguments)}
            except DvsimError as error:
                answer = {"error": str(error)}
            except OSError as error:
                answer = {"error": f"{error.filename or request}: {error.strerror}"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    except (Ended, OSError):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    finally:
        member.close()


def _listen(requests: queue.SimpleQueue[str]) -> None:
    rest = b""
    while select.select([0], [], [], SILENCE_S)[0] and (some := os.read(0, 1 << 16)):
        *lines, rest = (rest + some).split(b"\n")
        for line in lines:
            if line != b"[]":
                requests.put(line.decode())
    os.kill(os.getpid(), signal.SIGTERM)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended


if __name__ == "__main__":
    main()
