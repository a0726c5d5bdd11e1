"""A node that receives messages word by word (models/host/receiver.h): card, mirror and ring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dvsim.core._core import ffi, lib
from dvsim.core.arrays import Ints
from dvsim.core.card import Arrival, Burst, VortexCard, native_card_params, pace_ppm
from dvsim.core.host import DramRing, Window

if TYPE_CHECKING:
    from dvsim.scenario.types import Card


class WordArrival(NamedTuple):
    """A burst as the fabric delivers it, word by word.

    Word k comes out at the end of slot ``slots[k]``, and slot s ends at ``(s + ahead) * slot_ps``
    picoseconds; the first word was sent at `sent_ps`.
    """

    slots: Ints
    ahead: int
    slot_ps: int
    sent_ps: int

    @property
    def flow(self) -> Arrival:
        """The same as a linear flow."""
        first, last = (
            (int(slot) + self.ahead) * self.slot_ps for slot in (self.slots.min(), self.slots.max())
        )
        return Arrival(self.sent_ps, first, last)


class WordCard(VortexCard):
    """One card and the node behind it, for messages of one size, word by word.

    Args:
        card: A model card of kind "vortex".
        message_bytes: Size of every message, in bytes.
        buffers: Buffers of the DRAM ring.

    Raises:
        ValueError: If the C core refuses the parameters (models/host/receiver.h names the ranges).
    """

    def __init__(self, card: Card, message_bytes: int, buffers: int) -> None:
        super().__init__(card, message_bytes)
        receiver = lib.dvsim_receiver_create(native_card_params(card), message_bytes, buffers)
        if receiver == ffi.NULL:
            raise ValueError(
                f"the card cannot receive messages of {message_bytes} B word by word: larger than "
                "its SRAM?"
            )
        self._receiver = ffi.gc(receiver, lib.dvsim_receiver_free, card["sram"])

    @property
    def sram_peak_bytes(self) -> int:
        """Most that the SRAM held so far, in bytes."""
        return 8 * int(self._counts.sram_peak_words)

    @property
    def held_counters_ps(self) -> int:
        """Time for which words were held back until a counter was preset, in picoseconds."""
        return int(self._counts.held_counters_ps)

    @property
    def held_ring_ps(self) -> int:
        """Time for which the DMA engine was held back by a full ring, in picoseconds."""
        return int(self._counts.held_ring_ps)

    @property
    def loadings(self) -> int:
        """How often the DMA table was loaded."""
        return int(self._counts.loadings)

    @property
    def ring_words(self) -> tuple[int, int, int]:
        """Words that came into the ring, that have left it, and that are in it."""
        counts = lib.dvsim_receiver_ring(self._receiver)
        return int(counts.filled), int(counts.drained), int(counts.held)

    @property
    def ring_peak_words(self) -> int:
        """Most words that a buffer of the ring held so far."""
        return int(lib.dvsim_receiver_ring(self._receiver).peak)

    def set_pace(self, factor: float) -> None:
        """See `VortexCard.set_pace`; word by word, too."""
        super().set_pace(factor)
        lib.dvsim_receiver_pace(self._receiver, pace_ppm(factor))

    def take(self, arrival: WordArrival, messages: int, window: Window) -> tuple[Burst, Ints]:
        """Let a burst that comes out of the fabric go into a buffer of the ring.

        Returns:
            tuple: The burst, and when each of its pieces was in node memory, in ps, ascending.

        Raises:
            ValueError: If the burst is out of range.
            RuntimeError: If no buffer is free, the ring never has room, or a word is not what was
                sent.
            MemoryError: If there is no memory for so many words.
        """
        pieces, burst = np.empty(messages * self.pieces, dtype=np.int64), ffi.new("dvsim_burst *")
        slots = np.ascontiguousarray(arrival.slots, dtype=np.int64)
        if len(slots) != messages * self.words:
            raise ValueError(f"{len(slots)} words are not {messages} messages")
        native = (
            ffi.cast("int64_t *", slots.ctypes.data),
            arrival.ahead,
            arrival.slot_ps,
            arrival.sent_ps,
        )
        code = lib.dvsim_receiver_take(
            self._receiver,
            ffi.new("dvsim_arrival_words *", native),
            messages,
            ffi.new("dvsim_window *", (*window, self.words)),
            ffi.cast("int64_t *", pieces.ctypes.data),
            burst,
        )
        if code == lib.DVSIM_EINVAL:
            raise ValueError(f"the card cannot receive {messages} messages word by word")
        if code == lib.DVSIM_ENOMEM:
            raise MemoryError(f"no memory for a burst of {len(slots):,} words")
        if code:
            raise RuntimeError("a burst has no buffer, no room, or a word that was not sent")
        return Burst(burst.first_ps, burst.last_ps, burst.sent_ps, burst.held_ps), pieces

    def release(self) -> int:
        """Give the oldest buffer of the ring to the threads; return its messages.

        Raises:
            RuntimeError: If no buffer is in use.
        """
        messages = int(lib.dvsim_receiver_release(self._receiver))
        if messages < 0:
            raise RuntimeError("the bridge drained a buffer of a ring that has none in use")
        return messages

    def balanced(self) -> bool:
        """Return whether every word that came is in the ring or has left it, unchanged."""
        return bool(lib.dvsim_receiver_check(self._receiver))

    @property
    def _counts(self) -> Any:  # noqa: ANN401 - a C struct
        return lib.dvsim_receiver_counts_now(self._receiver)

    def _push(self, now_ps: int) -> int:
        return int(lib.dvsim_receiver_push(self._receiver, now_ps))

    def _pop(self) -> int:
        return int(lib.dvsim_receiver_pop(self._receiver))


class WordRing(DramRing):
    """The ring of a `WordCard`: how many messages it takes as `DramRing`, their words in the card.

    Args:
        card: Whose ring it is.
        buffer_bytes, buffers, threads: As of `DramRing`.
    """

    def __init__(self, card: WordCard, buffer_bytes: int, buffers: int, threads: int) -> None:
        super().__init__(buffer_bytes, buffers, threads, card.words)
        self._card = card

    def drain(self, messages: int) -> None:
        """See `DramRing.drain`; the words of the oldest buffer leave with them."""
        super().drain(messages)
        released = self._card.release()
        if released != messages:
            raise RuntimeError(f"a buffer of {released} messages was drained of {messages}")

    def balanced(self) -> bool:
        """Return whether messages and words filled equal those drained plus those held."""
        held = self._card.ring_words[2]
        return super().balanced() and self._card.balanced() and held <= self.held * self._card.words
