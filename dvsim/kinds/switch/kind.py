"""The kind "switch": a cycle-accurate switch, or a network of them, alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dvsim.contract.kind import Keys, Order, Own
from dvsim.errors import Fault, nearest
from dvsim.kinds.points import PointsKind
from dvsim.kinds.switch.metrics import METRICS, SIDES
from dvsim.kinds.switch.spec import SwitchScenario
from dvsim.scenario import bounds, find
from dvsim.scenario.document import OVERRIDES, Document, KeyPath
from dvsim.scenario.spec import Spec

if TYPE_CHECKING:
    import pandas as pd

    from dvsim.emulation.trace.timeline import Timeline
    from dvsim.kinds.study import Done
    from dvsim.kinds.switch.model import Measured

_COUNT = Order("whole", -bounds.COUNT, bounds.COUNT)  # what is none is refused by the switch
NODE_UPDATES = 5e8  # in a second, about


class SwitchKind(PointsKind):
    """What is different about a switch or network alone."""

    name = "switch"
    about = "of a switch or network alone"
    Spec: ClassVar[type[Spec]] = SwitchScenario
    always = False
    orders: ClassVar[Keys] = {
        "load": Order("share", 0, 1, (0, 1), "offered load (packets per slot and input)"),
        "duty": Order("share", 0, 1, (0, 1)),
        "angles": _COUNT._replace(between=(1, 16)),
        "height": Order("powers", 2, bounds.COUNT, (2, 1024)),
        **dict.fromkeys(("injecting", "burst", "planes", "link", "slots", "warmup"), _COUNT),
    }
    flow_errors: ClassVar[Mapping[str, str]] = {
        "mean_latency": "latency_error",
        "throughput": "throughput_error",
        "acceptance": "throughput_error",
    }

    def recognises(self, data: Mapping[str, Any]) -> bool:
        """Return whether a file that names no kind is meant to be of a switch or network."""
        return "traffic" in data

    def between(self, document: Document, *, partial: bool) -> Iterator[Fault]:
        """Ask for a switch or a network."""
        given = [name for name in ("switch", "network") if document.at((name,)) is not None]
        if len(given) == 2:
            message = "not beside [switch]; a scenario has one of the two"
            yield document.fault(("network",), message)
        elif not given and not partial:
            yield document.fault(("switch",), "missing; a scenario has [switch] or [network]")

    def settled(
        self, scenario: SwitchScenario, document: Document
    ) -> tuple[SwitchScenario, list[Fault]]:
        """Read the packets of a trace, which lies beside the file that names it."""
        name, key_path = scenario.traffic.trace, ("traffic", "trace")
        if not isinstance(name, str):
            return scenario, []
        from dvsim.kinds.switch.points import read_packets, said

        origin = document.origin(key_path)
        path = Path(name) if origin == OVERRIDES else Path(origin.file).parent / name
        if find.is_file(path) and path.stat().st_size > bounds.TRACE_BYTES:
            size, most = path.stat().st_size, bounds.TRACE_BYTES
            message = f"is a file of {size} B; a scenario may have {most}"
            return scenario, [document.fault(key_path, message)]
        try:
            packets = read_packets(path, scenario)
        except ValueError as error:
            near = None if find.is_file(path) else nearest(name, _tables_beside(path))
            return scenario, [document.fault(key_path, said(str(error), "trace:"), near)]
        if len(packets) > bounds.TRACE:
            message = f"has {len(packets)} packets; a scenario may have {bounds.TRACE}"
            return scenario, [document.fault(key_path, message)]
        return replace(scenario, traffic=replace(scenario.traffic, trace=packets)), []

    def refused(self, scenario: SwitchScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what the switch or the network refuses."""
        from dvsim.kinds.switch.points import refused

        for key, message in refused(scenario):
            yield (*(scenario.place(key) or ("traffic",)), *([key] if key else [])), message

    def extent(self, scenario: SwitchScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what takes too long."""
        from dvsim.kinds.switch.points import nodes_of

        slots, nodes = scenario.traffic.slots + scenario.traffic.warmup, nodes_of(scenario)
        if slots > 2 * bounds.SLOTS:  # only after scaling
            message = f"must be at most {bounds.SLOTS}, is {scenario.traffic.slots}"
            yield ("traffic", "slots"), message
        elif slots * nodes > bounds.NODE_UPDATES:
            most = bounds.NODE_UPDATES // nodes
            yield (
                ("traffic", "slots"),
                f"must be at most {most} with {nodes} nodes, the warm-up included; is {slots}",
            )

    def beside(self, scenario: SwitchScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what asks for theory where there is none, or for a recording that cannot be."""
        from dvsim.kinds.switch.points import switch_of

        table, traffic = scenario.switch, scenario.traffic
        key_path: KeyPath = ("compare", "with")
        if scenario.record and table is None:
            yield ("record",), "is of a switch alone; of a network no packet is followed"
        if scenario.compare and table is None:
            yield key_path, "theory is of a switch alone, not of a network"
        if table is None:
            return
        if scenario.compare and traffic.pattern != "uniform":
            yield key_path, f"theory is of uniform traffic, not of pattern '{traffic.pattern}'"
        if "mean-field" in scenario.compare:
            if len(switch_of(table).injecting) < table.angles:
                yield key_path, "'mean-field' needs a switch whose angles all inject"
            if table.faults:
                yield key_path, "'mean-field' knows no faults"
        if "butterfly" in scenario.compare:
            inputs = switch_of(table).inputs
            if inputs & (inputs - 1):
                yield key_path, f"'butterfly' needs a power of two of inputs, here are {inputs}"
            if traffic.injection == "queue":
                yield key_path, "'butterfly' has no queues; use injection 'drop'"

    registry = METRICS
    swept = ("throughput", "mean_latency")
    text = "dvsim.kinds.switch.text:study_lines"
    sides = SIDES
    work: ClassVar = {"node_updates": "node updates/s"}

    def replicate(self, scenario: SwitchScenario, seed: int, replication: int) -> Measured:
        """Run the switch or network."""
        from dvsim.kinds.switch.model import measure

        return measure(scenario, seed, replication)

    def gathered(
        self, scenario: SwitchScenario, seed: int, runs: Sequence[Done]
    ) -> dict[str, pd.DataFrame]:
        """Return histograms, cylinders, theory, what was recorded, and what is said of runs."""
        from dvsim.kinds.switch.model import tables_of

        return tables_of(scenario, seed, runs)

    def over_replications(self, result: Own) -> Mapping[str, pd.DataFrame]:
        """Return its sides; histograms are added up over replications, cylinders averaged."""
        histograms, cylinders = result.sides["histograms"], result.sides["cylinders"]
        counts = histograms.groupby(["point", "kind", "value"], as_index=False)
        shares = cylinders.groupby(["point", "level", "cylinder"], as_index=False)
        return {
            **result.sides,
            "histograms": counts[["packets"]].sum(),
            "cylinders": shares[["blocked", "occupancy"]].mean(),
        }

    def drawn(self, result: Own) -> Sequence[str]:
        """Return the metrics that say something about a result.

        A packet that waits is never refused, one that always waits has no latency to speak of, and
        where nothing waits the latency is the hops.
        """
        scenario, points = result.scenario, result.wide
        injection = "any" if "injection" in scenario.keys else scenario.traffic.injection
        chosen = {
            "queue": ["mean_latency", "throughput"],
            "saturate": ["throughput", "mean_hops"],
        }.get(injection, ["throughput", "acceptance", "mean_hops", "mean_latency"])
        if points["mean_latency"].equals(points["mean_hops"].rename("mean_latency")):
            chosen = [metric for metric in chosen if metric != "mean_latency"]
        return [*chosen, "lost"] if points["lost"].gt(0).any() else chosen

    def axes(self, scenario: SwitchScenario, keys: pd.DataFrame) -> pd.DataFrame:
        """Put H x A in the place of the height where switches of one size differ in their angles.

        So it is when heights and angles were varied together, and no size has one shape only: then
        the question is what the angles do at a fixed number of ports.
        """
        if not {"height", "angles"} <= set(keys) or "load" in keys:
            return keys
        shapes = keys[["height", "angles"]].drop_duplicates()
        ports = shapes["height"] * shapes["angles"]
        crossed = len(shapes) == shapes["height"].nunique() * shapes["angles"].nunique()
        if crossed or ports.value_counts().min() < 2:
            return keys
        named = keys.assign(ports=keys["height"] * keys["angles"])
        return named.drop(columns="height").loc[:, ["ports", *keys.columns.drop("height")]]

    def levels(
        self, scenario: SwitchScenario, metric: str, key: str | None
    ) -> list[tuple[float, str]]:
        """Return the published levels of a metric along a key, each with what it is."""
        table = scenario.switch if scenario.network is None else scenario.network.switch
        if table is None:
            return []
        if (metric, key) == ("throughput", "height") and scenario.traffic.injection == "saturate":
            return [(2 / 9, "2/9: published limit for few angles, many heights")]
        if (metric, key) == ("acceptance", "angles") and table.injecting is not None:
            return [(0.99, "99 %: published for five idle angles to one")]  # some angles are idle
        return []

    def slot_ps(self, scenario: SwitchScenario) -> int | None:
        """Return how long a slot is."""
        from dvsim.kinds.switch.model import slot_of

        return slot_of(scenario)

    def untraceable(self, scenario: SwitchScenario) -> str | None:
        """Return why nothing of a switch is recorded."""
        if scenario.network is not None:
            return "is of a network, whose packets are not recorded; trace one of a switch"
        if scenario.record is None:
            return (
                "records nothing; give it a table 'record' with packets and slots, or "
                "set record.packets=100 and record.slots=200"
            )
        return None

    def trace(self, scenario: SwitchScenario, seed: int, timeline: Timeline) -> dict[str, Any]:
        """Record the first slots."""
        from dvsim.kinds.switch.record import add_record, recorded

        return add_record(timeline, scenario, *recorded(scenario, seed))

    def seconds(self, scenario: SwitchScenario) -> float:
        """Return how long the updates of all nodes take."""
        from dvsim.kinds.switch.points import node_updates

        return node_updates(scenario) / NODE_UPDATES


def _tables_beside(path: Path) -> list[str]:
    folder = path.parent
    return [other.name for other in folder.glob("*.csv")] if find.is_folder(folder) else []


KIND = SwitchKind()
