"""The columns of a run as text: statistics as rows, as the paper prints them, published beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dvsim.kinds.rabbitmq.fabric import fabric_text
from dvsim.kinds.rabbitmq.published import published
from dvsim.results.emulated import cost_text, made_text
from dvsim.results.lines import Table
from dvsim.results.stages import bottleneck_text, stages_of
from dvsim.results.summary import STATISTICS

if TYPE_CHECKING:
    from dvsim.results.run import Run

INDENT = "  "
NAME, VALUE, SPREAD = 20, 15, 12  # widths


def run_lines(run: Run) -> Iterator[str | Table]:
    """Yield a run: what was asked, its columns, what limited it, and where it is kept."""
    scenario, work = run.scenario, run.scenario.workload
    yield f"{scenario.name}: {scenario.title}"
    if run.backend == "emu":
        yield f"{INDENT}{made_text(run.manifest)}"
    if run.replications > 1:
        meaning = f"{run.replications} replications; ± is the 95 % interval over replications"
    else:
        meaning = "1 replication, which says nothing about the spread between runs"
    yield (
        f"{INDENT}{work.messages:,} messages of {work.message_bytes:,} B in each of "
        f"{work.iterations} iterations, seed {run.seed}, {meaning}"
    )
    if scenario.system.transport == "data-vortex":
        yield (
            f"{INDENT}rates count pieces, as the paper printed them; 'in messages' counts messages"
        )
    yield column_table(run)
    yield from stage_lines(run)
    if run.folder is not None:
        yield f"{INDENT}kept in {run.folder}"


def column_table(run: Run) -> Table:
    """Return the table of one run.

    Each column has the mean over replications, half of its 95 % interval (a dash if there is only
    one replication), and the published value where there is one.
    """
    reading = "pieces" if run.scenario.system.transport == "data-vortex" else "messages"
    table = run.estimates()
    keys = zip(table["column"], table["reading"], table["statistic"], strict=True)
    values = zip(table["value"].tolist(), table["high"].tolist(), strict=True)
    cells = dict(zip(keys, values, strict=True))
    labels = list(run.scenario.probe.columns)
    paper = {
        label: published(run.scenario, label) if run.scenario.reference else {} for label in labels
    }
    head, widths, groups = [""], [NAME], []
    for label in labels:
        beside = ["published"] if paper[label] else []
        head += [label, "±", *beside]
        widths += [VALUE, SPREAD, *[VALUE for _ in beside]]
        groups.append(2 + len(beside))
    statistics = [(statistic, reading, statistic) for statistic in STATISTICS]
    if reading == "pieces":
        statistics.append(("mean, in messages", "messages", "mean"))
    rows = []
    for name, counted, statistic in statistics:
        places = 4 if statistic == "empty" else 1
        row = [name]
        for label in labels:
            value, high = cells.get((label, counted, statistic), (float("nan"), float("nan")))
            spread = f"{high - value:,.{places}f}" if run.replications > 1 else "-"
            row += [f"{value:,.{places}f}", spread]
            if paper[label]:
                printed = paper[label].get(name)
                row.append("" if printed is None else f"{printed:,.1f}")
        rows.append(row)
    right = range(1, len(head))
    return Table(head, rows, right, groups=groups, widths=widths)


def stage_lines(run: Run) -> Iterator[str]:
    """Yield how busy each kind of stage was, in the order of the path, and what the fabric was.

    Of an emulated run: what each message cost, and how busy the machine was.
    """
    if run.backend == "emu":
        yield f"{INDENT}{cost_text(run.counters)}"
        return
    shares = (f"{stage.text} {stage.utilisation:.1%}" for stage in stages_of(run.counters))
    yield f"{INDENT}busy: {', '.join(shares)}; bottleneck: {bottleneck_text(run.counters)}"
    fabric = fabric_text(run.counters)
    if fabric is not None:
        yield f"{INDENT}fabric: {fabric}"
