"""Chakra execution traces: a graph of nodes for each rank, ``PREFIX.RANK.et``, as ASTRA-sim reads.

The nodes may be JSON, too: ``PREFIX.RANK.json``, or such text in a file ``.et``.

A file has a message with its version, then one for each node, each behind its length. What a node
waits for are its control and data dependencies; nothing else orders the nodes of a rank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from heapq import heappop, heappush
from pathlib import Path
from typing import NoReturn

from dvsim.errors import nearest
from dvsim.kinds.workload.check import ANY
from dvsim.kinds.workload.collectives import split
from dvsim.kinds.workload.graph import Graph
from dvsim.kinds.workload.mpi import WORLD, Program
from dvsim.kinds.workload.readers.calls import Options, program_of, rank_in
from dvsim.kinds.workload.readers.chakra_nodes import (
    COLLECTIVE,
    COMPUTE,
    LOAD,
    METADATA,
    RECV,
    SEND,
    STORE,
    Node,
    nodes_of,
)
from dvsim.kinds.workload.readers.text import files_of_ranks, of_rank, picoseconds, refuse
from dvsim.scenario import bounds

NAME = re.compile(r"(.*)\.(\d{1,7})\.(?:et|et\.gz|json|et\.json)")
WORDS = tuple(map(str.encode, (
    "_NODE", "NodeType", "workload_graph", '"version"', "durationMicros", "duration_micros",
    "_deps", "Deps", "comm_", '"attr"',
)))  # fmt: skip
"""Of which JSON of a trace has one near its beginning."""

FLOPS = 1e12
"""Of a processor, where a node says how many operations it has and not how long it took."""

TITLES = {LOAD: "memory loads", STORE: "memory stores"}
NAMES = (
    "ALL_REDUCE", "REDUCE", "ALL_GATHER", "GATHER", "SCATTER", "BROADCAST", "ALL_TO_ALL",
    "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER",
)  # fmt: skip
"""Collectives in the order of their numbers, as JSON may name them."""
COLLECTIVES = {name.replace("_", "").lower(): name for name in NAMES} | {"bcast": "BROADCAST"}
"""Their names without what separates words, as some converters write them."""
KINDS = dict(zip(NAMES, (
    "allreduce", "reduce", "allgather", "gather", "scatter", "bcast", "alltoall", "reduce_scatter",
    "reduce_scatter", "barrier",
), strict=True))  # fmt: skip


def is_file(path: Path, head: bytes) -> bool:
    """Return whether a file is of a rank's nodes, which its name says; of JSON its words, too."""
    named = NAME.fullmatch(path.name) is not None
    return named and (path.suffix in (".et", ".gz") or any(word in head for word in WORDS))


def files_beside(path: Path) -> list[Path]:
    """Return the files of all ranks of a trace, given that of one."""
    match = NAME.fullmatch(path.name)
    return files_of_ranks(path, NAME, match[1] if match else "")


def read(paths: Sequence[Path], options: Options, name: str) -> Graph:
    """Return the graph of the files of a trace, one for each rank."""
    must = "must be called PREFIX.RANK.et, with a rank of its own"
    files, program = program_of(paths, lambda path: rank_in(path, NAME), must, name, options)
    program.builder.eager = True  # no attribute says that a send waits, and in ASTRA-sim none does
    nodes = [_nodes(path, rank, program) for rank, path in enumerate(files)]
    groups: dict[str, list[int]] = {}
    for rank, own in enumerate(nodes):
        for group in {_group(node) for node in own if node.kind == COLLECTIVE}:
            groups.setdefault(group, []).append(rank)
    for rank, own in enumerate(nodes):
        _Rank(program, rank, files[rank], groups).read(own)
    return program.graph()


def _group(node: Node) -> str:
    return str(node.attributes.get("pg_name", ""))


def _nodes(path: Path, rank: int, program: Program) -> list[Node]:
    nodes: dict[int, Node] = {}
    with of_rank(rank, lambda: len(nodes), "node"):
        for node in nodes_of(path):
            if node.number in nodes:
                refuse(path, None, f"has node {node.number} twice")
            nodes[node.number] = node
        return _sorted(nodes, path, program)


def _sorted(nodes: dict[int, Node], path: Path, program: Program) -> list[Node]:
    for node in nodes.values():
        there = [number for number in node.after if number in nodes]
        if len(there) < len(node.after):
            program.skip("dependencies on nodes that are not there", len(node.after) - len(there))
            node.after = there
    sorter = TopologicalSorter({number: node.after for number, node in nodes.items()})
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " → ".join(map(str, error.args[1][:5]))
        refuse(path, None, f"has nodes that wait for each other: {circle}")
    return [nodes[number] for number in _ordered(sorter)]


def _ordered(sorter: TopologicalSorter[int]) -> Iterator[int]:
    ready: list[int] = []
    while sorter.is_active():
        for number in sorter.get_ready():
            heappush(ready, number)
        number = heappop(ready)
        sorter.done(number)
        yield number


class _Rank:
    def __init__(
        self, program: Program, rank: int, path: Path, groups: dict[str, list[int]]
    ) -> None:
        self.program = program
        self.rank = rank
        self.path = path
        self.groups = groups
        self.ends: dict[int, tuple[int, ...]] = {}  # node → places of the calls that end it

    def read(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            before = tuple(dict.fromkeys(end for n in node.after for end in self.ends[n]))
            self.ends[node.number] = before
            if self._added(node):
                self.ends[node.number] = (self.program.waits(self.rank, before),)

    def _added(self, node: Node) -> bool:
        if node.kind == COMPUTE:
            return self._computed(node)
        if node.kind in (SEND, RECV):
            return self._message(node)
        if node.kind == COLLECTIVE:
            return self._collective(node)
        if node.kind != METADATA:
            self.program.skip(TITLES.get(node.kind, f"nodes of type {node.kind}"))
        return False

    def _refuse(self, node: Node, message: str) -> NoReturn:
        refuse(self.path, None, f"node {node.number}: {message}", f"rank {self.rank}")

    def _size(self, node: Node) -> int:
        if "comm_size" not in node.attributes:
            self.program.assume("messages and collectives without comm_size have no bytes")
        return node.whole("comm_size")

    def _computed(self, node: Node) -> bool:
        seconds = node.duration / 1e6 or max(0, node.whole("num_ops")) / FLOPS
        time = picoseconds(seconds, self.path, 0)
        self.program.compute(self.rank, time)
        return time > 0

    def _message(self, node: Node) -> bool:
        sends = node.kind == SEND
        other = "comm_dst" if sends else "comm_src"
        if other not in node.attributes:
            self._refuse(node, f"has no {other}")
        peer, tag = node.whole(other, ANY), node.whole("comm_tag")
        if not (0 if sends else ANY) <= peer < self.program.ranks:
            self._refuse(node, f"the ranks are 0 to {self.program.ranks - 1}; no rank {peer}")
        size = self._size(node)
        if not (0 <= size <= bounds.SIZE and tag >= 0):
            self._refuse(node, f"a message of {size} bytes with tag {tag}")
        add = self.program.send if sends else self.program.recv
        add(self.rank, peer, size, tag)
        return True

    def _collective(self, node: Node) -> bool:
        given = node.attributes.get("comm_type")
        if given is None:
            self._refuse(node, "has no comm_type")
        name = COLLECTIVES.get(re.sub("[^a-z]", "", str(given).rpartition(".")[2].lower()))
        if name is None and 0 <= node.whole("comm_type", -1) < len(NAMES):
            name = NAMES[node.whole("comm_type")]
        if name is None:
            near = nearest(str(given).upper(), NAMES)
            hint = f"; did you mean {near}?" if near else ""
            last = len(NAMES) - 1
            self._refuse(node, f"no collective {given}; there are 0 to {last}{hint}")
        kind = KINDS[name]
        size = 0 if kind == "barrier" else self._size(node)
        if not 0 <= size <= bounds.SIZE:
            self._refuse(node, f"a collective of {size} bytes")
        group = _group(node)
        members = self.groups[group]
        everybody = len(members) == self.program.ranks and not group
        communicator = WORLD if everybody else self.program.communicator(group, members)
        shared: int | list[int] = size
        if kind == "alltoall":
            shared = size // len(members)
        elif kind == "reduce_scatter":
            shared = [int(part) for part in split(size, len(members))]
        root = node.whole("root")
        self.program.collective(self.rank, kind, shared, root=root, communicator=communicator)
        return True
