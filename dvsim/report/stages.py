"""What limits a run, as a table: how busy each stage was, and what happened on the way."""

from __future__ import annotations

from collections.abc import Sequence

from dvsim.kinds.rabbitmq.text import fabric_text
from dvsim.report.prepare import Entry, Group, size_text
from dvsim.report.table import Cell, Table, number
from dvsim.study.stages import STAGES, stages_of

MOST_INSTANCES = 64  # of a kind; a thousand receivers would be megabytes
EVENTS = {"overruns": "overruns", "extra_polls": "extra polls", "paged_bytes": "bytes paged"}


def events_of(entry: Entry, metric: str) -> float | None:
    """Sum a counter over the components that keep it; mean over iterations and replications."""
    values = [
        found.value
        for (_, reading, name), found in entry.estimates.items()
        if reading == "counter" and name == metric
    ]
    return sum(values) if values else None


def stages_table(groups: Sequence[Group]) -> Table:
    """Tabulate how busy every stage of every simulated run was, and which one limits it."""
    entries = [(g, entry) for g in groups for entry in g.entries if entry.made == "simulated"]
    found = {stage.name for _, entry in entries for stage in stages_of(entry.run.counters)}
    names = [name for name in STAGES if name in found] + sorted(found - set(STAGES))
    rows = []
    for group, entry in entries:
        shares = {stage.name: stage.utilisation for stage in stages_of(entry.run.counters)}
        most = max(shares.values(), default=0.0)
        rows.append(
            [
                Cell(size_text(group.message_bytes), raw=group.message_bytes),
                Cell(entry.label),
                *(share_cell(shares.get(name), most) for name in names),
                *(number(events_of(entry, metric)) for metric in EVENTS),
                Cell(str(entry.run.limit or "not counted"), status="strong"),
            ]
        )
    return Table(
        name="stages",
        caption=(
            "Share of the time for which each stage was busy (its busiest instance), and events "
            "per iteration over all instances; means over iterations and replications. The "
            f"download has the first {MOST_INSTANCES} components of a kind."
        ),
        head=[
            "message",
            "run",
            *(STAGES.get(name, name) for name in names),
            *EVENTS.values(),
            "limit",
        ],
        rows=rows,
        csv_head=["scenario", "component", "metric", "value", "low", "high"],
        csv_rows=[
            [entry.run.scenario.name, component, metric, value.value, value.low, value.high]
            for _, entry in entries
            for (component, reading, metric), value in entry.estimates.items()
            if reading == "counter" and within(component)
        ],
    )


def within(component: str) -> bool:
    """Say whether the download has the counters of a component; all are in the run's folder.

    Examples
    --------
    >>> within("card.2"), within("card.1024"), within("conservation")
    (True, False, True)
    """
    number = component.rpartition(".")[2]
    return not number.isdecimal() or int(number) <= MOST_INSTANCES


def fabric_lines(groups: Sequence[Group]) -> list[str]:
    """Say for each run over the Data Vortex what its fabric was, runs alike in one line."""
    runs: dict[str, list[str]] = {}
    for group in groups:
        for entry in group.entries:
            text = fabric_text(entry.run.counters)
            if text is not None:
                runs.setdefault(text, []).append(f"{entry.label} {size_text(group.message_bytes)}")
    return [f"{', '.join(labels)}: {text}." for text, labels in runs.items()]


def share_cell(share: float | None, most: float) -> Cell:
    """Make a cell of a utilisation, in bold where it is the highest of its run."""
    if share is None:
        return Cell("–", "number", raw="")
    return Cell(f"{share:.1%}", "number", "strong" if share == most else "", share)
