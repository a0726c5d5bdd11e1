"""Emulated runs as commands and in this process, and the processes that they have."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import nodes

from dvsim.emulation.settings import Emulation
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.session import run_scenarios
from dvsim.table.result import Result

LONG = ["h3/fdr-8", "--backend", "emu", "--scale", "1"]
for changed in ("system.publisher.processes=2", "workload.messages_per_second=2000", "loop=open"):
    LONG += ["--set", changed]
"""A run over TCP that goes on for hours, without much haste."""


def ask(scenario: Scenario, emulation: Emulation, **options: Any) -> Result:
    """Return an emulated run, in memory unless something else is said."""
    (run,) = run_scenarios([scenario], **{"backend": emulation, "out": None, "scale": 1} | options)
    return run


def start(out: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start ``dvsim run``."""
    return subprocess.Popen(
        [sys.executable, "-m", "dvsim", "run", *arguments, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def publishers_of(process: subprocess.Popen[str]) -> list[int]:
    """Wait until both publishers of a run are there."""
    nodes.eventually(
        lambda: process.poll() is not None or len(children_of(process.pid)) == 2, "publishers"
    )
    assert process.poll() is None, process.communicate()
    return children_of(process.pid)


def children_of(pid: int) -> list[int]:
    """Return the processes that the main thread of a process has started."""
    with suppress(OSError):  # it has ended
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def gone(pids: list[int]) -> bool:
    """Whether none of these processes is there, or is more than a name."""

    def there(pid: int) -> bool:
        with suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            return state not in "ZX"
        return False

    return not any(map(there, pids))


def jobs(url: str) -> list[int]:
    """Return the processes of jobs of emulated cards that publish to an address."""
    found = ((pid, nodes.arguments_of(pid)) for pid in nodes.all_processes())
    return [pid for pid, said in found if "dvsim-emu-" in said and url in said]
