"""Replays as people read them: the answer in two lines, then a row for each fabric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dvsim.kinds.workload.replay import PARTS, Replay
from dvsim.study.changes import titled
from dvsim.study.number_text import amount_text
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.table.result import Result

PS = 1e-12
NS = 1e-9
MOST_RANKS = 32  # of a matrix that is printed
SAME = 0.005
"""Relative difference of times from which on it is worth a word."""


def answer(replays: Sequence[Replay]) -> Iterator[str | Table]:
    """Yield the answer, what was replayed, and a table of the fabrics."""
    first, graph = replays[0], replays[0].graph
    time = amount_text(first.time_ps * PS, unit="s")
    yield f"{graph.name}: {time} over {first.fabric.name}, {_spent(first)}"
    more = [
        f"{replay.fabric.name} takes {_times(replay.time_ps / first.time_ps)} as long"
        for replay in replays[1:]
        if first.time_ps
    ]
    traced = graph.traced_ns
    if traced is not None:
        told = f"the trace itself took {amount_text(traced * NS, unit='s')}"
        if graph.finalize_ns > SAME * traced:
            told += f", {amount_text(graph.finalize_ns * NS, unit='s')} of it in MPI_Finalize"
        more.append(told)
    if more:
        yield f"  {'; '.join(more)}"
    if first.fabric.fitted:
        yield f"  {', '.join(first.fabric.changed)}, fitted to {first.fabric.fitted}"
    messages, of_collectives = graph.collective
    own = amount_text(graph.bytes - of_collectives, unit="B")
    others = "collectives and one-sided handshakes" if graph.agent else "collectives"
    apart = f", and {messages:,} of {others}, {amount_text(of_collectives, unit='B')}"
    yield (
        f"  {graph.ranks} ranks, {graph.messages - messages:,} messages, {own}"
        f"{apart if messages else ''}; {graph.operations:,} operations"
    )
    yield from (f"  assumed: {what}" for what in graph.assumed)
    yield from (
        f"  {replay.fabric.name}: {text}" for replay in replays if (text := flow_text(replay))
    )
    for item, count in first.skipped.items():
        yield f"  not replayed: {count:,} {item}"
    head = ["fabric", "time", "ratio", *PARTS, "msg/s per rank", "model"]
    rows = []
    for replay in replays:
        parts = [replay.parts[name] for name in PARTS]
        cells = _cells(replay.time_ps, first.time_ps, PS, parts, replay.message_rate)
        rows.append([replay.fabric.name, *cells, replay.fabric.title])
    yield Table(head, rows, range(1, len(head) - 1))


def flow_text(replay: Replay) -> str:
    """Say how far flow fidelity is from every word, slot by slot; nothing at another one."""
    if replay.fabric.model != "flow":
        return ""
    error = replay.flow_error
    if error is None:
        return "at flow fidelity, not measured against every word slot by slot"
    part = "all of it" if error.share == 1 else f"the first {error.share:.2g} of its operations"
    return f"at flow fidelity, {error.time:+.1%} against every word slot by slot, over {part}"


def _cells(
    time: float, first: float, unit: float, parts: Iterable[float], rate: float
) -> list[str]:
    shares = [f"{100 * part / time:.1f} %" if time else "-" for part in parts]
    ratio = f"{time / first:.3f}" if first else "-"
    rate_text = "-" if math.isnan(rate) else amount_text(rate)
    return [amount_text(time * unit, unit="s"), ratio, *shares, rate_text]


def _times(ratio: float) -> str:
    return "just" if abs(ratio - 1) < SAME else f"{ratio:.3g} times"


def _spent(replay: Replay) -> str:
    if not replay.time_ps:
        return "in which nothing takes time"
    parts = sorted(replay.parts.items(), key=lambda item: -item[1])
    shares = [(name, round(100 * value / replay.time_ps)) for name, value in parts[:3]]
    return f"spent on {', '.join(f'{name} {share} %' for name, share in shares if share)}"


def study_lines(study: Result) -> Iterator[str | Table]:
    """Yield a study: what was asked, and of each point its time and what that is spent on."""
    scenario, keys = study.scenario, list(study.scenario.keys)
    yield titled(scenario)
    table = study.wide.drop(columns="replication").groupby("point").mean()
    rows, first = [], float(table["time"].iloc[0])
    for number, row in table.iterrows():
        point = scenario.points[int(str(number))]
        parts = [float(row[f"{name}_time"]) for name in PARTS]
        cells = _cells(float(row["time"]), first, NS, parts, float(row["message_rate"]))
        rows.append([*(str(point[key]) for key in keys), *cells])
    yield (
        f"  {amount_text(first * NS, unit='s')}"
        + (" at the first point" if len(rows) > 1 else "")
        + f"; {int(table['messages'].iloc[0]):,} messages, "
        f"{amount_text(float(table['bytes'].iloc[0]), unit='B')}, seed {study.seed}"
    )
    head = [*keys, "time", "ratio", *PARTS, "msg/s per rank"]
    yield Table(head, rows, range(len(keys), len(head)), keys=len(keys))
    errors = table["flow_error"].dropna()
    if len(errors):
        most = errors.iloc[int(errors.abs().argmax())]
        which = "" if len(errors) == len(table) else f", at {len(errors)} of {len(table)} points"
        yield f"  flow fidelity against every word slot by slot: time {most:+.1%} at most{which}"
    if study.folder is not None:
        yield f"  kept in {study.folder}"


def matrix_table(replay: Replay) -> Table | str:
    """Return the bytes from each rank to each; in words if there are too many ranks."""
    if replay.graph.ranks > MOST_RANKS:
        return f"a matrix of {replay.graph.ranks} ranks is not printed; at most {MOST_RANKS} are"
    matrix = replay.matrix()
    head = ["from \\ to", *map(str, range(replay.graph.ranks))]
    rows = [[str(rank), *(f"{value:,}" if value else "." for value in row)]
            for rank, row in enumerate(matrix.tolist())]  # fmt: skip
    return Table(head, rows, range(1, len(head)))
