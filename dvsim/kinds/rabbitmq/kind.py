"""The kind "rabbitmq": messages over the Data Vortex or TCP into RabbitMQ brokers."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from dvsim.contract.kind import Job, Keys, Order
from dvsim.errors import Fault
from dvsim.kinds.points import PointsKind
from dvsim.kinds.rabbitmq import checks
from dvsim.kinds.rabbitmq.metrics import BEHIND, METRICS
from dvsim.kinds.rabbitmq.size import fitted, own_scale
from dvsim.kinds.rabbitmq.spec import CLUSTER, ROLES, USUAL, Scenario
from dvsim.scenario import bounds
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.spec import Spec
from dvsim.table.metrics import Metric

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from dvsim.emulation.trace.timeline import Timeline
    from dvsim.kinds.rabbitmq.rows import Replicate
    from dvsim.kinds.study import Done
    from dvsim.table.estimate import Each
    from dvsim.table.result import Headline, Result
    from dvsim.table.stages import Limit

MESSAGE_S, SIZE_S, GROWTH = 14e-9, 9e-11, 0.9
"""What a message takes to simulate, about, and what its size adds over the Data Vortex: it grows a
little less than the size. A batch over TCP is one event whatever its size."""


class RabbitmqKind(PointsKind):
    """What is different about a system with RabbitMQ brokers."""

    name = "rabbitmq"
    about = "of a system"
    Spec: ClassVar[type[Spec]] = Scenario
    emulated = sampled = True
    simulates = "sim"
    work: ClassVar = {"events": "events/s", "simulated_s": "simulated s per s"}
    messages = True
    registry = METRICS
    calibration = "dvsim.kinds.rabbitmq.calibration:calibrate"
    text = "dvsim.kinds.rabbitmq.text:run_lines"
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

    @property
    def sides(self) -> Mapping[str, Mapping[str, str]]:  # type: ignore[override]
        """The samples."""
        from dvsim.table.samples import SAMPLES

        return {"samples": SAMPLES}

    def metrics(self, scenario: Scenario) -> Mapping[str, str]:
        """Return the rates of each column, how busy each stage is, and `BEHIND`."""
        from dvsim.kinds.rabbitmq.rows import names_of, unit_of

        return {name: unit_of(name) for name in [*names_of(scenario), BEHIND]}

    def metric(self, name: str) -> Metric:
        """Return what is to be said of a number, a statistic or a counter: none is negative."""
        from dvsim.kinds.rabbitmq.rows import unit_of

        return self.registry.get(name) or Metric(unit_of(name), signed=False)

    def unit(self, name: str) -> str:
        """Return the unit of a statistic or of what a component counted."""
        from dvsim.kinds.rabbitmq.rows import unit_of

        return unit_of(name)

    def replicate(self, scenario: Scenario, seed: int, replication: int) -> Replicate:
        """Run one replication with all its iterations."""
        from dvsim.kinds.rabbitmq.rows import simulated

        return simulated(scenario, seed, replication)

    def rows(self, runs: Sequence[Done]) -> pd.DataFrame:
        """Return the statistics of the columns, the rate, and what components counted."""
        from dvsim.kinds.rabbitmq.rows import table_of

        return table_of(runs)

    def gathered(
        self, scenario: Scenario, seed: int, runs: Sequence[Done]
    ) -> Mapping[str, pd.DataFrame]:
        """Return the samples."""
        from dvsim.kinds.rabbitmq.rows import samples_of

        return {"samples": samples_of(runs)}

    def few(self, result: Result) -> dict[str, Each]:
        """Return the few numbers that a sweep tabulates."""
        from dvsim.kinds.rabbitmq.rows import few

        return few(result)

    def headline_at(self, result: Result, point: int, *, each: bool) -> Headline:
        """Return its rate; with `each` that of a receiver, not of all together."""
        from dvsim.table.result import Headline

        receivers = result.scenario.system.receivers if each else 1
        unit = "msg/s for each receiver" if each else "msg/s"
        values = result.each(0, "delivered_rate").items()
        rates = {number: rate / receivers for number, rate in values}
        return Headline("rate", unit, rates, signed=False)

    def answer(self, result: Result) -> str:
        """Return rate and limit, in words."""
        from dvsim.kinds.rabbitmq.text import answer_text

        return answer_text(result)

    def limit(self, result: Result) -> Limit | None:
        """Return what keeps it from being faster; None of an emulated run."""
        from dvsim.kinds.rabbitmq.rows import limit_at
        from dvsim.table.stages import stages_of

        return limit_at(result.scenario, stages_of(result.values), result.rate.value)

    def values(self, metric: str, readings: Sequence[Replicate]) -> list[float]:
        """Return a metric of each replication; of several stages alike that of the busiest."""
        from dvsim.kinds.rabbitmq.rows import busiest_alike, busy_of

        stage = metric.removeprefix("busy_")
        if stage == metric:
            return super().values(metric, readings)
        rows = ((number, *row) for number, each in enumerate(readings) for row in each.rows)
        most = busiest_alike(busy_of(rows))
        return list(most[stage].values()) if stage in most else super().values(metric, readings)

    def answers(self, results: Sequence[Result]) -> Iterator[Any]:
        """Yield rate and limit of a run, or the table of several."""
        from dvsim.kinds.rabbitmq.text import answer_lines, table_lines

        return answer_lines(results[0]) if len(results) == 1 else table_lines(results)

    def fidelity(self, result: Result) -> str | None:
        """Return that of the fabric, and how good it is; None without a fabric."""
        from dvsim.kinds.rabbitmq.text import fabric_text

        return fabric_text(result.values)

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

    def made(self, scenarios: Sequence[Scenario], job: Job) -> Generator[Result, None, None]:
        """Simulate or emulate scenarios and yield the result of each; otherwise as `Kind.made`."""
        if job.how.emulation is None:
            return super().made(scenarios, job)
        from dvsim.kinds.rabbitmq.emu import emulated

        return emulated(self, scenarios, job)

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

    headline = first = property(lambda self: self.shown)  # of columns there are any


KIND = RabbitmqKind()
