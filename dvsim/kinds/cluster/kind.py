"""The kind "cluster": a RabbitMQ cluster that is modelled."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dvsim.contract.kind import Job, Keys, Order, Own, Plain
from dvsim.errors import Fault
from dvsim.kinds.cluster.metrics import METRICS, unsettled
from dvsim.kinds.cluster.spec import MOST_CLIENTS, MOST_NODES, MOST_SECONDS, ROLES, ClusterScenario
from dvsim.kinds.points import PointsKind
from dvsim.scenario import bounds
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.spec import Spec
from dvsim.scenario.units import format_value

if TYPE_CHECKING:
    from dvsim.emulation.settings import Emulation
    from dvsim.emulation.trace.timeline import Timeline
    from dvsim.table.result import Result

PS = 1e-12
SECOND_S = 5e-4  # what a simulated second takes, about
_CLIENTS = Order("whole", 1, MOST_CLIENTS)


class ClusterKind(PointsKind):
    """What is different about a cluster."""

    name = "cluster"
    about = "of a RabbitMQ cluster"
    Spec: ClassVar[type[Spec]] = ClusterScenario
    always = False
    emulated = True
    calibration = "dvsim.kinds.cluster.calibration:calibrate"
    orders: ClassVar[Keys] = {
        "rate": Order("scaled", *bounds.LOAD, (1e3, 2e5)),
        "nodes": Order("whole", 1, MOST_NODES, (3, 15)),
        "replicas": Order("whole", 1, MOST_NODES),
        "message_bytes": Order("whole", 1, bounds.MESSAGE),
        "seconds": Order("whole", 1, MOST_SECONDS),
        "factor": Order("scaled", 0.001, 1000, (1, 10)),
        **dict.fromkeys(
            ("publishers", "queues", "consumers", "window", "prefetch", "acknowledge", "credit"),
            _CLIENTS,
        ),
    }
    registry = METRICS
    swept = ("rate_out",)

    def notes(self, result: Own) -> dict[int, str]:
        """Return by point why a replication of it does not settle, or what stopped publishers."""
        worst = result.wide.groupby("point")[["unstable", "full", "blocked"]].max()
        rows = {point: unsettled(row) for point, row in worst.to_dict(orient="index").items()}
        return {point: note for point, note in rows.items() if note}

    def roles(self, data: Mapping[str, Any]) -> Mapping[str, str | None]:
        """Return the cards of a cluster."""
        return ROLES

    def between(self, document: Document, *, partial: bool) -> Iterator[Fault]:
        """Ask for the cards."""
        return self.missing(document, () if partial else ROLES)

    def refused(self, scenario: ClusterScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what cannot be: copies without nodes, work that no consumer can take."""
        work, system = scenario.workload, scenario.system
        if scenario.copies > system.nodes:
            key = "nodes" if system.replicas is None else "replicas"
            message = f"{scenario.copies} copies of a queue, but there {_are(system.nodes)}"
            change = f"set nodes={scenario.copies} or replicas={system.nodes}"
            yield ("system", key), f"{message}; {change}"
        if system.queue == "classic" and scenario.copies > 1:
            yield ("system", "replicas"), "a classic queue has one copy; 'mirrored' has more"
        if 0 < work.prefetch < work.acknowledged:
            message = (
                f"{work.acknowledged} messages at once, of which a consumer has {work.prefetch}"
            )
            yield ("workload", "acknowledge"), f"{message} at most (prefetch)"
        if system.mirrors == "away" and system.queue != "mirrored":
            yield ("system", "mirrors"), f"a {system.queue} queue has none; 'mirrored' has"
        kept = scenario.cards["broker"]["disk_free"]
        if scenario.cards["storage"]["size"] <= kept:
            least = format_value(kept, "size")
            message = f"no room for messages: publishers are stopped where {least} or less is free"
            yield ("system", "storage", "size"), message
        for section, event in (("event", scenario.event), ("then", scenario.then)):
            if event.what == "fill" and event.victims > system.nodes:
                message = f"{event.victims} volumes are filled, but there {_are(system.nodes)}"
                yield (section, "victims"), message
        dead = sum(event.victims for event in scenario.events("kill"))
        if dead > system.nodes:
            section = "event" if scenario.event.what == "kill" else "then"
            yield (section, "victims"), f"{dead} nodes die, but there {_are(system.nodes)}"
        if work.rate is None:
            yield from _closed(scenario)
        elif work.consumers is not None:
            needed = math.ceil(work.rate * work.processing * PS)
            if work.consumers < needed:
                most = work.consumers / (work.processing * PS)
                message = f"{work.consumers} consumers take {most:,.0f} msg/s"
                yield ("workload", "consumers"), f"{message}; {work.rate:,.0f} msg/s need {needed}"

    def replicate(self, scenario: ClusterScenario, seed: int, replication: int) -> Plain:
        """Run a replication of a point."""
        if scenario.workload.rate is None:
            from dvsim.kinds.cluster.run import run_closed

            return run_closed(scenario)
        from dvsim.kinds.cluster.run import run_point

        return run_point(scenario, seed, replication)

    def untraceable(self, scenario: ClusterScenario) -> str | None:
        """Return that a closed loop has no seconds that could be shown."""
        return None if scenario.at(0).workload.rate else "without workload.rate there is no course"

    def trace(self, scenario: ClusterScenario, seed: int, timeline: Timeline) -> dict[str, Any]:
        """Run the first point."""
        from dvsim.kinds.cluster.run import run_point

        run_point(scenario.at(0), seed, 1, timeline)
        return {"clock": "simulated time"}

    def unsuited(self, scenario: ClusterScenario, emulation: Emulation) -> Iterator[Fault]:
        """Yield what real nodes here cannot do."""
        from dvsim.kinds.cluster.emu import unsuited

        return unsuited(scenario, emulation)

    def question(self, scenario: ClusterScenario, emulation: Emulation) -> dict[str, Any]:
        """Return whose brokers they are; confirms are always on."""
        most = max(scenario.at(point).system.nodes for point in range(len(scenario.points)))
        private = {"clusters": 1, "nodes": most}
        own = {"urls": list(emulation.urls)} if emulation.urls else private
        return own | {"promise": "at least once"}

    def sized(
        self, scenario: ClusterScenario, scale: float | None, emulation: Emulation | None
    ) -> ClusterScenario:
        """Return the scenario with as many seconds as shall be; an emulated run is short."""
        from dvsim.kinds.cluster.emu import own_scale

        if emulation is not None and scale is None:
            scale = own_scale(scenario)
        return scenario.scaled(1.0 if scale is None else scale)

    def made(self, scenarios: Sequence[ClusterScenario], job: Job) -> Generator[Result, None, None]:
        """Simulate or emulate scenarios and yield the study of each; otherwise as `Kind.made`."""
        if job.how.emulation is None:
            return super().made(scenarios, job)
        from dvsim.kinds.cluster.emu import emulated

        return emulated(self, scenarios, job)

    def seconds(self, scenario: ClusterScenario) -> float:
        """Return about how long all seconds of a point take."""
        return scenario.workload.seconds * SECOND_S if scenario.workload.rate else 1e-4


def _are(nodes: int) -> str:
    return "is 1 node" if nodes == 1 else f"are {nodes} nodes"


def _closed(scenario: ClusterScenario) -> Iterator[tuple[KeyPath, str]]:
    if scenario.system.nodes > scenario.copies or scenario.workload.queues > 1:
        message = "missing; only one queue with a copy on each node runs without"
        yield ("workload", "rate"), message
    if scenario.happening:
        yield ("event", "what"), "needs workload.rate: without it nothing is published in time"


KIND = ClusterKind()
