"""A sweep as text: its points with the results that are asked for, and what failed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dvsim.cli.plain_text import wrapped
from dvsim.errors import Fault, PointsFailed, ScenarioError, nearest
from dvsim.kinds.find import kind_of, metric_of
from dvsim.study.amounts import counted, estimate_texts, scale_of
from dvsim.study.points import finite
from dvsim.study.statistics import STEPS
from dvsim.study.sweep_table import SweepResult, short
from dvsim.study.sweeps.trials import PointTrial, Refused
from dvsim.study.swept_points import SweptPoints
from dvsim.study.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from dvsim.study.sweeps.run import Sweep

INDENT = "  "
MOST = 40  # points that are printed
FAILED = 5  # whose errors are told
OPTIONS = {"vary": "--vary", "overrides": "--set"}  # by the argument that an error names


def chosen(swept: SweepResult, wanted: Sequence[str]) -> list[str]:
    """Return the results to show.

    Raises:
        ScenarioError: If there is none of that name; with all that there are.
    """
    _check_results(wanted, swept.results)
    return list(wanted) or SweptPoints(swept).drawn


def check_results(ready: Sweep, wanted: Sequence[str]) -> None:
    """Check, before anything runs, that some point has each result.

    Raises:
        ScenarioError: If none has; with all that there are.
    """
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
            fault = Fault("--result", None, name, f"no such result; there are {there}",
                          nearest(name, known))  # fmt: skip
            raise ScenarioError([fault])


def swept_lines(swept: SweepResult, results: Sequence[str]) -> Iterator[str | Table]:
    """Yield the table of a sweep, then what failed and where everything is."""
    from dvsim.report.swept import answer_sentences

    asked = swept.manifest["asked"]
    shard = "" if not asked["shard"] else f", shard {asked['shard'][0]} of {asked['shard'][1]}"
    times = times_text(swept)
    once = times == "1 replication"
    meaning = ", which gives no interval" if once else "; ± is half of the 95 % interval"
    yield (
        f"{swept.name}: {asked['points']:,} points{shard}, seed {asked['seed']}, {times}{meaning}"
    )
    for sentence in answer_sentences(swept, results)[:1]:
        yield from wrapped(sentence)
    scales = {name: scale_of(swept.table[name].max(), _unit(swept, name)) for name in results}
    keys = len(swept.keys)
    head = [*map(short, swept.keys)]
    for name, (_, unit) in scales.items():
        head += [f"{name} {unit}".strip(), "±"]
    counted = ["replications"] if swept.replications[0] != swept.replications[1] else []
    head += [*counted, "limit" if swept.table["bottleneck"].any() else ""]
    rows = []
    for record in swept.table.head(MOST).to_dict(orient="records"):
        row = [swept.text(key, record[key]) for key in swept.keys]
        row += ["failed", *[""] * (2 * len(results) - 1)] if record["error"] else []
        for name, (factor, _) in () if record["error"] else scales.items():
            value, high = (record[end] / factor for end in (name, f"{name}_high"))
            row += [text or "-" for text in estimate_texts(value, high - value)]
        row += [str(record[name] or "") for name in counted]
        rows.append([*row, record["bottleneck"] or "*" * bool(record["note"])])
    yield Table(head, rows, range(keys, len(head) - 1), keys=keys, groups=[2] * len(results))
    if len(swept.table) > MOST:
        yield f"{INDENT}… {len(swept.table) - MOST:,} more"
    if swept.good["note"].any():
        yield f"{INDENT}* not settled: figures there depend on the length of the run"
    yield from imprecise_lines(swept)
    yield from failed_lines(swept)
    if swept.folder is not None:
        yield f"{INDENT}kept in {swept.folder}"


def _unit(swept: SweepResult, name: str) -> str:
    """Return the unit of a result as people write it; empty of a plain number."""
    unit = swept.units.get(name, "1")
    return "" if unit == "1" else metric_of(name, unit).written or unit


def write_page(swept: SweepResult, path: Path | None) -> None:
    """Write the page of a sweep, if one was asked for.

    Raises:
        OutputError: If it cannot be written.
    """
    from dvsim.report.page import write
    from dvsim.report.swept import swept_page

    if path is not None:
        write(path, swept_page(swept))


def check_failed(swept: SweepResult) -> None:
    """Raise PointsFailed if there is a point without results."""
    if len(swept.failed):
        raise PointsFailed(f"{len(swept.failed):,} of {len(swept.table):,} points failed")


def times_text(swept: SweepResult) -> str:
    """Say how many replications the points have, and until when if a precision was asked."""
    asked, least, most = swept.asked_precision, *swept.replications
    if asked is None:
        least = most = swept.manifest["asked"]["replications"]
    text = counted(least, most)
    return text if asked is None else f"{text} of a point, for a precision of {100 * asked:g}%"


def imprecise_lines(swept: SweepResult) -> Iterator[str]:
    """Yield the points that are known less well than was asked."""
    asked, rows = swept.asked_precision or 0.0, swept.imprecise
    for record in rows.head(FAILED).to_dict(orient="records"):
        yield (
            f"{INDENT}{swept.named(record)}: ± {100 * record['precision']:.2g}% with "
            f"{record['replications']} replications, not within {100 * asked:g}%"
        )
    if len(rows) > FAILED:
        yield f"{INDENT}… {len(rows) - FAILED:,} more points are not within {100 * asked:g}%"


def failed_lines(swept: SweepResult) -> Iterator[str]:
    """Yield the first errors, each with its point."""
    failed = swept.failed
    for record in failed.head(FAILED).to_dict(orient="records"):
        argument, where, rest = str(record["error"]).partition(": ")
        error = f"{OPTIONS.get(argument, argument)}{where}{rest}"
        yield f"{INDENT}failed: point {record['point']} ({swept.named(record)}): {error}"
    if len(failed) > FAILED:
        yield f"{INDENT}… {len(failed) - FAILED:,} more failed, see the table"


def plan_lines(sweep: Sweep, kept: set[int]) -> Iterator[str | Table]:
    """Yield the points of a sweep and what would become of each."""
    keys = [key for key, _ in sweep.points[0].values]
    rows = []
    for point, outcome in zip(sweep.points, sweep.trials, strict=True):
        state = "kept" if outcome.number in kept else "to run"
        state = f"refused: {outcome.error}" if isinstance(outcome, Refused) else state
        values = [value for _, value in point.values]
        rows.append([str(outcome.number), *values, state])
    yield Table(["point", *map(short, keys), ""], rows, range(len(keys) + 1))
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
    span = f"{STEPS[0]} to {STEPS[-1]}"
    return f"{span} replications each, for a precision of {100 * sweep.precision:g}%"


def swept_json(swept: SweepResult) -> dict[str, Any]:
    """Return a sweep as JSON types: null for what is not a number."""
    return {
        "scenario": swept.name,
        "keys": list(swept.keys),
        "results": list(swept.results),
        "units": dict(swept.units),
        "folder": None if swept.folder is None else str(swept.folder),
        "manifest": swept.manifest,
        "points": list(map(finite, swept.table.to_dict(orient="records"))),
    }
