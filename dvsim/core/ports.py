"""A Data Vortex at flow fidelity (models/workload/ports.h): cards, ports, ways between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dvsim.core._core import ffi, lib
from dvsim.core.card import native_card_params

if TYPE_CHECKING:
    from dvsim.scenario.types import Card

LATEST = (1 << 61) - 1  # DVSIM_LATEST


class Level(NamedTuple):
    """Ways of a level, as models/workload/ports.h has it."""

    reach: int
    below: int
    bits: int
    way_ps: int
    draws: int


class Ports:
    """Cards and ports in the C core.

    Args:
        ports, planes, slot_ps: How many, and how long a slot is.
        levels: The nearest first; the last reaches all.
        card: Of kind ``vortex``: what PIO, DMA and looks cost.
        word_fs: What a word takes at a port, in femtoseconds; 0: a slot for a word on each plane.
        extra_ps: What all of a card and PCIe adds to a message, instead of what `card` says.
        slower: Factor on the time of DMA transfers, at least 1.
        in_sram: Messages stay in the card, and are there when the host can see their counter.
        slow: Factor on the time of PIO and DMA, of some ports.
        cuts: Cables that are dead, each a port and a plane.

    Raises:
        ValueError: If the C core refuses the numbers.
        MemoryError: If there is no memory.
    """

    def __init__(
        self,
        ports: int,
        planes: int,
        slot_ps: int,
        levels: Sequence[Level],
        card: Card,
        *,
        word_fs: int = 0,
        extra_ps: int | None = None,
        slower: float = 1.0,
        in_sram: bool = False,
        slow: Mapping[int, float] | None = None,
        cuts: Sequence[tuple[int, int]] = (),
    ) -> None:
        fabric, shape = ffi.new("dvsim_fabric *"), ffi.new("dvsim_ports *")
        shape.ports, shape.planes, shape.slot_ps = ports, planes, slot_ps
        shape.word_fs, shape.levels = word_fs, len(levels)
        shape.level = list(levels)
        own = native_card_params(card)
        shape.piece_words, shape.lands_in_sram = own.piece_words, in_sram
        own.pcie.engine_fs = round(own.pcie.engine_fs * slower)
        if (
            extra_ps is not None
        ):  # a card that takes a word as it comes, and is seen as late as that
            own.pcie.store_fs = own.pcie.pop_ps = own.pcie.crossing_ps = 0
            own.pcie.look_ps, shape.lands_in_sram = min(extra_ps, LATEST), True
        cards = ffi.new("dvsim_pcie[]", [own.pcie] * ports)
        for port, factor in (slow or {}).items():
            cards[port].store_fs = int(cards[port].store_fs * factor)
            cards[port].engine_fs = int(cards[port].engine_fs * factor)
        shape.pcie = cards
        cables = ffi.new("dvsim_cable[]", list(cuts))
        shape.cuts, shape.cut_count = cables, len(cuts)
        made = lib.dvsim_ports_create(shape, fabric)
        if made == lib.DVSIM_ENOMEM:
            raise MemoryError(f"no memory for {ports:,} ports")
        if made:
            raise ValueError("the fabric refuses its numbers")
        self.native: Any = ffi.gc(fabric, lib.dvsim_ports_free)
