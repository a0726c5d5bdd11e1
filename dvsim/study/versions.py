"""Folders of another version of dvsim: refused by name, with what can be done.

They are not upgraded. What is kept is the answer to the question in ``scenario.toml``; a parameter
that cards have had since then has no value in it, and any that was put there would be another
question. What the other version kept is whole, as its hashes say, so that one can still read it.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dvsim._version import __version__
from dvsim.contract.load import load
from dvsim.errors import RunFailed, ScenarioError
from dvsim.scenario.spec import Spec
from dvsim.study.manifest import FORMAT


class OtherVersion(RunFailed):
    """A folder is good, but of a version of dvsim that this one does not read."""


def check_format(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a folder of a format that this version does not read.

    Raises:
        OtherVersion: With its version, this one, and what to do.
    """
    version = manifest.get("format")
    if version != FORMAT:
        raise other(folder, manifest, f"manifest.json has format {version}, not {FORMAT}")


def load_kept(folder: Path, name: str, manifest: Mapping[str, Any]) -> Spec:
    """Return the scenario of a folder, whose bytes are known to be as they were kept.

    Raises:
        OtherVersion: If it is none by the rules of this version.
    """
    try:
        return load(folder / name)
    except ScenarioError as error:
        first, *more = error.faults
        rest = f" (and {len(more)} more)" if more else ""
        raise other(folder, manifest, f"{name} is not valid any more: {first}{rest}") from error


def other(folder: Path, manifest: Mapping[str, Any], reason: str) -> OtherVersion:
    """Return the error of a folder of another version."""
    made, when = manifest.get("version") or "of unknown version", manifest.get("started")
    date = f" on {str(when)[:10]}" if when else ""
    words = manifest.get("command")
    command = shlex.join(map(str, words)) if isinstance(words, list) else words
    again = f"run it again ({command})" if command else "run it again"
    return OtherVersion(
        f"{folder} was made by dvsim {made}{date}, and this is dvsim {__version__}: {reason};"
        f" {again}, or read it with that version"
    )
