"""The page of a sweep: what it found in words, each result over each key, and every point."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dvsim.report.blocks import Page, Section, answer, commands, pair
from dvsim.report.curves import curve_drawings
from dvsim.report.drawing import Drawing
from dvsim.report.metrics import metric_text, name_of
from dvsim.report.sensitivity import FILE, sensitivity_drawings
from dvsim.report.study_sentences import saturation_sentence, settled_sentence
from dvsim.report.sweep import Sweep
from dvsim.scenario.find import is_file
from dvsim.study.sweep_table import short
from dvsim.study.swept_points import SweptPoints
from dvsim.study.table import Cell, Table, number

if TYPE_CHECKING:
    from dvsim.study.sweep_table import SweepResult

MOST_NAMED = 5  # results in a sentence
MOST_ROWS = 500  # of the table on the page; the CSV has all


def swept_page(swept: SweepResult) -> Page:
    """Return the page of a sweep; indices that are kept with it are drawn too."""
    command = swept.manifest["command"]
    kept = swept.folder
    importance = sensitivity_drawings(kept) if kept is not None and is_file(kept / FILE) else []
    asked = command if isinstance(command, str) else shlex.join(command)
    return Page(
        f"{swept.name}: {len(swept.table):,} points",
        [
            Section("answer", "The answer", answer(_sentences(swept))),
            Section("importance", "What matters", importance),
            Section("curves", "Curves", pair(curves(swept))),
            Section("points", "Points", [_points(swept)]),
            Section("origin", "Where it comes from", [_origin(swept), *commands([asked])]),
        ],
    )


def answer_sentences(swept: SweepResult, results: Sequence[str] = ()) -> list[str]:
    """Say what was looked for: what saturates last, or where a result is largest; what limits.

    The first of `results` is that result; without, it is the first that is drawn.
    """
    if swept.good.empty:
        return []
    points = SweptPoints(swept)
    last = saturation_sentence(Sweep(points))
    stages = swept.good["bottleneck"].str.partition(" (")[0].value_counts()
    parts = [f"{stage or 'nothing'} at {count:,}" for stage, count in stages.items()]
    limits = f"What limits, by points: {', '.join(parts)}." if any(stages.index) else ""
    return [*filter(None, [last or _largest(points, *results[:1]), limits])]


def _largest(points: SweptPoints, asked: str = "") -> str:
    """Say where a result is largest and where it is smallest."""
    sweep, name = Sweep(points), asked or next(iter(points.drawn), "")
    marks = [mark for group in sweep.groups for mark in sweep.marks(group, name)]
    if len(marks) < 2:
        return ""
    if len({mark.value for mark in marks}) == 1:
        value = metric_text(points, name, marks[0].value, marks[0].half)
        return f"Equal at all points: {name_of(points, name)} {value}.{_differing(points)}"
    ends = [end(marks, key=lambda mark: mark.value) for end in (max, min)]
    most, least = (
        f"{metric_text(points, name, mark.value, mark.half)} at {sweep.name_of(mark.point)}"
        for mark in ends
    )
    return f"Largest {name_of(points, name)}: {most}; smallest: {least}."


def _differing(points: SweptPoints) -> str:
    """Return a sentence that names results which differ between points; empty if none does."""
    table = points.swept.good
    names = [name for name in points.METRICS if table[name].nunique() > 1]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" Other results differ: {', '.join(names[:MOST_NAMED])}{more}." if names else ""


def _sentences(swept: SweepResult) -> list[str]:
    """Say what was looked for, whether the points can stand, and what failed."""
    said = answer_sentences(swept)
    if swept.good["note"].any():
        said.append(settled_sentence(Sweep(SweptPoints(swept))))
    if len(swept.failed):
        first = swept.failed.iloc[0].to_dict()
        said.append(
            f"{len(swept.failed):,} of {len(swept.table):,} points failed; the first is "
            f"{swept.named(first)}: {first['error']}"
        )
    return said


def curves(swept: SweepResult) -> list[Drawing]:
    """Draw each result as a study has it; over each key where no two points are on a line."""
    if swept.good.empty:
        return []
    points = SweptPoints(swept)
    sweep = Sweep(points)
    if not sweep.scattered:
        return curve_drawings(sweep, "swept")
    alone = [Sweep(points, str(key)) for key in points.keys().columns]
    return [drawing for key in alone for drawing in curve_drawings(key, f"swept-{key.key}")]


def _points(swept: SweepResult) -> Table:
    names = SweptPoints(swept).drawn
    rows = []
    for _, row in swept.table.head(MOST_ROWS).iterrows():
        cells = [Cell(swept.text(k, row[k]), raw=row[k]) for k in swept.keys]
        for name in names:
            cells += [number(row[name]), number(row[f"{name}_high"] - row[name])]
        failed, note = bool(row["error"]), row["error"] or row["bottleneck"]
        note = note or (f"not settled: {row['note']}" if row["note"] else "")
        rows.append([*cells, Cell(note, status="fail" * failed)])
    more = len(swept.table) - MOST_ROWS
    rest = f" {more:,} more are in points.csv." if more > 0 else ""
    return Table(
        name="swept-points",
        caption=f"Every point; ± is half of the 95 % interval over replications.{rest}",
        head=[
            *map(short, swept.keys),
            *(text for name in names for text in (_heading(swept, name), "±")),
            "limit, or what went wrong",
        ],
        rows=rows,
    )


def _heading(swept: SweepResult, name: str) -> str:
    unit = swept.units.get(name, "")
    return name if unit in ("", "1") else f"{name} ({unit})"


def _origin(swept: SweepResult) -> Table:
    manifest = swept.manifest
    host = manifest.get("host") or {}
    facts = {
        "dvsim": manifest.get("version"),
        "seed": manifest.get("seed"),
        "replications": manifest.get("replications"),
        "run folders in": manifest.get("runs"),
        "started": manifest.get("started"),
        "work (s)": manifest.get("wall_s"),
        "CPU": host.get("cpu"),
        "Python": host.get("python"),
    }
    rows = [[name, str(value)] for name, value in facts.items() if value is not None]
    return Table(["", ""], rows, name="swept-origin", caption="How these points were made.")
