"""What lies behind the means of a study: histograms of its packets, and its cylinders."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.report.axes import Sweep
from dvsim.report.drawing import COLOURS, GREY, SYMBOLS, Drawing, Floats, layout, scatter, tall
from dvsim.study.number_text import number_text

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_DRAWN = len(COLOURS)  # points that have a line
MOST_SEEN = 4  # of them at first; the legend switches on the others
MOST_BINS = 200
LONG_TAIL = 30  # largest by smallest latency from which on their axis is logarithmic
HOPS = "hops:"  # start of the metrics with which theory gives a share of packets by hops
BY_CYLINDER = "cylinder %{x}: %{y:.4g}"
BLOCKED = "blocked:"  # and the blocked share by cylinder


def chosen_points(count: int, most: int) -> list[int]:
    """Choose points evenly, the first and the last among them.

    >>> chosen_points(3, 12), chosen_points(30, 4)
    ([0, 1, 2], [0, 10, 19, 29])
    """
    if count <= most:
        return list(range(count))
    return [round(index) for index in np.linspace(0, count - 1, most).tolist()]


def spread_drawings(sweep: Sweep, name: str) -> list[Drawing]:
    """Draw hops, latency, blocking and occupancy of a study, as far as it has them.

    Where nothing waits and no link lies between, the latency is the hops, and is not drawn again.
    """
    if "histograms" not in sweep.tables:
        return []
    table = sweep.tables["histograms"]
    columns = ["point", "value", "packets"]
    hops, latency = (
        table.loc[table["kind"] == kind, columns].reset_index(drop=True)
        for kind in ("hops", "latency")
    )
    drawings = [
        histogram_drawing(sweep, "hops", f"{name}-hops"),
        None if hops.equals(latency) else histogram_drawing(sweep, "latency", f"{name}-latency"),
        cylinder_drawing(sweep, "blocked", f"{name}-blocked"),
        cylinder_drawing(sweep, "occupancy", f"{name}-occupancy"),
    ]
    return [drawing for drawing in drawings if drawing is not None]


def drawn_points(sweep: Sweep, table: DataFrame) -> dict[int, bool]:
    """Choose the points that are drawn; those that are seen at first come first."""
    there = sorted(set(table["point"]))
    points = [int(there[index]) for index in chosen_points(len(there), MOST_DRAWN)]
    seen = [points[index] for index in chosen_points(len(points), MOST_SEEN)]
    return dict.fromkeys(seen, True) | {point: False for point in points if point not in seen}


def point_trace(
    sweep: Sweep,
    index: int,
    point: int,
    seen: bool,
    x: Sequence[float] | Floats,
    y: Sequence[float] | Floats,
    mode: str,
    hover: str,
) -> dict[str, Any]:
    """Return the line of a point, as all figures about points draw it."""
    colour = COLOURS[index % len(COLOURS)]
    return scatter(
        sweep.name_of(point) + (" (not settled)" if point in sweep.notes else ""),
        x,
        y,
        mode,
        legendgroup=f"p{point}",
        visible=True if seen else "legendonly",
        line={"color": colour, "width": 1.8},
        marker={"color": colour, "size": 7, "symbol": SYMBOLS[index % len(SYMBOLS)]},
        hovertemplate=f"{hover}<extra>%{{fullData.name}}</extra>",
    )


def histogram_drawing(sweep: Sweep, kind: str, name: str) -> Drawing | None:
    """Draw the shares of packets by hops or by latency; None if no packet was delivered.

    Beside the hops stands the law without load, where the study was compared with it.
    """
    table = sweep.tables["histograms"]
    table = table[(table["kind"] == kind) & (table["packets"] > 0)]
    if table.empty:
        return None
    points = drawn_points(sweep, table)
    traces = law_traces(sweep, points) if kind == "hops" else []
    described = []
    low, high = np.inf, 1.0
    for index, (point, seen) in enumerate(points.items()):
        rows = table[table["point"] == point]
        values, packets = rows["value"].to_numpy(np.float64), rows["packets"].to_numpy(np.float64)
        where, share = binned(values, packets)
        low, high = min(low, float(values.min())), max(high, float(values.max()))
        hover = "%{x:.0f}: %{y:.3%}"
        traces.append(point_trace(sweep, index, point, seen, where, share, "lines", hover))
        traces[-1]["line"]["shape"] = "hvh"
        mean = float(values @ packets / packets.sum())
        described.append(
            f"{sweep.name_of(point)}: mean {number_text(mean)}, "
            f"from {number_text(float(values.min()))} to {number_text(float(values.max()))}"
        )
    unit = "nodes visited" if kind == "hops" else "slots from arrival to delivery"
    x: dict[str, Any] = {"title": unit}
    if kind == "latency" and high > LONG_TAIL * max(low, 1.0):
        x["type"] = "log"
    y = {"title": "share of packets", "rangemode": "tozero", "tickformat": "~%"}
    return Drawing(
        name=name,
        title="Hops" if kind == "hops" else "Latency",
        traces=traces,
        looks=layout(tall(len(traces)), x, y),
        label=f"Shares of packets by {unit}. {'; '.join(described)}.",
        reading=histogram_reading(sweep, kind, points),
    )


def law_traces(sweep: Sweep, points: dict[int, bool]) -> list[dict[str, Any]]:
    """Give the law of hops without load, once for all points that share it."""
    table = sweep.tables["theory"]
    table = table[table["metric"].str.startswith(HOPS) & table["point"].isin(list(points))]
    laws: dict[tuple[tuple[float, float], ...], tuple[str, int]] = {}
    for (name, point), rows in table.groupby(["name", "point"], sort=False):
        hops = rows["metric"].str.removeprefix(HOPS).astype(float)
        law = tuple(sorted(zip(hops, rows["value"], strict=True)))
        laws.setdefault(law, (str(name).replace("-", " "), int(str(point))))
    return [
        scatter(
            f"{name}, {sweep.name_of(point)}" if len(laws) > 1 else name,
            [law[0][0] - 1, *(hops for hops, _ in law), law[-1][0] + 1],
            [0, *(share for _, share in law), 0],
            "lines",
            visible=True if points[point] else "legendonly",
            line={"color": GREY, "width": 2, "dash": "dash", "shape": "hvh"},
            hovertemplate="%{x}: %{y:.3%}<extra>%{fullData.name}</extra>",
        )
        for law, (name, point) in laws.items()
    ]


def binned(values: Floats, packets: Floats) -> tuple[Floats, Floats]:
    """Turn counts by value into shares; more than `MOST_BINS` values go into equal bins.

    Returns:
        places : ndarray of float: Values, or centres of bins, without gaps: what no packet has, has
        the share 0, and so have the two beyond the ends, where steps begin and end.
        shares : ndarray of float: Of all packets, per value: the share of a bin is divided by the
        values in it.
    """
    first, last = int(values.min()), int(values.max())
    width = -(-(last - first + 1) // MOST_BINS)
    places = ((values - first) // width).astype(np.intp)
    count = np.pad(np.bincount(places, weights=packets), 1)
    centres = first + np.arange(-1, count.size - 1) * width + (width - 1) / 2
    return centres.astype(np.float64), (count / packets.sum() / width).astype(np.float64)


def histogram_reading(sweep: Sweep, kind: str, points: dict[int, bool]) -> str:
    """Say in two sentences how to read a histogram."""
    law = (
        " Dashed grey is the exact law of a packet that is alone in the switch."
        if kind == "hops" and sweep.tables["theory"]["metric"].str.startswith(HOPS).any()
        else ""
    )
    text = (
        "Each deflection costs a packet two more hops, so load shifts the curves to the right."
        if kind == "hops"
        else "Time in the queue is part of it; wide ranges are drawn in bins, per slot."
    )
    total = sweep.count
    return (
        f"Each line holds the packets of all replications of one point. {text}{law}"
        + choice_text(points, total)
    )


def choice_text(points: dict[int, bool], total: int) -> str:
    """Say which points are drawn, where it is not all of them."""
    if sum(points.values()) == total:
        return ""
    drawn = "" if len(points) == total else f" {len(points)} of {total} points are drawn."
    return f"{drawn} The legend switches lines on and off."


def cylinder_drawing(sweep: Sweep, metric: str, name: str) -> Drawing | None:
    """Draw the blocked share of descents, or packets per node, from the outer cylinder inwards."""
    table = sweep.tables["cylinders"]
    table = table[table[metric].notna()]
    if table.empty:
        return None
    points = drawn_points(sweep, table)
    levels = table["level"].nunique() > 1
    traces: list[dict[str, Any]] = []
    described = []
    for index, (point, seen) in enumerate(points.items()):
        for level, rows in table[table["point"] == point].groupby("level"):
            values = rows[metric].to_numpy(np.float64)
            drawn = [round(value, 6) for value in values.tolist()]
            x, mode = rows["cylinder"].tolist(), "lines+markers"
            lines = point_trace(sweep, index, point, seen, x, drawn, mode, BY_CYLINDER)
            if levels:
                lines["name"] += f", level {level}"
                lines["line"]["width"] = 1.8 + 0.8 * int(str(level))
            traces.append(lines)
            text = f"{number_text(float(values[0]))} outside, {number_text(float(values[-1]))}"
            described.append(f"{lines['name']}: {text} on the last cylinder")
        if metric == "blocked":
            traces += blocked_theory(sweep, index, point, seen)
    title = "Blocked descents" if metric == "blocked" else "Occupancy"
    unit = "share of wanted descents" if metric == "blocked" else "packets per node"
    theory = any(trace["line"].get("dash") for trace in traces)
    return Drawing(
        name=name,
        title=title,
        traces=traces,
        looks=layout(
            tall(len(points) * table["level"].nunique()),
            {"title": "cylinder, 0 is the outermost", "dtick": 1},
            {"title": unit, "rangemode": "tozero"},
        ),
        label=f"{title} by cylinder. {'; '.join(described)}.",
        reading=cylinder_reading(metric, theory, levels) + choice_text(points, sweep.count),
    )


def blocked_theory(sweep: Sweep, index: int, point: int, seen: bool) -> list[dict[str, Any]]:
    """Give what theory says of the blocking at a point, dashed in its colour."""
    table = sweep.tables["theory"]
    table = table[(table["point"] == point) & table["metric"].str.startswith(BLOCKED)]
    traces = []
    for name, rows in table.groupby("name", sort=False):
        cylinders = rows["metric"].str.removeprefix(BLOCKED).astype(int).tolist()
        shares = rows["value"].tolist()
        line = point_trace(sweep, index, point, seen, cylinders, shares, "lines", BY_CYLINDER)
        line["line"] |= {"dash": "dash", "width": 1.4}
        line["name"] = escape(f"{sweep.name_of(point)}, {str(name).replace('-', ' ')}")
        traces.append(line | {"showlegend": False})
    return traces


def cylinder_reading(metric: str, theory: bool, levels: bool) -> str:
    """Say in two sentences how to read a figure about cylinders."""
    first = (
        "A packet whose bit is right wants to descend, and is blocked where a packet that stays on "
        "the next cylinder takes the node below."
        if metric == "blocked"
        else "Every packet passes every cylinder, so a fuller one holds its packets for longer."
    )
    second = "Dashed is the mean field." if theory else "Means over slots and replications."
    more = " Thicker lines are higher levels of the network." if levels else ""
    return f"{first} {second}{more}"
