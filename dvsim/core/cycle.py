"""A Data Vortex as the fabric of a replay (models/workload/cycle.h)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dvsim.core._core import ffi, lib
from dvsim.core.arrays import check_memory
from dvsim.core.card import native_card_params
from dvsim.core.network import NetworkParams, native_network_params, network_bytes

if TYPE_CHECKING:
    from dvsim.scenario.types import Card


class CycleCore:
    """Cards and a network that carry messages word by word.

    Args:
        params: Checked parameters of the network; its injection is that of bursts, whatever they
            say.
        slot_ps: How long a slot is.
        card: Of kind ``vortex``: what PIO, DMA and looks cost.
        slower: Factor on the time of DMA transfers, at least 1: a fault of the cards.
        slow: Factor on the time of PIO and DMA, of some ports.
        cuts: Cables that are dead, each a port and a plane.
        links: Cables between switches that are dead: level, switch, up link of it, plane.
        in_sram: Messages stay in the card, and are there when the host can see their counter.

    Raises:
        MemoryError: If it does not fit in memory.
        ValueError: If the core refuses the parameters.
    """

    def __init__(
        self,
        params: NetworkParams,
        slot_ps: int,
        card: Card,
        slower: float = 1.0,
        slow: Mapping[int, float] | None = None,
        cuts: Sequence[tuple[int, int]] = (),
        links: Sequence[tuple[int, int, int, int]] = (),
        in_sram: bool = False,
    ) -> None:
        check_memory("the network", 2 * network_bytes(params))
        network, alive = native_network_params(params)
        native = ffi.new("dvsim_cycle_params *")
        native.network, native.slot_ps = network[0], slot_ps
        own = native_card_params(card)
        native.pcie, native.piece_words = own.pcie, own.piece_words
        native.lands_in_sram = in_sram
        native.pcie.engine_fs = round(native.pcie.engine_fs * slower)
        cables = ffi.new("dvsim_cable[]", list(cuts))
        native.cuts, native.cut_count = cables, len(cuts)
        between = ffi.new("dvsim_dead_link[]", list(links))
        native.links, native.link_count = between, len(links)
        if slow:
            factors = ffi.new("double[]", [slow.get(port, 1.0) for port in range(params.ports)])
            native.slow = factors
        cycle = lib.dvsim_cycle_create(native)
        del alive
        if cycle == ffi.NULL:
            raise ValueError("the core refuses the parameters of cards or network")
        self._cycle = ffi.gc(cycle, lib.dvsim_cycle_free)

    @property
    def native(self) -> Any:  # noqa: ANN401 - a C pointer
        """The table of functions; it lives as long as the object."""
        return lib.dvsim_cycle_fabric(self._cycle)

    def ways(self, source: int, to: int) -> int:
        """Return by how many planes words go from one port to another."""
        return int(lib.dvsim_cycle_ways(self._cycle, source, to))
