"""Manifests of results that nobody has made."""

from typing import Any

from dvsim.table.manifest import FORMAT, Manifest

KNOWN = {
    "format": FORMAT,
    "version": "0.1.0",
    "git": {"commit": "0123456789abcdef", "dirty": False},
    "scenario": "mine",
    "seed": 1,
    "replications": 1,
    "backend": "sim",
    "host": {"cpu": "a processor", "cores": 2, "system": "Linux", "python": "3.11"},
    "command": "dvsim run mine",
    "started": "2026-11-20T12:00:00+00:00",
    "wall_s": 1.5,
    "files": {},
}


def manifest_of(**facts: Any) -> Manifest:
    """Return one, in which these facts stand."""
    return Manifest.model_validate(KNOWN | facts)


def changed(manifest: Manifest, **facts: Any) -> Manifest:
    """Return one with other facts."""
    return Manifest.model_validate(manifest.plain() | facts)
