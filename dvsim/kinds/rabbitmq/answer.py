"""What runs of a system answer, in a few lines: messages per second, and what limits them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dvsim.scenario.units import format_value
from dvsim.study.amounts import amount_text, estimate_texts
from dvsim.study.changes import Changes, changes_of
from dvsim.study.emulated_text import cost_text, made_text
from dvsim.study.text_table import Table
from dvsim.study.transports import contest_text, contests

if TYPE_CHECKING:
    from dvsim.study.run import Run

INDENT = "  "


def answer_lines(run: Run) -> Iterator[str]:
    """Yield what one run gives: its rate and limit first, then what was asked."""
    changes = changes_of(run.scenario)
    yield f"{changes.name}: {run.scenario.title}"
    yield f"{INDENT}{answer_text(run)}"
    yield from (f"{INDENT}{line}" for line in question_lines(run, changes))
    if run.backend == "emu":
        yield f"{INDENT}{cost_text(run.counters)}"
    if run.folder is not None:
        yield f"{INDENT}kept in {run.folder}"


def answer_text(run: Run) -> str:
    """Return the rate of a run and what limits it."""
    if not run.rates:
        return "nothing was delivered"
    payload = amount_text(run.payload_rate.value, unit="B/s")
    limit = "" if run.limit is None else f". Limit: {run.limit}"
    return f"{run.rate}, {payload} (all receivers){limit}"


def question_lines(run: Run, changes: Changes) -> Iterator[str]:
    """Yield what was run, and what the interval is of."""
    work = run.scenario.workload
    if run.backend == "emu":
        yield made_text(run.manifest)
    scaled = abs(changes.length - 1) > 1e-3 and run.backend != "emu"
    part = f", {changes.length:.3g} of what {changes.base.name} sends" if scaled else ""
    yield (
        f"{work.messages:,} messages of {format_value(work.message_bytes, 'size')} in each of "
        f"{work.iterations} iterations{part}; seed {run.seed}, {meaning_text(run)}"
    )


def meaning_text(run: Run) -> str:
    """Return how many replications there are, and what they say."""
    if run.replications > 1:
        return f"{run.replications} replications, ± is their 95 % interval"
    return "1 replication, which says nothing about the spread between runs"


def table_lines(runs: Sequence[Run]) -> Iterator[str | Table]:
    """Yield several runs as one table, and what it says where both transports are in it."""
    found = contests(runs)
    first = runs[0]
    alike = len({(run.seed, run.replications) for run in runs}) == 1
    asked = (
        f"seed {first.seed}, {meaning_text(first)}"
        if alike
        else "± is the 95 % interval over replications"
    )
    lengths = sorted({changes_of(run.scenario).length for run in runs})
    scaled = ", ".join(f"{length:.3g}" for length in lengths)
    part = "" if scaled == "1" else f" with {scaled} of the messages of their scenarios"
    yield f"{len(runs)} runs{part}; whole messages over all receivers; {asked}"
    ratios = {id(contest.vortex): contest.ratio for contest in found}
    head = ["run", "message", "msg/s", "±", "payload", *(["× TCP"] if found else []), "limit"]
    rows = []
    for run in runs:
        value, half = estimate_texts(run.rate.value, run.rate.half)
        row = [changes_of(run.scenario).name + ", emulated" * (run.backend == "emu")]
        row += [format_value(run.scenario.workload.message_bytes, "size"), value, half or "-"]
        row.append(amount_text(run.payload_rate.value, unit="B/s"))
        if found:
            ratio = ratios.get(id(run))
            row.append("" if ratio is None else ratio.text())
        rows.append([*row, "not counted" if run.limit is None else str(run.limit)])
    yield Table(head, rows, right=range(1, len(head) - 1), groups=[1, 2])
    if found:
        yield f"{INDENT}{contest_text(found)}"
    folders = [run.folder for run in runs if run.folder is not None]
    if folders:
        yield f"{INDENT}kept in {os.path.commonpath(folders)}"
