"""The page of a sweep: what it found in words, each result over each key, and every point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dvsim.scenario.find import is_file
from dvsim.scenario.units import value_text
from dvsim.study.number_text import counted, estimate_texts, joined, scale_of
from dvsim.study.swept import REMARKS, by_point, headings
from dvsim.study.table import Cell, Table
from dvsim.table.estimate import Estimate
from dvsim.table.result import Result, short_names
from dvsim.view.axes import Sweep
from dvsim.view.blocks import Block, Page, Section, Text, answer, commands, pair
from dvsim.view.curves import curve_figures
from dvsim.view.explore import explorer
from dvsim.view.figure import Figure
from dvsim.view.metrics import metric_text, name_of
from dvsim.view.saturation import saturation_sentence, tied, together
from dvsim.view.sensitivity import FILE, sensitivity_figures

MOST_NOTES = 3  # points that have not settled, in a sentence
MOST_NAMED = 5  # results in a sentence
MOST_ROWS = 500  # of the table on the page; points.csv has all
FAILED = 5  # points whose errors are told


def swept_page(swept: Result) -> Page:
    """Return the page of a sweep; indices that are kept with it are drawn too."""
    kept, made = swept.folder, commands([swept.manifest.command])
    importance = sensitivity_figures(kept) if kept is not None and is_file(kept / FILE) else []
    points = points_blocks(swept, swept.drawn, MOST_ROWS, f"Every point: {asked_text(swept)}.")
    return Page(
        f"{swept.scenario.name}: {len(swept.sides['points']):,} points",
        [
            Section("answer", "The answer", answer(_sentences(swept))),
            Section("explore", "Explore", [one] if (one := explorer(swept)) else [], headed=False),
            Section("importance", "What matters", importance),
            Section("curves", "Curves", pair(curves(swept))),
            Section("points", "Points", points),
            Section("origin", "Where it comes from", [_origin(swept), *made]),
        ],
    )


def answer_sentences(swept: Result, results: Sequence[str] = ()) -> list[str]:
    """Say what was looked for: what saturates last, or where a result is largest; what limits.

    The first of `results` is that result; without, it is the first that is drawn.
    """
    rows = swept.sides["points"]
    good = rows[rows["error"] == ""]
    if good.empty:
        return []
    last = saturation_sentence(Sweep(swept))
    stages = good["bottleneck"].str.partition(" (")[0].value_counts()
    parts = [f"{stage or 'nothing'} at {count:,}" for stage, count in stages.items()]
    limits = f"What limits, by points: {', '.join(parts)}." if any(stages.index) else ""
    return [*filter(None, [last or largest(swept, *results[:1]), limits])]


def largest(points: Result, asked: str = "", *, settled: bool = False) -> str:
    """Say where a result is largest and where smallest; if asked so, among points that settled."""
    sweep, name = Sweep(points), asked or next(iter(points.drawn), "")
    marks = [mark for group in sweep.groups for mark in sweep.marks(group, name)]
    marks = ([mark for mark in marks if mark.settled] or marks) if settled else marks
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


def settled_sentence(sweep: Sweep) -> str:
    """Say how many points have settled, and what is wrong with the others."""
    total, notes = sweep.count, sweep.notes
    over = counted(sweep.study.replications)
    if not notes:
        everything = "The run has" if total == 1 else f"All {total} points have"
        return f"{everything} settled, over {over}."
    texts = list(notes.values())
    more = f"; and {len(texts) - MOST_NOTES} more" if len(texts) > MOST_NOTES else ""
    if total == 1:
        start = "The run has"
    else:
        start = f"{len(notes)} of {total} points {'has' if len(notes) == 1 else 'have'}"
        texts = [f"{sweep.name_of(point)} ({note})" for point, note in notes.items()]
    return (
        f"{start} not settled over {over}, and figures there depend on the length of the run: "
        f"{'; '.join(texts[:MOST_NOTES])}{more}."
    )


def _idle(points: Result, name: str) -> list[str]:
    estimates = points.estimates().set_index(["metric", "point"])["value"].loc[name]
    table = points.points.assign(**{name: estimates})
    varied = [key for key in map(str, points.points) if table[key].nunique(dropna=False) > 1]
    return [
        key
        for key in varied
        if (rest := [other for other in varied if other != key])
        and table.groupby(rest, dropna=False)[name].nunique(dropna=False).max() == 1
        and table.groupby(rest, dropna=False)[key].nunique(dropna=False).max() > 1
    ]


def _differing(points: Result) -> str:
    table = points.estimates().groupby("metric")["value"].nunique()
    names = [name for name in points.METRICS if table.get(name, 0) > 1]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" Other results differ: {', '.join(names[:MOST_NAMED])}{more}." if names else ""


def _sentences(swept: Result) -> list[str]:
    said = answer_sentences(swept)
    if swept.notes():
        said.append(settled_sentence(Sweep(swept)))
    if len(swept.failed):
        said.append(f"{len(swept.failed):,} of {len(swept.sides['points']):,} points failed.")
    return said


def curves(swept: Result) -> list[Figure]:
    """Draw each result as a study has it; over each key where no two points are on a line."""
    if swept.points.empty:
        return []
    sweep = Sweep(swept)
    if not sweep.scattered:
        return curve_figures(sweep, "swept")
    alone = [Sweep(swept, str(key)) for key in swept.axes(swept.points)]
    return [figure for key in alone for figure in curve_figures(key, f"swept-{key.key}")]


def points_blocks(
    swept: Result,
    results: Sequence[str],
    most: int,
    caption: str = "",
    options: Mapping[str, str] = MappingProxyType({}),
) -> list[Block]:
    """Return the table of points with the results, and what is to be said of points.

    `options` are what the reader calls the argument that an error names.
    """
    more, unsettled = len(swept.sides["points"]) - most, bool(swept.notes())
    texts = [
        *([f"… {more:,} more"] * (more > 0)),
        *(["* not settled: figures there depend on the length of the run"] * unsettled),
        *_imprecise(swept),
        *_failed(swept, options),
    ]
    return [_points(swept, results, most, caption), *map(Text, texts)]


def _points(swept: Result, results: Sequence[str], most: int, caption: str) -> Table:
    table = by_point(swept)
    scales = {name: scale_of(table[name].max(), _unit(swept, name)) for name in results}
    differ = ["replications"] if len(set(_times(swept))) > 1 else []
    names, units = swept.asked.keys, swept.asked.units
    rows = []
    for record in table.head(most).to_dict(orient="records"):
        row = [_text(record[key], units[key]) for key in names]
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
    limits = "limit" if table["bottleneck"].any() else ""
    ends = [name + end for name in results for end in ("", "_low", "_high")]
    shown = table[["point", *names, *ends, *REMARKS]]
    head = [*short_names(names).values(), *heads, *differ, limits]
    return Table(
        head,
        rows,
        right=range(len(names), len(head) - 1),
        keys=len(names),
        groups=[2] * len(results),
        name="swept-points",
        caption=caption,
        csv_head=headings(swept, shown),
        csv_rows=shown.head(most).to_numpy(dtype=object).tolist(),
    )


def _times(swept: Result) -> tuple[int, int]:
    rows = swept.sides["points"]
    times = rows.loc[rows["error"] == "", "replications"]
    return (int(times.min()), int(times.max())) if len(times) else (0, 0)


def _text(value: object, unit: str) -> str:
    return "" if isinstance(value, float) and math.isnan(value) else value_text(value, unit)


def _named(swept: Result, row: Mapping[Any, Any]) -> str:
    units, names = swept.asked.units, short_names(swept.asked.keys)
    texts = ((name, _text(row[key], units[key])) for key, name in names.items())
    return ", ".join(f"{name} {text}" for name, text in texts if text)


def _unit(swept: Result, name: str) -> str:
    metric = swept.metric(name)
    unit = metric.unit if metric.written is None else metric.written
    return "" if metric.unit == "1" else unit or metric.unit


def asked_text(swept: Result) -> str:
    """Say how many points there are, and what is known of each."""
    asked, precision = swept.asked, swept.asked.precision
    times = counted(asked.replications or 0)
    if precision is not None:
        times = f"{counted(*_times(swept))} of a point, for a precision of {100 * precision:g}%"
    meaning = "; ± is half of the 95 % interval"
    if times == "1 replication":
        meaning = ", which gives no interval"
    return f"{asked.points:,} points, seed {swept.manifest.seed}, {times}{meaning}"


def _imprecise(swept: Result) -> Iterator[str]:
    asked = swept.asked.precision or math.inf
    rows = swept.sides["points"]
    rows = rows[rows["precision"] > asked]
    for record in rows.head(FAILED).to_dict(orient="records"):
        yield (
            f"{_named(swept, record)}: ± {100 * record['precision']:.2g}% with "
            f"{record['replications']} replications, not within {100 * asked:g}%"
        )
    if len(rows) > FAILED:
        yield f"… {len(rows) - FAILED:,} more points are not within {100 * asked:g}%"


def _failed(swept: Result, options: Mapping[str, str]) -> Iterator[str]:
    rows = swept.sides["points"]
    failed = rows[rows["error"] != ""]
    for record in failed.head(FAILED).to_dict(orient="records"):
        argument, colon, rest = str(record["error"]).partition(": ")
        error = f"{options.get(argument, argument)}{colon}{rest}"
        yield f"failed: point {record['point']} ({_named(swept, record)}): {error}"
    if len(failed) > FAILED:
        yield f"… {len(failed) - FAILED:,} more failed, see the table"


def _origin(swept: Result) -> Table:
    manifest = swept.manifest
    facts = {
        "dvsim": manifest.version,
        "seed": manifest.seed,
        "replications": manifest.replications,
        "run folders in": swept.asked.runs,
        "started": manifest.started,
        "work (s)": manifest.wall_s,
        "CPU": manifest.host.cpu,
        "Python": manifest.host.python,
    }
    rows = [[name, str(value)] for name, value in facts.items() if value is not None]
    return Table(["", ""], rows, name="swept-origin", caption="How these points were made.")
