"""Published beside simulated: which columns pass, and every statistic of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.evidence.statistics import zero_share_bounds
from dvsim.study.number_text import MISSING
from dvsim.study.table import Cell, Table, mark, number, ratio, times
from dvsim.view.groups import Entry, Group, size_text

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation

STATISTICS = {"count": "samples", "mean": "mean", "empty": "empty share"}
STATISTICS |= {f"{percent}%": f"p{percent}" for percent in (50, 75, 90, 95, 99)} | {"max": "max"}
PRINTED = "as printed"

Rows = Mapping[tuple[str, str, str], Any]
"""(scenario, column, statistic) -> the comparison as printed."""


def rows_as_printed(validation: Validation | None) -> Rows:
    """Index the comparisons that count as the paper does."""
    if validation is None:
        return {}
    rows: list[Any] = list(validation.rows.itertuples())
    return {
        (row.scenario, row.column, row.statistic): row for row in rows if row.reading == PRINTED
    }


def verdicts_on(entry: Entry, validation: Validation | None) -> dict[str, Any]:
    """Index the verdicts on the columns of one run."""
    if not entry.judged or validation is None:
        return {}
    items: list[Any] = list(validation.printed().itertuples())
    return {item.column: item for item in items if item.scenario == entry.run.scenario.name}


def statistics_table(group: Group, validation: Validation | None, rows: Rows) -> Table:
    """Tabulate the statistics of all columns of one message size, published beside simulated.

    Without a validation there is nothing to stand beside, and only the simulated ones are shown.
    """
    spans = [("", 1)]
    head = ["statistic"]
    lines: list[list[Cell]] = [[Cell(text)] for text in STATISTICS.values()]
    for entry in group.entries:
        verdicts = verdicts_on(entry, validation)
        for column in entry.columns:
            verdict = verdicts.get(column)
            cells = [cells_of(entry, column, name, rows, verdict) for name in STATISTICS]
            split = "" if verdict is None else f", {verdict.split}"
            spans.append((f"{entry.label} {column}{split}", 1 if verdict is None else 3))
            head += [entry.made] if verdict is None else ["published", "simulated", "ratio"]
            for line, (published, simulated, compared) in zip(lines, cells, strict=True):
                line.extend([simulated] if verdict is None else [published, simulated, compared])
    units = ", ".join(
        f"{transport} in {reading}/s"
        for transport, reading in dict.fromkeys(
            (entry.path.label, entry.reading) for entry in group.entries
        )
    )
    csv_head, csv_rows = download(group, validation)
    size = size_text(group.message_bytes)
    return Table(
        name=f"statistics-{group.message_bytes}",
        caption=f"{size}, as printed: {units}.",
        head=head,
        rows=lines,
        spans=spans,
        csv_head=csv_head,
        csv_rows=csv_rows,
    )


def cells_of(
    entry: Entry,
    column: str,
    statistic: str,
    rows: Rows,
    verdict: Any,  # noqa: ANN401 - a row
) -> tuple[Cell, Cell, Cell]:
    """Give published, simulated and ratio of one statistic."""
    simulated = number(entry.value(column, entry.reading, statistic))
    scenario = entry.run.scenario.name
    if statistic == "empty":
        passed = None if verdict is None else verdict.empty_ok
        shown = Cell(MISSING, "number") if passed is None else mark(passed, "number")
        return Cell(allowed_empty(scenario, column, rows), "number"), simulated, shown
    row = None if verdict is None else rows.get((scenario, column, statistic))
    if row is None:
        return number(None), simulated, times(None)
    compared = times(ratio(row.simulated, row.published), row.verdict)
    return number(row.published), number(row.simulated), compared


def allowed_empty(scenario: str, column: str, rows: Rows) -> str:
    """Write the shares of empty samples that the published quantiles leave possible."""
    published = {
        name: row.published
        for (where, which, name), row in rows.items()
        if (where, which) == (scenario, column)
    }
    low, high = zero_share_bounds(published)
    if not published:
        return MISSING
    return f"{low:g} to {high:g}" if high > low else f"{low:g}"


def download(
    group: Group, validation: Validation | None
) -> tuple[list[str], list[list[str | float]]]:
    """Give every statistic of a message size in both readings, with all digits, for the CSV."""
    keys, ends = ["scenario", "column", "reading", "statistic"], ["value", "low", "high"]
    more = ["published_column", "published", "log_error", "tolerance", "verdict", "split"]
    lines: list[list[str | float]] = []
    for entry in group.entries:
        scenario, table = entry.run.scenario, entry.run.estimates()
        table[["counted", ".", "statistic"]] = table["metric"].str.partition(".")
        counted = table["counted"].isin(scenario.readings)
        table = table.rename(columns={"component": "column"})[counted]
        table = table[table["column"].isin(entry.columns)]
        words = np.where(table["counted"] == entry.reading, PRINTED, "as messages")
        table = table.assign(scenario=scenario.name, reading=words)[[*keys, *ends]]
        if validation is not None:
            rows = validation.rows if entry.judged else validation.rows[:0]
            table = table.merge(rows.reindex(columns=[*keys, *more]), on=keys, how="left")
            table[more] = table[more].astype(object).where(table[more].notna(), "")
        lines += table.to_numpy(dtype=object).tolist()
    return [*keys, *ends, *(more if validation is not None else [])], lines
