"""The Vortex Interface Card at flow fidelity (models/card/card.h)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dvsim.core._core import ffi, lib

if TYPE_CHECKING:
    from dvsim.scenario.types import Card

FS_PER_S = 10**15
ENTRY_WORDS = 2  # of the DMA table, as models/host/pcie.c has it
SLOWEST = 10**9  # times; a message then takes what no run has time for


def words_of(message_bytes: int) -> int:
    """Return the 64-bit words of a message; an empty one has one, too."""
    return int(lib.dvsim_words(message_bytes))


class Arrival(NamedTuple):
    """A burst as the fabric delivers it to a card's SRAM; all times in picoseconds."""

    sent_ps: int
    first_ps: int
    last_ps: int


class Burst(NamedTuple):
    """A burst on its way from a card's SRAM to node memory; all times in picoseconds."""

    first_ps: int
    last_ps: int
    sent_ps: int
    held_ps: int


def native_card_params(card: Card) -> Any:  # noqa: ANN401 - a C struct
    """Return the C struct of a model card of kind "vortex"."""
    params = ffi.new("dvsim_card_params *")
    params.sram_bytes = card["sram"]
    for name in ("group_counters", "fifo_words", "dma_entries", "piece_words"):
        setattr(params, name, card[name])
    params.vic_to_dram.fixed_ps = card["vic_to_dram"].fixed_ps
    params.vic_to_dram.per_byte_fs = card["vic_to_dram"].per_byte_fs
    pcie = params.pcie
    pcie.crossing_ps, pcie.load_ps = card["pio_write"], card["pio_read"]
    pcie.store_fs, pcie.engine_fs = (
        round(FS_PER_S / card[name]) for name in ("pio_rate", "pcie_rate")
    )
    pcie.look_ps, pcie.pop_ps = card["poll_mirror"], card["fifo_pop"]
    pcie.setup_ps = card["dma_setup"]
    return params


def pace_ppm(factor: float) -> int:
    """Return a pace as the C core has it."""
    return round(1e6 * min(factor, SLOWEST))


class Pcie:
    """What it takes a host to reach its card (models/host/pcie.h); all times in picoseconds.

    Args:
        card: A model card of kind "vortex".
    """

    def __init__(self, card: Card) -> None:
        self._params = native_card_params(card)
        self._pcie = ffi.addressof(self._params, "pcie")

    def store(self, words: int) -> int:
        """Return how long stores of so many words keep the processor."""
        return int(lib.dvsim_pcie_store_ps(self._pcie, words))

    def put(self, words: int) -> int:
        """Return how long vic_put takes: stores, or a transfer until all has been fetched."""
        if lib.dvsim_pcie_engine_is_faster(self._pcie, words):
            return self._seen(lib.dvsim_pcie_transfer_ps(self._pcie, words))
        return self.store(2 * words)

    def read(self, *runs: int) -> int:
        """Return how long it takes to read runs of words; a word alone is read by itself."""
        clock = moved = 0
        for words in runs:
            if words == 1:
                clock += self._pcie.load_ps
            elif words > 1:
                clock += self.store(ENTRY_WORDS)
                engine = int(lib.dvsim_pcie_engine_ps(self._pcie, words, 1))
                begin = max(clock + self._pcie.crossing_ps, moved)
                moved = begin + self._pcie.setup_ps + engine
        return self._seen(max(clock, moved + self._pcie.crossing_ps)) if moved else clock

    def _seen(self, done_ps: int) -> int:
        return int(lib.dvsim_pcie_look_from(self._pcie, self.store(ENTRY_WORDS), done_ps))


class VortexCard:
    """One card that carries messages of one size.

    Args:
        card: A model card of kind "vortex".
        message_bytes: Size of every message, in bytes.

    Raises:
        ValueError: If the C core refuses the parameters (models/card/card.h names the ranges).
    """

    def __init__(self, card: Card, message_bytes: int) -> None:
        self._card = ffi.new("dvsim_card *")
        if lib.dvsim_card_init(self._card, native_card_params(card), message_bytes):
            raise ValueError(f"the card refuses its parameters for messages of {message_bytes} B")
        self._burst = ffi.new("dvsim_burst *")
        self.words = int(lib.dvsim_card_words(self._card))
        self.pieces = int(lib.dvsim_card_pieces(self._card))

    @property
    def messages(self) -> int:
        """Messages moved into node memory so far."""
        return int(self._counts.messages)

    @property
    def sram_peak_bytes(self) -> int:
        """Most that the SRAM held so far, in bytes."""
        return int(self._card.sram_peak_bytes)

    @property
    def dma_busy_ps(self) -> int:
        """Time for which the DMA engine moved words, in picoseconds."""
        return int(self._counts.dma_busy_ps)

    @property
    def port_busy_ps(self) -> int:
        """Time in which words came in from the fabric, in picoseconds."""
        return int(self._counts.port_busy_ps)

    def set_pace(self, factor: float) -> None:
        """Set how long the software takes for a message from the next burst on.

        Args:
            factor: Of the fixed part of ``vic_to_dram``; what a byte costs stays.

        Raises:
            ValueError: If it is below zero.
        """
        if lib.dvsim_card_pace(self._card, pace_ppm(factor)):
            raise ValueError(f"a message cannot take {factor:g} times vic_to_dram")

    def moved_in(self, ps: int) -> int:
        """Return how many messages, at least one, get from SRAM to node memory in so many ps."""
        return int(lib.dvsim_card_moved_in(self._card, ps))

    def move_ps(self, messages: int) -> int:
        """Return how long `messages` take from SRAM to node memory, in picoseconds."""
        return int(lib.dvsim_card_move_ps(self._card, messages))

    def receive(self, arrival: Arrival, messages: int) -> Burst:
        """Let a burst that comes out of the fabric flow into node memory.

        Raises:
            ValueError: If a message is larger than the SRAM, or there is no message.
        """
        if lib.dvsim_card_receive(self._card, arrival, messages, self._burst):
            raise ValueError(f"the card cannot receive {messages} messages: larger than its SRAM?")
        burst = self._burst
        return Burst(burst.first_ps, burst.last_ps, burst.sent_ps, burst.held_ps)

    def counted(self, moved: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return how many of `moved` pieces (cumulative, any shape) the group counters show."""
        shown = np.ascontiguousarray(moved, dtype=np.int64).copy()
        pointer = ffi.cast("int64_t *", shown.ctypes.data)
        lib.dvsim_card_counted_many(self._card, pointer, shown.size)
        return shown

    def push_credit(self, now_ps: int = 0) -> None:
        """Put one control word into the surprise FIFO, word by word into that of the sender's card.

        Raises:
            RuntimeError: If it is full.
        """
        if self._push(now_ps):
            raise RuntimeError("a credit was sent to a surprise FIFO that is full")

    def pop_credit(self) -> None:
        """Take one control word out of the surprise FIFO.

        Raises:
            RuntimeError: If it is empty.
        """
        if self._pop():
            raise RuntimeError("a credit was taken from a surprise FIFO that is empty")

    @property
    def _counts(self) -> Any:  # noqa: ANN401 - a C struct
        return self._card

    def _push(self, now_ps: int) -> int:
        return int(lib.dvsim_card_fifo_push(self._card))

    def _pop(self) -> int:
        return int(lib.dvsim_card_fifo_pop(self._card))
