"""Skeletons of transposes and of traffic without neighbours: `fft3d`, `gups`, `incast` and more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from pydantic import Field

from dvsim.kinds.workload.bulk import Bulk
from dvsim.kinds.workload.collectives import Collectives, schedule
from dvsim.kinds.workload.skeletons import (
    PS_PER_NS,
    Allreduce,
    Alltoall,
    Bytes,
    Cells,
    Halo2d,
    Halo3d,
    Halo3d26,
    Many,
    Nanoseconds,
    Skeleton,
    Sweep3d,
)
from dvsim.kinds.workload.team import Team
from dvsim.scenario import bounds
from dvsim.scenario.fields import Whole

WORD = 8
COMPLEX = 16  # bytes

Cost = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seed = Annotated[Whole, Field(ge=0, le=bounds.SEED)]


@dataclass(frozen=True)
class Fft3d(Skeleton):
    """A transform there and back, of pencils: all-to-alls in rows, then in columns of ranks."""

    name: Literal["fft3d"] = "fft3d"
    nx: Cells = 100
    ny: Cells = 100
    nz: Cells = 100
    npRow: Annotated[Whole, Field(ge=0, description="0: near a square")] = 0  # noqa: N815 - ember's
    nsPerElement: Cost = 1  # noqa: N815 - ember's
    fwd_fft1: Cost = 1
    fwd_fft2: Cost = 1
    fwd_fft3: Cost = 1
    bwd_fft1: Cost = 1
    bwd_fft2: Cost = 1
    bwd_fft3: Cost = 1

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add three transforms with two transposes between them, there and back."""
        rows = self.npRow or max(
            divisor for divisor in range(1, int(self.ranks**0.5) + 1) if self.ranks % divisor == 0
        )
        columns, more = divmod(self.ranks, rows)
        if more:
            raise ValueError(f"npRow must divide the {self.ranks} ranks, is {self.npRow}")
        cells = self.nx * self.ny * self.nz // self.ranks
        grid = np.arange(self.ranks).reshape(columns, rows)
        ways = (
            (self.fwd_fft1, self.fwd_fft2, self.fwd_fft3),
            (self.bwd_fft1, self.bwd_fft2, self.bwd_fft3),
        )
        for _ in bulk.times(self.iterations):
            for costs, first in zip(ways, (grid, grid.T), strict=True):
                for cost, groups in zip(costs, (first, first.T, None), strict=True):
                    time = round(cells * self.nsPerElement * cost * PS_PER_NS)
                    bulk.compute(min(time, bounds.TIME))
                    if groups is not None:
                        block = cells * COMPLEX // groups.shape[1]
                        given = schedule("alltoall", groups.shape[1], block, table=table)
                        for members in groups:
                            bulk.collective(given, members)
        bulk.compute()


@dataclass(frozen=True)
class Gups(Skeleton):
    """Updates of random words of a table over all ranks, some in a message, some messages at once.

    `updates` are of each rank and iteration; `aggregate` words are in a message, `window` messages
    under way at once. A word carries its place in the table, too.
    """

    name: Literal["gups"] = "gups"
    updates: Many = 1024
    aggregate: Many = 1
    window: Many = 64
    compute: Nanoseconds = 0
    seed: Seed = 1

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add windows of messages to random ranks."""
        draw = np.random.default_rng(self.seed)
        many = -(-self.updates // self.aggregate)
        for _ in bulk.times(self.iterations):
            for begin in range(0, many, self.window):
                count = min(self.window, many - begin)
                bulk.compute(self.compute * PS_PER_NS)
                if self.ranks > 1:
                    source = np.repeat(bulk.all, count)
                    far = draw.integers(1, self.ranks, source.size)
                    bulk.messages(source, (source + far) % self.ranks, 2 * WORD * self.aggregate)
        bulk.compute()


@dataclass(frozen=True)
class Incast(Skeleton):
    """All ranks send to one at once."""

    name: Literal["incast"] = "incast"
    bytes: Bytes = 4096
    root: Annotated[Whole, Field(ge=0)] = 0
    compute: Nanoseconds = 0

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add computation and the messages of each iteration."""
        if self.root >= self.ranks:
            raise ValueError(f"root must be from 0 to {self.ranks - 1}, is {self.root}")
        for _ in bulk.times(self.iterations):
            bulk.compute(self.compute * PS_PER_NS)
            others = bulk.all[bulk.all != self.root]
            bulk.messages(others, self.root, self.bytes)
        bulk.compute()


@dataclass(frozen=True)
class Permutation(Skeleton):
    """Each rank sends to one other, the one `shift` ranks on, or without it a random one."""

    name: Literal["permutation"] = "permutation"
    bytes: Bytes = 4096
    shift: Annotated[Whole | None, Field(ge=1)] = None
    compute: Nanoseconds = 0
    seed: Seed = 1

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add computation and the messages of each iteration."""
        draw = np.random.default_rng(self.seed)
        for _ in bulk.times(self.iterations):
            bulk.compute(self.compute * PS_PER_NS)
            target = (
                draw.permutation(self.ranks)
                if self.shift is None
                else (bulk.all + self.shift) % self.ranks
            )
            is_other = target != bulk.all
            bulk.messages(bulk.all[is_other], target[is_other], self.bytes)
        bulk.compute()


AnySkeleton = Annotated[
    Halo2d | Halo3d | Halo3d26 | Sweep3d | Allreduce | Alltoall | Fft3d | Gups | Incast
    | Permutation | Team,
    Field(discriminator="name"),
]  # fmt: skip
"""A table ``[skeleton]``: its key `name` says which it is."""

SKELETONS: dict[str, type[Skeleton]] = {
    skeleton.__name__.lower(): skeleton for skeleton in get_args(get_args(AnySkeleton)[0])
}
"""Skeletons by name."""
