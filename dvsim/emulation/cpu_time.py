"""What programs cost on this machine, as Linux counts it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Machine(NamedTuple):
    """CPU seconds of all cores since the machine was started: those not idle, and all."""

    busy_s: float
    all_s: float


def machine() -> Machine:
    """Read what all cores have done so far."""
    words = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    ticks = [int(word) for word in words]  # user nice system idle iowait irq softirq steal
    idle = ticks[3] + ticks[4]
    return Machine((sum(ticks) - idle) / TICKS_PER_S, sum(ticks) / TICKS_PER_S)


def busy_share(before: Machine, after: Machine) -> float:
    """Return the share of all cores' time that was spent between two readings."""
    whole = after.all_s - before.all_s
    return (after.busy_s - before.busy_s) / whole if whole > 0 else 0.0


def cpu_s(pids: Iterable[int]) -> float:
    """Return the CPU seconds of processes so far; one that has ended counts as 0."""
    ticks = 0
    for pid in pids:
        fields = _stat(pid)
        if fields is not None:
            ticks += int(fields[11]) + int(fields[12])  # user and system
    return ticks / TICKS_PER_S


def _stat(pid: int) -> list[str] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
