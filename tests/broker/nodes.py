"""What tests of private nodes look at: processes, and what they listen on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from harness.patience import patience

DEADLINE_S = 120
LONGEST_PAUSE_S = 0.1
LISTENING = "0A"


def eventually(question: Callable[[], object], what: str) -> None:
    """Wait until a question is answered by yes."""
    end, pause = time.monotonic() + patience(DEADLINE_S), 0.01
    while not question():
        assert time.monotonic() < end, f"not within {DEADLINE_S} s: {what}"
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE_S)


def processes(marker: Path | str) -> set[int]:
    """Return the processes that have a path in their environment or their arguments."""
    return {pid for pid in all_processes() if str(marker) in known_of(pid)}


def all_processes() -> Iterable[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def known_of(pid: int) -> str:
    """Return arguments and environment of a process, as far as they can be read."""
    said = ""
    for name in ("cmdline", "environ"):
        try:
            said += Path(f"/proc/{pid}/{name}").read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
    return said


def arguments_of(pid: int) -> str:
    """Return the arguments of a process; nothing if it has gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def listening(pids: Iterable[int]) -> list[tuple[str, int]]:
    """Return address (as in /proc/net/tcp) and port of what processes listen on."""
    inodes = {link for pid in pids for link in _sockets(pid)}
    found = []
    for table in ("tcp", "tcp6"):
        path = Path("/proc/net", table)
        for line in path.read_text("ascii").splitlines()[1:] if path.exists() else []:
            fields = line.split()
            if fields[3] == LISTENING and fields[9] in inodes:
                address, port = fields[1].split(":")
                found.append((address, int(port, 16)))
    return found


def _sockets(pid: int) -> Iterable[str]:
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return
    for descriptor in descriptors:
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[8:-1]
