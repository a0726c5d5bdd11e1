"""The columns of a run as text: statistics as rows, as the paper prints them, published beside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dvsim.results.run import Run

INDENT = "  "
NAME, VALUE, SPREAD = 20, 15, 12  # widths


def column_lines(run: Run) -> Iterator[str]:
    """Yield the table of one run.

    Each column has the mean over replications, half of its 95 % interval (a dash if there is only
    one replication), and the published value where there is one.
    """
    from dvsim.results.summary import STATISTICS
    from dvsim.validation.reference import published

    reading = "pieces" if run.scenario.system.transport == "data-vortex" else "messages"
    table = run.estimates()
    keys = zip(table["column"], table["reading"], table["statistic"], strict=True)
    values = zip(table["value"].tolist(), table["high"].tolist(), strict=True)
    cells = dict(zip(keys, values, strict=True))
    labels = list(run.scenario.probe.columns)
    paper = {
        label: published(run.scenario, label) if run.scenario.reference else {} for label in labels
    }
    head = "".join(
        f"{label:>{VALUE}}{'±':>{SPREAD}}" + (f"{'published':>{VALUE}}" if paper[label] else "")
        for label in labels
    )
    yield f"{INDENT}{'':<{NAME}}{head}"
    rows = [(statistic, reading, statistic) for statistic in STATISTICS]
    if reading == "pieces":
        rows.append(("mean, in messages", "messages", "mean"))
    for name, counted, statistic in rows:
        places = 4 if statistic == "empty" else 1
        text = ""
        for label in labels:
            value, high = cells.get((label, counted, statistic), (float("nan"), float("nan")))
            spread = f"{high - value:,.{places}f}" if run.replications > 1 else "-"
            text += f"{value:>{VALUE},.{places}f}{spread:>{SPREAD}}"
            if paper[label]:
                printed = paper[label].get(name)
                text += f"{'' if printed is None else format(printed, ',.1f'):>{VALUE}}"
        yield f"{INDENT}{name:<{NAME}}{text}".rstrip()


def stage_lines(run: Run) -> Iterator[str]:
    """Yield how busy each kind of stage was, in the order of the path, and what the fabric was.

    Of an emulated run: what each message cost, and how busy the machine was.
    """
    from dvsim.results.emulated import cost_text
    from dvsim.results.fabric import fabric_text
    from dvsim.results.stages import bottleneck_text, stages_of

    if run.backend == "emu":
        yield f"{INDENT}{cost_text(run.counters)}"
        return
    shares = (f"{stage.text} {stage.utilisation:.1%}" for stage in stages_of(run.counters))
    yield f"{INDENT}busy: {', '.join(shares)}; bottleneck: {bottleneck_text(run.counters)}"
    fabric = fabric_text(run.counters)
    if fabric is not None:
        yield f"{INDENT}fabric: {fabric}"


def emulated_text(run: Run) -> str:
    """Say what an emulated run was made with, in one line."""
    from dvsim.results.emulated import made_text

    return made_text(run.manifest)
