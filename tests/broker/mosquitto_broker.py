"""A private mosquitto for tests: on loopback, with a port and a folder of its own."""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import nodes
from bridge_job import mark

from dvsim.broker.process import Ports

CONFIGURATION = """\
listener {port} 127.0.0.1
allow_anonymous true
user {user}
persistence true
persistence_location {folder}/
max_queued_messages 0
"""


class Mosquitto:
    """A broker that speaks MQTT; `start` and `stop` any number of times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir()
        self._ports = Ports()
        self.port = self._ports.take()
        self.configuration = folder / "mosquitto.conf"
        text = CONFIGURATION.format(port=self.port, user=getpass.getuser(), folder=folder)
        self.configuration.write_text(text, "utf-8")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when it answers."""
        program = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
        assert program is not None, "no mosquitto: tests/install-packages installs it"
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [program, "-c", self.configuration], stdout=log, stderr=log
            )
        nodes.eventually(self._answers, "a mosquitto that answers")

    def stop(self) -> None:
        """End it as its service does: what it has confirmed is on the disk afterwards."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(nodes.DEADLINE_S)

    def close(self) -> None:
        """End it, whatever it does."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._ports.close()

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder / "log").read_text("utf-8")
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except OSError:
            return False
        return True


class Taker:
    """Someone who has subscribed, with a session that outlives its connections."""

    def __init__(self, program: Path, broker: Mosquitto, topic: str) -> None:
        self.out = broker.folder / "taken"
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(
                [program, str(broker.port), topic], stdout=out, stderr=subprocess.STDOUT
            )
        nodes.eventually(lambda: "ready\n" in self._text(), "a subscription")

    def messages(self) -> list[tuple[str, str, bytes]]:
        """Return id, topic and body of each that has come so far."""
        text = self._text()
        lines = (line.split(" ") for line in text[: text.rfind("\n") + 1].splitlines())
        return [(line[0], line[1], bytes.fromhex(line[2])) for line in lines if len(line) == 3]

    def digests(self) -> dict[str, int]:
        """Return the CRC-32 of each message by its id; one id has one body and one only."""
        found: dict[str, tuple[bytes, int]] = {}
        for name, _, body in self.messages():
            one = mark(body)
            assert found.setdefault(name, one) == one, "two bodies with one id"
        return {name: crc for name, (_, crc) in found.items()}

    def close(self) -> None:
        """End it, and look that it was well until then."""
        self.process.terminate()
        self.process.wait()
        assert "Sanitizer" not in self._text() and "runtime error" not in self._text()

    def _text(self) -> str:
        return self.out.read_text("ascii", "replace")
