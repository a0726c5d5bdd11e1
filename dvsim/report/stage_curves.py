"""How busy each stage of a messaging system was, and its latency over an even axis of sizes."""

from __future__ import annotations

from html import escape
from typing import Any

from dvsim.report.axes import Group, Sweep
from dvsim.report.curves import band, curve_drawing, line_trace, x_axis
from dvsim.report.drawing import COLOURS, DASHES, SYMBOLS, Drawing, layout, scatter, tall
from dvsim.report.metrics import unit_of
from dvsim.study.number_text import number_text

MOST_GROUPS = 6  # of which the stages are drawn, each in a figure


def linear_drawing(sweep: Sweep, name: str) -> list[Drawing]:
    """Draw the latency once more over sizes that lie evenly; nothing where they do already."""
    study = sweep.study
    if "stages" not in sweep.tables or not sweep.doubling:
        return []
    if sweep.key != "message_bytes" or "latency" not in study.drawn:
        return []
    traces: list[dict[str, Any]] = []
    for group in sweep.groups:
        marks = sweep.marks(group, "latency")
        traces += band(group, marks) + (
            [line_trace(sweep, group, marks, "latency")] if marks else []
        )
    name = f"{name}-latency-linear"
    x: dict[str, Any] = {"title": "message_bytes", "rangemode": "tozero"}
    looks = layout(
        tall(len(sweep.groups)), x, {"title": unit_of(study, "latency"), "rangemode": "tozero"}
    )
    logarithmic = curve_drawing(sweep, "latency", name)
    return [
        Drawing(
            name=name,
            title="Latency against message_bytes, both axes linear",
            traces=traces,
            looks=looks,
            label=logarithmic.label,
            reading="The same values: on a straight line the latency grows evenly with the size.",
        )
    ]


def stage_drawings(sweep: Sweep, name: str) -> list[Drawing]:
    """Draw the utilisation of each stage along the first lines of a study."""
    if "stages" not in sweep.tables or sweep.key is None:
        return []
    chosen = sweep.groups[:MOST_GROUPS]
    return [stage_drawing(sweep, group, f"{name}-stages-{group.number}") for group in chosen]


def stage_drawing(sweep: Sweep, group: Group, name: str) -> Drawing:
    """Draw the utilisation of each stage along one line."""
    table = sweep.tables["stages"]
    table = table[table["point"].isin(group.points)]
    traces: list[dict[str, Any]] = []
    described = []
    for number, (stage, rows) in enumerate(table.groupby("stage", sort=False)):
        values = dict(zip(rows["point"], rows["utilisation"], strict=True))
        points = [point for point in group.points if point in values]
        colour = COLOURS[number % len(COLOURS)]
        dash = DASHES[number // len(COLOURS) % len(DASHES)]  # when the colours begin again
        traces.append(
            scatter(
                str(stage),
                [sweep.place(point) for point in points],
                [values[point] for point in points],
                "lines+markers" if sweep.numeric else "markers",
                line={"color": colour, "width": 2, "dash": dash},
                marker={"color": colour, "size": 7, "symbol": SYMBOLS[number % len(SYMBOLS)]},
                hovertemplate=f"%{{y:.3f}}<extra>{escape(str(stage))}</extra>",
            )
        )
        described.append(
            f"{stage} {number_text(values[points[0]])} to {number_text(values[points[-1]])}"
        )
    y = {"title": "share of the time at work", "range": [0, 1.02]}
    return Drawing(
        name=name,
        title=f"Stages{f', {group.name}' * bool(group.name)}",
        traces=traces,
        looks=layout(tall(len(traces)), x_axis(sweep), y),
        label=f"Utilisation of each stage against {sweep.key}: {'; '.join(described)}.",
        reading="The stage near 1 is the bottleneck; of several alike the busiest is drawn.",
    )


def bottlenecks_text(sweep: Sweep) -> str:
    """Say which stages limit how many points."""
    table = sweep.tables["stages"].sort_values("utilisation", kind="stable", ascending=False)
    count = table.drop_duplicates("point").sort_values("point")["stage"].value_counts(sort=False)
    parts = [f"{stage} at {number} of {sweep.count}" for stage, number in count.items()]
    return f"Busiest stage: {', '.join(parts)} points."
