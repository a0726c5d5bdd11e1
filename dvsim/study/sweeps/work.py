"""What a worker does: some points one after the other, each to the bytes of its folder.

A point depends on nothing but its scenario, the version and the seed, and a worker writes nothing:
it may be a process of this machine or of another one that sees none of its files.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dvsim.core.code import code_version
from dvsim.errors import DvsimError, RunFailed
from dvsim.kinds.base import How, kind_of
from dvsim.results.folder import contents_of
from dvsim.scenario.render import to_toml
from dvsim.study.execute import simulate
from dvsim.study.sweeps.asked import Asked, Outcome, folder_at, one_line, precise


class Chunk(NamedTuple):
    """Points that are done in one go, each until it is precise; `command` is for manifests."""

    asked: Sequence[Asked]
    how: How
    precision: float | None
    command: str | Sequence[str]


class Kept(NamedTuple):
    """A run that is to be kept: its folder below the root of runs, and what is in that."""

    folder: str
    contents: Mapping[str, bytes]
    manifest: Mapping[str, Any]


class Done(NamedTuple):
    """A point that is done.

    Attributes
    ----------
    number
        Of the point.
    outcome
        What came of it.
    runs
        Its run; where a precision was asked for one for each look, the last counts.
    took_s
        How long it took.
    """

    number: int
    outcome: Outcome
    runs: Sequence[Kept]
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
    scenario, kind = asked.scenario, kind_of(asked.scenario)
    runs: list[Kept] = []
    outcome, begun = Outcome(), dict[str, Any]()
    try:
        for times in asked.steps:
            how = replace(chunk.how, replications=times, begun=begun)
            (result,) = simulate([scenario], how, 1, False, chunk.command, {})
            keyed = kind.keyed(scenario, kind.brief(result))
            outcome = Outcome(keyed, times, folder_at(scenario, how, times))
            runs.append(Kept(outcome.folder, contents_of(result), result.manifest))
            if precise(scenario, keyed, chunk.precision):
                break
            begun = {to_toml(result.scenario): result}
    except DvsimError as failed:
        outcome, runs = Outcome(error=one_line(failed)), []
    return Done(asked.number, outcome, runs, time.perf_counter() - started)
