"""The rival: ``smpirun -replay`` of SimGrid, on a time-independent trace that dvsim reads, too."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="6GBps" lat="1us"/>
</platform>
"""
BYTE = 6  # MPI_BYTE, as SimGrid numbers data types


def write_trace(folder: Path, ranks: int, iterations: int, neighbours: int = 3) -> Path:
    """Write a program that exchanges 1 KiB with neighbours on a ring, and what smpirun needs.

    Returns the list of trace files.
    """
    with (folder / "trace.txt").open("w", encoding="ascii") as file:
        for rank in range(ranks):
            file.write(f"{rank} init\n")
            for tag in range(iterations):
                for far in range(1, neighbours + 1):
                    file.write(f"{rank} irecv {(rank + far) % ranks} {tag} 1024 {BYTE}\n")
                for far in range(1, neighbours + 1):
                    file.write(f"{rank} isend {(rank - far) % ranks} {tag} 1024 {BYTE}\n")
                file.write(f"{rank} waitall {2 * neighbours}\n{rank} compute 1000\n")
            file.write(f"{rank} finalize\n")
    (folder / "list").write_text("trace.txt\n", "ascii")
    (folder / "platform.xml").write_text(PLATFORM.format(last=ranks - 1), "ascii")
    (folder / "hosts").write_text("".join(f"n{rank}\n" for rank in range(ranks)), "ascii")
    return folder / "list"


def smpirun(ranks: int) -> Sequence[str] | None:
    """Return the command that replays the trace in the folder it runs in; None: not installed."""
    found = shutil.which("smpirun")
    if found is None:
        return None
    return [found, "-no-privatize", "-replay", "list", "-np", str(ranks),
            "-platform", "platform.xml", "-hostfile", "hosts"]  # fmt: skip


def replay() -> Sequence[str]:
    """Return the command of dvsim that does."""
    return [sys.executable, "-m", "dvsim", "replay", "list", "--fabric", "loggops"]


def run(command: Sequence[str], folder: Path) -> None:
    """Run a command.

    Raises:
        CalledProcessError: If it fails.
    """
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
