"""The kind "messaging": clients, brokers and storage on hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dvsim.contract.kind import Keys, Order, Own
from dvsim.errors import Fault
from dvsim.kinds.hosts.metrics import METRICS, STAGE_COLUMNS
from dvsim.kinds.hosts.spec import (
    MOST_BROKERS,
    MOST_CLIENTS,
    MOST_MESSAGES,
    MOST_SLOWDOWN,
    PEER_ROLES,
    ROLES,
    MessagingScenario,
)
from dvsim.kinds.points import PointsKind
from dvsim.scenario import bounds
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.spec import Spec

MOST_BYTES = 2**36  # of all messages of a run: each is carried piece by piece
if TYPE_CHECKING:
    import pandas as pd

    from dvsim.emulation.trace.timeline import Timeline
    from dvsim.kinds.hosts.run import Outcome
    from dvsim.kinds.study import Done

_CLIENTS = Order("whole", 1, MOST_CLIENTS, (1, MOST_CLIENTS))
_HELD = Order("whole", 1, MOST_MESSAGES)
EVENT_S = 2e-5  # what an event takes to simulate, about
ALONE, PACKET_BYTES = 30, 250
"""Events of a message that travels alone, and the bytes that make one more; in batches there are
one or two for a message."""


DRAWN = (
    "rate_in",
    "rate_out",
    "megabytes",
    "megabits",
    "density",
    "latency",
    "ack_mean",
    "fairness",
    "setup",
    "busiest",
)
QUANTILES = {"p50": "latency", "p99": "latency", "ack_p99": "ack_mean"}  # of what
EVEN = 0.99  # an index of fairness above which there is nothing to see
ALIKE = 1e-3  # relative; rates in and out that differ less are one curve


class MessagingKind(PointsKind):
    """What is different about messaging over hosts."""

    name = "messaging"
    about = "of messaging over hosts"
    Spec: ClassVar[type[Spec]] = MessagingScenario
    orders: ClassVar[Keys] = {
        "rate": Order("scaled", *bounds.LOAD, (1e3, 1e7)),
        "message_bytes": Order("whole", 1, bounds.MESSAGE),
        **dict.fromkeys(("streams", "publishers", "consumers"), _CLIENTS),
        **dict.fromkeys(("window", "prefetch", "acknowledge"), _HELD),
        "brokers": Order("whole", 1, MOST_BROKERS, (1, MOST_BROKERS)),
        "slowdown": Order("scaled", 1, MOST_SLOWDOWN, (1, MOST_SLOWDOWN)),
    }

    def roles(self, data: Mapping[str, Any]) -> Mapping[str, str | None]:
        """Return all cards; of pattern ``peer`` some are not used."""
        return ROLES

    def between(self, document: Document, *, partial: bool) -> Iterator[Fault]:
        """Ask for the cards of the pattern."""
        pattern = document.at(("system", "pattern"))
        roles = () if partial else ROLES if pattern == "broker" else PEER_ROLES
        return self.missing(document, roles)

    def refused(self, scenario: MessagingScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what cannot be together."""
        work, system = scenario.workload, scenario.system
        pairs = work.streams if scenario.peer else work.publishers
        if work.mode == "ping" and pairs * (1 if scenario.peer else work.consumers) > 1:
            yield ("workload", "mode"), "a ping is from one publisher to one consumer"
        if work.mode == "ping" and work.rate is not None:
            yield ("workload", "rate"), "is of a flow; a ping waits for the answer"
        if work.rate is not None and work.window is not None:
            yield ("workload", "window"), "not beside rate: what is due is sent"
        if not scenario.peer:
            yield from _broker(scenario)
        elif system.durability != "none":
            yield ("system", "durability"), "is of a broker; pattern 'peer' has none"

    def extent(self, scenario: MessagingScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield too many messages, or too few."""
        work = scenario.workload
        if work.messages * work.message_bytes > MOST_BYTES:
            most = max(1, MOST_BYTES // work.message_bytes)
            message = f"must be at most {most} of {work.message_bytes} B each, is {work.messages}"
            yield ("workload", "messages"), message
        if work.messages < scenario.least:
            message = f"must be at least {scenario.least}, is {work.messages}"
            yield ("workload", "messages"), message

    registry = METRICS
    swept = ("rate_out", "latency")
    messages = True
    sides: ClassVar[Mapping[str, Mapping[str, str]]] = {"stages": STAGE_COLUMNS}
    work: ClassVar = {"events": "events/s"}

    def replicate(self, scenario: MessagingScenario, seed: int, replication: int) -> Outcome:
        """Run the messages of a point."""
        from dvsim.kinds.hosts.run import flow

        return flow(scenario, seed, replication)

    def gathered(
        self, scenario: MessagingScenario, seed: int, runs: Sequence[Done]
    ) -> dict[str, pd.DataFrame]:
        """Return how busy each stage was."""
        from dvsim.kinds.hosts.run import stages_of

        return {"stages": stages_of(runs)}

    def over_replications(self, result: Own) -> Mapping[str, pd.DataFrame]:
        """Return of stages the mean over replications, of several alike the busiest."""
        keys = ["point", "stage"]
        stages = result.sides["stages"].groupby([*keys, "number"], sort=False)
        means = stages["utilisation"].mean()
        return {"stages": means.groupby(level=keys, sort=False).max().reset_index()}

    def drawn(self, result: Own) -> Sequence[str]:
        """Return the metrics that say something about a result."""
        points, peer = result.wide, result.scenario.peer
        dull = {"busiest", "megabytes" if peer else "megabits"}
        dull |= {"setup"} if points["setup"].nunique(dropna=True) <= 1 else set()
        dull |= {"fairness"} if points["fairness"].min() > EVEN else set()
        unlike = (points["rate_in"] / points["rate_out"] - 1).abs().max()
        if not unlike > ALIKE or peer:
            dull.add("rate_in")
        if "streams" not in result.scenario.keys and not peer:
            dull.add("density")
        return [name for name in DRAWN if name not in dull]

    def listed(self, result: Own) -> Sequence[str]:
        """Return the metrics that are drawn, and quantiles of latencies."""
        drawn = result.drawn
        return [name for name in METRICS if QUANTILES.get(name, name) in drawn]

    def trace(self, scenario: MessagingScenario, seed: int, timeline: Timeline) -> dict[str, Any]:
        """Run the first point."""
        from dvsim.kinds.hosts.run import run_point

        run_point(scenario.at(0), seed, 1, timeline)
        return {"clock": "simulated time"}

    def seconds(self, scenario: MessagingScenario) -> float:
        """Return how long the messages take: many times longer where each travels alone."""
        work = scenario.workload
        alone = work.mode == "ping" or work.rate is not None
        events = ALONE + work.message_bytes / PACKET_BYTES if alone else 1.5
        return work.messages * events * EVENT_S


def _broker(scenario: MessagingScenario) -> Iterator[tuple[KeyPath, str]]:
    system = scenario.system
    held, batch = system.prefetch, system.acknowledge
    if (held is None) != (batch is None):
        yield ("system", "prefetch"), "and acknowledge go together"
    elif held is not None and batch is not None and batch > held:
        yield ("system", "acknowledge"), f"must be at most prefetch {held}, or nothing more comes"
    if system.exchange == "queue" and held is None:
        yield ("system", "prefetch"), "missing; consumers of one queue hold a limited number"
    if system.exchange == "queue" and system.brokers > 1:
        yield ("system", "brokers"), "a queue that is shared has one node"
    if system.brokers > scenario.workload.consumers:
        yield ("system", "brokers"), "must be at most the number of consumers"


KIND = MessagingKind()
