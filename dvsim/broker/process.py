"""Child processes that end with their parent, and ports that are kept free for them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Ports that nobody else is given, from before a node listens until it has gone for good.
#
# A port that is found free and let go can be taken before the node has it, and while it is down. So
# it stays bound here, without listening: the kernel gives it to nobody who asks for any port, and
# lets a program have it that says ``SO_REUSEADDR``, as Erlang does.

HOST = "127.0.0.1"


class Ports:
    """Ports of this machine, kept until `close`."""

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def take(self, address: str = HOST) -> int:
        """Return a port of an address that is free and stays ours."""
        held = socket.socket()
        self._held.append(held)
        held.bind((address, 0))
        # only now: with it from the start, the kernel might choose one that is held in this way
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        port: int = held.getsockname()[1]
        return port

    def close(self) -> None:
        """Give all of them back."""
        for held in self._held:
            held.close()
        self._held.clear()


def answers(port: int) -> bool:
    """Say whether somebody listens on a port."""
    try:
        socket.create_connection((HOST, port), timeout=5).close()
    except OSError:
        return False
    return True


def greets(port: int, address: str = HOST, wait_s: float = 5) -> bool:
    """Say whether an AMQP 0-9-1 broker answers on a port: a connection.start to our header."""
    try:
        with socket.create_connection((address, port), timeout=wait_s) as connection:
            connection.sendall(b"AMQP\0\0\x09\x01")
            start = connection.recv(11, socket.MSG_WAITALL)
    except OSError:
        return False
    return start[:1] == b"\x01" and start[7:] == b"\0\x0a\0\x0a"


# Processes that end with the one that started them, and that are never taken for another.
#
# A process is named by its number and its start time: a number alone is given again to another.

_BOUND = """\
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, int(sys.argv[2]), 0, 0, 0)  # PR_SET_PDEATHSIG
if os.getppid() == int(sys.argv[1]):  # else it was too late: the parent is gone already
    os.execv(sys.argv[3], sys.argv[3:])
"""


@dataclass(frozen=True)
class Identity:
    """One process, for as long as the machine runs."""

    pid: int  # its number
    start: int  # when it started, in clock ticks since the machine did
    boot: str  # which start of the machine that was

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """Return the identity of a process that runs now; None if there is none."""
        start = _start(pid)
        return None if start is None else cls(pid, start, _boot())

    def alive(self) -> bool:
        """Say whether this very process runs."""
        return self == Identity.of(self.pid)

    def tell(self, number: int) -> None:
        """Send a signal to this very process, if it runs."""
        self.end(number, 0)

    def end(self, number: int, wait_s: float) -> bool:
        """Send a signal to this very process, if it runs, and say whether it has ended in time."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            if not self.alive():  # behind the handle is somebody else
                return True
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, number)
            return bool(select.select([handle], [], [], wait_s)[0])
        finally:
            os.close(handle)


def bound(command: Sequence[str], number: signal.Signals) -> list[str]:
    """Return a command that gets a signal when the thread that starts it ends, or this process.

    It becomes the command, which is therefore the process that was started.
    """
    own = [sys.executable, "-I", "-S", "-c", _BOUND, str(os.getpid()), str(int(number))]
    return [*own, *command]


def start_bound(
    command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, output: Path
) -> subprocess.Popen[bytes]:
    """Start a program that is killed as soon as this process ends, however it ends.

    It has a session of its own: Ctrl-C in a terminal does not reach it.

    Args:
        command: The program, by its full path, and its arguments.
        environment: All of its environment.
        folder: Where it starts.
        output: The file to which its stdout and stderr are added.

    Raises:
        OSError: If there is no such folder, or the file cannot be written.
    """
    words = bound([str(word) for word in command], signal.SIGKILL)

    def start() -> subprocess.Popen[bytes]:
        with output.open("ab") as file:
            return subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                cwd=folder,
                start_new_session=True,
            )

    if threading.current_thread() is threading.main_thread():
        return start()
    # the kernel binds a child to the thread that made it, which may end before the process does
    started = _starter(os.getpid()).submit(start)
    try:
        return started.result()
    except BaseException:  # interrupted while it starts: nobody would own it
        started.add_done_callback(_kill)
        raise


def resident_bytes(pid: int) -> int:
    """Return the memory that a process holds, in bytes; 0 if it has gone."""
    try:
        text = Path(f"/proc/{pid}/statm").read_text("ascii")
    except OSError:
        return 0
    return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")


def age_s(identity: Identity) -> float:
    """Return for how long a process has run, in seconds."""
    uptime = float(Path("/proc/uptime").read_text("ascii").split()[0])
    return max(0.0, uptime - identity.start / os.sysconf("SC_CLK_TCK"))


@cache
def _starter(_pid: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "dvsim-broker")


def _kill(started: Future[subprocess.Popen[bytes]]) -> None:
    if started.exception() is None:
        process = started.result()
        process.kill()
        process.wait()


def _start(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


@cache
def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
