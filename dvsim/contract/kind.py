"""The contract of a kind of scenario.

A kind is what can be simulated: it says what its files hold, which numbers come out, and how one
replication is run. The rest of dvsim asks a kind and knows none, see `dvsim.contract.find` and
docs/own-kind.md.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from math import nan
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from dvsim.errors import Fault
from dvsim.scenario.document import Document, KeyPath
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import UNSETTLED
from dvsim.table.metrics import Metric

EMULATED = "emu"  # the backend of emulated results of any kind, as manifests name it

Own = Any  # a scenario or a result of a kind, of which only that kind knows the class


class Order(NamedTuple):
    """The order of the values of a key.

    Attributes:
        kind: ``share``: numbers from 0 to 1; ``scaled``: numbers above 0, as near as their ratio
            says; ``whole``; ``powers`` of two.
        least, most: What it may be.
        between: Where to look when nothing else is said; None if that must be said.
        title: What stands along an axis of it; empty takes the name of the key.
    """

    kind: Literal["share", "scaled", "whole", "powers"]
    least: float
    most: float
    between: tuple[float, float] | None = None
    title: str = ""


Keys = Mapping[str, Order]  # the keys of a kind of scenario that have an order


@dataclass(frozen=True)
class How:
    """How scenarios are run: with the scenario, all that an answer depends on.

    Attributes:
        version: Of dvsim, see `dvsim.core.code`.
        seed, replications: Replication `first` .. `replications` of `seed`.
        emulation: How real programs are run; None simulates.
        first: Those before it are there already.
        pilot: Whether they only tell how many of another seed are needed, see
            `dvsim.study.precision`.
    """

    version: str
    seed: int
    replications: int
    emulation: Any = None
    first: int = 1
    pilot: bool = False

    @property
    def numbers(self) -> range:
        """The replications that are run."""
        return range(self.first, self.replications + 1)


@dataclass(frozen=True)
class Job:
    """How scenarios are run, and what their manifests record.

    Attributes:
        how: How they are run.
        workers: Processes; 1 runs in this one.
        progress: Show progress on stderr.
        command: What was typed, for the manifests.
        whole: The scenarios before they were scaled, by what they ask, as TOML.
        started: When.
    """

    how: How
    workers: int
    progress: bool
    command: str | Sequence[str]
    whole: Mapping[str, Spec]
    started: datetime = field(default_factory=lambda: datetime.now(UTC))


class Reading(Protocol):
    """What one replication of a point gave."""

    @property
    def metrics(self) -> Mapping[str, float]:
        """By name; not a number where there is none."""

    @property
    def fidelity(self) -> str:
        """How it was simulated, such as ``cycle``.

        Of ``flow`` dvsim says that an interval over replications has no error of the model.
        """

    @property
    def notes(self) -> str:
        """Why it has not settled; empty if it has."""


def never_settles(notes: str) -> bool:
    """Return whether what waits in a run grows for as long as it lasts, by its notes."""
    return any(words in notes for words in UNSETTLED)


class Plain(NamedTuple):
    """The reading of a run that has metrics and nothing else."""

    metrics: Mapping[str, float]
    fidelity: str = "cycle"
    notes: str = ""


class Kind:
    """What is different about a kind of scenario.

    Attributes:
        name: What stands in its files as ``kind``.
        about: What its scenarios are of, to follow "is": ``of a switch or network alone``.
        Spec: The class of its scenarios.
        orders: The keys in whose order a limit can be searched for; the usual one first.
        flow_errors: Metrics whose relative error its readings have at flow fidelity, and where.
        sampled: Whether its results have samples, see `dvsim.table.samples`.
        emulated: Whether backend emu, real programs, can run them, too.
        always: Whether every run has every metric; a missing one was not asked for then.
        registry: Every metric of its results, by name.
        calibration: ``MODULE:NAME`` of a function that makes cards of emulated runs and takes what
            `dvsim.evidence.calibration.calibrate` takes; empty if there is none.
        figure: ``MODULE:NAME`` of a function that draws a result for a notebook; empty if there is
            none.
        swept: The metrics that the table of a sweep has; without any the first of `headline`.
        messages: Whether messages of a size go through its systems, as through measured ones.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    Spec: ClassVar[type[Spec]]
    orders: ClassVar[Keys] = {}
    flow_errors: ClassVar[Mapping[str, str]] = {}
    sampled: ClassVar[bool] = False
    emulated: ClassVar[bool] = False
    always: ClassVar[bool] = True
    registry: ClassVar[Mapping[str, Metric]] = {}
    messages: ClassVar[bool] = False
    swept: ClassVar[Sequence[str]] = ()
    calibration: ClassVar[str] = ""
    figure: ClassVar[str] = ""

    def recognises(self, data: Mapping[str, Any]) -> bool:
        """Return whether a file that names no kind is of this one."""
        return False

    def roles(self, data: Mapping[str, Any]) -> Mapping[str, str | None]:
        """Return the cards that the system of a file has: by role their kind, None for any."""
        return {}

    def usual(self, data: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the names of cards by role, where a file need not name any."""
        return {}

    def asks(self, role: str, data: Mapping[str, Any]) -> str:
        """Return what asks for the kind of a card, for a message."""
        return f"role '{role}'"

    def between(self, document: Document, *, partial: bool) -> Iterable[Fault]:
        """Return what is wrong between the tables of a file; `partial`: others may add to it."""
        return ()

    def settled(self, scenario: Own, document: Document) -> tuple[Any, list[Fault]]:
        """Return a scenario with all that follows from its file, and what is wrong with that."""
        return scenario, []

    def refused(self, scenario: Own) -> Iterator[tuple[KeyPath, str]]:
        """Yield what cannot be at a point: a key, and a message."""
        yield from ()

    def extent(self, scenario: Own) -> Iterator[tuple[KeyPath, str]]:
        """Yield what is too much in a point whose numbers are each within bounds."""
        yield from ()

    def beside(self, scenario: Own) -> Iterator[tuple[KeyPath, str]]:
        """Yield what is asked besides the run of a point and cannot be told of it."""
        yield from ()

    def metrics(self, scenario: Own) -> Mapping[str, str]:
        """Return the names of the metrics that a replication gives, with their units."""
        raise NotImplementedError

    def replicate(self, scenario: Own, seed: int, replication: int) -> Reading:
        """Run one replication of a point and return its metrics; raise RunFailed if it fails."""
        raise NotImplementedError

    def untraceable(self, scenario: Own) -> str | None:
        """Return why a scenario has no timeline; None if it has one: its kind has `trace`."""
        if type(self).trace is not Kind.trace:
            return None
        return f"a scenario of kind '{self.name}' has no timeline"

    def trace(self, scenario: Own, seed: int, timeline: Own) -> dict[str, Any]:
        """Run the first replication of the first point for its timeline.

        Returns:
            dict: What is to be said of the time and the length of it; JSON types.
        """
        raise NotImplementedError

    def read_trace(self, scenario: Own, folder: Path, timeline: Own) -> dict[str, Any]:
        """Add what the programs of an emulated run have left in a folder; return as `trace` does.

        Raises:
            RunFailed: If they have left nothing, or not what programs of this version write.
        """
        raise NotImplementedError

    def seconds(self, scenario: Own) -> float:
        """Return about how long a replication of a point takes, to tell if more processes pay."""
        return 1.0

    def made(self, scenarios: Sequence[Own], job: Job) -> Generator[Any, None, None]:
        """Run scenarios and yield the result of each, in order; closing it ends what works for it.

        Raises:
            RunFailed: If a run fails or does not fit in memory, or a worker dies.
        """
        raise NotImplementedError

    @property
    def simulates(self) -> str:
        """What manifests name as that which makes simulated results."""
        return self.name

    def backend(self, how: How) -> str:
        """Return what makes its results, as their manifests name it: ``emu`` of real programs."""
        return self.simulates if how.emulation is None else EMULATED

    @property
    def backends(self) -> Sequence[str]:
        """All that `backend` may return."""
        return (self.simulates, EMULATED) if self.emulated else (self.simulates,)

    def unsuited(self, scenario: Own, emulation: Own) -> Iterator[Fault]:
        """Yield what of a scenario cannot be emulated in this way."""
        yield Fault(scenario.name, None, "", f"is {self.about}, which only backend sim can run")

    def served(self, scenario: Own) -> int | None:
        """Return how many brokers an emulated run can use; None where the scenario says it."""
        return None

    def question(self, scenario: Own, emulation: Own) -> dict[str, Any]:
        """Return what of an emulation an answer depends on, as JSON types."""
        return dict(emulation.question())

    def slot_ps(self, scenario: Own) -> int | None:
        """Return how many picoseconds a slot takes; None where there are no slots."""
        return None

    def sized(self, scenario: Own, scale: float | None, emulation: Own) -> Own:
        """Return the scenario with as many messages, or slots, as shall be."""
        return scenario.scaled(1.0 if scale is None else scale)

    @property
    def tables(self) -> Mapping[str, Mapping[str, str]]:
        """The tables that are kept of a result, by name, with the types of their columns."""
        raise NotImplementedError

    def values(self, metric: str, readings: Sequence[Any]) -> list[float]:
        """Return a metric of each of some replications of a point, as a study of them has it."""
        return [reading.metrics.get(metric, nan) for reading in readings]

    def lines(self, result: Own) -> Iterator[Any]:
        """Yield a result as people read it: lines, and tables (`dvsim.study.table.Table`)."""
        raise NotImplementedError

    def answers(self, results: Sequence[Own]) -> Iterator[Any]:
        """Yield what results give in short, the answer first; `lines` has everything of each."""
        for result in results:
            yield from (*self.lines(result), "")

    def fidelity(self, result: Own) -> str | None:
        """Return at which fidelity a result was simulated, in words; None if there is only one."""
        return None

    @property
    def shown(self) -> Sequence[str]:
        """The metrics that a table for people has."""
        return [name for name, metric in self.registry.items() if metric.shown]

    first = shown  # the metrics that stand first in tables, in their order

    @property
    def headline(self) -> Sequence[str]:
        """The metrics that a precision may judge; it takes the first that is there."""
        return self.first

    @property
    def measures(self) -> Sequence[str]:
        """What the answer to an open question may tell besides its headline."""
        return [name for name, metric in self.registry.items() if metric.of is not None]

    def metric(self, name: str) -> Metric:
        """Return what is to be said of a metric."""
        return self.registry.get(name) or Metric("")

    def unit(self, name: str) -> str:
        """Return the unit of a metric as the values of results have it."""
        return self.metric(name).unit

    def value(self, result: Own, point: int, name: str) -> float:
        """Return one of `measures` at a point of a result; not a number if it has none."""
        formula = self.registry[name].of
        assert formula is not None  # it is one of `measures`
        return formula(result)

    def version(self, how: How) -> str:
        """Return the version of dvsim, with a digest of this kind's code if others bring it.

        That is every file of its package, those of packages inside and compiled ones, too.
        """
        own = type(self).__module__
        if own.startswith("dvsim."):
            return how.version
        root = Path(str(sys.modules[own].__file__))
        files = [root]
        if "." in own:
            parts = own.split(".")[:-1]
            names = (".".join(parts[: end + 1]) for end in range(len(parts)))
            found = (getattr(sys.modules.get(name), "__file__", None) for name in names)
            root = next((Path(file).parent for file in found if file), root.parent)
            files = [path for path in sorted(root.rglob("*")) if "__pycache__" not in path.parts]
        state = [(path, path.stat()) for path in files if path.is_file()]
        code = tuple((path, status.st_ctime_ns, status.st_size) for path, status in state)
        return f"{how.version}.{_digest(root, code)}"


@lru_cache(maxsize=16)
def _digest(root: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=4)
    for path, _, size in files:
        digest.update(f"{path.relative_to(root.parent)}\0{size}\0".encode() + path.read_bytes())
    return digest.hexdigest()
