"""Runs of systems as people read them.

In short: messages per second, and what limits them; of several runs a table. All of a run besides:
the columns as the paper prints them, with the published values.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence

import pandas as pd

from dvsim.scenario.reference import published
from dvsim.scenario.units import format_value
from dvsim.study.changes import Changes, changes_of, of_published_system, titled
from dvsim.study.emulated_text import cost_text, made_text
from dvsim.study.number_text import amount_text, estimate_texts
from dvsim.study.table import Table
from dvsim.study.transports import contest_text, contests
from dvsim.table.estimate import Estimate
from dvsim.table.result import Result
from dvsim.table.samples import STATISTICS
from dvsim.table.stages import stages_of

INDENT = "  "
NOTHING = Estimate(math.nan, math.nan, math.nan)


def answer_lines(run: Result) -> Iterator[str]:
    """Yield what one run gives: its rate and limit first, then what was asked."""
    changes = changes_of(run.scenario)
    yield titled(run.scenario)
    yield f"{INDENT}{answer_text(run)}"
    yield from (f"{INDENT}{line}" for line in question_lines(run, changes))
    if run.backend == "emu":
        yield f"{INDENT}{cost_text(run.values)}"
    if run.folder is not None:
        yield f"{INDENT}kept in {run.folder}"


def answer_text(run: Result) -> str:
    """Return the rate of a run and what limits it, in words."""
    if not run.headline().values:
        return "nothing was delivered"
    payload = amount_text(run.amount("payload_rate").value, unit="B/s")
    limit = "" if run.limit is None else f". Limit: {run.limit}"
    return f"{run.rate}, {payload} (all receivers){limit}"


def question_lines(run: Result, changes: Changes) -> Iterator[str]:
    """Yield what was run, and what the interval is of."""
    work = run.scenario.workload
    if run.manifest.emulated is not None:
        yield made_text(run.manifest.emulated)
    scaled = abs(changes.length - 1) > 1e-3 and run.backend != "emu"
    size = format_value(work.message_bytes, "size")
    part = f", {changes.length:.3g} of what {changes.base.name} sends" if scaled else ""
    yield (
        f"{work.messages:,} message{'s' * (work.messages != 1)} of {size} in each of "
        f"{work.iterations} iterations{part}; seed {run.seed}, {meaning_text(run)}"
    )


def meaning_text(run: Result) -> str:
    """Return how many replications there are, and what they say."""
    if run.replications > 1:
        return f"{run.replications} replications, ± is their 95 % interval"
    return "1 replication, which says nothing about the spread between runs"


def table_lines(runs: Sequence[Result]) -> Iterator[str | Table]:
    """Yield several runs as one table, and what it says where both transports are in it."""
    pairs = contests(runs)
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
    ratios = {id(contest.vortex): contest.ratio for contest in pairs}
    head = ["run", "message", "msg/s", "±", "payload", *(["× TCP"] if pairs else []), "limit"]
    rows = []
    for run in runs:
        value, half = estimate_texts(run.rate.value, run.rate.half)
        row = [changes_of(run.scenario).name + run.manifest.emulated_text]
        row += [format_value(run.scenario.workload.message_bytes, "size"), value, half or "-"]
        row.append(amount_text(run.amount("payload_rate").value, unit="B/s"))
        if pairs:
            ratio = ratios.get(id(run))
            row.append("" if ratio is None else ratio.text())
        rows.append([*row, "not counted" if run.limit is None else str(run.limit)])
    yield Table(head, rows, right=range(1, len(head) - 1), groups=[1, 2])
    if pairs:
        yield f"{INDENT}{contest_text(pairs)}"
    folders = [run.folder for run in runs if run.folder is not None]
    if folders:
        yield f"{INDENT}kept in {os.path.commonpath(folders)}"


def run_lines(run: Result) -> Iterator[str | Table]:
    """Yield a run: its answer, its columns, how busy each stage was, and what the fabric was."""
    yield from answer_lines(run)
    if "pieces" in run.scenario.readings:
        yield (
            f"{INDENT}columns count pieces of one receiver, as the paper printed them; "
            "'in messages' counts messages"
        )
    yield column_table(run)
    yield from stage_lines(run)


def column_table(run: Result) -> Table:
    """Return the table of one run.

    Each column has the mean over replications, half of its 95 % interval (a dash if it has none),
    and the published value where there is one, of a system that was not changed.
    """
    reading = run.scenario.readings[0]
    labels = list(run.scenario.probe.columns)
    same = of_published_system(run.scenario)
    paper = {label: published(run.scenario, label) if same else {} for label in labels}
    head, groups = [""], []
    for label in labels:
        beside = ["published"] if paper[label] else []
        head += [label, "±", *beside]
        groups.append(2 + len(beside))
    statistics = [(statistic, reading, statistic) for statistic in STATISTICS]
    if reading == "pieces":
        statistics.append(("mean, in messages", "messages", "mean"))
    rows = []
    for name, counted, statistic in statistics:
        row = [name]
        for label in labels:
            known = run.by_metric.get((label, 0, f"{counted}.{statistic}"), NOTHING)
            text, spread = estimate_texts(known.value, known.half)
            row += [text, spread or "-"]
            if paper[label]:
                printed = paper[label].get(name)
                row.append("" if printed is None else f"{printed:,.1f}")
        rows.append(row)
    right = range(1, len(head))
    return Table(head, rows, right, groups=groups)


def stage_lines(run: Result) -> Iterator[str]:
    """Yield how busy each kind of stage was, in the order of the path, and what the fabric was.

    Nothing of an emulated run, whose answer says what each message cost.
    """
    if run.backend == "emu":
        return
    shares = (f"{stage.text} {stage.utilisation:.1%}" for stage in stages_of(run.values))
    yield f"{INDENT}busy: {', '.join(shares)}"
    fabric = fabric_text(run.values)
    if fabric is not None:
        yield f"{INDENT}fabric: {fabric}"


def fabric_text(counters: pd.DataFrame) -> str | None:
    """Return which fidelity of the fabric ran and how good it is; None where there is no fabric.

    >>> import pandas as pd
    >>> values = {"cycle_fidelity": 0.0, "latency_s": 2e-7, "rate_alone": 4.4e9,
    ...           "rate_together": 4.3e9, "flow_error": 0.004}
    >>> rows = [(1, 1, "fabric", 0, metric, value, "1") for metric, value in values.items()]
    >>> names = ["replication", "iteration", "component", "instance", "metric", "value", "unit"]
    >>> print(fabric_text(pd.DataFrame(rows, columns=names)))
    flow fidelity, within 0.4 % of the cycle level; first word after 200 ns, 4.4 GB/s for a sender
    alone, 4.3 GB/s for each of all
    """
    rows = counters[(counters["component"] == "fabric") & (counters["instance"] == 0)]
    if rows.empty:
        return None
    value = rows.groupby("metric")["value"].mean()
    card = counters[(counters["component"] == "card") & (counters["metric"] == "flow_error")]
    if value["cycle_fidelity"] == 1:
        fidelity = "cycle fidelity, every word slot by slot and through the card"
    else:
        error = 100 * value["flow_error"]
        fidelity = f"flow fidelity, within {error:.1f} % of the cycle level"
        if not card.empty:
            fidelity += f", the card within {100 * card['value'].mean():.2f} %"
    return (
        f"{fidelity}; first word after {value['latency_s'] * 1e9:.0f} ns, "
        f"{value['rate_alone'] / 1e9:.3g} GB/s for a sender alone, "
        f"{value['rate_together'] / 1e9:.3g} GB/s for each of all"
    )
