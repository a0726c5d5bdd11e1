"""The page of a sweep: what it found in words, each result over each key, and every point."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dvsim.report.axes import layout, log_axis, tall
from dvsim.report.drawing import Drawing, draw
from dvsim.report.page import render, write
from dvsim.report.prepare import BLUE, OTHER_COLOURS, VERMILION
from dvsim.report.sensitivity import FILE, sensitivity_drawings
from dvsim.report.table import Cell, Table, number
from dvsim.results.amounts import number_text
from dvsim.scenario.find import is_file
from dvsim.scenario.units import Dimension, format_value

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.results.swept import Swept

DRAWN = ("delivered_rate", "payload_rate", "throughput", "mean_latency", "rate_out", "latency")
MOST_LINES = 8  # with more, points stand alone
MOST_ROWS = 500  # of the table on the page; the CSV has all
DECADE = 8  # largest by smallest value of a key from which on its axis is logarithmic
COLOURS = (BLUE, VERMILION, *OTHER_COLOURS[:-1])
DIMENSIONS: Mapping[str, tuple[Dimension, float]] = {
    "B": ("size", 1),
    "s": ("time", 1e12),
    "B/s": ("rate", 1),
}


def write_swept_report(swept: Swept, path: Path) -> None:
    """Write the page of a sweep; indices that lie beside it are drawn too.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    write(path, render_swept(swept, path.parent))


def render_swept(swept: Swept, beside: Path | None = None) -> str:
    """Make the page of a sweep; equal arguments give equal text."""
    command = swept.manifest["command"]
    importance = beside is not None and is_file(beside / FILE)
    return render(
        "swept.html.jinja",
        title=f"{swept.name}: {len(swept.table):,} points",
        intro="",
        sentences=[*_sentences(swept)],
        importance=sensitivity_drawings(beside) if importance and beside is not None else [],
        curves=_curves(swept),
        points=_points(swept),
        origin=_origin(swept),
        command=command if isinstance(command, str) else shlex.join(command),
    )


def drawn(swept: Swept) -> list[str]:
    """Return the results that are drawn: the rates and latencies that there are."""
    return [name for name in DRAWN if name in swept.results] or list(swept.results[:2])


def value_text(value: object, unit: str) -> str:
    """Write a value of a key as people type it."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "–"
    if unit not in DIMENSIONS:
        return number_text(value) if not value.is_integer() else f"{int(value):,}"
    dimension, size = DIMENSIONS[unit]
    return format_value(value if unit == "B/s" else round(value * size), dimension)


def _short(key: str) -> str:
    return key.rpartition(".")[2]


def _sentences(swept: Swept) -> list[str]:
    """Say where each result is largest and smallest, what limits, and what failed."""
    good, said = swept.good, []
    for name in drawn(swept):
        values = good[name]
        if values.isna().all():
            continue
        most, least = (good.iloc[int(place)] for place in (values.argmax(), values.argmin()))
        unit = swept.units.get(name, "").removesuffix("1")
        said.append(
            f"{name} is largest, {number_text(most[name])} {unit}, at {_named(swept, most)}, and "
            f"smallest, {number_text(least[name])} {unit}, at {_named(swept, least)}."
        )
    stages = good["bottleneck"].str.partition(" (")[0].value_counts()
    if len(stages) and any(stages.index):
        parts = [f"{stage or 'nothing'} at {count:,}" for stage, count in stages.items()]
        said.append(f"What limits, by points: {', '.join(parts)}.")
    if len(swept.failed):
        first = swept.failed.iloc[0]
        said.append(
            f"{len(swept.failed):,} of {len(swept.table):,} points failed; the first is "
            f"{_named(swept, first)}: {first['error']}"
        )
    return said


def _named(swept: Swept, row: pd.Series[Any]) -> str:
    parts = (f"{_short(k)} {value_text(row[k], swept.units.get(k, ''))}" for k in swept.keys)
    return ", ".join(parts)


def _curves(swept: Swept) -> list[Drawing]:
    """Draw each result over each key that took several values."""
    good = swept.good
    keys = [key for key in swept.keys if good[key].nunique() > 1]
    return [
        _curve(swept, good, keys, key, name, f"swept-{number}-{place}")
        for number, name in enumerate(drawn(swept))
        for place, key in enumerate(keys)
    ]


def _curve(
    swept: Swept, good: pd.DataFrame, keys: Sequence[str], key: str, result: str, name: str
) -> Drawing:
    """Draw one result over one key; a line for each combination of the others, if they are few."""
    others = [other for other in keys if other != key]
    groups = [("", good)]
    if others:
        parts = list(good.groupby(others, sort=False))
        fit = len(parts) <= MOST_LINES and all(len(part) > 1 for _, part in parts)
        if fit:
            groups = [(_of(swept, others, part), part) for _, part in parts]
    alone = len(groups) == 1 and bool(others)
    traces = [
        _trace(swept, part, key, result, label, COLOURS[number % len(COLOURS)], alone=alone)
        for number, (label, part) in enumerate(groups)
    ]
    unit = swept.units.get(result, "").removesuffix("1")
    looks = layout(
        tall(len(groups)),
        _x_axis(swept, good, key),
        {"title": f"{result} ({unit})" if unit else result, "rangemode": "tozero"},
    )
    replications = swept.manifest["asked"]["replications"]
    bars = (
        f"bars are the 95 % interval over {replications} replications"
        if replications > 1
        else "one replication gives no interval"
    )
    what = "Each mark is a point of the sweep" if alone else "Each line has its own colour and name"
    ends = f"{number_text(good[result].min())} to {number_text(good[result].max())} {unit}"
    return Drawing(
        name=name,
        title=f"{result} over {_short(key)}",
        html=draw(name, traces, looks),
        label=f"{result} over {_short(key)}: {ends}.",
        reading=f"{what}; {bars}. A flat line says that {_short(key)} does not matter there.",
    )


def _of(swept: Swept, keys: Sequence[str], part: pd.DataFrame) -> str:
    row = part.iloc[0]
    return ", ".join(f"{_short(k)} {value_text(row[k], swept.units.get(k, ''))}" for k in keys)


def _trace(
    swept: Swept,
    part: pd.DataFrame,
    key: str,
    result: str,
    label: str,
    colour: str,
    *,
    alone: bool,
) -> dict[str, Any]:
    part = part.sort_values(key, kind="stable")
    half = (part[f"{result}_high"] - part[result]).fillna(0.0)
    name = escape(label or result)
    return {
        "type": "scatter",
        "mode": "markers" if alone or part[key].dtype.kind != "f" else "lines+markers",
        "name": name,
        "x": part[key].tolist(),
        "y": [None if math.isnan(value) else value for value in part[result].tolist()],
        "error_y": {"type": "data", "array": half.tolist(), "visible": bool(half.any())},
        "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 7},
        "text": [escape(_named(swept, row)) for _, row in part.iterrows()],
        "hovertemplate": f"%{{text}}: %{{y:,.4g}}<extra>{name}</extra>",
        "showlegend": bool(label),
    }


def _x_axis(swept: Swept, good: pd.DataFrame, key: str) -> dict[str, Any]:
    """Give the axis of a key: logarithmic over a wide range, with the units that people type."""
    values = good[key].dropna()
    axis: dict[str, Any] = {"title": _short(key)}
    if values.dtype.kind != "f":
        return axis | {"type": "category"}
    distinct = sorted(set(values.tolist()))
    wide = distinct[0] > 0 and distinct[-1] >= DECADE * distinct[0]
    unit = swept.units.get(key, "")
    if len(distinct) > 12:
        axis |= log_axis(distinct[0], distinct[-1]) if wide else {}
        return axis | {"title": f"{_short(key)} ({unit})" if unit not in ("", "1") else _short(key)}
    texts = [value_text(value, unit) for value in distinct]
    return axis | {"type": "log" if wide else "linear", "tickvals": distinct, "ticktext": texts}


def _points(swept: Swept) -> Table:
    names = drawn(swept)
    rows = []
    for _, row in swept.table.head(MOST_ROWS).iterrows():
        cells = [Cell(value_text(row[k], swept.units.get(k, "")), raw=row[k]) for k in swept.keys]
        for name in names:
            cells += [number(row[name]), number(row[f"{name}_high"] - row[name])]
        failed = bool(row["error"])
        rows.append([*cells, Cell(row["error"] or row["bottleneck"], status="fail" * failed)])
    more = len(swept.table) - MOST_ROWS
    rest = f" {more:,} more are in points.csv." if more > 0 else ""
    return Table(
        name="swept-points",
        caption=f"Every point; ± is half of the 95 % interval over replications.{rest}",
        head=[
            *map(_short, swept.keys),
            *(text for name in names for text in (_heading(swept, name), "±")),
            "limit, or what went wrong",
        ],
        rows=rows,
    )


def _heading(swept: Swept, name: str) -> str:
    unit = swept.units.get(name, "")
    return name if unit in ("", "1") else f"{name} ({unit})"


def _origin(swept: Swept) -> Table:
    manifest = swept.manifest
    host = manifest.get("host") or {}
    told = {
        "dvsim": manifest.get("version"),
        "seed": manifest.get("seed"),
        "replications": manifest.get("replications"),
        "run folders in": manifest.get("runs"),
        "started": manifest.get("started"),
        "work (s)": manifest.get("wall_s"),
        "CPU": host.get("cpu"),
        "Python": host.get("python"),
    }
    rows = [[Cell(name), Cell(str(value))] for name, value in told.items() if value is not None]
    return Table("swept-origin", "How these points were made.", ["", ""], rows)
