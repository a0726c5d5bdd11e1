"""The kind "workload": a program's traffic over a fabric."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from dvsim.contract.kind import Keys, Order, Plain, Reading
from dvsim.errors import Argument, Fault, ScenarioError
from dvsim.kinds.points import PointsKind
from dvsim.kinds.workload.scenario import MOST_FACTOR, MOST_REPEATS, SETTINGS, WorkloadScenario
from dvsim.kinds.workload.skeletons import MOST_CELLS
from dvsim.scenario import bounds
from dvsim.scenario.document import OVERRIDES, Document, KeyPath
from dvsim.scenario.spec import Spec
from dvsim.table.metrics import Metric, unsigned

if TYPE_CHECKING:
    from dvsim.emulation.trace.timeline import Timeline

PARTS = ("compute", "overhead", "latency", "bandwidth", "contention", "wait")
METRICS: Mapping[str, Metric] = unsigned(
    {
        "time": Metric("ns", shown=True),  # until the last rank is done
        **{f"{part}_time": Metric("ns") for part in PARTS},  # of that, on the critical path
        "message_rate": Metric("1/s", shown=True),  # messages that a rank sends, in the mean
        "messages": Metric("messages"),
        "bytes": Metric("B"),
    }
) | {
    "flow_error": Metric(
        "1",
        "error of flow fidelity",
        "Relative error of the time against every word slot by slot, measured over the first part "
        "of the program",
    ),
}
"""What is measured in each run; the parts add up to the time."""

OPERATIONS_S = 1e6  # that are replayed in a second, about
MOST_OPERATIONS = 5e8  # of a point
_FACTOR = Order("scaled", 1e-6, MOST_FACTOR, (1e-2, 1e2))


class WorkloadKind(PointsKind):
    """What is different about a program's traffic."""

    name = "workload"
    about = "of a program's traffic over a fabric"
    Spec: ClassVar[type[Spec]] = WorkloadScenario
    orders: ClassVar[Keys] = {
        "slowdown": _FACTOR,
        "compute_scale": _FACTOR,
        "repeat": Order("whole", 1, MOST_REPEATS, (1, 100)),
        "ranks": Order("whole", 1, 1 << 22, (2, 1024)),
        "bytes": Order("whole", 0, bounds.MESSAGE, (1, 1 << 20)),
        **dict.fromkeys(("nx", "ny", "nz"), Order("whole", 1, MOST_CELLS, (1, 1000))),
        **dict.fromkeys(("count", "updates"), Order("whole", 1, bounds.COUNT, (1, 10**4))),
    }
    registry = METRICS
    text = "dvsim.kinds.workload.text:study_lines"

    def between(self, document: Document, *, partial: bool) -> Iterator[Fault]:
        """Ask for a trace or a skeleton."""
        trace, skeleton = document.at(("program", "trace")), document.at(("skeleton",))
        if trace is not None and skeleton is not None:
            yield document.fault(("skeleton",), "not beside program.trace; there is one of the two")
        elif trace is None and skeleton is None and not partial:
            yield document.fault(("program", "trace"), "missing; or there is a table 'skeleton'")

    def settled(
        self, scenario: WorkloadScenario, document: Document
    ) -> tuple[WorkloadScenario, list[Fault]]:
        """Read the trace, which lies beside the file that names it, and note what it holds."""
        from dvsim.kinds.workload.model import digest_of

        key, program = ("program", "trace"), scenario.program
        if program.trace is None:
            return scenario, []
        origin = document.origin(key)
        beside = Path() if origin == OVERRIDES else Path(origin.file).parent
        path = beside / program.trace
        if not path.exists() and program.digest is not None:
            return scenario, []  # of a kept result, which runs nothing
        if not path.exists():
            return scenario, [document.fault(key, f"there is no such file or folder: {path}")]
        try:
            digest = digest_of(path, scenario.algorithms)
        except ScenarioError as error:
            return scenario, list(error.faults)
        if program.digest not in (None, digest):
            message = f"the trace is another one: it holds {digest}"
            return scenario, [document.fault(("program", "digest"), message)]
        name = os.path.relpath(path, Path(scenario.path).parent)
        return replace(scenario, program=replace(program, trace=name, digest=digest)), []

    def refused(self, scenario: WorkloadScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what the fabric refuses, and ranks that are none."""
        from dvsim.kinds.workload.fabrics import settings_of
        from dvsim.kinds.workload.model import fabric_of, graph_of, is_there, placed

        program, name = scenario.program, scenario.fabric.network
        if not is_there(scenario):
            return
        if scenario.skeleton is not None:
            try:
                graph_of(scenario)
            except (ValueError, ScenarioError) as error:
                faults = error.faults if isinstance(error, ScenarioError) else ()
                yield ("skeleton",), faults[0].message if faults else str(error)
                return
        words = {setting: key for key, setting in SETTINGS.items()}
        for setting in scenario.settings:
            if setting not in settings_of(name):
                yield ("fabric", words[setting]), f"is no setting of fabric '{name}'"
                return
        ranks = graph_of(scenario).ranks
        if program.straggler is not None and program.straggler >= ranks:
            message = f"must be from 0 to {ranks - 1}, is {program.straggler}"
            yield ("program", "straggler"), message
        try:
            placed(scenario, fabric_of(scenario), 1)
        except ScenarioError as error:
            for fault in error.faults:
                if fault.key == "placement":
                    yield ("program", "placement"), fault.message
                else:
                    hint = f"; did you mean '{fault.hint}'?" if fault.hint else ""
                    key = words.get(fault.key, "network")
                    if fault.file == Argument("faults"):
                        key, hint = "faults", f"{hint}: '{fault.key}'"
                    yield ("fabric", key), fault.message + hint

    def extent(self, scenario: WorkloadScenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield too many operations."""
        from dvsim.kinds.workload.model import graph_of, is_there

        program = scenario.program
        count = graph_of(scenario).operations if is_there(scenario) else 0
        if count * program.repeat > MOST_OPERATIONS:
            most = int(MOST_OPERATIONS // max(1, count))
            message = f"must be at most {most} of {count} operations, is {program.repeat}"
            yield ("program", "repeat"), message

    def replicate(self, scenario: WorkloadScenario, seed: int, replication: int) -> Reading:
        """Replay the program; replications differ in a random placement only."""
        from dvsim.kinds.workload.model import replayed

        replay = replayed(scenario, seed, replication)
        metrics = {"time": replay.time_ns, "message_rate": replay.message_rate}
        metrics |= {f"{part}_time": value / 1000 for part, value in replay.parts.items()}
        metrics |= {"messages": replay.graph.messages, "bytes": replay.graph.bytes}
        error = replay.flow_error if replication == 1 else None  # others would only take time
        metrics["flow_error"] = nan if error is None else error.time
        named = {name: float(metrics[name]) for name in self.units}
        return Plain(named, fidelity=replay.fabric.model)

    def trace(self, scenario: WorkloadScenario, seed: int, timeline: Timeline) -> dict[str, Any]:
        """Replay the first point."""
        from dvsim.kinds.workload.model import replayed
        from dvsim.kinds.workload.replay import add_replay

        add_replay(timeline, replayed(scenario.at(0), seed, 1))
        return {"clock": "simulated time"}

    def seconds(self, scenario: WorkloadScenario) -> float:
        """Return how long the operations take."""
        from dvsim.kinds.workload.model import graph_of

        return graph_of(scenario).operations * scenario.program.repeat / OPERATIONS_S


KIND = WorkloadKind()
