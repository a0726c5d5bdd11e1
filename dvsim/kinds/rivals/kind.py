"""The kind "rivals": what dvsim asks about topologies at equal ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from dvsim.contract.kind import Keys, Order, Plain
from dvsim.fabric.switch import replication_seed
from dvsim.kinds.points import PointsKind
from dvsim.kinds.rivals.spec import MOST_PORTS, RivalScenario
from dvsim.scenario import bounds
from dvsim.scenario.document import KeyPath
from dvsim.scenario.spec import Spec
from dvsim.table.metrics import Metric, unsigned

PACKET_HOPS_S = 4e5  # of the phits of a rival, in a second, about
MOST_PACKET_SLOTS = 2e8  # of all ports of a point


class RivalsKind(PointsKind):
    """What is different about rivals."""

    name = "rivals"
    about = "of topologies at equal ports"
    Spec: ClassVar[type[Spec]] = RivalScenario
    always = False
    registry: ClassVar[Mapping[str, Metric]] = unsigned(
        {
            "throughput": Metric("packets/slot/input", shown=True),
            "acceptance": Metric("1", "acceptance", "Of the offered packets, those delivered"),
            "mean_latency": Metric(
                "slots", "mean latency", "From arrival to delivery, waiting included", shown=True
            ),
            "inside": Metric("slots", "time inside", "From the entry to the delivery", shown=True),
            "inside_p50": Metric("slots"),
            "inside_p99": Metric("slots"),
            "hops": Metric("nodes", "mean hops", shown=True),
        }
    )
    orders: ClassVar[Keys] = {
        "load": Order("share", 0, 1, (0, 1), "offered load (packets per slot and port)"),
        "fraction": Order("share", 0, 1, (0, 1)),
        "ports": Order("whole", 2, MOST_PORTS),
        **{
            key: Order("whole", 1, bounds.COUNT)
            for key in ("channels", "packet", "buffer", "output", "link", "planes", "burst")
        },
    }

    def refused(self, scenario: RivalScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield ports that a topology does not come in, and what its routers cannot do."""
        from dvsim.kinds.rivals.caminos import needed
        from dvsim.kinds.rivals.offered import FIXED, bits_of
        from dvsim.kinds.rivals.shapes import ImpossibleError, shape_of

        table, router, traffic = scenario.topology, scenario.router, scenario.traffic
        bits = bits_of(table.ports)
        if traffic.pattern in FIXED and bits is None:
            near = 1 << (table.ports.bit_length() - 1)
            message = f"pattern '{traffic.pattern}' needs a power of two; the nearest is "
            near = min(near, 2 * near, key=lambda size: abs(size - table.ports))
            yield ("topology", "ports"), f"{message}{near}"
        if traffic.hot > table.ports:
            yield ("traffic", "hot"), f"must be at most the {table.ports} ports, is {traffic.hot}"
        try:
            shape = shape_of(table)
        except ImpossibleError as error:
            yield ("topology", "ports"), str(error)
            return
        if table.network == "vortex":
            return
        if table.network == "fattree" and router.routing == "valiant":
            yield ("router", "routing"), "a fattree has no routing 'valiant'; use 'minimal'"
            return
        if router.channels < (least := needed(scenario, shape)):
            message = f"must be at least {least} for a {table.network}, is {router.channels}"
            yield ("router", "channels"), message
        # A bubble is a packet more than the one that enters.
        least = router.packet * (2 if table.network == "torus" else 1)
        if router.buffer < least:
            yield ("router", "buffer"), f"must be at least {least}, is {router.buffer}"
        if router.output < router.packet:
            message = f"must hold a packet of {router.packet}, is {router.output}"
            yield ("router", "output"), message

    def extent(self, scenario: RivalScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what takes too long."""
        traffic, ports = scenario.traffic, scenario.topology.ports
        if (traffic.slots + traffic.warmup) * ports > MOST_PACKET_SLOTS:
            most = int(MOST_PACKET_SLOTS // ports)
            message = f"must be at most {most} with {ports} ports, the warm-up included"
            yield ("traffic", "slots"), f"{message}; is {traffic.slots}"

    def replicate(self, scenario: RivalScenario, seed: int, replication: int) -> Plain:
        """Run a Data Vortex, or CAMINOS."""
        from dvsim.kinds.rivals.caminos import run_caminos
        from dvsim.kinds.rivals.offered import silent
        from dvsim.kinds.rivals.vortex import run_vortex

        table, traffic = scenario.topology, scenario.traffic
        own = replication_seed(seed, replication - 1)
        run = run_vortex if table.network == "vortex" else run_caminos
        reading = run(scenario, own)
        offered = traffic.load * (1 - silent(traffic, table.ports, own))
        share = reading.metrics["throughput"] / offered if offered else float("nan")
        return reading._replace(metrics={**reading.metrics, "acceptance": share})

    def seconds(self, scenario: RivalScenario) -> float:
        """Return about how long a point takes."""
        traffic, table = scenario.traffic, scenario.topology
        packets = (traffic.slots + traffic.warmup) * table.ports * traffic.load
        each = 1e-7 if table.network == "vortex" else scenario.router.packet / PACKET_HOPS_S / 4
        return packets * each

    @property
    def simulates(self) -> str:
        """Rivals are simulated by CAMINOS."""
        return "caminos"


KIND = RivalsKind()
