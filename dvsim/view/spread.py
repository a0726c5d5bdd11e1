"""What lies behind the means of a study: histograms of its packets, and its cylinders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dvsim.view.axes import Sweep
from dvsim.view.figure import COLOURS, GREY, Axis, Figure, Floats, frame_of, lines, reading

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_DRAWN = len(COLOURS)  # points that have a line
MOST_BINS = 200
LONG_TAIL = 30  # largest by smallest latency from which on their axis is logarithmic
HOPS = "hops:"  # start of the metrics with which theory gives a share of packets by hops
BLOCKED = "blocked:"  # and the blocked share by cylinder


def chosen_points(count: int, most: int) -> list[int]:
    """Choose points evenly, the first and the last among them.

    >>> chosen_points(3, 12), chosen_points(30, 4)
    ([0, 1, 2], [0, 10, 19, 29])
    """
    if count <= most:
        return list(range(count))
    return [round(index) for index in np.linspace(0, count - 1, most).tolist()]


def spread_figures(sweep: Sweep, name: str) -> list[Figure]:
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
    figures = [
        histogram_figure(sweep, "hops", f"{name}-hops"),
        None if hops.equals(latency) else histogram_figure(sweep, "latency", f"{name}-latency"),
        cylinder_figure(sweep, "blocked", f"{name}-blocked"),
        cylinder_figure(sweep, "occupancy", f"{name}-occupancy"),
    ]
    return [figure for figure in figures if figure is not None]


def drawn_points(sweep: Sweep, table: DataFrame) -> dict[int, str]:
    """Choose the points that are drawn, with their names."""
    there = sorted({int(point) for point in table["point"]})
    chosen = [there[index] for index in chosen_points(len(there), MOST_DRAWN)]
    weak = dict.fromkeys(sweep.notes, " (not settled)")
    return {point: sweep.name_of(point) + weak.get(point, "") for point in chosen}


def choice_text(sweep: Sweep, points: dict[int, str]) -> str:
    """Say which points are drawn, where it is not all of them."""
    return "" if len(points) == sweep.count else f"{len(points)} of {sweep.count} points are drawn."


def histogram_figure(sweep: Sweep, kind: str, name: str) -> Figure | None:
    """Draw the shares of packets by hops or by latency; None if no packet was delivered.

    Beside the hops stands the law without load, where the study was compared with it.
    """
    table = sweep.tables["histograms"]
    table = table[(table["kind"] == kind) & (table["packets"] > 0)]
    if table.empty:
        return None
    points = drawn_points(sweep, table)
    rows: list[dict[str, Any]] = []
    for at, (point, named) in enumerate(points.items()):
        own = table[table["point"] == point]
        values, packets = own["value"].to_numpy(np.float64), own["packets"].to_numpy(np.float64)
        places, shares = binned(values, packets)
        look = {"line": named, "colour": COLOURS[at]}
        rows += [
            look | {"x": x, "y": y} for x, y in zip(places.tolist(), shares.tolist(), strict=True)
        ]
    rows += law_rows(sweep, points) if kind == "hops" else []
    frame = frame_of(rows)
    low, high = table["value"].min(), table["value"].max()
    far = kind == "latency" and high > LONG_TAIL * max(low, 1.0)
    unit = "nodes visited" if kind == "hops" else "slots from arrival to delivery"
    if far:
        frame = frame[frame["x"] > 0]
    x = Axis(unit, "log" if far else "linear")
    y = Axis("share of packets", form="~%", zero=True)
    told = reading(kind, choice=choice_text(sweep, points))
    chart = lines(frame, x, y, marks=False, step=True)
    heads = {"line": "point", "part": "part", "x": unit, "y": "share of packets"}
    return Figure(name, kind.capitalize(), frame, chart, told, heads=heads)


def law_rows(sweep: Sweep, points: dict[int, str]) -> list[dict[str, Any]]:
    """Give the law of hops without load, once for all points that share it."""
    table = sweep.tables["theory"]
    table = table[table["metric"].str.startswith(HOPS) & table["point"].isin(list(points))]
    laws: dict[tuple[tuple[float, float], ...], tuple[str, int]] = {}
    for (name, point), rows in table.groupby(["name", "point"], sort=False):
        hops = rows["metric"].str.removeprefix(HOPS).astype(float)
        law = tuple(sorted(zip(hops, rows["value"], strict=True)))
        laws.setdefault(law, (str(name).replace("-", " "), int(str(point))))
    made = []
    for law, (name, point) in laws.items():
        line = f"{name}, {sweep.name_of(point)}" if len(laws) > 1 else name
        whole = [(law[0][0] - 1, 0.0), *law, (law[-1][0] + 1, 0.0)]
        made += [{"line": line, "part": name, "x": x, "y": y, "colour": GREY} for x, y in whole]
    return made


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


def cylinder_figure(sweep: Sweep, metric: str, name: str) -> Figure | None:
    """Draw the blocked share of descents, or packets per node, from the outer cylinder inwards."""
    table = sweep.tables["cylinders"]
    table = table[table[metric].notna()]
    if table.empty:
        return None
    points = drawn_points(sweep, table)
    levels = table["level"].nunique() > 1
    rows: list[dict[str, Any]] = []
    theory = sweep.tables["theory"]
    theory = theory[theory["metric"].str.startswith(BLOCKED) & theory["value"].notna()]
    for at, (point, named) in enumerate(points.items()):
        look = {"line": named, "colour": COLOURS[at]}
        for level, own in table[table["point"] == point].groupby("level"):
            part = {"part": f"level {level}" if levels else "simulated"}
            rows += [
                look | part | {"x": int(x), "y": round(float(y), 6)}
                for x, y in zip(own["cylinder"], own[metric], strict=True)
            ]
        if metric == "blocked":
            own = theory[theory["point"] == point]
            rows += [
                look
                | {"part": str(who).replace("-", " "), "y": float(value)}
                | {"x": int(cylinder.removeprefix(BLOCKED))}
                for who, cylinder, value in zip(
                    own["name"], own["metric"], own["value"], strict=True
                )
            ]
    frame = frame_of(rows)
    unit = "share of wanted descents" if metric == "blocked" else "packets per node"
    x = Axis("cylinder, 0 is the outermost", form="d")
    chart = lines(frame, x, Axis(unit, zero=True))
    title = "Blocked descents" if metric == "blocked" else "Occupancy"
    told = reading(metric, choice=choice_text(sweep, points))
    heads = {"line": "point", "part": "part", "x": "cylinder", "y": unit}
    return Figure(name, title, frame, chart, told, heads=heads)
