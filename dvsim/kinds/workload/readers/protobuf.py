"""Protocol buffers on the wire: the fields of a message, without its schema.

The package ``protobuf`` would need code that is generated for each of its versions; what a trace
needs of the format is this page of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from dvsim.kinds.workload.readers.text import refuse

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5

Value = int | bytes


class Wire:
    """Bytes of messages with the place that has been read."""

    def __init__(self, data: bytes, path: Path, begin: int = 0) -> None:
        self.data, self.path, self.begin = data, path, begin
        self.at = 0

    def varint(self) -> int:
        """Take a number of which each byte has seven bits."""
        found = shift = 0
        while True:
            if self.at >= len(self.data) or shift > 63:
                self.refuse()
            byte = self.data[self.at]
            self.at += 1
            found |= (byte & 0x7F) << shift
            if byte < 0x80:
                return found & ((1 << 64) - 1)
            shift += 7

    def take(self, count: int) -> bytes:
        """Take some bytes."""
        end = self.at + count
        if end > len(self.data):
            self.refuse()
        data = self.data[self.at : end]
        self.at = end
        return data

    def refuse(self) -> None:
        """Raise that a message ends too early.

        Raises:
            ScenarioError: Always, with the byte.
        """
        refuse(
            self.path, None, f"is truncated or no protocol buffer, at byte {self.begin + self.at}"
        )

    def messages(self) -> Iterator[Wire]:
        """Yield messages that each follow their length."""
        while self.at < len(self.data):
            length = self.varint()
            begin = self.begin + self.at
            yield Wire(self.take(length), self.path, begin)

    def fields(self) -> Iterator[tuple[int, Value]]:
        """Yield the fields of a message: the number of each and its value."""
        while self.at < len(self.data):
            tag = self.varint()
            kind, number = tag & 7, tag >> 3
            if kind == VARINT:
                yield number, self.varint()
            elif kind == FIXED64:
                yield number, self.take(8)
            elif kind == BYTES:
                yield number, self.take(self.varint())
            elif kind == FIXED32:
                yield number, self.take(4)
            else:
                self.refuse()


def numbers(value: Value, path: Path) -> list[int]:
    """Return the numbers of a field that may be repeated: one, or all of a packed list."""
    if isinstance(value, int):
        return [value]
    wire, found = Wire(value, path), []
    while wire.at < len(value):
        found.append(wire.varint())
    return found


def signed(value: int) -> int:
    """Return a number of 64 bits with its sign."""
    return value - (1 << 64) if value >> 63 else value


def zigzag(value: int) -> int:
    """Return a number whose sign is its lowest bit."""
    return (value >> 1) ^ -(value & 1)


def real(value: bytes) -> float:
    """Return a floating-point number of four or eight bytes."""
    found: float = struct.unpack("<f" if len(value) == 4 else "<d", value)[0]
    return found
