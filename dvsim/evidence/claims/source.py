"""Sentences of a source that runs can decide: what is claimed, and how a run gives the value.

They stand beside the scenarios of the source: ``claims.csv`` has a row for each, with a metric, a
condition and a range; ``claims.py`` has a function for each, which works out the value. What
follows from the value is in `dvsim.evidence.claims.decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from dvsim.errors import ScenarioError, nearest
from dvsim.evidence.claims.figures import Evidence
from dvsim.scenario.find import is_file, nearest_beside, scenario_root, why_not
from dvsim.scenario.reference import read_csv
from dvsim.study.number_text import four_digits

FILE, CODE = "claims.csv", "claims.py"

OPS: Mapping[str, tuple[Callable[[float, float, float], bool], str]] = {
    "ge": (lambda value, low, high: value >= low, "at least {low}"),
    "lt": (lambda value, low, high: value < high, "below {high}"),
    "eq": (lambda value, low, high: value == low, "{low}"),
    "about": (lambda value, low, high: low <= value <= high, "{number} to {high}"),
    "true": (lambda value, low, high: value == 1.0, "yes"),
}
"""How a claim speaks of a value: whether it holds in a range, and the range for people."""


@dataclass(frozen=True)
class Claim:
    """One row of ``claims.csv``; `low` and `high` are None where the range is open."""

    id: str
    source: str
    section: str
    metric: str
    condition: str
    op: str
    low: float | None
    high: float | None
    unit: str

    def holds(self, value: float) -> bool:
        """Return whether a value is in the claimed range; a truth is 1 or 0."""
        if self.op not in OPS:
            raise ValueError(f"{FILE}: {self.id}: unknown op {self.op!r}")
        return OPS[self.op][0](value, *self._range)

    def overlaps(self, allowed: tuple[float, float]) -> bool:
        """Return whether the claimed range has a value in common with another range."""
        low, high = self._range
        return (allowed[0] <= high or self.op == "ge") and low <= allowed[1]

    @property
    def _range(self) -> tuple[float, float]:
        low = -float("inf") if self.low is None else self.low
        return low, float("inf") if self.high is None else self.high

    @property
    def expected(self) -> str:
        """The claimed range, for people."""
        low, high = self.text_of(self.low), self.text_of(self.high)
        return OPS.get(self.op, OPS["true"])[1].format(
            number=four_digits(self.low), low=low, high=high
        )

    def text_of(self, value: float | None) -> str:
        """Return a value of this claim with its unit, for people."""
        if value is None:
            return "-"
        if self.op == "true":
            return "yes" if value else "no"
        unit = "" if self.unit == "fraction" else self.unit
        return f"{four_digits(value)} {unit}".strip()


@dataclass(frozen=True)
class Finding:
    """What the runs say to one claim."""

    # in the unit of the claim; 1.0 or 0.0 for a truth; None if no run can tell, in which case
    # `note` says why
    value: float | None
    note: str = ""  # what the value rests on
    # the same value with the simulation counted in whole messages; None where that is the same
    as_messages: float | None = None
    # the value follows from the structure, the workload or a number that the source states,
    # whatever the model does: no column speaks of it
    by_definition: bool = False
    # the values that the published statistics leave possible where they do not decide them; a claim
    # whose range overlaps it is not refuted by a model that reproduces those statistics
    allowed: tuple[float, float] | None = None


Evaluator = Callable[[Evidence], Finding]


@dataclass(frozen=True)
class Entry:
    """How a claim is decided."""

    text: str  # the sentence in our words
    scenarios: tuple[str, ...]  # the runs that it needs
    evaluate: Evaluator  # what gives the value
    # the value is a statistic of what the published columns of these runs print, so that it was
    # fitted where one of them was
    of_columns: bool = False
    emulated: tuple[str, ...] = ()  # the scenarios of which it needs emulated runs


class Source(dict[str, Entry]):
    """Claims of one source that can be decided, by id.

    Args:
        file: The ``claims.py`` that makes it: `name` is the folder of that file, which `dvsim
            validate` takes for all its claims, and ``claims.csv`` beside it has the ranges.
        title: Names the source, or the sources.
        order: Where it stands in the ledger.
        known: What is known of a claim that is not confirmed, by id, whatever its value.
    """

    def __init__(
        self, file: str, title: str, order: int = 100, known: Mapping[str, str] | None = None
    ) -> None:
        super().__init__()
        self.file, self.title, self.order, self.known = file, title, order, known or {}

    @property
    def name(self) -> str:
        """The folder of its scenarios."""
        return Path(self.file).parent.name

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """Every row of its ``claims.csv`` by id, in the order of the file."""
        path = Path(self.file).with_name(FILE)
        try:
            return {row["id"]: _claim(row) for row in read_csv(path)}
        except (KeyError, TypeError, ValueError) as error:
            raise ScenarioError.at(path, f"is not a table of claims: {error}") from error

    def claim(
        self,
        id_: str,
        text: str,
        scenarios: Iterable[str],
        *,
        of_columns: bool = False,
        emulated: Iterable[str] = (),
    ) -> Callable[[Evaluator], Evaluator]:
        """Return a decorator: the function below it decides a claim."""

        def register(evaluate: Evaluator) -> Evaluator:
            self[id_] = Entry(text, tuple(scenarios), evaluate, of_columns, tuple(emulated))
            return evaluate

        return register


@cache
def sources() -> tuple[Source, ...]:
    """Return the sources that dvsim carries: every folder of scenarios that has ``claims.py``."""
    results = [load_source(path.parent) for path in sorted(scenario_root().glob(f"*/{CODE}"))]
    return tuple(sorted(results, key=lambda source: (source.order, source.name)))


def load_source(folder: Path) -> Source:
    """Return the source of a folder: its ``claims.py`` is run, so it must be code that you trust.

    Raises:
        ScenarioError: If there is no such file, it fails, has no ``SOURCE``, or a claim has no row.
    """
    path, module = folder / CODE, load_code(folder)
    source = getattr(module, "SOURCE", None)
    if not isinstance(source, Source):
        raise ScenarioError.at(path, "must be a Source", "SOURCE")
    lacking = [id_ for id_ in source if id_ not in source.claims]
    if lacking:
        near = nearest(lacking[0], source.claims)
        message = f"{path.name} decides {lacking[0]}, which has no row"
        raise ScenarioError.at(str(path.with_name(FILE)), message, "id", hint=near)
    return source


def load_code(folder: Path) -> ModuleType:
    """Return the ``claims.py`` of a folder as a module.

    Raises:
        ScenarioError: If there is no such file, or it fails.
    """
    path = folder / CODE
    if not is_file(path):
        near = nearest_beside(folder, lambda other: is_file(other / CODE))
        raise ScenarioError.at(path, why_not(path, "a file of claims"), hint=near)
    spec = spec_from_file_location(f"claims of {folder.resolve().name}", path.resolve())
    assert spec is not None  # for a file that ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ScenarioError.at(path, f"cannot be run: {type(error).__name__}: {error}") from error
    return module


def _claim(row: Mapping[str, str]) -> Claim:
    words = {key: row[key] for key in ("id", "source", "section", "metric", "condition", "op")}
    low, high = (float(row[end]) if row[end] else None for end in ("low", "high"))
    return Claim(**words, low=low, high=high, unit=row["unit"])
