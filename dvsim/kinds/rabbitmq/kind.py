"""The kind "rabbitmq": messages over the Data Vortex or TCP into RabbitMQ brokers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from dvsim.contract.kind import Job, Keys, Kind, Order
from dvsim.errors import Fault
from dvsim.kinds.rabbitmq import checks
from dvsim.kinds.rabbitmq.metrics import BEHIND, METRICS
from dvsim.kinds.rabbitmq.size import fitted, own_scale
from dvsim.kinds.rabbitmq.spec import CLUSTER, ROLES, USUAL, Scenario
from dvsim.scenario import bounds
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.spec import Spec

if TYPE_CHECKING:
    from pathlib import Path

    from dvsim.emulation.trace.timeline import Timeline
    from dvsim.study.point_numbers import PointNumbers
    from dvsim.study.run import Run

MESSAGE_S, SIZE_S, GROWTH = 14e-9, 9e-11, 0.9
"""What a message takes to simulate, about, and what its size adds over the Data Vortex: it grows a
little less than the size. A batch over TCP is one event whatever its size."""


class Replicate(NamedTuple):
    """The reading of one replication, with `busy`: the shares of stages, by name and instance."""

    metrics: Mapping[str, float]
    busy: Mapping[tuple[str, int], float]
    fidelity: str = "cycle"
    notes: str = ""


class RabbitmqKind(Kind):
    """What is different about a system with RabbitMQ brokers."""

    name = "rabbitmq"
    about = "of a system"
    Spec: ClassVar[type[Spec]] = Scenario
    emulated = True
    simulates = "sim"
    brief_tables = ("summary",)
    messages = True
    registry = METRICS
    calibration = "dvsim.kinds.rabbitmq.calibration:calibrate"
    figure = "dvsim.kinds.rabbitmq.page:figure_of"
    orders: ClassVar[Keys] = {"messages_per_second": Order("scaled", *bounds.LOAD, (1e3, 1e6))}

    def recognises(self, data: Mapping[str, Any]) -> bool:
        """Return whether a file that names no kind is of a system: most are."""
        return bool(data.keys() & {"workload", "system"})

    def roles(self, data: Mapping[str, Any]) -> Mapping[str, str | None]:
        """Return the cards of the transport; while that is wrong, any of any kind."""
        system = data.get("system")
        transport = system.get("transport") if isinstance(system, dict) else None
        if isinstance(transport, str) and transport in ROLES:
            return ROLES[transport] | (CLUSTER if checks.clustered(data) else {})
        return dict.fromkeys(role for roles in (*ROLES.values(), CLUSTER) for role in roles)

    def usual(self, data: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the cards of a cluster that a file need not name."""
        return USUAL if checks.clustered(data) else {}

    def asks(self, role: str, data: Mapping[str, Any]) -> str:
        """Return that the transport asks for the kind of a card, if there is one."""
        transport = data["system"].get("transport")
        return "a system" if transport is None else f"transport '{transport}'"

    def between(self, document: Document, *, partial: bool) -> list[Fault]:
        """Return what is wrong between the tables."""
        return checks.between_sections(document, partial=partial)

    def settled(self, scenario: Scenario, document: Document) -> tuple[Scenario, list[Fault]]:
        """Fill in what follows from the rest."""
        return scenario.settled(), []

    def refused(self, scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what its interconnect card cannot do."""
        return checks.limits(scenario)

    def extent(self, scenario: Scenario) -> Iterator[tuple[KeyPath, str]]:
        """Yield what takes too long or too much memory."""
        return checks.extent(scenario)

    def metrics(self, scenario: Scenario) -> Mapping[str, str]:
        """Return the rates of each column, how busy each stage is, and `BEHIND`."""
        from dvsim.kinds.rabbitmq.point_numbers import names_of, unit_of

        return {name: unit_of(name) for name in [*names_of(scenario), BEHIND]}

    def replicate(self, scenario: Scenario, seed: int, replication: int) -> Replicate:
        """Run one replication with all its iterations."""
        from dvsim.kinds.rabbitmq.point_numbers import busy_of, point_numbers
        from dvsim.kinds.rabbitmq.sim import Task, run_task
        from dvsim.kinds.rabbitmq.tables import Gathered
        from dvsim.study.summary import summary_columns

        gathered = Gathered()
        for number in range(1, scenario.workload.iterations + 1):
            done = run_task(Task(scenario, seed, replication, number))
            gathered.add(replication, number, done.iteration, done.work_s)
        tables = gathered.tables()
        summary = summary_columns(tables.samples, tables.counters, scenario)
        numbers = point_numbers(scenario, summary)
        metrics = {name: value.value for name, value in numbers.results.items()}
        late = tables.counters[tables.counters["metric"] == "behind_schedule_s"]["value"]
        busy = {instance: each[replication] for instance, each in busy_of(summary).items()}
        return Replicate(metrics | {BEHIND: float(late.mean())}, busy)

    def values(self, metric: str, readings: Sequence[Replicate]) -> list[float]:
        """Return a metric of each replication; of several stages alike that of the busiest."""
        from dvsim.kinds.rabbitmq.point_numbers import busiest_alike

        busy = {
            instance: {number: reading.busy[instance] for number, reading in enumerate(readings)}
            for instance in readings[0].busy
            if metric == f"busy_{instance[0]}"
        }
        if not busy:
            return super().values(metric, readings)
        (chosen,) = busiest_alike(busy).values()
        return list(chosen.values())

    def lines(self, result: Run) -> Iterator[Any]:
        """Yield a result as people read it."""
        from dvsim.kinds.rabbitmq.text import run_lines

        return run_lines(result)

    def answers(self, results: Sequence[Run]) -> Iterator[Any]:
        """Yield rate and limit of a run, or the table of several."""
        from dvsim.kinds.rabbitmq.text import answer_lines, table_lines

        return answer_lines(results[0]) if len(results) == 1 else table_lines(results)

    def fidelity(self, result: Run) -> str | None:
        """Return that of the fabric, and how good it is; None without a fabric."""
        from dvsim.kinds.rabbitmq.text import fabric_text

        return fabric_text(result.counters)

    def trace(self, scenario: Scenario, seed: int, timeline: Timeline) -> dict[str, Any]:
        """Run the first iteration."""
        from dvsim.kinds.rabbitmq.iteration import run_iteration

        run_iteration(scenario, seed, 1, 1, timeline)
        return {"iteration": 1, "clock": "simulated time"}

    def read_trace(self, scenario: Scenario, folder: Path, timeline: Timeline) -> dict[str, Any]:
        """Add what cards and bridges, or publishers, did in the first iteration."""
        from dvsim.kinds.rabbitmq.emu.trace import add_left

        add_left(timeline, folder, scenario.system.receivers)
        return {"iteration": 1, "clock": "this machine's"}

    def seconds(self, scenario: Scenario) -> float:
        """Return how long the messages of all iterations take."""
        work = scenario.workload
        size_s = SIZE_S * work.message_bytes**GROWTH if scenario.system.over_cards else 0.0
        return work.messages * work.iterations * (MESSAGE_S + size_s)

    def made(self, scenarios: Sequence[Scenario], job: Job) -> Generator[Run, None, None]:
        """Simulate or emulate scenarios and yield the run of each; otherwise as `Kind.made`."""
        from dvsim.kinds.rabbitmq.run import emulated, simulated

        return (simulated if job.how.emulation is None else emulated)(scenarios, job)

    def unsuited(self, scenario: Scenario, emulation: Any) -> Iterator[Fault]:  # noqa: ANN401
        """Yield a cluster, another probe than that of the harness, too few messages or cards."""
        return checks.unsuited(scenario, emulation)

    def served(self, scenario: Scenario) -> int:
        """Return the number of receivers: each has its queue on one broker."""
        return scenario.system.receivers

    def sized(self, scenario: Scenario, scale: float | None, emulation: Any) -> Scenario:  # noqa: ANN401
        """Return the scenario with as many messages as shall be; an emulated run is short."""
        if emulation is None:
            return scenario.scaled(1.0 if scale is None else scale)
        sized = scenario.scaled(own_scale(scenario) if scale is None else scale)
        return fitted(sized) if sized.workload.messages < scenario.workload.messages else sized

    @property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """Samples, and the summary with the counters."""
        from dvsim.study.samples import SAMPLE_COLUMNS
        from dvsim.study.summary import SUMMARY_COLUMNS

        return {"samples": SAMPLE_COLUMNS, "summary": SUMMARY_COLUMNS}

    def kept(self, result: Run) -> Mapping[str, Any]:
        """Return samples and summary, both checked."""
        from dvsim.study.samples import check_counters, check_samples

        check_counters(result.counters)
        return {"samples": check_samples(result.samples), "summary": result.summary_columns}

    @property
    def result(self) -> Callable[..., Run]:
        """What makes a run of its tables."""
        from dvsim.study.run import of_tables

        return of_tables

    def brief(self, result: Run) -> Mapping[str, Any]:
        """Return the summary."""
        return {"summary": result.summary_columns}

    def point_numbers(self, scenario: Scenario, tables: Mapping[str, Any]) -> list[PointNumbers]:
        """Return the numbers of its only point."""
        from dvsim.kinds.rabbitmq.point_numbers import point_numbers

        summary = tables["summary"]
        return [point_numbers(scenario, {name: list(summary[name]) for name in summary})]


KIND = RabbitmqKind()
