"""Sizes of collectives from the bytes that Score-P counts in its events.

Score-P counts what a rank would send and receive without any algorithm: of an all-gather its block
to each rank, of a broadcast the root's vector to each; the root and, unless the data stay in place,
the rank itself included.
"""

from __future__ import annotations

from collections.abc import Sequence

from dvsim.kinds.workload.collectives import split

KINDS = (
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv",
    "alltoall", "alltoallv", "alltoallv", "allreduce", "reduce", "reduce_scatter", "scan",
    "exscan", "reduce_scatter",
)  # fmt: skip
"""Collectives by their numbers in events; what is behind makes and frees handles."""

UNEVEN = (9, 10)
"""All-to-alls with a size for each pair, of which an event has the sums alone."""


def own_size(
    op: int, sent: int, received: int, ranks: int, mine: int, root: int
) -> int | Sequence[int]:
    """Return a rank's size of a collective, as `Program.collective` takes it.

    Args:
        op: Its place in `KINDS`.
        sent, received: Bytes, as counted.
        ranks, mine, root: Of the communicator, the rank's own and the root's in it; a root of 0
            where there is none.
    """
    kind = KINDS[op]
    if kind == "barrier":
        return 0
    if kind in ("alltoallv", "reduce_scatter"):
        return [int(part) for part in split(sent, ranks)]
    if kind in ("allgather", "alltoall", "allreduce", "allgatherv"):
        return _share(sent if kind == "allgatherv" else max(sent, received), ranks)
    if kind in ("scan", "exscan"):
        others = ranks - mine - (kind == "exscan")
        return sent // others if others else _share(received, ranks)
    of_all, own = (received, sent) if kind in ("gather", "gatherv", "reduce") else (sent, received)
    at_root = kind == "bcast" or mine == root
    return own or (_share(of_all, ranks) if at_root else 0)


def _share(amount: int, ranks: int) -> int:
    if amount % ranks and ranks > 1 and amount % (ranks - 1) == 0:
        return amount // (ranks - 1)
    return amount // ranks
