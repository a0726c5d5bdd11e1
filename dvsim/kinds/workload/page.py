"""The page of a replay: when each rank is done over each fabric, and where the time goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dvsim.kinds.workload.check import IDLE
from dvsim.kinds.workload.graph import CALC, SEND
from dvsim.kinds.workload.replay import PARTS, Replay
from dvsim.kinds.workload.text import answer
from dvsim.report.blocks import Page, Section, commands, tables
from dvsim.report.blocks import answer as answered
from dvsim.report.drawing import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    Drawing,
    Floats,
    layout,
    scatter,
    tall,
)
from dvsim.study.number_text import amount_text
from dvsim.study.table import Cell, Table, number, table_of

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, YELLOW)
SPENT = ("computing", "sending", "taking messages", "waiting")
STACKED = {"barmode": "stack"}
US = 1e-6  # of a picosecond
MOST_SAID = 8  # ranks that are named in the words of a figure


def replay_page(replays: Sequence[Replay], command: str) -> Page:
    """Return the page of a trace over fabrics."""
    first = replays[0]
    skipped = Table(
        ["what", "how often"],
        [[item, number(count)] for item, count in first.skipped.items()],
        name="skipped",
        caption="What the trace has and a replay does not",
    )
    lines = [line.strip() for line in answer(replays) if isinstance(line, str)]
    return Page(
        f"{first.graph.name}: {first.graph.ranks:,} ranks",
        [
            Section("answer", "The answer", answered(lines)),
            Section("fabrics", "Fabrics", [parts_drawing(replays), _fabrics(replays)]),
            Section("ranks", "Ranks", [finish_drawing(replays), spent_drawing(first)]),
            Section("messages", "Messages", [sizes_drawing(first), *tables(skipped)]),
            Section("origin", "Where it comes from", [_origin(replays), *commands([command])]),
        ],
    )


def _bars(x: Sequence[Any], rows: Mapping[str, Sequence[float] | Floats]) -> list[dict[str, Any]]:
    return [
        {"type": "bar", "name": row, "x": list(x), "y": [float(value) for value in values],
         "marker": {"color": COLOURS[index % len(COLOURS)]}}
        for index, (row, values) in enumerate(rows.items())
    ]  # fmt: skip


def parts_drawing(replays: Sequence[Replay]) -> Drawing:
    """Draw what the time to solution is spent on, over each fabric."""
    names = [replay.fabric.name for replay in replays]
    rows = {part: [replay.parts[part] * US for replay in replays] for part in PARTS}
    described = "; ".join(
        f"{name}: " + ", ".join(f"{part} {amount_text(rows[part][at] * 1e-6, unit='s')}"
                                for part in PARTS if rows[part][at])
        for at, name in enumerate(names)
    )  # fmt: skip
    return Drawing(
        "parts",
        "What the time is spent on",
        f"Parts of the time to solution. {described}.",
        "A bar is the time until the last rank is done, split along the critical path: back from "
        "the last operation through what each waited for. Contention is a message that waits for "
        "others; wait is a rank that waits for its own other work.",
        _bars(names, rows),
        layout(tall(len(PARTS)), {}, {"title": "us"}) | STACKED,
    )


def finish_drawing(replays: Sequence[Replay]) -> Drawing:
    """Draw when each rank is done, over each fabric."""
    traces = [
        scatter(
            replay.fabric.name,
            range(replay.graph.ranks),
            (replay.finish_ps * US).tolist(),
            "lines+markers",
            marker={"size": 4},
            line={"width": 1, "color": COLOURS[index % len(COLOURS)]},
        )
        for index, replay in enumerate(replays)
    ]
    described = "; ".join(
        f"{replay.fabric.name}: rank {int(replay.finish_ps.argmin())} first, after "
        f"{amount_text(float(replay.finish_ps.min()) * 1e-12, unit='s')}, rank "
        f"{int(replay.finish_ps.argmax())} last, after "
        f"{amount_text(float(replay.finish_ps.max()) * 1e-12, unit='s')}"
        for replay in replays
    )
    looks = layout(tall(len(replays)), {"title": "rank"}, {"title": "us", "rangemode": "tozero"})
    return Drawing(
        "finish",
        "When each rank is done",
        f"Finish times of {replays[0].graph.ranks:,} ranks. {described}.",
        "A line that is level has ranks that end together. The last one is the time to solution.",
        traces,
        looks,
    )


def spent_of(replay: Replay) -> dict[str, Floats]:
    """Return what each rank does until it is done, in microseconds; the parts add up to that.

    Waiting is what is left: of messages, of other operations, or because a port is in use.
    """
    graph, costs = replay.graph, replay.fabric.costs
    owner = np.repeat(np.arange(graph.ranks), np.diff(graph.first))
    beside = (graph.cpu == graph.agent) & (graph.agent > 0)  # the program does not wait for these
    sends = (graph.kind == SEND) & ~beside
    calc = (graph.kind == CALC) & (graph.peer != IDLE)
    slope = costs.overhead_byte_fs * 1e-3
    copied = np.maximum(0, graph.size - 1) * slope
    taken = copied if replay.fabric.network is not None else np.maximum(0, replay.course.serial)
    handled = sends & (replay.course.handled >= 0)

    def total(ranks: Any, times: Any) -> Floats:  # noqa: ANN401 - arrays
        return np.asarray(np.bincount(ranks, times, graph.ranks) * US, dtype=np.float64)

    parts = {
        "computing": total(owner[calc], graph.size[calc]),
        "sending": total(owner[sends], costs.overhead_ps + copied[sends]),
        "taking messages": total(graph.peer[handled], costs.overhead_ps + taken[handled]),
    }
    waiting = replay.finish_ps * US - sum(parts.values())
    return parts | {"waiting": np.maximum(0.0, waiting)}


def spent_drawing(replay: Replay) -> Drawing:
    """Draw what each rank does over the first fabric."""
    rows = spent_of(replay)
    worst = np.argsort(-rows["waiting"], kind="stable")[:MOST_SAID].tolist()
    described = ", ".join(f"rank {rank} {amount_text(rows['waiting'][rank] * 1e-6, unit='s')}"
                     for rank in worst)  # fmt: skip
    looks = layout(tall(len(SPENT)), {"title": "rank"}, {"title": "us"})
    return Drawing(
        "spent",
        f"What each rank does over {replay.fabric.name}",
        f"Computing, sending, taking messages and waiting. Longest waits: {described}.",
        "A bar is the time until the rank is done. Sending and taking messages are its "
        "processor's; waiting is what is left.",
        _bars(range(replay.graph.ranks), rows),
        looks | STACKED | {"bargap": 0.05},
    )


def sizes_drawing(replay: Replay) -> Drawing:
    """Draw how many messages there are of each size, in powers of two."""
    graph = replay.graph
    sizes = graph.size[graph.kind == SEND]
    classes = np.ceil(np.log2(np.maximum(1, sizes))).astype(np.int64)
    counts = np.bincount(classes, minlength=1)
    present = np.flatnonzero(counts).tolist()
    names = [f"≤ {amount_text(float(2**power), unit='B')}" for power in present]
    described = ", ".join(f"{counts[power]:,} of {name}"
                     for power, name in zip(present, names, strict=True))  # fmt: skip
    rows = {"messages": [float(counts[power]) for power in present]}
    looks = layout(300, {"type": "category"}, {"title": "messages"})
    return Drawing(
        "sizes",
        "Sizes of messages",
        f"{sizes.size:,} messages, with those that collectives became: {described or 'none'}.",
        "Each bar has the messages of up to so many bytes, and more than the bar before it.",
        _bars(names, rows),
        looks | STACKED,
    )


def _fabrics(replays: Sequence[Replay]) -> Table:
    rows = [
        {"fabric": replay.fabric.name, "time us": number(replay.time_ps * US)}
        | {f"{part} us": number(replay.parts[part] * US) for part in PARTS}
        | {"msg/s per rank": number(replay.message_rate), "model": replay.fabric.title}
        for replay in replays
    ]
    return table_of("fabrics", "Time to solution and its parts", rows)


def _origin(replays: Sequence[Replay]) -> Table:
    rows: list[list[str]] = [["trace", replays[0].graph.name]]
    for replay in replays:
        costs = ", ".join(
            f"{key} {value:,}" for key, value in replay.fabric.costs._asdict().items()
        )
        text = f"; fitted to {replay.fabric.fitted}" if replay.fabric.fitted else ""
        told = Cell(f"{replay.fabric.title}: {costs}{text}", "prose")
        rows.append([replay.fabric.name, told])
    return Table(["what", "which"], rows, name="origin", caption="What was replayed, and over what")
