"""Published columns that a card is fitted to and held against, and the distance to them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from dvsim.errors import Fault, ScenarioError
from dvsim.results.run import Run
from dvsim.scenario.find import is_file, list_scenarios, nearest, reference_root
from dvsim.scenario.load import load
from dvsim.scenario.published import transports
from dvsim.scenario.types import Reference, Scenario
from dvsim.validation.reference import published
from dvsim.validation.types import Row
from dvsim.validation.verdict import compare

JUDGED = ("mean", "std", "25%", "50%", "75%", "90%", "95%", "99%")
ZERO = 1.0  # log error where one of two numbers is zero
REST = "rest"

Key = tuple[str, int]
"""A column label and a size: ``("r1", 8)``."""


@dataclass(frozen=True)
class Target:
    """The scenarios that use a card and have published data, and which of these are for what."""

    scenarios: tuple[Scenario, ...]
    role: str
    fit: frozenset[Key]
    held_out: frozenset[Key]

    def of(self, keys: frozenset[Key]) -> list[Scenario]:
        """Return the scenarios whose size is among keys."""
        sizes = {size for _, size in keys}
        return [one for one in self.scenarios if one.workload.message_bytes in sizes]


def target_of(card: str, data: str, fit: str, hold_out: str) -> Target:
    """Return what a card is fitted to.

    Parameters
    ----------
    card
        The name of a packaged card that scenarios use.
    data
        A table of published statistics: the name of a packaged one, or a path.
    fit, hold_out
        ``r1:8,2048`` (column and sizes; several with ``;``), or ``8,2048`` for all columns;
        `hold_out` may be ``rest``.

    Raises
    ------
    ScenarioError
        If there is nothing to fit, or something is fitted and held out at once.
    """
    path = Path(data) if is_file(Path(data)) else reference_root() / data
    if not is_file(path):
        names = [one.name for one in reference_root().glob("*.csv")]
        fault = Fault("--against", None, "", f"no such table '{data}'", nearest(data, names))
        raise ScenarioError([fault])
    transports(path)  # refuses a table of another kind, which has no column of any scenario
    scenarios, role = _users(card, path)
    there = {
        (column, one.workload.message_bytes)
        for one in scenarios
        for column in one.probe.columns
        if published(one, column)
    }
    if not there:
        fault = Fault(card, None, "", f"no scenario with this card has columns in {path.name}")
        raise ScenarioError([fault])
    fitted = _keys("--fit", fit, there)
    held = frozenset(there) - fitted if hold_out == REST else _keys("--hold-out", hold_out, there)
    both = sorted(fitted & held)
    if both:
        column, size = both[0]
        message = f"{column}:{size} is fitted; what is held out must not be"
        raise ScenarioError([Fault("--hold-out", None, "", message)])
    return Target(tuple(scenarios), role, fitted, held)


def rows_of(runs: Iterable[Run], keys: frozenset[Key]) -> list[Row]:
    """Return mean, spread and quantiles of columns, as printed, beside the simulated ones."""
    return [
        row
        for run in runs
        for row in compare(run).rows
        if row.reading == "as printed"
        and row.statistic in JUDGED
        and (row.column, row.message_bytes) in keys
    ]


def log_error(published_: float, other: float) -> float:
    """Return the absolute log error of a number; `ZERO` if only one of both is zero."""
    if published_ > 0 and other > 0:
        return abs(math.log(other / published_))
    return 0.0 if published_ == other else ZERO


def mean_error(rows: Sequence[Row]) -> float:
    """Return the mean absolute log error of rows; 0 of none."""
    errors = [log_error(row.published, row.simulated) for row in rows]
    return sum(errors) / len(errors) if errors else 0.0


def _users(card: str, path: Path) -> tuple[list[Scenario], str]:
    """Return the scenarios that use a card, with the data of a file, and its role there."""
    found, role = [], ""
    for one, reference in _referring():
        roles = [key for key, used in one.system.cards.items() if used.name == card]
        if roles:
            role = roles[0]
            found.append(replace(one, reference=replace(reference, file=str(path.resolve()))))
    return found, role


@cache
def _referring() -> tuple[tuple[Scenario, Reference], ...]:
    """Return the packaged scenarios of which anything was published."""
    loaded = [load(entry.name) for entry in list_scenarios() if entry.kind == "scenario"]
    return tuple(
        (one, one.reference)
        for one in loaded
        if isinstance(one, Scenario) and one.reference is not None
    )


def _keys(option: str, text: str, there: set[Key]) -> frozenset[Key]:
    """Read which columns of which sizes are meant."""
    labels = {label for label, _ in there}
    keys: set[Key] = set()
    for part in text.split(";"):
        label, colon, sizes = part.strip().rpartition(":")
        for word in sizes.split(","):
            if not word.strip().isdigit():
                message = f"'{part.strip()}' is not of the form r1:8,2048"
                raise ScenarioError([Fault(option, None, "", message)])
            wanted = {(one, int(word)) for one in ({label} if colon else labels)} & there
            if not wanted:
                known = ", ".join(f"{a}:{b}" for a, b in sorted(there, key=lambda k: (k[1], k[0])))
                message = f"no published column {part.strip()}; there are {known}"
                raise ScenarioError([Fault(option, None, "", message)])
            keys |= wanted
    return frozenset(keys)
