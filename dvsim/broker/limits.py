"""What nodes may ask of a machine, told before anything is started."""

from __future__ import annotations

import os
import string
from collections.abc import Iterable
from pathlib import Path

from dvsim.broker.install import Installation
from dvsim.errors import ScenarioError, nearest

CLUSTERS, NODES = len(string.ascii_lowercase), 9
"""At most: each has a letter, or a digit."""
SHARE = 0.4
"""What all nodes may use of the memory: RabbitMQ's default for one node that is alone."""
LEAST = 256 << 20
"""Bytes: an idle node holds 120 to 140 MiB."""


def check_shape(clusters: int, nodes: int) -> None:
    """Refuse a number of clusters or nodes that cannot be."""
    for name, value, most in (("clusters", clusters, CLUSTERS), ("nodes", nodes, NODES)):
        if not 1 <= value <= most:
            raise ScenarioError.at(name, f"must be 1 to {most}, is {value}")


def check_patience(timeout_s: float) -> None:
    """Refuse a time to wait in which nothing can start; no number is no time."""
    if not timeout_s > 0:
        raise ScenarioError.at("timeout_s", f"must be above 0 seconds, is {timeout_s:g}")


def memory_of(count: int, given: int | None) -> int:
    """Return the bytes at which each of so many nodes lets its publishers wait."""
    machine = machine_bytes()
    each = given if given is not None else int(SHARE * machine) // count
    if each < LEAST:
        text = f"a node needs at least {_mib(LEAST)}"
        if given is None:
            raise ScenarioError.at(
                "nodes", f"{count} have {_mib(each)} each on this machine; {text}"
            )
        raise ScenarioError.at("memory", f"{text}, not {_mib(each)}")
    if each * count > machine:
        raise ScenarioError.at(
            "memory", f"{count} x {_mib(each)} is more than the machine's {_mib(machine)}"
        )
    return each


def machine_bytes() -> int:
    """Return the memory of this machine, or of the control group that this process is in."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        path = Path("/proc/self/cgroup").read_text("ascii").rpartition("::/")[2].strip()
        return min(memory, int(Path("/sys/fs/cgroup", path, "memory.max").read_text("ascii")))
    except (OSError, ValueError):  # no limit is "max"
        return memory


def check_plugins(names: Iterable[str], installation: Installation) -> tuple[str, ...]:
    """Return plug-ins, each once."""
    chosen = tuple(dict.fromkeys(names))
    for name in chosen:
        if name.endswith("_examples"):
            raise ScenarioError.at("plugins", f"'{name}' listens on a fixed port")
        if installation.plugins and name not in installation.plugins:
            near = nearest(name, installation.plugins)
            raise ScenarioError.at("plugins", f"RabbitMQ has no '{name}'", hint=near)
    return chosen


def _mib(number: int) -> str:
    return f"{number >> 20} MiB"
