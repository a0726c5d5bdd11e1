"""The page of a replay: when each rank is done over each fabric, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dvsim.kinds.workload.check import IDLE
from dvsim.kinds.workload.graph import CALC, SEND
from dvsim.kinds.workload.replay import PARTS, Replay
from dvsim.kinds.workload.text import answer
from dvsim.study.number_text import amount_text
from dvsim.study.table import Cell, Table, number, table_of
from dvsim.view.blocks import Page, Section, commands, tables
from dvsim.view.blocks import answer as answered
from dvsim.view.figure import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    YELLOW,
    Axis,
    Figure,
    Floats,
    bars,
    frame_of,
    lines,
    reading,
)

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION, SKY, YELLOW)
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
            Section("fabrics", "Fabrics", [parts_figure(replays), _fabrics(replays)]),
            Section("ranks", "Ranks", [finish_figure(replays), spent_figure(first)]),
            Section("messages", "Messages", [sizes_figure(first), *tables(skipped)]),
            Section("origin", "Where it comes from", [_origin(replays), *commands([command])]),
        ],
    )


def _bars(name: str, title: str, x: Axis, y: str, rows: list[dict[str, Any]], words: str) -> Figure:
    pieces = list(dict.fromkeys(row["line"] for row in rows))
    palette = {piece: COLOURS[at % len(COLOURS)] for at, piece in enumerate(pieces)}
    frame = frame_of(row | {"colour": palette[row["line"]]} for row in rows)
    heads = {"line": "part", "x": x.title or "what", "y": y}
    chart = bars(frame, x, Axis(y))
    return Figure(name, title, frame, chart, reading(name), words, heads)


def parts_figure(replays: Sequence[Replay]) -> Figure:
    """Draw what the time to solution is spent on, over each fabric."""
    rows = [
        {"line": part, "x": replay.fabric.name, "y": replay.parts[part] * US}
        for part in PARTS
        for replay in replays
    ]
    described = "; ".join(
        f"{replay.fabric.name}: " + ", ".join(
            f"{part} {amount_text(replay.parts[part] * 1e-12, unit='s')}"
            for part in PARTS if replay.parts[part]
        )
        for replay in replays
    )  # fmt: skip
    words = f"Parts of the time to solution. {described}."
    return _bars("parts", "What the time is spent on", Axis("", "names"), "us", rows, words)


def finish_figure(replays: Sequence[Replay]) -> Figure:
    """Draw when each rank is done, over each fabric."""
    frame = frame_of(
        {"line": replay.fabric.name, "x": rank, "y": end, "colour": COLOURS[at % len(COLOURS)]}
        for at, replay in enumerate(replays)
        for rank, end in enumerate((replay.finish_ps * US).tolist())
    )
    described = "; ".join(
        f"{replay.fabric.name}: rank {int(replay.finish_ps.argmin())} first, after "
        f"{amount_text(float(replay.finish_ps.min()) * 1e-12, unit='s')}, rank "
        f"{int(replay.finish_ps.argmax())} last, after "
        f"{amount_text(float(replay.finish_ps.max()) * 1e-12, unit='s')}"
        for replay in replays
    )
    words = f"Finish times of {replays[0].graph.ranks:,} ranks. {described}."
    chart = lines(frame, Axis("rank", form="d"), Axis("us", zero=True), marks=len(frame) < 400)
    heads = {"line": "fabric", "x": "rank", "y": "us"}
    title = "When each rank is done"
    return Figure("finish", title, frame, chart, reading("finish"), words, heads)


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


def spent_figure(replay: Replay) -> Figure:
    """Draw what each rank does over the first fabric."""
    spent = spent_of(replay)
    worst = np.argsort(-spent["waiting"], kind="stable")[:MOST_SAID].tolist()
    described = ", ".join(f"rank {rank} {amount_text(spent['waiting'][rank] * 1e-6, unit='s')}"
                     for rank in worst)  # fmt: skip
    rows = [
        {"line": part, "x": rank, "y": value}
        for part, values in spent.items()
        for rank, value in enumerate(values.tolist())
    ]
    words = f"Computing, sending, taking messages and waiting. Longest waits: {described}."
    title = f"What each rank does over {replay.fabric.name}"
    return _bars("spent", title, Axis("rank"), "us", rows, words)


def sizes_figure(replay: Replay) -> Figure:
    """Draw how many messages there are of each size, in powers of two."""
    graph = replay.graph
    sizes = graph.size[graph.kind == SEND]
    classes = np.ceil(np.log2(np.maximum(1, sizes))).astype(np.int64)
    counts = np.bincount(classes, minlength=1)
    present = np.flatnonzero(counts).tolist()
    names = [f"≤ {amount_text(float(2**power), unit='B')}" for power in present]
    described = ", ".join(f"{counts[power]:,} of {name}"
                     for power, name in zip(present, names, strict=True))  # fmt: skip
    words = f"{sizes.size:,} messages, with those that collectives became: {described or 'none'}."
    rows = [
        {"line": "messages", "x": name, "y": float(counts[power])}
        for power, name in zip(present, names, strict=True)
    ]
    return _bars("sizes", "Sizes of messages", Axis("size", "names"), "messages", rows, words)


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
