"""A program over a fabric: when each rank is done, what the time was spent on; a timeline of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dvsim.core.faulty import Faulty, FaultyCounts
from dvsim.core.replay import DONE as ENDED
from dvsim.core.replay import OPEN, WAITING, Course, Path, ReplayCore
from dvsim.emulation.trace.timeline import PS_PER_NS, Event, Timeline
from dvsim.errors import RunFailed, ScenarioError
from dvsim.fabric.network.tree import PRESETS
from dvsim.kinds.workload.check import IDLE, NAMES
from dvsim.kinds.workload.fabrics import Chosen
from dvsim.kinds.workload.flow_error import LARGEST, UPDATES, FlowError, first_part, part_of
from dvsim.kinds.workload.graph import ANY, CALC, RECV, SEND, Graph

PARTS = Path._fields[:-1]
"""What a time is split into: the names of the parts."""

NOTHING = FaultyCounts(0, 0, 0)
UNTAKEN = "messages that no receive takes"
FEW = 4  # operations that never complete and are named
MOST_PATH = 1 << 20
LONGEST_PS = 2**62  # of computing; the core refuses it; and more bytes than a message has


@dataclass(frozen=True, eq=False)
class Replay:
    """What came of a program over one fabric."""

    graph: Graph  # what was replayed, after compute was scaled
    fabric: Chosen  # what carried it
    finish_ps: npt.NDArray[np.int64]  # when each rank is done, shape (ranks,)
    path: Path  # what the time to solution was spent on
    way: npt.NDArray[np.int64]  # operations on the critical path, the first one first
    course: Course  # what came of each operation
    skipped: Mapping[str, int]  # what was not replayed, with how often
    lost: FaultyCounts = NOTHING  # what faulty ports lost
    # Of each rank; and of what faulty ports lose.
    ports: Sequence[int] = ()
    seed: int = 1

    @cached_property
    def flow_error(self) -> FlowError | None:
        """How far flow fidelity is from every word, see `dvsim.kinds.workload.flow_error`.

        None at another fidelity, and where nothing can be run slot by slot: where the network is
        too large, where `L` or `rate` replace the card, and where no message arrives within the
        first part.
        """
        fabric, graph, network = self.fabric, self.graph, self.fabric.network
        own = fabric.extra_ps is not None or fabric.rate is not None
        if fabric.model != "flow" or own or network is None or network.nodes > LARGEST:
            return None
        chosen = first_part(self, UPDATES // network.nodes * network.slot_ps)
        part = graph if chosen.all() else part_of(self, chosen)
        if not (part.kind == SEND).any():
            return None
        try:
            flow, cycle = (
                replay_graph(part, replace(fabric, model=model), self.ports, self.seed).time_ps
                for model in ("flow", "cycle")
            )
        except RunFailed:  # a receive of any takes another message there
            return None
        return FlowError(flow / cycle - 1, float(chosen.mean()))

    @property
    def time_ps(self) -> int:
        """Time to solution: until the last rank is done."""
        return int(self.finish_ps.max(initial=0))

    @property
    def time_ns(self) -> float:
        """Time to solution in nanoseconds."""
        return _ns(self.time_ps)

    @property
    def finish_ns(self) -> list[float]:
        """When each rank is done, in nanoseconds."""
        return [_ns(time) for time in self.finish_ps.tolist()]

    @property
    def parts(self) -> dict[str, int]:
        """The parts of the time to solution by name, in picoseconds; they add up to it."""
        parts = dict(zip(PARTS, self.path, strict=False))
        parts["wait"] += self.time_ps - sum(parts.values())
        return parts

    @property
    def message_rate(self) -> float:
        """Messages that a rank sends in a second, in the mean; not a number if no time passed."""
        seconds = self.time_ps * 1e-12
        return self.graph.messages / self.graph.ranks / seconds if seconds else float("nan")

    def matrix(self, *, messages: bool = False) -> npt.NDArray[np.int64]:
        """Return the bytes, or messages, from each rank to each, shape (ranks, ranks)."""
        graph = self.graph
        sends = graph.kind == SEND
        source = np.repeat(np.arange(graph.ranks), np.diff(graph.first))[sends]
        matrix = np.zeros((graph.ranks, graph.ranks), dtype=np.int64)
        np.add.at(matrix, (source, graph.peer[sends]), 1 if messages else graph.size[sends])
        return matrix

    def plain(self) -> dict[str, Any]:
        """Return the answer as JSON types; messages that collectives became are apart."""
        messages, of_collectives = self.graph.collective
        return {
            "trace": self.graph.name,
            "fabric": self.fabric.name,
            "model": self.fabric.model,
            "settings": list(self.fabric.changed),
            "fitted": self.fabric.fitted or None,
            "faults": list(self.fabric.faults.told),
            "lost_words": self.lost.lost,
            "repeated_messages": self.lost.repeated,
            "ranks": self.graph.ranks,
            "operations": self.graph.operations,
            "messages": self.graph.messages - messages,
            "bytes": self.graph.bytes - of_collectives,
            "collective_messages": messages,
            "collective_bytes": of_collectives,
            "time_ns": self.time_ns,
            "flow_error": self.flow_error and self.flow_error._asdict(),
            "traced_ns": self.graph.traced_ns,
            "finish_ns": self.finish_ns,
            "parts_ns": {name: _ns(value) for name, value in self.parts.items()},
            "skipped": dict(self.skipped),
            "assumed": list(self.graph.assumed),
        }


def _ns(picoseconds: int) -> float:
    whole, rest = divmod(picoseconds, PS_PER_NS)
    return picoseconds / PS_PER_NS if rest else whole


def prepared(
    graph: Graph, compute: float = 1.0, straggler: tuple[int, float] | None = None
) -> Graph:
    """Return a graph whose computing is scaled, and that of one rank more.

    When ranks begin stays as it was traced, unless nothing computes: then all begin at once.

    Args:
        graph: As it was read or made.
        compute: Factor of all computing: 1 as measured, 0 none.
        straggler: A rank, and the factor of its computing beside that.
    """
    if compute == 1.0 and straggler is None:
        return graph
    factor = np.full(graph.operations, float(compute))
    if straggler is not None:
        rank, more = straggler
        if not 0 <= rank < graph.ranks:
            message = f"rank must be from 0 to {graph.ranks - 1}, is {rank}"
            raise ScenarioError.at(graph.name, message, "straggler")
        factor[int(graph.first[rank]) : int(graph.first[rank + 1])] *= more
    calc = graph.kind == CALC
    factor[calc & (graph.peer == IDLE)] = compute != 0
    size = graph.size.copy()
    scaled = np.minimum(graph.size[calc] * factor[calc], LONGEST_PS)
    size[calc] = np.rint(scaled).astype(np.int64)
    return replace(graph, size=size)


def places_of(
    graph: Graph, fabric: Chosen, placement: str | Sequence[int] = "linear", seed: int = 1
) -> npt.NDArray[np.int32]:
    """Return the port of each rank.

    Args:
        graph, fabric: What is placed, and where.
        placement: ``linear``: rank r at port r; ``random``: at any port, by the seed; or the ports.
        seed: Of a random placement.
    """
    ports = fabric.ports or graph.ranks
    if graph.ranks > ports:
        enough = [name for name, count in PRESETS.items() if count >= graph.ranks]
        message = f"has {ports} ports; {graph.name} has {graph.ranks} ranks"
        near = enough[0] if enough else None
        raise ScenarioError.at(fabric.name, message, "fabric", hint=near)
    if placement == "linear":
        return np.arange(graph.ranks, dtype=np.int32)
    if placement == "random":
        draw = np.random.Generator(np.random.Philox(key=seed))
        return draw.permutation(ports)[: graph.ranks].astype(np.int32)
    message = ""
    if len(placement) != graph.ranks:
        message = f"has {len(placement)} ports; {graph.name} has {graph.ranks} ranks"
    elif not 0 <= min(placement) <= max(placement) < ports:  # type: ignore[operator]
        message = f"the ports are 0 to {ports - 1}"
    elif len(set(placement)) < len(placement):
        message = "has a port twice"
    if message:
        raise ScenarioError.at(fabric.name, message, "placement")
    return np.asarray(placement, dtype=np.int32)


def replay_graph(
    graph: Graph, fabric: Chosen, placement: str | Sequence[int] = "linear", seed: int = 1
) -> Replay:
    """Run a program over a fabric.

    Args:
        graph: What the ranks do.
        fabric: What carries the messages.
        placement, seed: As in `places_of`; the seed is that of what faulty ports lose, too.
    """
    try:
        made = fabric.made(seed)
        costs = fabric.costs._replace(eager_bytes=LONGEST_PS) if graph.eager else fabric.costs
        ports = places_of(graph, fabric, placement, seed)
        core = ReplayCore(graph, costs, made, ports)
        core.run()
    except (MemoryError, OverflowError) as error:
        raise RunFailed(f"{graph.name}: {error}") from error
    if core.done < graph.operations:
        raise RunFailed("\n".join([*stalled(graph, core.course), *_dead(fabric, made)]))
    course = core.course
    path, way = Path(*[0] * len(Path._fields)), np.empty(0, dtype=np.int64)
    if graph.operations:
        last = int(course.end.argmax())
        path, way = core.path(last, min(MOST_PATH, graph.operations))
    untaken = int(((graph.kind == SEND) & (course.pair < 0)).sum())
    skipped = dict(graph.skipped) | ({UNTAKEN: untaken} if untaken else {})
    lost = made.counts if isinstance(made, Faulty) else NOTHING
    finish, where = course.finish, ports.tolist()
    return Replay(graph, fabric, finish, path, way[::-1], course, skipped, lost, where, seed)


def _dead(fabric: Chosen, made: object) -> list[str]:
    dropped = made.counts.dropped if isinstance(made, Faulty) else 0
    if not dropped:
        return []
    ports = ", ".join(map(str, sorted(fabric.faults.dead)))
    return [f"  {dropped} messages were lost at dead ports: {ports}"]


def stalled(graph: Graph, course: Course) -> list[str]:
    """Return who waits for what, of a run in which operations can never complete."""
    unfinished = np.flatnonzero(course.state != ENDED)
    held = np.flatnonzero(course.state == OPEN)
    ranks = np.unique(np.searchsorted(graph.first, unfinished, side="right") - 1)
    lines = [
        f"{graph.name}: {unfinished.size} of {graph.operations} operations, of {ranks.size} ranks, "
        "can never complete"
    ]
    for operation in held[:FEW].tolist():
        lines.append(f"  {graph.told(operation)}: {_reason(graph, course, operation)}")
    if held.size > FEW:
        lines.append(f"  and {held.size - FEW} more that wait for messages or receives")
    waiting = int((course.state == WAITING).sum())
    if waiting:
        lines.append(f"  {waiting} operations wait for these")
    return lines


def _reason(graph: Graph, course: Course, operation: int) -> str:
    peer, tag = int(graph.peer[operation]), int(graph.tag[operation])
    receives = bool(graph.kind[operation] == RECV)
    if peer == ANY:
        return "no rank sends such a message any more"
    partner = "message" if receives else "receive"
    first, last = int(graph.first[peer]), int(graph.first[peer + 1])
    undone = first + np.flatnonzero(course.state[first:last] != ENDED)
    if not undone.size:
        return f"rank {peer} has ended without such a {partner}"
    mates = undone[graph.kind[undone] == (SEND if receives else RECV)]
    mates = mates[np.isin(graph.peer[mates], (graph.rank_of(operation), ANY))]
    if tag != ANY:
        mates = mates[np.isin(graph.tag[mates], (tag, ANY))]
    held = undone[course.state[undone] == OPEN]
    itself = f"; it waits in {graph.told(int(held[0]))}" if held.size else ""
    reason = f"does not come to its {partner}" if mates.size else f"has no such {partner}"
    return f"rank {peer} {reason}{itself}"


def add_replay(timeline: Timeline, replay: Replay) -> None:
    """Add the operations of all ranks to a timeline; a receive begins when its message is there."""
    graph, course = replay.graph, replay.course
    begin, end = course.begin // PS_PER_NS, course.end // PS_PER_NS
    order = course.begin.argsort(kind="stable")
    ranks = (graph.first.searchsorted(order, side="right") - 1).tolist()
    arrows = {
        int(operation): timeline.arrow() for operation in order if graph.kind[operation] == SEND
    }
    critical = set(replay.way.tolist())
    for operation, rank in zip(order.tolist(), ranks, strict=True):
        kind, first, last = int(graph.kind[operation]), int(begin[operation]), int(end[operation])
        facts: dict[str, float | int | str] = {"critical": int(operation in critical)}
        sends: tuple[tuple[int, int], ...] = ()
        name, gets = "idle" if graph.peer[operation] == IDLE else NAMES[kind], 0
        if kind != CALC:
            tag = int(graph.tag[operation])
            facts |= {"peer": int(graph.peer[operation]), "bytes": int(graph.size[operation]),
                      "tag": graph.tags.get(tag, tag)}  # fmt: skip
            name = f"{name} {'to' if kind == SEND else 'from'} {graph.peer[operation]}"
            if kind == SEND:
                sends = ((arrows[operation], first),)
            elif course.pair[operation] >= 0:
                send = int(course.pair[operation])
                facts["posted at ns"] = first
                first = max(first, int(course.handled[send]) // PS_PER_NS)
                gets = arrows[send]
        event = Event(first, max(first, last), name, facts, sends, gets)
        beside = graph.agent and graph.cpu[operation] == graph.agent
        timeline.add(f"rank {rank}", "one-sided" if beside else NAMES[kind], "span", event)
