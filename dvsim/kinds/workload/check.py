"""What a graph of operations must be, and the words for what is wrong with one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dvsim.errors import Fault, ScenarioError

if TYPE_CHECKING:
    from dvsim.kinds.workload.graph import Graph

CALC, SEND, RECV = 0, 1, 2
NAMES = ("calc", "send", "recv")
ANY = -1
"""Any source, or any tag, of a receive."""

IDLE = -2
"""The peer of a `CALC` in which its rank does nothing, as before it begins."""

COLUMNS = ("rank", "kind", "peer", "tag", "size", "cpu", "nic", "line")
MOST_TAG = (1 << 31) - 1
COLLECTIVE_TAG = 1 << 30
"""From here on tags are of messages that collectives consist of, where they were expanded."""
CARRIED_TAG = MOST_TAG - 1
"""From here on they are of what one-sided operations carry, which counts as the program's own."""
REQUEST_TAG, ANSWER_TAG, RELEASE_TAG = (CARRIED_TAG - 1 - number for number in range(3))
AGENT_TAGS = {
    REQUEST_TAG: "what asks for an answer", ANSWER_TAG: "the answer",
    RELEASE_TAG: "the release of a lock",
}  # fmt: skip
"""Tags of the messages of one byte that agents send and take, and what these messages are."""
MOST_CPU = 255

Columns = Sequence[npt.NDArray[Any]]


def described(kind: int, peer: int, tag: int, size: int) -> str:
    """Return an operation in words: ``recv 8 B from 2, tag 0``."""
    if kind == CALC:
        return f"{'idle' if peer == IDLE else NAMES[CALC]} {size / 1000:g} ns"
    way = "to" if kind == SEND else "from"
    other = "any" if peer == ANY else str(peer)
    return f"{NAMES[kind]} {size} B {way} {other}, tag {'any' if tag == ANY else tag}"


def file_of(files: Sequence[str], rank: int, name: str) -> str:
    """Return the file of a rank: its own, that of all, or else the name of the program."""
    if not files:
        return name
    return files[rank] if len(files) > 1 else files[0]


def fault_of(columns: Columns, number: int, message: str, name: str, files: Sequence[str]) -> Fault:
    """Return what is wrong with an operation, named by its rank and its place in that rank."""
    rank, line = int(columns[0][number]), int(columns[-1][number]) or None
    number_of_rank = int((columns[0][:number] == rank).sum())
    known = 0 <= rank < len(files) or (rank >= 0 and len(files) == 1)
    file = file_of(files, rank, name) if known else name
    return Fault(file, line, f"rank {rank}, operation {number_of_rank}", message)


def check_columns(columns: Columns, ranks: int, name: str, files: Sequence[str]) -> None:
    """Refuse the first operation of which a number is out of range."""
    rank, kind, peer, tag, size, cpu, nic, _ = columns
    message, last = kind != CALC, ranks - 1
    least = np.where(kind == RECV, ANY, 0)
    for bad, reason in (
        ((rank < 0) | (rank > last), f"rank must be from 0 to {last}, is {{rank}}"),
        ((kind < CALC) | (kind > RECV), "kind must be calc, send or recv, is {kind}"),
        (size < 0, "size must not be negative, is {size}"),
        (
            message & ((peer < least) | (peer > last)),
            f"the ranks are 0 to {last}; no rank {{peer}}",
        ),
        (message & (tag < least), "a tag must be 0 or more, is {tag}"),
        (message & (tag > MOST_TAG), f"a tag must be at most {MOST_TAG}, is {{tag}}"),
        ((cpu < 0) | (cpu > MOST_CPU), f"cpu must be from 0 to {MOST_CPU}, is {{cpu}}"),
        ((nic < 0) | (nic > MOST_CPU), f"nic must be from 0 to {MOST_CPU}, is {{nic}}"),
    ):
        if bad.any():
            number = int(np.argmax(bad))
            values = dict(zip(COLUMNS, (int(column[number]) for column in columns), strict=True))
            fault = fault_of(columns, number, reason.format(**values), name, files)
            raise ScenarioError([fault])


def refuse_circles(graph: Graph) -> None:
    """Refuse operations that wait for each other; those that point forwards cannot."""
    source = np.repeat(np.arange(graph.operations), np.diff(graph.start))
    if (graph.to > source).all():
        return
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(graph.to.size, dtype=np.int8)
    shape = (graph.operations, graph.operations)
    matrix = csr_array((ones, graph.to, graph.start), shape=shape)
    _, part = connected_components(matrix, directed=True, connection="strong")
    inside = part[source] == part[graph.to]
    if not inside.any():
        return
    first = int(source[np.argmax(inside)])
    members = np.flatnonzero(part == part[first])
    lines = "; ".join(graph.told(int(member)) for member in members[:3])
    more = f" and {members.size - 3} more" if members.size > 3 else ""
    raise ScenarioError([graph.fault(first, f"waits for itself, through {lines}{more}")])


def joined(parts: Sequence[Columns]) -> list[npt.NDArray[Any]]:
    """Return the columns of parts as one."""
    if not parts:
        return [np.empty(0, dtype=np.int64) for _ in COLUMNS]
    return [np.concatenate([part[at] for part in parts]) for at in range(len(COLUMNS))]
