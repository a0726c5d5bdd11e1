"""One private node of RabbitMQ: its files, its process, commands to it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvsim.broker.files import LISTENERS, Settings, environment, erlang, write
from dvsim.broker.install import Installation
from dvsim.broker.process import HOST, answers, greets, start_bound
from dvsim.errors import DvsimError, RunFailed

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1"
DAYS = "30"


def make_certificates(folder: Path) -> None:
    """Make a folder with an authority and certificates of a server and a client that it signed.

    They are ``ca.pem``, ``server.pem`` with ``server-key.pem``, ``client.pem`` with
    ``client-key.pem``; the keys can be read by their owner alone.
    """
    if shutil.which("openssl") is None:
        raise DvsimError("TLS needs the command openssl to make certificates: apt install openssl")
    folder.mkdir(mode=0o700)
    _make(folder, "ca", "/CN=dvsim private authority", "basicConstraints=critical,CA:TRUE")
    _make(folder, "server", "/CN=localhost", NAMES, "extendedKeyUsage=serverAuth")
    _make(folder, "client", "/CN=dvsim client", "extendedKeyUsage=clientAuth")


def _make(folder: Path, name: str, subject: str, *extensions: str) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-noenc", "-sha256", "-days", DAYS, "-subj", subject]
    command += ["-keyout", f"{name}-key.pem", "-out", f"{name}.pem"]
    command += [text for extension in extensions for text in ("-addext", extension)]
    if name != "ca":
        command += ["-CA", "ca.pem", "-CAkey", "ca-key.pem"]
        command += ["-addext", "basicConstraints=critical,CA:FALSE"]
    done = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise DvsimError(f"openssl cannot make the certificate of {name}:\n{done.stderr.strip()}")
    (folder / f"{name}-key.pem").chmod(0o600)


TAIL = 15
"""Lines of a log that an error shows."""
ANSWER_S = 180
"""How long rabbitmqctl may take: a busy machine starts its Erlang in many seconds."""


@dataclass(frozen=True)
class Control:
    """How to reach the nodes that share a cookie."""

    program: Path  # ``rabbitmqctl``
    home: Path  # the folder with the cookie
    epmd_port: int  # the port of their epmd

    def run(self, node: str, *arguments: str, timeout_s: float = ANSWER_S) -> str:
        """Run a command on a node and return what it prints."""
        # a time limit of its own: a call to a node that hangs would else never end
        command = [str(self.program), "--quiet", "--node", f"{node}@localhost"]
        command += ["--timeout", str(max(1, int(timeout_s))), *arguments]
        shown = f"rabbitmqctl {' '.join(arguments)} on {node}"
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                env=erlang(self.home, self.epmd_port),
                timeout=timeout_s + 15,
            )
        except subprocess.TimeoutExpired as error:
            raise DvsimError(f"{shown} did not end within {timeout_s:g} s") from error
        if done.returncode != 0:
            raise DvsimError(f"{shown} failed:\n{tail(done.stderr or done.stdout)}")
        return done.stdout

    def status(self, node: str, timeout_s: float = ANSWER_S) -> Mapping[str, Any]:
        """Return what a node says of its cluster: ``running_nodes``, ``alarms``, ``partitions``."""
        text = self.run(node, "cluster_status", "--formatter", "json", timeout_s=timeout_s)
        answer: Mapping[str, Any] = json.loads(text)
        return answer


def tail(text: str) -> str:
    """Return the last lines of a text, set in."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-TAIL:])


POLL_S = 0.05
STOP_S = 30
"""How long a node may take to end by itself."""
READY_S = 180
"""How long a node may take to be ready: 5 s on an idle machine, over a minute on a busy one."""
RESPONDS_S = 20
"""After which a node that runs and says nothing counts as one that hangs."""
ALARM_S = 30
"""How long an alarm may take to be in force."""
NO_DISK = "1000000000000000"
"""More free bytes than a disk has."""


class Node:
    """A node: its address, and what can happen to it. `Brokers` makes it.

    Attributes:
        name: Such as ``a1``.
        url, tls_url: ``amqp://`` and ``amqps://`` addresses, without user and password; `tls_url`
            is None without TLS.
        port: Of `url`.
    """

    def __init__(self, settings: Settings, installation: Installation, control: Control) -> None:
        self._settings = settings
        self._installation = installation
        self._control = control
        self._process: subprocess.Popen[bytes] | None = None
        self.name = settings.name
        self.port = settings.ports["amqp"]
        self.url = f"amqp://{settings.address}:{self.port}/%2f"
        tls_port = settings.ports.get("amqps")
        self.tls_url = None if tls_port is None else f"amqps://{HOST}:{tls_port}/%2f"
        write(settings)

    def __repr__(self) -> str:
        """Return name, address and process."""
        return f"<Node {self.name} at {self.url}, {f'pid {self.pid}' if self.alive else 'down'}>"

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The number of its process, Erlang's virtual machine; None while it is down."""
        return self._process.pid if self._process is not None and self.alive else None

    @property
    def log(self) -> str:
        """What it has written, to its log and before it had one."""
        paths = (self._settings.folder / name for name in ("output", "log"))
        return "".join(p.read_text("utf-8", "replace") for p in paths if p.exists())

    @property
    def ports(self) -> Mapping[str, int]:
        """The ports of plug-ins that answer now, by purpose: ``management``, ``mqtt`` and so on."""
        ports = self._settings.ports
        return {name: ports[name] for name in LISTENERS if name in ports and answers(ports[name])}

    @property
    def management_port(self) -> int | None:
        """The port of the management plug-in's pages; None without it, or while it is down."""
        return self.ports.get("management")

    def start(self, *, wait: bool = True, timeout_s: float = READY_S) -> None:
        """Start it, with the data that it had; nothing happens while it runs.

        Args:
            wait: Return when it is ready, else at once. Nodes of one cluster that were all down
                wait for each other: start each without waiting, then `wait_ready`.
            timeout_s: How long to wait, in seconds.
        """
        if not self.alive:
            control, folder = self._control, self._settings.folder
            self._process = start_bound(
                [self._installation.server],
                environment(self._settings, control.home, control.epmd_port),
                folder,
                folder / "output",
            )
        if wait:
            self.wait_ready(timeout_s)

    def wait_ready(self, timeout_s: float = READY_S) -> None:
        """Wait until it answers as an AMQP broker does."""
        end = time.monotonic() + timeout_s
        while not greets(self.port, self._settings.address):
            if not self.alive:
                raise RunFailed(f"RabbitMQ node {self.name} has ended:\n{tail(self.log)}")
            if time.monotonic() > end:
                text = f"RabbitMQ node {self.name} is not ready after {timeout_s:g} s"
                raise RunFailed(f"{text}:\n{tail(self.log)}")
            time.sleep(POLL_S)

    def responds(self) -> bool:
        """Whether it runs, and answers as an AMQP broker does; it gets some seconds for that."""
        return self.alive and greets(self.port, self._settings.address, RESPONDS_S)

    def stop(self, timeout_s: float = STOP_S) -> None:
        """Let it end by itself, tidily; kill it if that takes longer than `timeout_s` seconds."""
        self.ask_to_stop()
        if self._process is not None:
            try:
                self._process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self.kill()

    def ask_to_stop(self) -> None:
        """Tell it to end, and do not wait."""
        if self._process is not None and self.alive:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power failure does: SIGKILL.

        RabbitMQ keeps confirmed persistent messages, but may lose a durable queue that was declared
        in the last seconds, and all that is in it: see `sync`.
        """
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def ctl(self, *arguments: str, timeout_s: float = ANSWER_S) -> str:
        """Run ``rabbitmqctl`` on it and return what that prints.

        ``node.ctl("list_queues", "name", "messages")``
        """
        return self._control.run(self.name, *arguments, timeout_s=timeout_s)

    def sync(self) -> None:
        """Let it write to disk what exchanges, queues and bindings there are."""
        self.ctl("eval", "mnesia:sync_log().")

    def memory_alarm(self, on: bool) -> None:
        """Let it believe that memory is short, so that publishers must wait; or end that."""
        memory = self._settings.memory
        self.ctl("set_vm_memory_high_watermark", *(["0"] if on else ["absolute", str(memory)]))
        self._wait_alarm("memory", on)

    def disk_alarm(self, on: bool) -> None:
        """Let it believe that the disk is full, so that publishers must wait; or end that."""
        self.ctl("set_disk_free_limit", NO_DISK if on else "1MB")
        self._wait_alarm("disk", on)

    def _wait_alarm(self, resource: str, on: bool) -> None:
        end = time.monotonic() + ALARM_S
        while on and resource not in self.ctl("eval", "rabbit_alarm:get_local_alarms()."):
            if time.monotonic() > end:
                raise RunFailed(f"RabbitMQ node {self.name} raises no {resource} alarm")
