"""An event loop that waits for its card and for a socket, whichever comes first."""

import asyncio
import socket

from dvsim import vic


async def from_card(card: vic.Card) -> None:
    """Print what card 1 puts into word 0."""
    for _ in range(3):
        await card.ready(1 << 0)  # counter 0 reads 0; meanwhile the loop goes on
        print(f"card 1 says {card.read(0, 1)[0]}")
        card.counter_set(0, 1)  # first preset, then let the next one come
        card.put(1, 0, 0, 0)


async def from_socket(reader: asyncio.StreamReader) -> None:
    """Print lines."""
    async for line in reader:
        print(f"the socket says {line.decode().strip()}")


async def main(card: vic.Card) -> None:
    """Wait for both."""
    ours, theirs = socket.socketpair()
    reader, _ = await asyncio.open_connection(sock=ours)
    theirs.sendall(b"hello\nworld\n")
    theirs.close()
    await asyncio.gather(from_card(card), from_socket(reader))


with vic.open() as card:
    card.counter_set(0, 1)
    card.barrier()  # everybody has preset
    if card.number == 0:
        asyncio.run(main(card))
    else:
        for number in range(3):
            card.put(0, 0, number, 0)
            card.counter_wait(0)
            card.counter_set(0, 1)
    card.barrier()
