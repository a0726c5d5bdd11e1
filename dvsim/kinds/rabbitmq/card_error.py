"""How far the flow law of a card is from the same card word by word, measured on one burst."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dvsim.core import VortexCard, Window, WordArrival, WordCard
from dvsim.scenario.types import Card, slot_of
from dvsim.scenario.word_card import beyond_words

MOST_WORDS = 1 << 17  # of the burst: some milliseconds of this machine
MOST_ROOM = 1 << 40  # words; a ring that is never full


def flow_error(card: Card, message_bytes: int, messages: int) -> float | None:
    """Return how far the flow is from the card word by word, as a share of the time of a burst.

    The burst comes at the full rate of the port, and the ring always has room. None if the card
    cannot be simulated word by word, or one message has more than `MOST_WORDS` words.

    Args:
        card: Of kind "vortex".
        message_bytes: Size of a message.
        messages: Of the burst; as many as have `MOST_WORDS` words, if it is more.
    """
    if beyond_words(card) is not None:
        return None
    return _flow_error(_Asked(card), message_bytes, messages)


class _Asked:
    def __init__(self, card: Card) -> None:
        self.card = card
        self._key = tuple((name, item.value) for name, item in sorted(card.parameters.items()))

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and other._key == self._key


@lru_cache(maxsize=64)
def _flow_error(asked: _Asked, message_bytes: int, messages: int) -> float | None:
    card = asked.card
    by_words = WordCard(card, message_bytes, 1)
    messages = min(messages, MOST_WORDS // by_words.words)
    if messages < 1:
        return None
    slots = np.arange(messages * by_words.words, dtype=np.int64) // card["planes"]
    arrival = WordArrival(slots, 1, slot_of(card), 0)
    exact, _ = by_words.take(arrival, messages, Window(MOST_ROOM, 0, 0))
    flow = VortexCard(card, message_bytes).receive(arrival.flow, messages)
    return abs(flow.last_ps - exact.last_ps) / exact.last_ps
