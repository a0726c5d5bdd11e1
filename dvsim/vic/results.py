"""What calls of a card return, besides numbers and arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

from dvsim.vic.words import Words


class Attr(NamedTuple):
    """What a card is: `struct vic_attr`."""

    card: int
    cards: int
    sram_words: int
    counters: int
    fifo_words: int
    dma_entries: int
    mode: int  # 0 functional, 1 timed

    @property
    def bounds(self) -> str:
        """What there is, for the text of an error."""
        return (
            f"there are cards 0 .. {self.cards - 1}, SRAM words 0 .. {self.sram_words - 1}, "
            f"counters 0 .. {self.counters - 4} and 61 .. 63"
        )


class Transfer:
    """A DMA transfer in flight; `Card.dma_wait` ends it. Its arrays live until then."""

    def __init__(self, handle: Any, *arrays: Words) -> None:  # noqa: ANN401 - a C pointer
        self.handle = handle
        self.arrays = arrays
