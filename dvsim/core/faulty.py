"""A fabric whose ports lose words, or carry nothing (models/workload/faulty.h)."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, NamedTuple

from dvsim.core._core import ffi, lib
from dvsim.core.replay import Fabric


class FaultyCounts(NamedTuple):
    """Messages to or from dead ports, words that were lost, and messages sent again."""

    dropped: int
    lost: int
    repeated: int


class Faulty:
    """Faults of ports around another fabric.

    Args:
        inner: What carries the messages.
        ports: How many it has.
        dead: Ports that take messages and pass on none.
        chance: That a word is lost, of some ports; at most 0.5.
        again_ps: From a loss until it is sent again.
        seed: Of the chances.

    Raises:
        ValueError: If the core refuses the numbers.
    """

    def __init__(
        self,
        inner: Fabric,
        ports: int,
        dead: Set[int],
        chance: Mapping[int, float],
        again_ps: int,
        seed: int,
    ) -> None:
        fabric = ffi.new("dvsim_fabric *")
        self._inner = inner
        gone = ffi.new("uint8_t[]", [port in dead for port in range(ports)])
        chances = ffi.new("double[]", [chance.get(port, 0.0) for port in range(ports)])
        given = (inner.native, ports, gone, chances, again_ps, seed)
        made = lib.dvsim_faulty_create(ffi.new("dvsim_faults *", given), fabric)
        if made == lib.DVSIM_ENOMEM:
            raise MemoryError(f"no memory for the faults of {ports:,} ports")
        if made:
            raise ValueError("the core refuses the faults")
        self.native: Any = ffi.gc(fabric, lib.dvsim_faulty_free)

    @property
    def counts(self) -> FaultyCounts:
        """What was lost so far."""
        counts = lib.dvsim_faulty_counts_now(self.native)
        return FaultyCounts(counts.dropped, counts.lost, counts.repeated)
