"""What a limit can be searched for: a switch or network, messaging over hosts, a system.

The search itself is the same; here is what differs: the keys that have an order, the metrics, how
one replication is run, and what a value of a key must not make of a scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from dvsim.backends import messaging as flows
from dvsim.backends.sim import Task, run_task
from dvsim.backends.switch import QUICK, measure
from dvsim.backends.tables import Gathered
from dvsim.errors import RunFailed
from dvsim.limit.axis import MESSAGING_KEYS, SWITCH_KEYS, SYSTEM_KEYS, Keys
from dvsim.results.keyed import keyed, names_of_system, unit_of
from dvsim.results.messaging import METRICS as MESSAGING_METRICS
from dvsim.results.study import METRICS as SWITCH_METRICS
from dvsim.results.summary import summary_columns
from dvsim.scenario import bounds, messaging_build, switch_build
from dvsim.scenario.document import dotted
from dvsim.scenario.load import AnyScenario
from dvsim.scenario.messaging_types import MessagingScenario
from dvsim.scenario.messaging_types import Setting as Flow
from dvsim.scenario.switch_points import nodes_of, refused
from dvsim.scenario.switch_types import Setting, SwitchScenario
from dvsim.scenario.types import Scenario
from dvsim.scenario.varied import Varied

FEW = 100_000  # messages of all replications; as many are simulated before a process has started
BEHIND = "behind"
"""How late the last messages of an open loop are, in seconds; it grows beyond saturation."""


class Reading(Protocol):
    """What one replication gave."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """By name."""

    @property
    def fidelity(self) -> str:
        """``cycle``: what scatters is over replications; ``flow``: replications are equal."""

    @property
    def notes(self) -> str:
        """Why it has not settled; empty if it has."""


class Plain(NamedTuple):
    """The reading of a run that has metrics and nothing else."""

    metrics: dict[str, float]
    fidelity: str = "cycle"
    notes: str = ""


class Kind(NamedTuple):
    """What a limit is searched for.

    Attributes
    ----------
    keys
        That have an order, the usual one first.
    metrics
        With units.
    run
        One replication: of the tables of a point, seed and number.
    refused
        What is wrong with the tables of a point: a key, and a message.
    quick
        Whether so many replications are done before a process has started.
    always
        Whether every run must have every metric: where it has none, nothing was asked of it.
    """

    keys: Keys
    metrics: Mapping[str, str]
    run: Callable[[Any, int, int], Reading]
    refused: Callable[[Any], Iterator[tuple[str, str]]]
    quick: Callable[[Any, int], bool]
    always: bool


@dataclass(frozen=True)
class Load:
    """A system under an offered load, as the tables of a point."""

    scenario: Scenario

    def get(self, key: str) -> Any:  # noqa: ANN401 - any value of a table
        """Return the value of a key of the workload."""
        return getattr(self.scenario.workload, key)

    def put(self, key: str, value: Any) -> Load:  # noqa: ANN401 - any value of a table
        """Return the system with another value of a key of the workload."""
        work = replace(self.scenario.workload, **{key: value})
        return Load(replace(self.scenario, workload=work))


@dataclass(frozen=True)
class Loaded(Varied[Load]):
    """A scenario of a system as one of points: it has one, and varies nothing by itself."""

    name: str
    setting: Load
    vary: tuple[Mapping[str, tuple[Any, ...]], ...] = ()


Searched = SwitchScenario | MessagingScenario | Loaded


def searched(scenario: AnyScenario) -> Searched:
    """Return a scenario as one whose keys can be searched."""
    return Loaded(scenario.name, Load(scenario)) if isinstance(scenario, Scenario) else scenario


def kind_of(scenario: Searched) -> Kind:
    """Return what is different about a kind of scenario."""
    if isinstance(scenario, SwitchScenario):
        return Kind(SWITCH_KEYS, SWITCH_METRICS, measured, _refused, _quick, always=False)
    if isinstance(scenario, MessagingScenario):
        return Kind(MESSAGING_KEYS, MESSAGING_METRICS, _flow, _refused_flow, _few, always=True)
    system = scenario.setting.scenario
    metrics = {name: unit_of(name, system) for name in names_of_system(system)} | {BEHIND: "s"}
    return Kind(SYSTEM_KEYS, metrics, _load, _refused_load, _few_loaded, always=True)


def measured(setting: Setting, seed: int, replication: int) -> Reading:
    """Run one replication of a switch or network."""
    try:
        return measure(setting, seed, 0, replication)
    except MemoryError as error:
        raise RunFailed(str(error)) from error


def _refused(setting: Setting) -> Iterator[tuple[str, str]]:
    found = list(refused(setting))
    yield from found or ((dotted(path), text) for path, text in switch_build.extent(setting))


def _quick(setting: Setting, count: int) -> bool:
    slots = setting.traffic.slots + setting.traffic.warmup
    return nodes_of(setting) * slots * count < QUICK // 10


def _flow(setting: Flow, seed: int, replication: int) -> Reading:
    """Run one replication of messaging over hosts."""
    return Plain(flows.run_task(flows.Task("", setting, 0, seed, replication)).outcome.metrics)


def _refused_flow(setting: Flow) -> Iterator[tuple[str, str]]:
    yield from ((dotted(path), text) for path, text in messaging_build.extent(setting))


def _few(setting: Flow, count: int) -> bool:
    return setting.flow.messages * count <= FEW


def _load(load: Load, seed: int, replication: int) -> Reading:
    """Run one replication of a system, with all its iterations."""
    scenario, gathered = load.scenario, Gathered()
    for number in range(1, scenario.workload.iterations + 1):
        done = run_task(Task(scenario, seed, replication, number))
        gathered.add(replication, number, done.iteration, done.work_s)
    tables = gathered.tables()
    (found,) = keyed(scenario, summary_columns(tables.samples, tables.counters, scenario))
    metrics = {name: one.value for name, one in found.results.items()}
    late = tables.counters[tables.counters["metric"] == "behind_schedule_s"]["value"]
    return Plain(metrics | {BEHIND: float(late.mean())})


def _refused_load(load: Load) -> Iterator[tuple[str, str]]:
    yield from ((dotted(path), text) for path, text in bounds.extent(load.scenario))


def _few_loaded(load: Load, count: int) -> bool:
    work = load.scenario.workload
    return work.messages * work.iterations * count <= FEW
