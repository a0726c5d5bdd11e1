"""Tables of runs: mean rates in both readings, how busy each stage was, what emulation cost.

A published Data Vortex rate counts pieces of a message in the poll intervals of one receiver; a
published TCP rate counts messages in the batches of the whole system. The page shows them side by
side as the paper does, and then again counted alike: whole messages over all receivers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dvsim.contract.find import kind_of
from dvsim.study.emulated_text import COSTS, costs_of, total_of
from dvsim.study.number_text import number_text
from dvsim.study.table import Cell, Table, number, ratio, table_of, times
from dvsim.table.samples import SYSTEM
from dvsim.table.stages import STAGES, stages_of
from dvsim.view.groups import Entry, Group, size_text

MOST_INSTANCES = 64  # of a kind; a thousand receivers would be megabytes
EVENTS = {"overruns": "overruns", "extra_polls": "extra polls", "paged_bytes": "bytes paged"}
EMULATED_EVENTS = {
    "republished": "published again",
    "duplicates": "duplicates",
    "blocked_s": "blocked (s)",
    "depth": "queued at the end",
    "wall_s": "sending (s)",
}


@dataclass(frozen=True)
class Rates:
    """Mean rates of one run, in counts per second; None where nothing was sampled.

    Attributes:
        printed: Mean over the run's columns of the mean that the paper prints: pieces/s on the Data
            Vortex.
        active: The same over the samples that are not empty.
        messages: The rate of the run: whole messages per second over all receivers.
    """

    printed: float | None
    active: float | None
    messages: float | None


def rates_of(entry: Entry) -> Rates:
    """Average the columns of a run in every reading."""
    printed: list[float] = []
    active: list[float] = []
    for name in entry.run.scenario.probe.columns:
        mean = entry.value(name, entry.reading, "mean")
        empty = entry.value(name, entry.reading, "empty")
        if mean is not None:
            printed.append(mean)
            if empty is not None and empty < 1:
                active.append(mean / (1 - empty))
    return Rates(
        printed=average(printed),
        active=average(active),
        messages=average(list(entry.run.headline().values.values())),
    )


def average(values: Sequence[float]) -> float | None:
    """Give the mean, or None of nothing."""
    return sum(values) / len(values) if values else None


def named(group: Group, entry: Entry) -> list[Cell]:
    """Return the cells that name a run: the size of its messages, and its label."""
    return [Cell(size_text(group.message_bytes), raw=group.message_bytes), Cell(entry.label)]


def rates_table(groups: Sequence[Group]) -> Table:
    """Tabulate the mean rates of every run, in every reading, and their ratio to TCP."""
    rows = []
    paths = [{(entry.path.base, entry.made) for entry in group.entries} for group in groups]
    compared = any((not base, made) in both for both in paths for base, made in both)
    readings = {
        "printed": "as printed",
        "active": "non-empty samples only",
        "messages": "whole messages",
    }
    for group in groups:
        base = next((rates_of(entry) for entry in group.entries if entry.path.base), None)
        for entry in group.entries:
            rates, row = rates_of(entry), named(group, entry)
            for reading in readings:
                unit = "messages/s" if reading == "messages" else f"{entry.reading}/s"
                value: float | None = getattr(rates, reading)
                row.append(rate_cell(value, unit))
                if compared:
                    beside = None if entry.path.base else base
                    row.append(times(ratio(value, getattr(beside, reading, None))))
            rows.append(row)
    step = ["× TCP"] if compared else []
    return Table(
        name="mean-rates",
        caption=(
            "Mean rates. As printed: average over the published columns, on the Data "
            "Vortex in pieces per receiver. Whole messages: the rate over all receivers."
        ),
        head=["message", "run", *(text for head in readings.values() for text in (head, *step))],
        rows=rows,
    )


def rate_cell(value: float | None, unit: str) -> Cell:
    """Return a rate with its unit; the CSV keeps all digits and no unit."""
    if value is None:
        return number(None)
    return Cell(f"{number_text(value)} {unit}", "number", raw=value)


def events_of(entry: Entry, metric: str) -> float | None:
    """Sum a counter over the components that keep it; mean over iterations and replications."""
    values = [
        estimate.value for (_, _, name), estimate in entry.run.by_metric.items() if name == metric
    ]
    return sum(values) if values else None


def stages_table(groups: Sequence[Group]) -> Table:
    """Tabulate how busy every stage of every simulated run was, and which one limits it."""
    entries = [(g, entry) for g in groups for entry in g.entries if entry.made == "simulated"]
    used = {stage.name for _, entry in entries for stage in stages_of(entry.run.values)}
    names = [name for name in STAGES if name in used] + sorted(used - set(STAGES))
    rows = []
    for group, entry in entries:
        shares = {stage.name: stage.utilisation for stage in stages_of(entry.run.values)}
        most = max(shares.values(), default=0.0)
        busy = [share_cell(shares.get(name), most) for name in names]
        events = [number(events_of(entry, metric)) for metric in EVENTS]
        limit = Cell(entry.run.limit_text, status="strong")
        rows.append([*named(group, entry), *busy, *events, limit])
    headings = [STAGES.get(name, name) for name in names]
    return Table(
        name="stages",
        caption=(
            "Share of the time for which each stage was busy (its busiest instance), and events "
            "per iteration over all instances; means over iterations and replications. The "
            f"download has the first {MOST_INSTANCES} instances of a component."
        ),
        head=["message", "run", *headings, *EVENTS.values(), "limit"],
        rows=rows,
        csv_head=["scenario", "component", "instance", "metric", "value", "low", "high"],
        csv_rows=[
            [entry.run.scenario.name, *key, *value]
            for _, entry in entries
            for key, value in entry.run.by_metric.items()
            if key[1] <= MOST_INSTANCES and key[0] not in (SYSTEM, *entry.columns)
        ],
    )


def fabric_lines(groups: Sequence[Group]) -> list[str]:
    """Say for each run over the Data Vortex what its fabric was, runs alike in one line."""
    runs: dict[str, list[str]] = {}
    for group in groups:
        for entry in group.entries:
            text = kind_of(entry.run.scenario).fidelity(entry.run)
            if text is not None:
                runs.setdefault(text, []).append(f"{entry.label} {size_text(group.message_bytes)}")
    return [f"{', '.join(labels)}: {text}." for text, labels in runs.items()]


def share_cell(share: float | None, most: float) -> Cell:
    """Make a cell of a utilisation, in bold where it is the highest of its run."""
    if share is None:
        return Cell("–", "number", raw="")
    return Cell(f"{share:.1%}", "number", "strong" if share == most else "", share)


def emulated_table(groups: Sequence[Group]) -> Table:
    """Tabulate the CPU time of a message in every program of each emulated run."""
    rows = []
    entries = [(g, entry) for g in groups for entry in g.entries if entry.made == "emulated"]
    for group, entry in entries:
        counters = entry.run.values
        costs = {kind: 1e6 * seconds for kind, seconds in costs_of(counters).items()}
        run = counters[counters["component"] == "run"]
        busy = counters[counters["metric"] == "busy"]["value"]
        known = entry.run.manifest.emulated
        scale = 1.0 if known is None else known.scale
        rows.append(
            dict(zip(("message", "run"), named(group, entry), strict=True))
            | {"scale": Cell(f"{scale:.3g}", raw=scale)}
            | {f"{kind} (us)": number(costs.get(kind)) for kind in COSTS}
            | {"cores busy (%)": number(100 * float(busy.mean()) if len(busy) else None)}
            | {
                text: number(total_of(run if metric == "wall_s" else counters, metric))
                for metric, text in EMULATED_EVENTS.items()
            }
        )
    return table_of(
        "emulated",
        "Emulated runs: CPU microseconds of a message in each program, all processes of a kind "
        "added up; how busy all cores of the machine were while messages were sent; events and "
        "seconds per iteration. On few cores the programs compete, and the sum is the limit.",
        rows,
    )
