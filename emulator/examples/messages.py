"""Messages between cards, in asyncio: card 0 counts the words of texts for the others.

dvsim emulate -n 4 -- python messages.py [TEXTS]
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter

import numpy as np

from dvsim import vic

TEXTS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
WORDS = ["slot", "cylinder", "ring", "counter", "packet"]


def text_of(card: int, number: int) -> str:
    """Return a text of up to some hundred kilobytes."""
    random = np.random.default_rng([card, number])
    return " ".join(random.choice(WORDS, size=int(random.integers(50_000))))


async def serve(messages: vic.Messages, texts: int) -> None:
    """Answer each text; the loop is free for other tasks while there is none."""
    async for src, data in messages:
        counts = Counter(data.decode().split())
        messages.send(src, json.dumps(counts, sort_keys=True).encode())
        texts -= 1
        if texts == 0:
            return


def ask(messages: vic.Messages, card: int) -> None:
    """Send all texts, then take the answers: they come in the order of the questions."""
    texts = [text_of(card, number) for number in range(TEXTS)]
    for text in texts:
        messages.send(0, text.encode())
    for text in texts:
        _, answer = messages.recv(timeout=60)
        if json.loads(answer) != Counter(text.split()):
            sys.exit(f"messages: card {card} got a wrong answer")


with vic.open() as card, card.messages(ordered=True) as messages:
    me, cards, *_ = card.query_attr()
    if me == 0:
        asyncio.run(serve(messages, TEXTS * (cards - 1)) if cards > 1 else asyncio.sleep(0))
        messages.flush()
        print(f"messages: ok, {TEXTS * (cards - 1)} texts")
    else:
        ask(messages, me)
    card.barrier()
