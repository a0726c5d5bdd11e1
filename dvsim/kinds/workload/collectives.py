"""Collective operations as messages: which named algorithm, by size, and its schedule.

The default table is MPICH's (``MPIR_CVAR_…`` of its release 3.2; where MPICH chooses by a property
that replays do not have, such as shared memory, its choice between nodes is taken). Amounts are
those that MPICH compares: the vector of a broadcast, reduction or scan; the data of all ranks of an
all-gather and reduce-scatter; one block of a gather, scatter and all-to-all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from dvsim.core.arrays import check_memory
from dvsim.kinds.workload import algorithms as by
from dvsim.kinds.workload.schedule import Ints, Messages, Schedule, scheduled, then
from dvsim.scenario import bounds
from dvsim.scenario.card_kinds import Limits
from dvsim.scenario.fields import Quantity, Whole
from dvsim.scenario.spec import Table

Algorithm = Literal[
    "binomial",
    "linear",
    "ring",
    "recursive_doubling",
    "recursive_halving",
    "dissemination",
    "bruck",
    "pairwise",
]

ALGORITHMS_OF: Mapping[str, Mapping[str, Callable[[int], Messages]]] = {
    "barrier": {
        "dissemination": by.dissemination,
        "recursive_doubling": by.recursive_doubling_allreduce,
        "binomial": lambda p: then(by.binomial_reduce(p), by.binomial_bcast(p)),
        "linear": lambda p: then(by.linear_reduce(p), by.linear_bcast(p)),
    },
    "bcast": {
        "binomial": by.binomial_bcast,
        "linear": by.linear_bcast,
        "ring": lambda p: then(by.binomial_scatter(p), by.ring_allgather(p)),
        "recursive_doubling": lambda p: then(
            by.binomial_scatter(p), by.recursive_doubling_allgather(p)
        ),
    },
    "reduce": {
        "binomial": by.binomial_reduce,
        "linear": by.linear_reduce,
        "recursive_halving": by.recursive_halving_reduce,
    },
    "allreduce": {
        "recursive_doubling": by.recursive_doubling_allreduce,
        "recursive_halving": by.recursive_halving_allreduce,
        "ring": lambda p: then(by.ring_reduce_scatter(p), by.ring_allgather(p)),
        "binomial": lambda p: then(by.binomial_reduce(p), by.binomial_bcast(p)),
        "linear": lambda p: then(by.linear_reduce(p), by.linear_bcast(p)),
    },
    "gather": {"binomial": by.binomial_gather, "linear": by.linear_gather},
    "scatter": {"binomial": by.binomial_scatter, "linear": by.linear_scatter},
    "allgather": {
        "recursive_doubling": by.recursive_doubling_allgather,
        "bruck": by.bruck_allgather,
        "ring": by.ring_allgather,
        "linear": by.linear_allgather,
        "binomial": lambda p: then(by.binomial_gather(p), by.binomial_bcast(p)),
    },
    "reduce_scatter": {
        "recursive_halving": by.recursive_halving_reduce_scatter,
        "pairwise": by.pairwise_reduce_scatter,
        "ring": by.ring_reduce_scatter,
        "linear": by.linear_reduce_scatter,
        "binomial": lambda p: then(by.binomial_reduce(p), by.binomial_scatter(p)),
    },
    "alltoall": {
        "bruck": by.bruck_alltoall,
        "pairwise": by.pairwise_alltoall,
        "linear": by.linear_alltoall,
    },
    "alltoallv": {"pairwise": by.pairwise_alltoall, "linear": by.linear_alltoall},
    "scan": {"recursive_doubling": by.recursive_doubling_scan, "linear": by.linear_scan},
}
"""Collective → algorithm → its messages for a number of ranks and root 0."""

LIKE = {"gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather", "exscan": "scan"}
"""Variants of a collective that take its algorithms."""

KINDS = (*ALGORITHMS_OF, *LIKE)
ROOTED = ("bcast", "reduce", "gather", "scatter", "gatherv", "scatterv")
EACH_TO_EACH: tuple[Any, ...] = (
    *("ring", "pairwise"),
    *(("linear", kind) for kind in ("allgather", "allgatherv", "reduce_scatter")),
)
"""Algorithms, some of one collective only, in which each rank sends as many messages as ranks."""

MOST_MESSAGES = 1 << 26
"""Of one collective."""

BYTES = 1200
"""Of a message, about: until its two operations are part of a graph."""

VECTOR = ("bcast", "reduce", "allreduce", "scan", "exscan")
"""Collectives on one vector, which algorithms may cut into a block for each rank."""


@dataclass(frozen=True)
class Rule(Table):
    """One line of the table of a collective: the first that holds is taken."""

    use: Annotated[Algorithm, Field(description="the algorithm")]
    below: Annotated[
        int | None,
        Quantity(Limits("size", above=True, most=bounds.SIZE), "12 KiB"),
        Field(description="for amounts below this one"),
    ] = None
    ranks: Annotated[Whole, Field(ge=1, description="for at least so many ranks")] = 1
    few: Annotated[Whole | None, Field(ge=1, description="for at most so many ranks")] = None
    power_of_two: Annotated[bool, Field(description="for powers of two only")] = False

    def holds(self, amount: int, ranks: int) -> bool:
        """Return whether the line is for an amount and a number of ranks."""
        return (
            (self.below is None or amount < self.below)
            and ranks >= self.ranks
            and (self.few is None or ranks <= self.few)
            and (not self.power_of_two or ranks & (ranks - 1) == 0)
        )


Rules = Annotated[tuple[Rule, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Collectives(Table):
    """Which algorithm each collective takes; what is left out is MPICH's."""

    barrier: Rules = (Rule("dissemination"),)
    bcast: Rules = (
        Rule("binomial", below=12288),
        Rule("binomial", few=7),
        Rule("recursive_doubling", below=524288, power_of_two=True),
        Rule("ring"),
    )
    reduce: Rules = (Rule("binomial", below=2049), Rule("recursive_halving"))
    allreduce: Rules = (Rule("recursive_doubling", below=2049), Rule("recursive_halving"))
    gather: Rules = (Rule("binomial"),)
    scatter: Rules = (Rule("binomial"),)
    allgather: Rules = (
        Rule("recursive_doubling", below=524288, power_of_two=True),
        Rule("bruck", below=81920),
        Rule("ring"),
    )
    reduce_scatter: Rules = (Rule("recursive_halving", below=524288), Rule("pairwise"))
    alltoall: Rules = (
        Rule("bruck", below=257, ranks=8),
        Rule("linear", below=32769),
        Rule("pairwise"),
    )
    alltoallv: Rules = (Rule("linear"),)
    scan: Rules = (Rule("recursive_doubling"),)
    gatherv: Rules = (Rule("linear"),)
    scatterv: Rules = (Rule("linear"),)
    allgatherv: Rules = allgather
    exscan: Rules = (Rule("recursive_doubling"),)

    def __post_init__(self) -> None:
        for item in fields(self):
            known = ALGORITHMS_OF[LIKE.get(item.name, item.name)]
            for rule in getattr(self, item.name):
                if rule.use not in known:
                    raise ValueError(f"{item.name} knows {', '.join(known)}, not {rule.use!r}")

    def algorithm(self, kind: str, amount: int, ranks: int) -> str:
        """Return the algorithm of a collective; the last one of its table where no line holds."""
        rules: Sequence[Rule] = getattr(self, kind)
        return next((rule.use for rule in rules if rule.holds(amount, ranks)), rules[-1].use)


MPICH = Collectives()


def split(amount: int, parts: int) -> Ints:
    """Return an amount in parts that differ by at most one, the larger ones first."""
    each, more = divmod(amount, parts)
    return each + (np.arange(parts) < more).astype(np.int64)


def schedule(
    kind: str,
    ranks: int,
    size: int | Sequence[Any] = 0,
    *,
    root: int = 0,
    table: Collectives = MPICH,
    algorithm: str | None = None,
) -> Schedule:
    """Return the operations of a collective.

    Args:
        kind: One of `KINDS`.
        ranks: Of its communicator.
        size: Bytes: of the vector (`VECTOR`), or of a block; for those with sizes of their own,
            those of each rank's block, and for ``alltoallv`` a row for each sender. A barrier has
            none: its messages have one byte.
        root: Where there is one.
        table, algorithm: Where the algorithm is looked up; or its name.

    Raises:
        ValueError: If there is no such collective, algorithm of it, or root; or no memory for its
            messages.
    """
    if kind not in KINDS:
        raise ValueError(f"no collective {kind!r}; there are {', '.join(KINDS)}")
    if not 0 <= root < ranks:
        raise ValueError(f"the root of a {kind} must be from 0 to {ranks - 1}, is {root}")
    if kind in ("alltoall", "alltoallv") and ranks * ranks > MOST_MESSAGES:
        raise ValueError(f"an {kind} of {ranks} ranks has more than {MOST_MESSAGES} blocks")
    given = size if isinstance(size, int) else tuple(np.asarray(size).ravel().tolist())
    _, amount = _sizes(kind, ranks, given)
    name = algorithm or table.algorithm(kind, amount, ranks)
    known = ALGORITHMS_OF[LIKE.get(kind, kind)]
    if name not in known:
        raise ValueError(f"{kind} knows {', '.join(known)}, not {name!r}")
    if name in EACH_TO_EACH or (name, kind) in EACH_TO_EACH:
        if ranks * ranks > MOST_MESSAGES:
            what = f"a {kind} by {name} of {ranks} ranks"
            raise ValueError(f"{what}: more than {MOST_MESSAGES} messages")
        try:
            check_memory(f"a {kind} by {name} of {ranks} ranks", BYTES * ranks * ranks)
        except MemoryError as error:
            raise ValueError(str(error)) from None
    return _schedule(kind, ranks, given, root if kind in ROOTED else 0, name)


@lru_cache(maxsize=256)
def _schedule(
    kind: str, ranks: int, size: int | tuple[int, ...], root: int, algorithm: str
) -> Schedule:
    sizes, _ = _sizes(kind, ranks, size)
    schedule = ALGORITHMS_OF[LIKE.get(kind, kind)][algorithm](ranks).rotated(root, ranks)
    return scheduled(schedule, sizes, ranks)


def _sizes(kind: str, ranks: int, size: int | tuple[int, ...]) -> tuple[Ints, int]:
    blocks = ranks * ranks if kind in ("alltoall", "alltoallv") else ranks
    if kind == "barrier":
        return np.eye(1, ranks, dtype=np.int64)[0], 0
    if not isinstance(size, int):
        if len(size) != blocks:
            raise ValueError(f"a {kind} of {ranks} ranks has {blocks} sizes, not {len(size)}")
        sizes = np.array(size, dtype=np.int64)
        return sizes, int(sizes.sum()) if kind != "alltoallv" else int(sizes.max())
    if kind in VECTOR:
        return split(size, ranks), size
    whole = size * ranks if kind in ("allgather", "allgatherv", "reduce_scatter") else size
    return np.full(blocks, size, dtype=np.int64), whole
