"""The bodies of the messages of an emulated run, and a sum by which to see that all arrived.

A body begins with its number, as many of its eight little-endian bytes as fit; the rest is a
window of a seeded block that moves with the number, so that no two bodies of some size are alike.
The sum of the CRC-32 of all bodies modulo 2^64 does not depend on their order.
"""

from __future__ import annotations

import random
import zlib

BLOCK = 4096  # bytes that the window can move
NUMBER = 8


class Bodies:
    """The bodies of one iteration over TCP, all of `size` bytes; the same for the same seed."""

    def __init__(self, size: int, seed: int) -> None:
        self._number = min(size, NUMBER)
        self._rest = size - self._number
        block = random.Random(seed).randbytes(BLOCK)
        repeated = block * (self._rest // BLOCK + 2)
        self._stream = repeated[: self._rest + BLOCK]

    def body(self, number: int) -> bytes:
        """Return the body of a message."""
        start = number % BLOCK
        head = number.to_bytes(NUMBER, "little")[: self._number]
        return head + self._stream[start : start + self._rest]


class Digest:
    """Count, bytes and sum of the CRC-32 of any number of bodies."""

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self._sum = 0

    def add(self, body: bytes) -> None:
        """Count a body."""
        self.messages += 1
        self.bytes += len(body)
        self._sum += zlib.crc32(body)

    @property
    def hex(self) -> str:
        """The sum of the CRC-32 modulo 2^64: 16 hex digits, the first the most significant."""
        return f"{self._sum % (1 << 64):016x}"
