"""Drains the queue of a receiver and accounts for every message that was sent to it.

The paper confirmed an iteration by the number of messages. Here bytes and contents are compared
too, and a missing message is named by its number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from dvsim.core.probe import Counter, Record
from dvsim.emulation.amqp import Queue, spoken
from dvsim.emulation.messages import NUMBER, Digest
from dvsim.errors import RunFailed

QUIET_S = 15.0  # without a message; those that are missing then are lost
SHOWN = 8  # numbers of missing messages that an error shows


class Sent(NamedTuple):
    """What was sent to a receiver; message k of it has the number ``first + k * step``."""

    messages: int
    bytes: int
    digest: str
    first: int = 0
    step: int = 1


class Drained(NamedTuple):
    """How many duplicates there were in a queue, and how long it took to drain it."""

    duplicates: int
    wall_s: float


def drain(
    queue: Queue, sent: Sent, on_messages: Callable[[int], None], quiet_s: float = QUIET_S
) -> Drained:
    """Take all messages out of a queue and compare them with what was sent.

    A message with the id of an earlier one is a duplicate (it was published again) and does not
    count.

    Args:
        queue: The queue.
        sent: What must be in it.
        on_messages: Called now and then with how many have come.
        quiet_s: Seconds without a message, after which those that are missing are lost.
    """
    received = _Found(sent)
    started = changed = time.monotonic()
    with spoken(queue.target):
        tag = queue.channel.basic_consume(queue.name, received.take, auto_ack=True)
    while received.digest.messages < sent.messages and time.monotonic() - changed < quiet_s:
        before = received.digest.messages
        queue.events(0.2)
        if received.digest.messages != before:
            changed = time.monotonic()
            on_messages(received.digest.messages)
    while queue.depth():  # duplicates come last
        queue.events(0.01)
    queue.events(0)
    with spoken(queue.target):
        queue.channel.basic_cancel(tag)
    received.check(queue.receiver)
    return Drained(received.duplicates, time.monotonic() - started)


class _Found:
    def __init__(self, sent: Sent) -> None:
        self.digest = Digest()
        self.duplicates = 0
        self._sent = sent
        self._ids: set[str] = set()
        self._seen = bytearray(sent.messages)
        self._strange = 0

    def take(self, channel: Any, method: Any, properties: Any, body: bytes) -> None:  # noqa: ANN401
        name = properties.message_id
        if name is not None:
            if name in self._ids:
                self.duplicates += 1
                return
            self._ids.add(name)
        self.digest.add(body)
        number = int.from_bytes(body[:NUMBER], "little") - self._sent.first
        index, off = divmod(number, self._sent.step)
        if len(body) >= NUMBER and (off or not 0 <= index < len(self._seen)):
            self._strange += 1
        elif len(body) >= NUMBER:
            self._seen[index] = 1

    def check(self, receiver: int) -> None:
        sent, digest = self._sent, self.digest
        faults = []
        if digest.messages != sent.messages:
            faults.append(f"{digest.messages:,} of {sent.messages:,} messages arrived")
        if digest.bytes != sent.bytes:
            faults.append(f"{digest.bytes:,} of {sent.bytes:,} bytes arrived")
        if sent.messages and sent.bytes >= NUMBER * sent.messages and not all(self._seen):
            faults.append(self._missing())
        if self._strange:
            faults.append(f"{self._strange:,} are not of this run")
        if not faults and digest.hex != sent.digest:
            faults.append(f"the sum of their CRC-32 is {digest.hex}, sent was {sent.digest}")
        if faults:
            raise RunFailed(f"receiver {receiver}: {'; '.join(faults)}")

    def _missing(self) -> str:
        places = [index for index, there in enumerate(self._seen) if not there]
        numbers = [str(self._sent.first + place * self._sent.step) for place in places[:SHOWN]]
        more = ", …" if len(places) > SHOWN else ""
        return f"missing: {len(places):,}, number {', '.join(numbers)}{more}"


class Sending(NamedTuple):
    """Records by receiver (0 = the whole system), what each receiver was sent, and the counters.

    `wall_s` is the time from the first message until all programs had done their part; `commands`
    are the programs that ran.
    """

    records: dict[int, Record]
    sent: list[Sent]
    counters: list[Counter]
    wall_s: float
    commands: list[list[str]]
