"""Which machine a run was made on, as its manifest says it, and where its user keeps files."""

import os
import platform
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

PACKAGES = ("numpy", "pandas", "pyarrow", "scipy", "simpy", "pydantic", "cffi", "pika")


@cache
def machine_facts() -> dict[str, Any]:
    """Return processor, cores, system and versions of this machine, as JSON types."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": dict(_versions(PACKAGES)),
    }


def user_folder(kind: str, usual: str) -> Path:
    """Return dvsim's folder among a user's files of a kind: ``$XDG_CACHE_HOME/dvsim``.

    Args:
        kind: ``CACHE`` or ``STATE``.
        usual: Below the home, where that is not set; as XDG says, a relative path is none, either.

    Raises:
        RuntimeError: If there is no home.
    """
    base = os.environ.get(f"XDG_{kind}_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / usual) / "dvsim"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _versions(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    for name in names:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
