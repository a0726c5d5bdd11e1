"""All of a run as text: after its answer the columns as the paper prints them, published beside."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from dvsim.kinds.rabbitmq.answer import INDENT, answer_lines
from dvsim.kinds.rabbitmq.fabric_text import fabric_text
from dvsim.kinds.rabbitmq.published import published
from dvsim.results.amounts import estimate_texts
from dvsim.results.changed import changes_of
from dvsim.results.lines import Table
from dvsim.results.stages import stages_of
from dvsim.results.summary import STATISTICS

if TYPE_CHECKING:
    from dvsim.results.run import Run


def run_lines(run: Run) -> Iterator[str | Table]:
    """Yield a run: its answer, its columns, how busy each stage was, and what the fabric was."""
    yield from answer_lines(run)
    if run.scenario.system.over_vortex:
        yield (
            f"{INDENT}columns count pieces of one receiver, as the paper printed them; "
            "'in messages' counts messages"
        )
    yield column_table(run)
    yield from stage_lines(run)


def column_table(run: Run) -> Table:
    """Return the table of one run.

    Each column has the mean over replications, half of its 95 % interval (a dash if it has none),
    and the published value where there is one, of a system that was not changed.
    """
    reading = run.scenario.readings[0]
    table = run.estimates()
    keys = zip(table["column"], table["reading"], table["statistic"], strict=True)
    values = zip(table["value"].tolist(), table["high"].tolist(), strict=True)
    cells = dict(zip(keys, values, strict=True))
    labels = list(run.scenario.probe.columns)
    same = not changes_of(run.scenario).said  # what was published is of the unchanged system
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
            value, high = cells.get((label, counted, statistic), (math.nan, math.nan))
            text, spread = estimate_texts(value, high - value)
            row += [text, spread or "-"]
            if paper[label]:
                printed = paper[label].get(name)
                row.append("" if printed is None else f"{printed:,.1f}")
        rows.append(row)
    right = range(1, len(head))
    return Table(head, rows, right, groups=groups)


def stage_lines(run: Run) -> Iterator[str]:
    """Yield how busy each kind of stage was, in the order of the path, and what the fabric was.

    Nothing of an emulated run, whose answer says what each message cost.
    """
    if run.backend == "emu":
        return
    shares = (f"{stage.text} {stage.utilisation:.1%}" for stage in stages_of(run.counters))
    yield f"{INDENT}busy: {', '.join(shares)}"
    fabric = fabric_text(run.counters)
    if fabric is not None:
        yield f"{INDENT}fabric: {fabric}"
