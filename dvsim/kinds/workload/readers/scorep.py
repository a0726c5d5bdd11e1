"""Sizes of collectives from the bytes that Score-P counts in its events.

Score-P counts what a rank would send and receive without any algorithm: of an all-gather its block
to each rank, of a broadcast the root's vector to each; the root and, unless the data stay in place,
the rank itself included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
    return SIZES[KINDS[op]](sent, received, ranks, mine, root)


def _share(amount: int, ranks: int) -> int:
    """Return the block of an amount for all ranks, or, in place, for all others."""
    if amount % ranks and ranks > 1 and amount % (ranks - 1) == 0:
        return amount // (ranks - 1)
    return amount // ranks


def _parts(sent: int, received: int, ranks: int, mine: int, root: int) -> list[int]:
    each, more = divmod(sent, ranks)
    return [each + (rank < more) for rank in range(ranks)]


def _scanned(others: int, sent: int, received: int, ranks: int) -> int:
    return sent // others if others else _share(received, ranks)


SIZES: Mapping[str, Callable[[int, int, int, int, int], int | list[int]]] = {
    "barrier": lambda sent, received, ranks, mine, root: 0,
    "bcast": lambda sent, received, ranks, mine, root: received or _share(sent, ranks),
    **dict.fromkeys(
        ("gather", "gatherv", "reduce"),
        lambda sent, received, ranks, mine, root: (
            sent if sent or mine != root else _share(received, ranks)
        ),
    ),
    **dict.fromkeys(
        ("scatter", "scatterv"),
        lambda sent, received, ranks, mine, root: (
            received if received or mine != root else _share(sent, ranks)
        ),
    ),
    **dict.fromkeys(
        ("allgather", "alltoall", "allreduce"),
        lambda sent, received, ranks, mine, root: _share(max(sent, received), ranks),
    ),
    "allgatherv": lambda sent, received, ranks, mine, root: _share(sent, ranks),
    "alltoallv": _parts,
    "reduce_scatter": _parts,
    "scan": lambda sent, received, ranks, mine, root: _scanned(ranks - mine, sent, received, ranks),
    "exscan": lambda sent, received, ranks, mine, root: _scanned(
        ranks - mine - 1, sent, received, ranks
    ),
}
