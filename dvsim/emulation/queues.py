"""Queues of real RabbitMQ nodes under senders that wait for confirms and receivers that ack.

Syncs are the batches that each node's log counts itself. The clients are in
`dvsim.emulation.clients`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from pika.exceptions import AMQPError

from dvsim.emulation.alarms import Alarms
from dvsim.emulation.amqp import UNUSED_MS, Target, connect, spoken
from dvsim.emulation.child import cpu_s
from dvsim.emulation.clients import Loop
from dvsim.emulation.messages import HEAD, Asked, Seen
from dvsim.errors import RunFailed

if TYPE_CHECKING:
    from dvsim.broker import Brokers, Node

ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "classic": {},
    "mirrored": {},
    "quorum": {"x-queue-type": "quorum"},
    "stream": {"x-queue-type": "stream"},
}
COPIES = {"quorum": "x-quorum-initial-group-size", "stream": "x-initial-cluster-size"}
"""The argument with the number of copies of a queue, by its type; mirrored ones need a policy."""

MOST_NAMED = 10  # lost messages that an error names

_COUNTED = re.compile(r"batches => (\d+).*?writes => (\d+)", re.DOTALL)


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
        nodes = self.private.nodes if self.private is not None else ()
        return [node for number, node in enumerate(nodes) if number not in asked.victims]


def measured(place: Place, asked: Asked) -> Seen:
    """Send messages to new queues and receive all of them."""
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
            answers = [channel.queue_declare(name, passive=True, **how) for name in names]
            seen.queued += sum(answer.method.message_count for answer in answers)
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
    if place.private is None:
        raise RunFailed(
            "mirrored queues need private brokers, since they are a policy of a cluster"
        )
    policy = f'{{"ha-mode":"exactly","ha-params":{copies},"ha-sync-mode":"automatic"}}'
    place.private.nodes[0].ctl(
        "set_policy", "--apply-to", "queues", "mirrored", f"^{token}", policy
    )


def counted(brokers: Brokers, nodes: Sequence[str]) -> list[Mapping[str, int]]:
    """Return how many batches and entries the log of each node has written, asked at one moment."""
    if not nodes:
        return []
    names = ", ".join(f"'{node}@localhost'" for node in nodes)
    each = "{N, catch maps:get(ra_log_wal, rpc:call(N, ra_counters, overview, []))}"
    answer = brokers.control.run(nodes[0], "eval", f"[{each} || N <- [{names}]].")
    counts = [(int(match[1]), int(match[2])) for match in _COUNTED.finditer(answer)]
    if len(counts) != len(nodes):
        short = " ".join(answer.split())[:80]
        raise RunFailed(f"a node does not count the batches of its log: {short}")
    return [{"batches": batches, "writes": writes} for batches, writes in counts]
