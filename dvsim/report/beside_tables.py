"""Tables of results side by side, of runs and of studies alike."""

from __future__ import annotations

from collections.abc import Sequence

from dvsim.report.evidence import ORIGIN, origin_cells
from dvsim.report.table import Cell, Table, changed, number
from dvsim.study.compare import Difference, Result, Row


def differences_table(differences: Sequence[Difference], labels: Sequence[str]) -> Table:
    """Tabulate what was asked or done differently."""
    return Table(
        name="differences",
        caption="What is not the same in all of them.",
        head=["what", *labels],
        rows=[[Cell(one.what), *(Cell(value) for value in one.values)] for one in differences],
    )


def sides_table(
    names: Sequence[Sequence[Cell]],
    heads: Sequence[str],
    rows: Sequence[Row],
    labels: Sequence[str],
    several: Sequence[bool],
    name: str,
    unit: str,
) -> Table:
    """Tabulate values side by side, with their intervals and what became of the first.

    Parameters
    ----------
    names, heads
        What each row is, in one cell or more, and the headings above.
    rows
        The values.
    labels, several
        Of each result its name, and whether it has more than one replication.
    name
        Of the table.
    unit
        For the caption, such as " in messages/s".
    """
    spans = [("", len(heads))]
    head = list(heads)
    for place, label in enumerate(labels):
        spans.append((label, 3 if place else 2))
        head += ["mean", "±", *(["to the first"] if place else [])]
    lines = []
    for cells, row in zip(names, rows, strict=True):
        line = list(cells)
        columns = zip(row.values, row.changes, several, strict=True)
        for place, (one, change, many) in enumerate(columns):
            line.append(number(None if one is None else one.value))
            line.append(number(one.high - one.value if one is not None and many else None))
            line += [changed(change)] if place else []
        lines.append(line)
    return Table(
        name=name,
        caption=(
            f"Means over replications{unit}, and half of the 95 % interval over them, which one "
            "replication does not have. What became of the first one's value is a ratio with its "
            "interval; of shares, and where one has 0, a difference, with a sign."
        ),
        head=head,
        rows=lines,
        spans=spans,
    )


def manifest_table(results: Sequence[Result], labels: Sequence[str]) -> Table:
    """Tabulate where each result came from."""
    return Table(
        name="manifest",
        caption="Every run: how it was asked for, and where and when it was made.",
        head=["run", "seed", "replications", *ORIGIN],
        rows=[
            [
                Cell(label),
                number(one.seed),
                number(one.replications),
                *origin_cells(one.manifest),
            ]
            for label, one in zip(labels, results, strict=True)
        ],
    )
