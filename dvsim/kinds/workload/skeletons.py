"""Skeletons of programs: their messages without their data, by the names that ember users know.

Names and parameters are those of SST's ember motifs, ``Halo3D26`` with ``arg.nx`` … as ``halo3d26``
with ``nx`` …; a rank's place is ``x + pex (y + pey z)``. A decomposition of 0 is as near to a cube
as the number of ranks allows. ``gups``, ``incast`` and ``permutation`` are not of ember.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from dvsim.kinds.workload.bulk import Bulk
from dvsim.kinds.workload.check import RECV, SEND
from dvsim.kinds.workload.collectives import MPICH, Collectives, schedule
from dvsim.kinds.workload.graph import Graph
from dvsim.kinds.workload.schedule import Ints
from dvsim.scenario import bounds
from dvsim.scenario.fields import Whole
from dvsim.scenario.spec import Table

PS_PER_NS = 1000
MOST_CELLS = 1 << 20  # in a direction

Many = Annotated[Whole, Field(ge=1, le=bounds.COUNT)]
Bytes = Annotated[Whole, Field(ge=0, le=bounds.MESSAGE)]
Cells = Annotated[Whole, Field(ge=1, le=MOST_CELLS)]
Parts = Annotated[Whole, Field(ge=0, le=1 << 22, description="of ranks; 0: as near to a cube")]
Nanoseconds = Annotated[Whole, Field(ge=0, le=bounds.TIME // PS_PER_NS)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Ranks = Annotated[Whole, Field(ge=1, le=1 << 22)]


@dataclass(frozen=True)
class Skeleton(Table):
    """What all skeletons have: how many ranks, and how often their pattern is repeated."""

    VARIED: ClassVar[bool] = True

    ranks: Ranks
    iterations: Many = 1

    def graph(self, table: Collectives = MPICH) -> Graph:
        """Return the program.

        Args:
            table: Which algorithm each collective takes.

        Raises:
            ValueError: If a decomposition does not fit the number of ranks.
        """
        bulk = Bulk(self.ranks, type(self).__name__.lower())
        bulk.builder.make_room(self.ranks * self.iterations)
        self.lay(bulk, table)
        return bulk.graph()

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add the operations of all iterations."""
        raise NotImplementedError


def decomposed(ranks: int, given: Sequence[int]) -> tuple[int, ...]:
    """Return how many ranks there are in each direction; those given as 0 are chosen.

    Raises:
        ValueError: If their product cannot be the number of ranks.
    """
    fixed = [side for side in given if side]
    remaining, more = divmod(ranks, int(np.prod(fixed, dtype=np.int64)) if fixed else 1)
    free = len(given) - len(fixed)
    if more or remaining < 1 or (free == 0 and remaining != 1):
        wanted = " × ".join(map(str, given))
        raise ValueError(f"a decomposition of {wanted} does not fit {ranks} ranks")
    chosen = iter(_cube(remaining, free))
    return tuple(side or next(chosen) for side in given)


def _cube(ranks: int, directions: int) -> tuple[int, ...]:
    if directions <= 1:
        return (ranks,) * directions
    divisors = [
        divisor
        for divisor in range(1, round(ranks ** (1 / directions)) + 1)
        if ranks % divisor == 0
    ]
    shapes = [(divisor, *_cube(ranks // divisor, directions - 1)) for divisor in divisors]
    return tuple(sorted(min(shapes, key=sum), reverse=True))


def _places(sizes: Sequence[int]) -> list[Ints]:
    rank, coordinates = np.arange(int(np.prod(sizes))), []
    for size in sizes:
        coordinates.append(rank % size)
        rank = rank // size
    return coordinates


def _beside(sizes: Sequence[int], way: Sequence[int]) -> tuple[Ints, Ints]:
    places = _places(sizes)
    there = np.ones(int(np.prod(sizes)), dtype=bool)
    step, far = 1, 0
    for coordinate, size, direction in zip(places, sizes, way, strict=True):
        there &= (coordinate + direction >= 0) & (coordinate + direction < size)
        far += direction * step
        step *= size
    source = np.flatnonzero(there)
    return source, source + far


@dataclass(frozen=True)
class Halo2d(Skeleton):
    """Exchange with up to four neighbours in a plane, all at once."""

    name: Literal["halo2d"] = "halo2d"
    computenano: Nanoseconds = 10
    messagesizex: Bytes = 128
    messagesizey: Bytes = 128
    computecopy: Nanoseconds = 5
    sizex: Parts = 0
    sizey: Parts = 0

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add computation, the exchange, and a copy for each iteration."""
        sizes = decomposed(self.ranks, (self.sizex, self.sizey))
        for _ in bulk.times(self.iterations):
            bulk.compute(self.computenano * PS_PER_NS)
            for tag, way in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
                size = self.messagesizex if way[0] else self.messagesizey
                bulk.messages(*_beside(sizes, way), size, tag)
            bulk.compute(self.computecopy * PS_PER_NS)


@dataclass(frozen=True)
class _Halo(Skeleton):
    nx: Cells = 100
    ny: Cells = 100
    nz: Cells = 100
    pex: Parts = 0
    pey: Parts = 0
    pez: Parts = 0
    fields_per_cell: Many = 1
    datatype_width: Many = 8
    doreduce: Annotated[Literal[0, 1], Field(description="a sum in each iteration")] = 1
    peflops: Rate = 1e10
    flopspercell: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 26
    computetime: Annotated[
        Nanoseconds | None, Field(description="ns; by default that of the flops")
    ] = None
    copytime: Nanoseconds = 5

    @property
    def _sizes(self) -> tuple[int, ...]:
        return decomposed(self.ranks, (self.pex, self.pey, self.pez))

    @property
    def _work(self) -> int:
        if self.computetime is not None:
            return self.computetime * PS_PER_NS
        cells = self.nx * self.ny * self.nz * self.fields_per_cell
        return min(round(cells * self.flopspercell / self.peflops * 1e12), bounds.TIME)

    def _bytes(self, way: Sequence[int]) -> int:
        cells = 1
        for size, direction in zip((self.nx, self.ny, self.nz), way, strict=True):
            cells *= 1 if direction else size
        return cells * self.fields_per_cell * self.datatype_width

    def _reduced(self, bulk: Bulk, table: Collectives) -> None:
        if self.doreduce:
            bulk.collective(schedule("allreduce", self.ranks, 8, table=table))
            bulk.compute()


@dataclass(frozen=True)
class Halo3d(_Halo):
    """Exchange of faces with up to six neighbours, one direction after the other."""

    name: Literal["halo3d"] = "halo3d"

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add computation, three exchanges with copies, and a sum for each iteration."""
        for _ in bulk.times(self.iterations):
            bulk.compute(self._work)
            for direction in range(3):
                for tag, sign in enumerate((-1, 1)):
                    way = [sign if direction == axis else 0 for axis in range(3)]
                    bulk.messages(*_beside(self._sizes, way), self._bytes(way), tag)
                bulk.compute(self.copytime * PS_PER_NS)
            self._reduced(bulk, table)


@dataclass(frozen=True)
class Halo3d26(_Halo):
    """Exchange of faces, edges and corners with up to 26 neighbours, all at once."""

    name: Literal["halo3d26"] = "halo3d26"

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add computation, the exchange with a copy, and a sum for each iteration."""
        ways = [way for way in product((-1, 0, 1), repeat=3) if any(way)]
        beside = [(*_beside(self._sizes, way), self._bytes(way)) for way in ways]
        for _ in bulk.times(self.iterations):
            bulk.compute(self._work)
            for tag, (source, target, size) in enumerate(beside):
                bulk.messages(source, target, size, tag)
            bulk.compute(self.copytime * PS_PER_NS)
            self._reduced(bulk, table)


@dataclass(frozen=True)
class Sweep3d(Skeleton):
    """Wavefronts through a plane of ranks, from each corner, up and down: eight sweeps."""

    name: Literal["sweep3d"] = "sweep3d"
    nx: Cells = 50
    ny: Cells = 50
    nz: Cells = 50
    kba: Cells = 1
    pex: Parts = 0
    pey: Parts = 0
    datatype_width: Many = 8
    fields_per_cell: Many = 8
    flops_per_cell: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 275
    nodeflops: Rate = 1e9
    computetime: Annotated[
        Nanoseconds | None, Field(description="ns for nx · ny cells; by default of the flops")
    ] = None

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add the sweeps: each block of kba layers is received, computed and sent on."""
        if self.nz % self.kba:
            raise ValueError(f"kba must divide nz, {self.nz}; is {self.kba}")
        sizes = decomposed(self.ranks, (self.pex, self.pey))
        layer = self.computetime
        if layer is None:
            flops = self.nx * self.ny * self.flops_per_cell
            layer = min(round(flops / self.nodeflops * 1e9), bounds.TIME // PS_PER_NS)
        cell = self.kba * self.fields_per_cell * self.datatype_width
        work = min(layer * self.kba * PS_PER_NS, bounds.TIME)
        for _ in bulk.times(self.iterations):
            for dx, dy, _ in product((1, -1), (1, -1), range(2 * self.nz // self.kba)):
                self._block(bulk, sizes, ((dx, 0, self.ny * cell), (0, dy, self.nx * cell)), work)

    def _block(
        self, bulk: Bulk, sizes: Sequence[int], ways: Sequence[tuple[int, int, int]], work: int
    ) -> None:
        beside = [(*_beside(sizes, way[:2]), way[2]) for way in ways]
        bulk.compute()
        for tag, (source, target, size) in enumerate(beside):
            bulk.half(RECV, target, source, size, tag)
        bulk.compute(work)
        for tag, (source, target, size) in enumerate(beside):
            bulk.half(SEND, source, target, size, tag)


@dataclass(frozen=True)
class Allreduce(Skeleton):
    """Sums of doubles over all ranks."""

    name: Literal["allreduce"] = "allreduce"
    count: Many = 1
    compute: Nanoseconds = 0

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add computation and a sum for each iteration."""
        for _ in bulk.times(self.iterations):
            bulk.compute(self.compute * PS_PER_NS)
            bulk.collective(schedule("allreduce", self.ranks, 8 * self.count, table=table))
        bulk.compute()


@dataclass(frozen=True)
class Alltoall(Skeleton):
    """Exchanges of all ranks with all."""

    name: Literal["alltoall"] = "alltoall"
    bytes: Bytes = 1
    compute: Nanoseconds = 0

    def lay(self, bulk: Bulk, table: Collectives) -> None:
        """Add computation and an exchange for each iteration."""
        for _ in bulk.times(self.iterations):
            bulk.compute(self.compute * PS_PER_NS)
            bulk.collective(schedule("alltoall", self.ranks, self.bytes, table=table))
        bulk.compute()
