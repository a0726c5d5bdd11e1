"""Bodies of messages that show what arrives, and what is asked and seen of clients."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dvsim.emulation.alarms import Alarm, Death, Down


# The bodies of the messages of an emulated run, and a sum by which to see that all arrived.
#
# A body begins with its number, as many of its eight little-endian bytes as fit; the rest is a
# window of a seeded block that moves with the number, so that no two bodies of some size are alike.
# The sum of the CRC-32 of all bodies modulo 2^64 does not depend on their order.

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


HEAD = struct.Struct("<Qd")  # of a message: its number, and when it was due


class Asked(NamedTuple):
    """What is sent."""

    # Bytes of each, at least 16; how many at most.
    size: int
    messages: int
    window: int  # that each sender may have unconfirmed
    # Seconds from the beginning at which each message is to be sent; None for as many as the
    # window allows.
    due: Sequence[float] | None = None
    seconds: float = float("inf")  # after which a sender without `due` begins no message any more
    prefetch: int = 1000  # that a receiver may have unacknowledged; 0 for any number
    acknowledge: int = 10  # messages that one acknowledgement is for
    # Its type; copies of a queue, None for as many as the brokers give it.
    queue: str = "quorum"
    copies: int | None = None
    # How many; messages are spread evenly over publishers, and those over queues.
    publishers: int = 1
    queues: int = 1
    balanced: bool = True  # whether every node leads as many queues; otherwise the first leads all
    consumers: int = 1
    # From the seconds since the beginning to those that a receiver takes for a message.
    processing: Callable[[float], float] | None = None
    # Of private nodes.
    deaths: Sequence[Death] = ()
    alarms: Sequence[Alarm] = ()
    away_s: float = 5.0  # seconds until a client connects anew whose connection was lost

    @property
    def victims(self) -> set[int]:
        """The numbers of nodes that die."""
        return {number for death in self.deaths for number in death.victims}


@dataclass
class Seen:
    """What happened to the messages."""

    # Messages of the senders; each is confirmed or refused once.
    published: int = 0
    confirmed: int = 0
    refused: int = 0
    resent: int = 0  # messages that were sent again, as a node died before their confirm
    # Messages that were received, and how often one was received again.
    delivered: int = 0
    again: int = 0
    queued: int = 0  # messages in the queues at the end
    # From the first publish to the last confirm, and to the last message that was received.
    seconds: float = 0.0
    received_s: float = 0.0
    blocked_s: float = 0.0  # seconds in which a node forbade a sender to publish
    # Seconds from the intended time to the receiver.
    latencies: list[float] = field(default_factory=list)
    # Of the log of each node, in the run; empty of queues without one, and of foreign brokers.
    syncs: list[int] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    # Processor seconds of each node, in the run; empty of foreign brokers. Nodes that died count
    # neither these nor syncs.
    busy: list[float] = field(default_factory=list)
    downs: list[Down] = field(default_factory=list)  # nodes that died and are back
