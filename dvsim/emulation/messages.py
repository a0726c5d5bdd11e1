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
    """What is sent.

    Attributes:
        size, messages: Bytes of each, at least 16; how many at most.
        window: That each sender may have unconfirmed.
        due: Seconds from the beginning at which each message is to be sent; None for as many as the
            window allows.
        seconds: After which a sender without `due` begins no message any more.
        prefetch: That a receiver may have unacknowledged; 0 for any number.
        acknowledge: Messages that one acknowledgement is for.
        queue, copies: Its type; copies of a queue, None for as many as the brokers give it.
        publishers, queues, consumers: How many; messages are spread evenly over publishers, and
            those over queues.
        balanced: Whether every node leads as many queues; otherwise the first leads all.
        processing: From the seconds since the beginning to those that a receiver takes for a
            message.
        deaths, alarms: Of private nodes.
        away_s: Seconds until a client connects anew whose connection was lost.
    """

    size: int
    messages: int
    window: int
    due: Sequence[float] | None = None
    seconds: float = float("inf")
    prefetch: int = 1000
    acknowledge: int = 10
    queue: str = "quorum"
    copies: int | None = None
    publishers: int = 1
    queues: int = 1
    balanced: bool = True
    consumers: int = 1
    processing: Callable[[float], float] | None = None
    deaths: Sequence[Death] = ()
    alarms: Sequence[Alarm] = ()
    away_s: float = 5.0

    @property
    def victims(self) -> set[int]:
        """The numbers of nodes that die."""
        return {number for death in self.deaths for number in death.victims}


@dataclass
class Seen:
    """What happened to the messages.

    Attributes:
        published, confirmed, refused: Messages of the senders; each is confirmed or refused once.
        resent: Messages that were sent again, as a node died before their confirm.
        delivered, again: Messages that were received, and how often one was received again.
        queued: Messages in the queues at the end.
        seconds, received_s: From the first publish to the last confirm, and to the last message
            that was received.
        blocked_s: Seconds in which a node forbade a sender to publish.
        latencies: Seconds from the intended time to the receiver.
        syncs, entries: Of the log of each node, in the run; empty of queues without one, and of
            foreign brokers.
        busy: Processor seconds of each node, in the run; empty of foreign brokers. Nodes that died
            count neither these nor syncs.
        downs: Nodes that died and are back.
    """

    published: int = 0
    confirmed: int = 0
    refused: int = 0
    resent: int = 0
    delivered: int = 0
    again: int = 0
    queued: int = 0
    seconds: float = 0.0
    received_s: float = 0.0
    blocked_s: float = 0.0
    latencies: list[float] = field(default_factory=list)
    syncs: list[int] = field(default_factory=list)
    entries: list[int] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    downs: list[Down] = field(default_factory=list)
