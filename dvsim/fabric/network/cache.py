"""Measurements that are kept: in memory, and on disk below $XDG_CACHE_HOME or ~/.cache.

A key says all that a measurement depends on, with digests of the C core and of this room, so an old
file is never wrong, only unused. What cannot be read, or is damaged, is measured again; what cannot
be written is kept in memory alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from dvsim.atomic import write_file
from dvsim.core import source_digest
from dvsim.machine import user_folder

Document = dict[str, Any]
_MEMORY: dict[str, Document] = {}


def kept(name: str, measure: Callable[[], Document], **depends_on: object) -> Document:
    """Return a measurement, from memory or disk if it is there.

    Args:
        name: Its kind, first part of the file name.
        measure: Called if it is not there; returns what JSON can hold.
        **depends_on: All that it depends on but the code.
    """
    key = json.dumps([name, source_digest().decode(), _room(), depends_on], sort_keys=True)
    if key not in _MEMORY:
        path = folder() / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"
        document = _read(path, key)
        if document is None:
            document = measure()
            with suppress(OSError):
                write_file(path, _text(key, document).encode())
        _MEMORY[key] = document
    return _MEMORY[key]


def folder() -> Path:
    """Return where measurements are kept."""
    with suppress(RuntimeError):  # nobody's home
        return user_folder("CACHE", ".cache")
    return Path("/nonexistent")


@cache
def _room() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _text(key: str, document: Document) -> str:
    body = json.dumps([key, document])
    return f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}\n"


def _read(path: Path, key: str) -> Document | None:
    try:
        digest, body, _ = path.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError):
        return None
    if hashlib.sha256(body.encode()).hexdigest() != digest:
        return None
    there, document = json.loads(body)
    return document if there == key else None
