"""What a worker does: some points one after the other, each to the bytes of its folder.

A point depends on nothing but its scenario, the version and the seed, and a worker writes nothing:
it may be a process of this machine or of another one that sees none of its files.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dvsim.backends.code import code_version
from dvsim.errors import DvsimError, RunFailed
from dvsim.kinds.base import How, kind_of
from dvsim.making import made
from dvsim.results.folder import contents_of
from dvsim.results.keyed import Keyed
from dvsim.sweeps.asked import Asked, one_line


class Chunk(NamedTuple):
    """Points that are done in one go; `command` is for their manifests."""

    asked: Sequence[Asked]
    how: How
    command: str | Sequence[str]


class Done(NamedTuple):
    """A point that is done: its numbers and files, or what went wrong; and the time it took."""

    number: int
    keyed: Sequence[Keyed]
    contents: Mapping[str, bytes]
    manifest: Mapping[str, Any]
    error: str
    took_s: float


def warm(_: None) -> None:
    """Do nothing: by then everything is imported."""


def work(chunk: Chunk) -> list[Done]:
    """Do points.

    Raises
    ------
    RunFailed
        If this process has other code than the one that asks.
    """
    here = code_version()
    if here != chunk.how.version:
        message = f"a worker has dvsim {here}, and {chunk.how.version} is asked for"
        raise RunFailed(message)
    return [_point(asked, chunk) for asked in chunk.asked]


def _point(asked: Asked, chunk: Chunk) -> Done:
    started = time.perf_counter()
    try:
        (result,) = made([asked.scenario], chunk.how, 1, False, chunk.command, {})
        kind = kind_of(asked.scenario)
        contents, manifest, error = contents_of(result), result.manifest, ""
        found = kind.keyed(asked.scenario, kind.brief(result))
    except DvsimError as failed:
        found, contents, manifest, error = [], {}, {}, one_line(failed)
    return Done(asked.number, found, contents, manifest, error, time.perf_counter() - started)
