"""Messages of senders and receivers: what is asked for, and what was seen of them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dvsim.emulation.alarms import Alarm
    from dvsim.emulation.deaths import Death, Down

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
