"""A sweep as text: its points with the results that are asked for, and what failed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from dvsim.cli.plain_text import wrapped
from dvsim.contract.find import kind_of
from dvsim.errors import ScenarioError, nearest
from dvsim.study.precision import LEAST
from dvsim.study.precision import MOST as MOST_TIMES
from dvsim.study.sweeps.executors import PointTrial, Refused
from dvsim.study.table import Table
from dvsim.table.result import Result, short_names

if TYPE_CHECKING:
    from dvsim.study.sweep import Sweep

MOST = 40  # points that are printed
OPTIONS = {"vary": "--vary", "overrides": "--set"}  # by the argument that an error names


def chosen(swept: Result, wanted: Sequence[str]) -> list[str]:
    """Return the results to show."""
    _check_results(wanted, swept.METRICS)
    return list(wanted) or swept.drawn


def check_results(ready: Sweep, wanted: Sequence[str]) -> None:
    """Check, before anything runs, that some point has each result."""
    known: dict[str, str] = {}
    for trial in ready.trials:
        if known.keys() >= set(wanted):
            return
        if isinstance(trial, PointTrial):
            known.update(kind_of(trial.scenario).metrics(trial.scenario))
    if known:
        _check_results(wanted, known)


def _check_results(wanted: Sequence[str], known: Collection[str]) -> None:
    for name in wanted:
        if name not in known:
            there = ", ".join(known) or "none, all points failed"
            message = f"no such result; there are {there}"
            raise ScenarioError.at("--result", message, name, hint=nearest(name, known))


def swept_lines(swept: Result, results: Sequence[str]) -> Iterator[str | Table]:
    """Yield what a sweep says, its table, what failed and where everything is."""
    from dvsim.view.blocks import Section
    from dvsim.view.sweep_page import answer_sentences, asked_text, points_blocks
    from dvsim.view.terminal import lines

    yield f"{swept.scenario.name}: {asked_text(swept)}"
    for sentence in answer_sentences(swept, results)[:1]:
        yield from wrapped(sentence)
    blocks = points_blocks(swept, results, MOST, options=OPTIONS)
    yield from lines([Section("points", "Points", blocks)])
    if swept.folder is not None:
        yield f"  kept in {swept.folder}"


def plan_lines(sweep: Sweep, kept: set[int]) -> Iterator[str | Table]:
    """Yield the points of a sweep and what would become of each."""
    keys = [key for key, _ in sweep.points[0].values]
    rows = []
    for point, outcome in zip(sweep.points, sweep.trials, strict=True):
        state = "kept" if outcome.number in kept else "to run"
        state = f"refused: {outcome.error}" if isinstance(outcome, Refused) else state
        values = [value for _, value in point.values]
        rows.append([str(outcome.number), *values, state])
    yield Table(["point", *short_names(keys).values(), ""], rows, range(len(keys) + 1))
    refused = sum(isinstance(trial, Refused) for trial in sweep.trials)
    todo = len(sweep.points) - len(kept) - refused
    yield (
        f"{sweep.name}: {len(sweep.points):,} points, {len(kept):,} kept, {todo:,} to run"
        + (f", {refused:,} refused" if refused else "")
        + f"; {_each_text(sweep)}"
    )


def _each_text(sweep: Sweep) -> str:
    if sweep.precision is None:
        return f"{sweep.how.replications} replications each"
    return (
        f"{LEAST} to {MOST_TIMES} replications each, for a precision of {100 * sweep.precision:g}%"
    )
