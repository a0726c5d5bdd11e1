"""A fabric at flow fidelity (models/workload/ports.h): ports of a rate, latencies between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dvsim.core._core import ffi, lib


class Level(NamedTuple):
    """Ways within groups of `reach` ports, and how long the head of a message takes there."""

    reach: int
    latency_ps: int


class Ports:
    """Ports in the C core.

    Args:
        ports: How many.
        byte_fs: What a byte takes at a port, in femtoseconds.
        unit_bytes: Sizes are rounded up to that.
        levels: The nearest first; the last reaches all.
        own_fs: What a byte takes at each port, instead of `byte_fs`.

    Raises:
        ValueError: If the C core refuses the numbers.
        MemoryError: If there is no memory.
    """

    def __init__(
        self,
        ports: int,
        byte_fs: int,
        unit_bytes: int,
        levels: Sequence[Level],
        own_fs: Sequence[int] = (),
    ) -> None:
        fabric = ffi.new("dvsim_fabric *")
        reach, latency = ([level[at] for level in levels] for at in (0, 1))
        shape = ffi.new("dvsim_ports *", (ports, byte_fs, unit_bytes, len(levels), reach, latency))
        own = ffi.new("int64_t[]", list(own_fs)) if own_fs else ffi.NULL
        shape.own_fs = own
        made = lib.dvsim_ports_create(shape, fabric)
        if made == lib.DVSIM_ENOMEM:
            raise MemoryError(f"no memory for {ports:,} ports")
        if made:
            raise ValueError("the fabric refuses its numbers")
        self.native: Any = ffi.gc(fabric, lib.dvsim_ports_free)
