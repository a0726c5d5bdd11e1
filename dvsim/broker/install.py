"""Where RabbitMQ is on this machine.

Not the commands in ``/usr/sbin``: those of a distribution become another user and drop what the
environment says. The scripts behind them are used.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from dvsim.errors import DvsimError

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
