"""The page about runs side by side: tables of what differs, distributions and series overlaid."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from dvsim.kinds.rabbitmq.answer import answer_text
from dvsim.report.beside_studies import render_study_comparison
from dvsim.report.beside_tables import differences_table, manifest_table, sides_table
from dvsim.report.drawing import Drawing
from dvsim.report.evidence import commands_of
from dvsim.report.forest import Compared, forest_drawing
from dvsim.report.overlaid import COLOURS, Side, distribution, series
from dvsim.report.page import render, write
from dvsim.report.table import Cell, Table
from dvsim.study.compare import Comparison, Row, interval_notes, names_of
from dvsim.study.summary import SYSTEM


def sides_of(found: Comparison) -> list[Side]:
    """Give each run a number and a colour."""
    return [
        Side(run, f"{place + 1} {name}", COLOURS[place % len(COLOURS)])
        for place, (run, name) in enumerate(
            zip(found.results, names_of(found.results), strict=True)
        )
    ]


def render_comparison(found: Comparison, command: str | None = None) -> str:
    """Make the page of a comparison, as one HTML page that needs nothing else.

    Equal arguments give equal text.

    Parameters
    ----------
    found : Comparison
        The runs, or the studies, side by side.
    command : str, optional
        The command that makes the page.
    """
    if found.of_studies:
        return render_study_comparison(found, command)
    sides = sides_of(found)
    kinds = dict.fromkeys((row.column, row.reading) for row in found.rows if row.column != SYSTEM)
    drawn = {column: (column, reading) for column, reading in reversed(kinds)}  # as printed
    return render(
        "compare.html.jinja",
        title=f"{len(sides)} runs side by side",
        intro="",
        sentences=sentences(found, sides),
        whole=table([row for row in found.rows if row.column == SYSTEM], sides, "whole", ""),
        differences=differences_table(found.differences, [side.label for side in sides]),
        columns=[
            (
                f"{column}, {reading}/s",
                table(
                    [row for row in found.rows if (row.column, row.reading) == (column, reading)],
                    sides,
                    f"{column}-{reading}",
                    f" in {reading}/s",
                ),
            )
            for column, reading in kinds
        ],
        distributions=[
            distribution(sides, *kind, name=f"distribution-{place}")
            for place, kind in enumerate(reversed(drawn.values()))
        ],
        series=[series(sides, *kind, name=f"series-{place}") for place, kind in enumerate(kinds)],
        forests=forests(found, sides),
        curves=[],
        manifest=manifest_table(found.results, [side.label for side in sides]),
        commands=commands_of(found.results, command),
    )


def write_comparison(path: Path, found: Comparison, command: str | None = None) -> None:
    """Write the page of a comparison to a file, see `render_comparison`.

    Raises
    ------
    OutputError
        If the file cannot be written. What was there before is still there then.
    """
    write(path, render_comparison(found, command))


def sentences(found: Comparison, sides: Sequence[Side]) -> list[str]:
    """Say how fast each run was, and how much of the question they have in common."""
    row = found.rows[0]
    rates = [
        f"{side.label}: {answer_text(side.run)}"
        + (f"; {change.text()} times the first" if change and change.kind == "ratio" else "")
        for side, change in zip(sides, row.changes, strict=True)
    ]
    said = [f"{rate}." for rate in rates]
    said.append(f"Ratios: {'; '.join(interval_notes(found.results))}.")
    names = [difference.what for difference in found.differences]
    said.append(f"{len(names)} things differ: {', '.join(names)}." if names else "Nothing differs.")
    if {side.run.backend for side in sides} == {"sim", "emu"}:
        said.append(
            "A simulated rate is that of the modelled hardware; an emulated one is that of the "
            "machine that it was measured on. Only with cards that were measured there must the "
            "two agree."
        )
    return said


def table(rows: Sequence[Row], sides: Sequence[Side], name: str, unit: str) -> Table:
    """Tabulate statistics of a column, a run beside the other."""
    names = [r.metric if r.column != SYSTEM else f"{r.reading}/s, all receivers" for r in rows]
    several = [side.run.replications > 1 for side in sides]
    labels = [side.label for side in sides]
    return sides_table(
        [[Cell(one)] for one in names], ["statistic"], rows, labels, several, name, unit
    )


def forests(found: Comparison, sides: Sequence[Side]) -> list[Drawing]:
    """Draw the ratios to the first run: of all messages, then of each column."""
    drawn = []
    for place, (column, group) in enumerate(groupby(found.rows, key=lambda row: row.column)):
        rows = list(group)
        others = [
            Compared(side.label, side.colour, [row.changes[number] for row in rows])
            for number, side in enumerate(sides)
            if number
        ]
        every = column == SYSTEM
        names = [f"{row.reading}/s" if every else f"{row.metric} of {row.reading}" for row in rows]
        title = "All receivers" if every else column
        drawn.append(forest_drawing(f"forest-{place}", f"{title}: ratios", names, others))
    return [drawing for drawing in drawn if drawing is not None]
