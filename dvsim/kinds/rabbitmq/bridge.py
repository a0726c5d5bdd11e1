"""The C bridge of a receiving node: threads that reassemble, and the AMQP socket they share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dvsim.core.stage import Clock, Stage
from dvsim.core.streams import Streams

HEAP_BINARY = 64  # bytes; Erlang keeps a larger binary outside of the heap of a process

if TYPE_CHECKING:
    from dvsim.scenario.types import Card


class BridgeThreads(Stage):
    """Threads of one process (a card can be opened once) that turn pieces into AMQP messages."""

    def __init__(self, clock: Clock, name: str, card: Card, message_bytes: int) -> None:
        super().__init__(clock, name)
        self.per_message_ps: float = card["convert"].ps(message_bytes) / card["threads"]

    def work_ps(self, messages: int) -> int:
        """Return the time that all threads together take for a batch."""
        return round(messages * self.per_message_ps)


class AmqpSocket(Stage):
    """The loopback socket into the local broker; a thread that pushes holds it.

    A message takes ``push(n)``, and ``push_off_heap`` more if its body is too long for the heap of
    the broker's processes, so that they share it by reference and count who does.
    """

    def __init__(
        self, clock: Clock, name: str, card: Card, message_bytes: int, streams: Streams
    ) -> None:
        super().__init__(clock, name)
        spread = card["run_spread"] * next(streams.normal(f"{name}/run"))
        sockets: int = min(card["sockets"], card["threads"])
        cost: int = card["push"].ps(message_bytes)
        if message_bytes > HEAP_BINARY:
            cost += card["push_off_heap"]
        self.per_message_ps = cost * math.exp(spread) / sockets
        self._scatter: float = card["push_scatter"]
        self._draws = streams.normal(f"{name}/scatter")

    def work_ps(self, messages: int) -> int:
        """Return the time to push a batch through the socket."""
        return round(messages * self.per_message_ps * math.exp(self._scatter * next(self._draws)))
