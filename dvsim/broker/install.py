"""The RabbitMQ that is installed, and how many nodes this machine can have."""

from __future__ import annotations

import os
import re
import shutil
import string
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dvsim.errors import DvsimError, ScenarioError, nearest

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


# Where RabbitMQ is on this machine.
#
# Not the commands in ``/usr/sbin``: those of a distribution become another user and drop what the
# environment says. The scripts behind them are used.

FOLDER = "DVSIM_RABBITMQ"
"""Environment variable: the ``sbin`` folder of another RabbitMQ, such as an unpacked archive."""
USUAL = (Path("/usr/lib/rabbitmq/bin"), Path("/usr/local/lib/rabbitmq/bin"))
ADVICE = f"apt install rabbitmq-server, or let {FOLDER} name the folder of rabbitmq-server"


@dataclass(frozen=True)
class Installation:
    """What a node is run with."""

    # The scripts ``rabbitmq-server`` and ``rabbitmqctl``.
    server: Path
    ctl: Path
    epmd: Path  # erlang's directory of nodes
    version: str  # rabbitMQ's version, such as ``3.10.8``; empty if it does not say
    plugins: frozenset[str]  # names of the plug-ins that it has; empty if they cannot be told


def find() -> Installation:
    """Find RabbitMQ: in the folder that ``DVSIM_RABBITMQ`` names, else where packages put it."""
    folder = _folder()
    programs = [shutil.which(name) for name in ("erl", "epmd")]
    if None in programs:
        raise DvsimError(f"RabbitMQ needs Erlang's erl and epmd, which are not on PATH: {ADVICE}")
    version, plugins = _content(folder)
    return Installation(
        folder / "rabbitmq-server",
        folder / "rabbitmqctl",
        Path(str(programs[1])),
        version,
        plugins,
    )


def _folder() -> Path:
    given = os.environ.get(FOLDER)
    if given:
        if not _has_scripts(Path(given)):
            raise DvsimError(f"{FOLDER}: no rabbitmq-server and rabbitmqctl in '{given}'")
        return Path(given).resolve()
    on_path = (Path(entry) for entry in os.environ.get("PATH", "").split(os.pathsep) if entry)
    for folder in (*USUAL, *on_path):
        if _has_scripts(folder):
            return folder.resolve()
    raise DvsimError(f"RabbitMQ is not installed: {ADVICE}")


def _has_scripts(folder: Path) -> bool:
    scripts = [folder / name for name in ("rabbitmq-server", "rabbitmqctl")]
    return all(
        os.access(script, os.X_OK) and script.resolve().name == script.name for script in scripts
    )


def _content(folder: Path) -> tuple[str, frozenset[str]]:
    beside = (folder / "rabbitmq-server").resolve().parent.parent / "plugins"
    versions = {}
    for path in beside.glob("rabbit*-*"):
        name, _, version = path.name.removesuffix(".ez").partition("-")
        versions[name] = version
    version = re.sub(r"[^\d.].*", "", versions.get("rabbit", ""))
    listed = frozenset(name for name in versions if name.startswith("rabbitmq_"))
    return version, listed
