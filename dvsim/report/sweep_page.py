"""The page of a sweep: what it found in words, each result over each key, and every point."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from dvsim.contract.find import metric_of
from dvsim.report.axes import Sweep
from dvsim.report.blocks import Block, Page, Section, Text, answer, commands, pair
from dvsim.report.curves import curve_drawings
from dvsim.report.drawing import Drawing
from dvsim.report.metrics import metric_text, name_of
from dvsim.report.sensitivity import FILE, sensitivity_drawings
from dvsim.report.study_sentences import saturation_sentence, settled_sentence
from dvsim.report.winners import tied, together
from dvsim.scenario.find import is_file
from dvsim.study.number_text import counted, estimate_texts, joined, scale_of
from dvsim.study.sweep_table import LAST, headings
from dvsim.study.swept_points import SweptPoints
from dvsim.study.table import Cell, Table
from dvsim.table.estimate import Estimate

if TYPE_CHECKING:
    from dvsim.study.sweep_table import SweepResult

MOST_NAMED = 5  # results in a sentence
MOST_ROWS = 500  # of the table on the page; points.csv has all
FAILED = 5  # points whose errors are told


def swept_page(swept: SweepResult) -> Page:
    """Return the page of a sweep; indices that are kept with it are drawn too."""
    command = swept.manifest["command"]
    kept = swept.folder
    importance = sensitivity_drawings(kept) if kept is not None and is_file(kept / FILE) else []
    drawn = SweptPoints(swept).drawn
    points = points_blocks(swept, drawn, MOST_ROWS, f"Every point: {asked_text(swept)}.")
    asked = command if isinstance(command, str) else shlex.join(command)
    return Page(
        f"{swept.name}: {len(swept.table):,} points",
        [
            Section("answer", "The answer", answer(_sentences(swept))),
            Section("importance", "What matters", importance),
            Section("curves", "Curves", pair(curves(swept))),
            Section("points", "Points", points),
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
    sweep, name = Sweep(points), asked or next(iter(points.drawn), "")
    marks = [mark for group in sweep.groups for mark in sweep.marks(group, name)]
    if len(marks) < 2:
        return ""
    if len({mark.value for mark in marks}) == 1:
        value = metric_text(points, name, marks[0].value, marks[0].half)
        return f"Equal at all points: {name_of(points, name)} {value}.{_differing(points)}"
    known = [Estimate(mark.value, mark.low, mark.high) for mark in marks]
    most, least = (
        tied(known, lambda at: points.each(marks[at].point, name), least=least)
        for least in (False, True)
    )
    texts = [metric_text(points, name, marks[at].value, marks[at].half) for at in range(len(marks))]
    idle = f" {joined(same)} changes nothing." if (same := _idle(points, name)) else ""
    if len(most) == len(marks):
        span = (f"{texts[at]} at {sweep.name_of(marks[at].point)}" for at in (least[0], most[0]))
        once = points.replications == 1
        why = (
            "one replication says nothing of chance" if once else "chance does not tell them apart"
        )
        return f"From {' to '.join(span)} ({name_of(points, name)}); {why}.{idle}"
    first, last = (
        f"{texts[ends[0]]} at {together([sweep.name_of(marks[at].point) for at in ends])}"
        for ends in (most, least)
    )
    return f"Largest {name_of(points, name)}: {first}; smallest: {last}.{idle}"


def _idle(points: SweptPoints, name: str) -> list[str]:
    table, keys = points.swept.good, list(points.swept.keys)
    varied = [key for key in keys if table[key].nunique(dropna=False) > 1]
    return [
        points.names[key]
        for key in varied
        if (rest := [other for other in varied if other != key])
        and table.groupby(rest, dropna=False)[name].nunique(dropna=False).max() == 1
        and table.groupby(rest, dropna=False)[key].nunique(dropna=False).max() > 1
    ]


def _differing(points: SweptPoints) -> str:
    table = points.swept.good
    names = [name for name in points.METRICS if table[name].nunique() > 1]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" Other results differ: {', '.join(names[:MOST_NAMED])}{more}." if names else ""


def _sentences(swept: SweepResult) -> list[str]:
    said = answer_sentences(swept)
    if swept.good["note"].any():
        said.append(settled_sentence(Sweep(SweptPoints(swept))))
    if len(swept.failed):
        said.append(f"{len(swept.failed):,} of {len(swept.table):,} points failed.")
    return said


def curves(swept: SweepResult) -> list[Drawing]:
    """Draw each result as a study has it; over each key where no two points are on a line."""
    if swept.good.empty:
        return []
    points = SweptPoints(swept)
    sweep = Sweep(points)
    if not sweep.scattered:
        return curve_drawings(sweep, "swept")
    alone = [Sweep(points, str(key)) for key in points.points.columns]
    return [drawing for key in alone for drawing in curve_drawings(key, f"swept-{key.key}")]


def points_blocks(
    swept: SweepResult,
    results: Sequence[str],
    most: int,
    caption: str = "",
    options: Mapping[str, str] = MappingProxyType({}),
) -> list[Block]:
    """Return the table of points with the results, and what is to be said of points.

    `options` are what the reader calls the argument that an error names.
    """
    more, unsettled = len(swept.table) - most, bool(swept.good["note"].any())
    texts = [
        *([f"… {more:,} more"] * (more > 0)),
        *(["* not settled: figures there depend on the length of the run"] * unsettled),
        *_imprecise(swept),
        *_failed(swept, options),
    ]
    return [_points(swept, results, most, caption), *map(Text, texts)]


def _points(swept: SweepResult, results: Sequence[str], most: int, caption: str) -> Table:
    scales = {name: scale_of(swept.table[name].max(), _unit(swept, name)) for name in results}
    differ = ["replications"] if swept.replications[0] != swept.replications[1] else []
    keys = len(swept.keys)
    rows = []
    for record in swept.table.head(most).to_dict(orient="records"):
        row = [swept.text(key, record[key]) for key in swept.keys]
        if record["error"]:
            row += [Cell("failed", status="fail"), *[""] * 2 * len(results)][: 2 * len(results)]
        for name, (factor, _) in () if record["error"] else scales.items():
            whole = (name, f"{name}_high", f"{name}_low")
            value, high, low = (record[end] / factor for end in whole)
            cells = estimate_texts(value, high - value, signed=low < 0)
            row += [text or "-" for text in cells]
        row += [str(record[name] or "") for name in differ]
        rows.append([*row, record["bottleneck"] or "*" * bool(record["note"])])
    heads = (text for name, (_, unit) in scales.items() for text in (f"{name} {unit}".strip(), "±"))
    limits = "limit" if swept.table["bottleneck"].any() else ""
    ends = [name + end for name in results for end in ("", "_low", "_high")]
    columns = ["point", *swept.keys, *ends, *LAST]
    head = [*swept.names.values(), *heads, *differ, limits]
    return Table(
        head,
        rows,
        right=range(keys, len(head) - 1),
        keys=keys,
        groups=[2] * len(results),
        name="swept-points",
        caption=caption,
        csv_head=headings(swept, columns),
        csv_rows=swept.table[columns].head(most).to_numpy(dtype=object).tolist(),
    )


def _unit(swept: SweepResult, name: str) -> str:
    unit = swept.units.get(name, "1")
    return "" if unit == "1" else metric_of(name, unit, swept.kind).written or unit


def asked_text(swept: SweepResult) -> str:
    """Say how many points there are, and what is known of each."""
    asked, precision = swept.manifest["asked"], swept.asked_precision
    times = counted(asked["replications"])
    if precision is not None:
        times = (
            f"{counted(*swept.replications)} of a point, for a precision of {100 * precision:g}%"
        )
    meaning = "; ± is half of the 95 % interval"
    if times == "1 replication":
        meaning = ", which gives no interval"
    return f"{asked['points']:,} points, seed {asked['seed']}, {times}{meaning}"


def _imprecise(swept: SweepResult) -> Iterator[str]:
    asked, rows = swept.asked_precision or 0.0, swept.imprecise
    for record in rows.head(FAILED).to_dict(orient="records"):
        yield (
            f"{swept.named(record)}: ± {100 * record['precision']:.2g}% with "
            f"{record['replications']} replications, not within {100 * asked:g}%"
        )
    if len(rows) > FAILED:
        yield f"… {len(rows) - FAILED:,} more points are not within {100 * asked:g}%"


def _failed(swept: SweepResult, options: Mapping[str, str]) -> Iterator[str]:
    failed = swept.failed
    for record in failed.head(FAILED).to_dict(orient="records"):
        argument, colon, rest = str(record["error"]).partition(": ")
        error = f"{options.get(argument, argument)}{colon}{rest}"
        yield f"failed: point {record['point']} ({swept.named(record)}): {error}"
    if len(failed) > FAILED:
        yield f"… {len(failed) - FAILED:,} more failed, see the table"


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
