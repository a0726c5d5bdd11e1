"""Queues of real RabbitMQ nodes under senders that wait for confirms and receivers that ack.

Syncs are the batches that each node's log counts itself. The clients are in
`dvsim.emulation.loop`.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from dvsim.emulation.amqp import UNUSED_MS, Target, connect, spoken
from dvsim.emulation.machine import cpu_s
from dvsim.errors import RunFailed

if TYPE_CHECKING:
    from dvsim.broker import Brokers, Node
    from dvsim.emulation.alarms import Alarm, Alarms
    from dvsim.emulation.deaths import Death, Down
    from dvsim.emulation.loop import Loop

ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "classic": {},
    "mirrored": {},
    "quorum": {"x-queue-type": "quorum"},
    "stream": {"x-queue-type": "stream"},
}
COPIES = {"quorum": "x-quorum-initial-group-size", "stream": "x-initial-cluster-size"}
"""The argument with the number of copies of a queue, by its type; mirrored ones need a policy."""

HEAD = struct.Struct("<Qd")  # of a message: its number, and when it was due
MOST_NAMED = 10  # lost messages that an error names

_COUNTED = re.compile(r"batches => (\d+).*?writes => (\d+)", re.DOTALL)


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
        return {number for one in self.deaths for number in one.victims}


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


class Place(NamedTuple):
    """The nodes of one cluster as clients reach them, and the brokers if they are ours."""

    targets: tuple[Target, ...]
    private: Brokers | None = None

    @classmethod
    def of(cls, brokers: Brokers) -> Place:
        """Return the place of private brokers."""
        urls = (node.url for node in brokers.nodes)
        return cls(tuple(Target(url, brokers.user, brokers.password) for url in urls), brokers)

    def counts(self, asked: Asked) -> list[Mapping[str, int]]:
        """Return what the log of each node has written; an empty list if that is not known."""
        if self.private is None or asked.queue != "quorum":
            return []
        return counted(self.private, [node.name for node in self._lasting(asked)])

    def busy(self, asked: Asked) -> list[float]:
        """Return the processor seconds of each node so far."""
        return [cpu_s([node.pid]) for node in self._lasting(asked) if node.pid]

    def _lasting(self, asked: Asked) -> list[Node]:
        """Return the private nodes that do not die; the counts of others start at 0 again."""
        nodes = self.private.nodes if self.private is not None else ()
        return [node for number, node in enumerate(nodes) if number not in asked.victims]


def measured(place: Place, asked: Asked) -> Seen:
    """Send messages to new queues and receive all of them.

    Raises:
        RunFailed: If a message is confirmed twice, is lost, or nothing happens for a
            minute.
    """
    from dvsim.emulation.loop import Loop

    token = f"dvsim-{asked.queue}-{time.monotonic_ns()}"
    names = [f"{token}.{number}" for number in range(asked.queues)]
    if asked.queue == "mirrored":
        _mirror(place, token, asked.copies or 2)
    with declared(place, names, asked), _warned(place, asked) as alarms:
        before, spent = place.counts(asked), place.busy(asked)
        loop = Loop(place, names, asked, alarms)
        seen = loop.run()
        after, since = place.counts(asked), place.busy(asked)
        with spoken(place.targets[0]), closing(connect(place.targets[0], "harness")) as keeper:
            channel = keeper.channel()
            if place.private is not None and asked.deaths:
                place.private.complete()
                _account(loop, channel, names)
            how = {"durable": True, "arguments": arguments_of(asked)}
            found = [channel.queue_declare(name, passive=True, **how) for name in names]
            seen.queued += sum(one.method.message_count for one in found)
            for name in names:
                channel.queue_delete(name)
    seen.busy = [new - old for old, new in zip(spent, since, strict=True)]
    seen.syncs, seen.entries = (
        [new[at] - old[at] for old, new in zip(before, after, strict=True)]
        for at in ("batches", "writes")
    )
    kept = 0 if asked.queue == "stream" else seen.queued  # a stream keeps what was consumed
    there = seen.delivered + kept + seen.refused
    if not asked.deaths and not seen.published == seen.confirmed + seen.refused == there:
        raise RunFailed(
            f"{seen.published} published, {seen.confirmed} confirmed, {seen.refused} refused, "
            f"{seen.delivered} delivered, {seen.queued} queued"
        )
    return seen


@contextmanager
def _warned(place: Place, asked: Asked) -> Iterator[Alarms | None]:
    """Give private nodes the alarms of a run."""
    from dvsim.emulation.alarms import Alarms

    if place.private is None or not asked.alarms:
        yield None
        return
    with Alarms(place.private, asked.alarms) as alarms:
        yield alarms


@contextmanager
def declared(place: Place, names: Sequence[str], asked: Asked) -> Iterator[None]:
    """Declare queues, and keep the connections until the context ends.

    The node of a connection leads the queues that are declared over it.
    """
    from pika.exceptions import AMQPError

    leaders = place.targets[: asked.queues if asked.balanced else 1]
    keepers = [connect(target, "harness") for target in leaders]
    try:
        with spoken(place.targets[0]):
            channels = [keeper.channel() for keeper in keepers]
            how = {"durable": True, "arguments": arguments_of(asked)}
            for number, name in enumerate(names):
                channels[number % len(channels)].queue_declare(name, **how)
        if asked.deaths and place.private is not None:
            for node in place.private.nodes:
                node.sync()  # a node that is killed may forget what was declared just now
        yield
    finally:
        for keeper in keepers:
            with suppress(AMQPError):  # its node may have died
                keeper.close()


def _account(loop: Loop, channel: Any, names: Sequence[str]) -> None:  # noqa: ANN401
    """Find every message that was published, by its number, after nodes have died.

    Each was received, is in a queue, or was not confirmed.

    Raises:
        RunFailed: If a message was confirmed and is lost.
    """
    missing = loop.published() - loop.had
    if loop.asked.queue != "stream" and missing:
        for name in names:
            while (got := channel.basic_get(name, auto_ack=True))[0] is not None:
                missing.discard(HEAD.unpack_from(got[2])[0])
                loop.seen.queued += 1
    lost = sorted(missing - loop.unconfirmed())
    if lost:
        some = ", ".join(map(str, lost[:MOST_NAMED]))
        more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
        raise RunFailed(
            f"{len(lost)} of {loop.seen.published} messages were confirmed and are nowhere: "
            f"numbers {some}{more}"
        )


def arguments_of(asked: Asked) -> dict[str, Any]:
    """Return the arguments of a queue that its type and its copies ask for."""
    several = asked.copies is not None and asked.queue in COPIES
    own = {COPIES[asked.queue]: asked.copies} if several else {}
    expires = {} if asked.queue == "stream" else {"x-expires": UNUSED_MS}
    return {**ARGUMENTS[asked.queue], **own, **expires}


def _mirror(place: Place, token: str, copies: int) -> None:
    """Let queues of a run have mirrors: RabbitMQ 3.10 knows them as a policy.

    Raises:
        RunFailed: If the brokers are not ours: a policy would be left in somebody else's.
    """
    if place.private is None:
        raise RunFailed(
            "mirrored queues need private brokers, since they are a policy of a cluster"
        )
    policy = f'{{"ha-mode":"exactly","ha-params":{copies},"ha-sync-mode":"automatic"}}'
    place.private.nodes[0].ctl(
        "set_policy", "--apply-to", "queues", "mirrored", f"^{token}", policy
    )


def counted(brokers: Brokers, nodes: Sequence[str]) -> list[Mapping[str, int]]:
    """Return how many batches and entries the log of each node has written, asked at one moment.

    Raises:
        RunFailed: If a node does not count them, as other versions than 3.8 to 3.11 may not.
    """
    if not nodes:
        return []
    names = ", ".join(f"'{node}@localhost'" for node in nodes)
    each = "{N, catch maps:get(ra_log_wal, rpc:call(N, ra_counters, overview, []))}"
    said = brokers.control.run(nodes[0], "eval", f"[{each} || N <- [{names}]].")
    found = [(int(one[1]), int(one[2])) for one in _COUNTED.finditer(said)]
    if len(found) != len(nodes):
        short = " ".join(said.split())[:80]
        raise RunFailed(f"a node does not count the batches of its log: {short}")
    return [{"batches": batches, "writes": writes} for batches, writes in found]
