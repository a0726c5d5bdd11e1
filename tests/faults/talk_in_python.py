"""The conversations of talk.c by `dvsim.vic`: what it prints is what talk.c prints on that card.

A call that fails ends it with the kind of error and the text; all else keeps its traceback, also
that of a message which is not as it was sent.
"""

from __future__ import annotations

import os
import sys
from threading import Thread

import numpy as np

from dvsim import vic

WORDS, EACH, BYTES, WINDOW = 48, 3, 900, 512
LENGTHS = {BYTES >> number for number in range(4)}


def by_cards(card: vic.Card, me: int, cards: int) -> str:
    """Put, send by DMA and read back, as counters say."""
    to = (me + 1) % cards
    addr, headers = card.alloc(WORDS), card.alloc(WORDS)
    counter = card.counter_alloc()
    card.counter_set(counter, 2 * WORDS)
    card.barrier()
    words = 1000 * me + np.arange(WORDS, dtype=np.uint64)
    card.put(to, addr, words, counter)
    card.write(headers, vic.header(to, vic.WRITE, addr + np.arange(WORDS), counter))
    card.dma_wait(card.dma_send(headers, words))
    card.counter_wait(counter)
    card.dma_wait(card.dma_read(words, addr))
    card.free(addr)
    card.counter_free(counter)
    return f"card {me}: sum {words.sum()}"


def by_messages(card: vic.Card, me: int, cards: int) -> str:
    """Send to all by a thread, and receive."""
    messages = card.messages(max_bytes=BYTES, window_bytes=WINDOW)

    def send_all() -> None:
        for number in range(EACH * cards):
            messages.send(number % cards, bytes([me]) * (BYTES >> number % 4))
        messages.flush()

    sender = Thread(target=told, args=(send_all,))
    sender.start()
    total = 0
    for _ in range(EACH * cards):
        src, data = messages.recv()
        assert len(data) in LENGTHS and data == bytes([src]) * len(data), "half a message"
        total += len(data) + src
    sender.join()
    card.barrier()
    messages.close()
    return f"card {me}: received {total}"


def by_client(card: vic.Card, me: int, cards: int) -> str:
    """Be a bridge, card 0; or publish to it, and to others by topic until all are known."""
    bridge = me == 0
    client = card.client(
        max_bytes=4 * BYTES, ring_bytes=2 * WINDOW, window_messages=4, window_bytes=4 * BYTES,
        bridge=bridge,
    )  # fmt: skip
    total = 0
    if bridge:
        for _ in range(EACH * (cards - 1)):
            delivery = client.recv()
            assert delivery.body in {b"\1" * length for length in LENGTHS}, "half a message"
            total += len(delivery.body) + len(delivery.key) + delivery.src
            client.ack(delivery)
    else:
        client.bind("news.#")
        for number in range(EACH):
            client.publish(0, "some.key", b"\1" * (BYTES >> number))
        client.flush()
        while client.topic("news.hello") < cards - 1:
            drain(client)
    card.barrier()
    client.close()
    return f"card {me}: sum {total}" if bridge else ""


def drain(client: vic.Client) -> None:
    """Receive what is there."""
    try:
        while True:
            client.recv(0.0001)
    except vic.TimedOut:
        return


def told(talk: object, *arguments: object) -> None:
    """Run a function; end the process, whichever thread it is, if a call fails."""
    try:
        talk(*arguments)
    except vic.VicError as error:
        os.write(2, f"talk: {type(error).__name__}: {error}\n".encode())
        os._exit(1)


def main(what: str) -> None:
    """Talk as one card, and print one line."""
    card = vic.open()
    attr = card.query_attr()
    talk = {"cards": by_cards, "messages": by_messages, "client": by_client}[what]
    line = talk(card, attr.card, attr.cards)
    card.close()
    if line:
        print(line)


if __name__ == "__main__":
    told(main, sys.argv[1])
