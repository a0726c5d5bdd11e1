"""The page of a replay: when each rank is done over each fabric, and where the time goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dvsim.kinds.workload.graph import CALC, SEND
from dvsim.kinds.workload.replay import PARTS, Replay
from dvsim.kinds.workload.text import answer
from dvsim.report.axes import layout, tall
from dvsim.report.drawing import Drawing
from dvsim.report.page import render, write
from dvsim.report.prepare import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, YELLOW
from dvsim.report.series import Floats
from dvsim.report.table import Cell, Table, number
from dvsim.study.amounts import amount_text

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, YELLOW)
SPENT = ("computing", "sending", "taking messages", "waiting")
STACKED = {"barmode": "stack"}
US = 1e-6  # of a picosecond
MOST_SAID = 8  # ranks that are named in the words of a figure


def write_replay_report(found: Sequence[Replay], path: Path, command: str) -> None:
    """Write the page of a trace over fabrics.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    write(path, render_replays(found, command))


def render_replays(found: Sequence[Replay], command: str) -> str:
    """Return the page of a trace over fabrics; equal arguments give equal text."""
    first = found[0]
    skipped = [[Cell(what), number(count)] for what, count in first.skipped.items()]
    return render(
        "replayed.html.jinja",
        title=f"{first.graph.name}: {first.graph.ranks:,} ranks",
        intro="",
        sentences=[line.strip() for line in answer(found) if isinstance(line, str)],
        parts=parts_drawing(found),
        fabrics=_fabrics(found),
        finish=finish_drawing(found),
        spent=spent_drawing(first),
        sizes=sizes_drawing(first),
        skipped=Table("skipped", "What the trace has and a replay does not", ["what", "how often"],
                      skipped) if skipped else None,
        origin=_origin(found),
        command=command,
    )  # fmt: skip


def _bars(x: Sequence[Any], rows: Mapping[str, Sequence[float] | Floats]) -> list[dict[str, Any]]:
    """Return bars that are stacked where the layout says so, a colour for each row."""
    return [
        {"type": "bar", "name": row, "x": list(x), "y": [float(value) for value in values],
         "marker": {"color": COLOURS[place % len(COLOURS)]}}
        for place, (row, values) in enumerate(rows.items())
    ]  # fmt: skip


def parts_drawing(found: Sequence[Replay]) -> Drawing:
    """Draw what the time to solution is spent on, over each fabric."""
    names = [one.fabric.name for one in found]
    rows = {part: [one.parts[part] * US for one in found] for part in PARTS}
    said = "; ".join(
        f"{name}: " + ", ".join(f"{part} {amount_text(rows[part][at] * 1e-6, unit='s')}"
                                for part in PARTS if rows[part][at])
        for at, name in enumerate(names)
    )  # fmt: skip
    return Drawing(
        "parts",
        "What the time is spent on",
        f"Parts of the time to solution. {said}.",
        "A bar is the time until the last rank is done, split along the critical path: back from "
        "the last operation through what each waited for. Contention is a message that waits for "
        "others; wait is a rank that waits for its own other work.",
        _bars(names, rows),
        layout(tall(len(PARTS)), {}, {"title": "us"}) | STACKED,
    )


def finish_drawing(found: Sequence[Replay]) -> Drawing:
    """Draw when each rank is done, over each fabric."""
    traces = [
        {"type": "scatter", "mode": "lines+markers", "name": one.fabric.name,
         "x": list(range(one.graph.ranks)), "y": (one.finish_ps * US).tolist(),
         "marker": {"size": 4}, "line": {"width": 1, "color": COLOURS[place % len(COLOURS)]}}
        for place, one in enumerate(found)
    ]  # fmt: skip
    said = "; ".join(
        f"{one.fabric.name}: rank {int(one.finish_ps.argmin())} first, after "
        f"{amount_text(float(one.finish_ps.min()) * 1e-12, unit='s')}, rank "
        f"{int(one.finish_ps.argmax())} last, after "
        f"{amount_text(float(one.finish_ps.max()) * 1e-12, unit='s')}"
        for one in found
    )
    looks = layout(tall(len(found)), {"title": "rank"}, {"title": "us", "rangemode": "tozero"})
    return Drawing(
        "finish",
        "When each rank is done",
        f"Finish times of {found[0].graph.ranks:,} ranks. {said}.",
        "A line that is level has ranks that end together. The last one is the time to solution.",
        traces,
        looks,
    )


def spent_of(one: Replay) -> dict[str, Floats]:
    """Return what each rank does until it is done, in microseconds; the parts add up to that.

    Waiting is what is left: of messages, of other operations, or because a port is in use.
    """
    graph, costs = one.graph, one.fabric.costs
    owner = np.repeat(np.arange(graph.ranks), np.diff(graph.first))
    sends, calc = graph.kind == SEND, graph.kind == CALC
    slope = costs.overhead_byte_fs * 1e-3
    copied = np.maximum(0, graph.size - 1) * slope
    taken = copied if one.fabric.network is not None else np.maximum(0, one.course.serial)
    handled = sends & (one.course.handled >= 0)

    def total(ranks: Any, times: Any) -> Floats:  # noqa: ANN401 - arrays
        return np.asarray(np.bincount(ranks, times, graph.ranks) * US, dtype=np.float64)

    parts = {
        "computing": total(owner[calc], graph.size[calc]),
        "sending": total(owner[sends], costs.overhead_ps + copied[sends]),
        "taking messages": total(graph.peer[handled], costs.overhead_ps + taken[handled]),
    }
    left = one.finish_ps * US - sum(parts.values())
    return parts | {"waiting": np.maximum(0.0, left)}


def spent_drawing(one: Replay) -> Drawing:
    """Draw what each rank does over the first fabric."""
    rows = spent_of(one)
    worst = np.argsort(-rows["waiting"], kind="stable")[:MOST_SAID].tolist()
    said = ", ".join(f"rank {rank} {amount_text(rows['waiting'][rank] * 1e-6, unit='s')}"
                     for rank in worst)  # fmt: skip
    looks = layout(tall(len(SPENT)), {"title": "rank"}, {"title": "us"})
    return Drawing(
        "spent",
        f"What each rank does over {one.fabric.name}",
        f"Computing, sending, taking messages and waiting. Longest waits: {said}.",
        "A bar is the time until the rank is done. Sending and taking messages are its "
        "processor's; waiting is what is left.",
        _bars(range(one.graph.ranks), rows),
        looks | STACKED | {"bargap": 0.05},
    )


def sizes_drawing(one: Replay) -> Drawing:
    """Draw how many messages there are of each size, in powers of two."""
    graph = one.graph
    sizes = graph.size[graph.kind == SEND]
    classes = np.ceil(np.log2(np.maximum(1, sizes))).astype(np.int64)
    counts = np.bincount(classes, minlength=1)
    present = np.flatnonzero(counts).tolist()
    names = [f"≤ {amount_text(float(2**power), unit='B')}" for power in present]
    said = ", ".join(f"{counts[power]:,} of {name}"
                     for power, name in zip(present, names, strict=True))  # fmt: skip
    rows = {"messages": [float(counts[power]) for power in present]}
    looks = layout(300, {"type": "category"}, {"title": "messages"})
    return Drawing(
        "sizes",
        "Sizes of messages",
        f"{sizes.size:,} messages, with those that collectives became: {said or 'none'}.",
        "Each bar has the messages of up to so many bytes, and more than the bar before it.",
        _bars(names, rows),
        looks | STACKED,
    )


def _fabrics(found: Sequence[Replay]) -> Table:
    """Return a row for each fabric."""
    rows = []
    for one in found:
        parts = [number(one.parts[part] * US) for part in PARTS]
        rows.append([Cell(one.fabric.name), number(one.time_ps * US), *parts,
                     number(one.message_rate), Cell(one.fabric.title)])  # fmt: skip
    head = ["fabric", "time us", *(f"{part} us" for part in PARTS), "msg/s per rank", "model"]
    return Table("fabrics", "Time to solution and its parts", head, rows)


def _origin(found: Sequence[Replay]) -> Table:
    """Return the trace and the numbers of each fabric."""
    rows = [[Cell("trace"), Cell(found[0].graph.name)]]
    for one in found:
        costs = ", ".join(f"{key} {value:,}" for key, value in one.fabric.costs._asdict().items())
        said = f"; fitted to {one.fabric.fitted}" if one.fabric.fitted else ""
        rows.append([Cell(one.fabric.name), Cell(f"{one.fabric.title}: {costs}{said}", "prose")])
    return Table("origin", "What was replayed, and over what", ["what", "which"], rows)
