"""How far a replay at flow fidelity is from every word, slot by slot: both run its first part.

The error is that of the time until the last rank has done that part, and nothing else: contention
between ports, which flow leaves out, counts as far as this part has it. The part is all of the
program where it is small, so that the error is that of the answer; otherwise it ends when messages
have been under way in so many slots that the network has updated `UPDATES` nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dvsim.kinds.workload.graph import CALC, RECV, SEND, Builder, Graph

if TYPE_CHECKING:
    import numpy.typing as npt

    from dvsim.kinds.workload.replay import Replay

UPDATES = 1 << 26  # node updates: a fraction of a second
LARGEST = 1 << 22  # nodes of a network that is made for this: 2,048 ports with 16 planes


class FlowError(NamedTuple):
    """The error of a time at flow fidelity."""

    time: float  # (flow - cycle) / cycle, of the part that both ran
    share: float  # of the operations of the program that this part has


def first_part(replayed: Replay, busy_ps: int) -> npt.NDArray[np.bool_]:
    """Return which operations end before messages have been under way for so long.

    The send of a message that is received in the part is of it, too.
    """
    graph, course = replayed.graph, replayed.course
    received = np.flatnonzero((graph.kind == SEND) & (course.pair >= 0))
    begin, end = course.begin[received], course.handled[received]
    order = begin.argsort(kind="stable")
    begin, latest = begin[order], np.maximum.accumulate(end[order])
    before = np.concatenate([begin[:1], latest[:-1]])
    busy = np.cumsum(np.maximum(0, latest - np.maximum(begin, before)))
    over = np.searchsorted(busy, busy_ps, side="right")
    if over == received.size:
        return np.ones(graph.operations, dtype=bool)
    until = max(int(latest[over]) - (int(busy[over]) - busy_ps), int(end.min()))
    done: npt.NDArray[np.bool_] = course.end <= until
    pairs = course.pair[done & (graph.kind == RECV)]
    done[pairs[pairs >= 0]] = True
    return done


def part_of(replayed: Replay, done: npt.NDArray[np.bool_]) -> Graph:
    """Return a program of some of the operations, and what they wait for among these.

    What others had begun by then does nothing, but stays: receives that wait for it are posted in
    the order of the program, so that they take the same messages.
    """
    graph, begin = replayed.graph, replayed.course.begin
    chosen = done | (begin <= begin[done].max())
    builder = Builder(graph.ranks, graph.name, graph.files)
    builder.tags, builder.eager = graph.tags, graph.eager
    builder.expanded, builder.agent = graph.expanded, graph.agent
    owner = np.repeat(np.arange(graph.ranks), np.diff(graph.first))
    idle = {"kind": CALC, "peer": -1, "size": 0, "tag": 0}
    columns = [np.where(done, getattr(graph, name), idle[name])[chosen] for name in idle]
    number = np.full(graph.operations, -1)
    number[chosen] = builder.extend(
        owner[chosen], *columns, cpu=graph.cpu[chosen], nic=graph.nic[chosen]
    )
    source = np.repeat(np.arange(graph.operations), np.diff(graph.start))
    for started in (False, True):
        edges = (graph.after_start == started) & chosen[source] & chosen[graph.to]
        builder.require_many(number[graph.to[edges]], number[source[edges]], started=started)
    return builder.build()
