"""Published columns that a card is fitted to and held against, and the distance to them.

The naive rival of a fitted model: a latency, and bytes over a rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from dvsim.errors import Fault, ScenarioError
from dvsim.evidence.numbers import log_error
from dvsim.evidence.published.compare import compare
from dvsim.evidence.verdicts import Row
from dvsim.kinds.load import load
from dvsim.kinds.rabbitmq.published import published
from dvsim.kinds.rabbitmq.spec import Reference, Scenario
from dvsim.results.law import fit_law, seconds
from dvsim.results.run import Run
from dvsim.scenario.find import is_file, list_scenarios, nearest, reference_root
from dvsim.scenario.published import transports

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
        return [scenario for scenario in self.scenarios if scenario.workload.message_bytes in sizes]


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
        names = [item.name for item in reference_root().glob("*.csv")]
        fault = Fault("--against", None, "", f"no such table '{data}'", nearest(data, names))
        raise ScenarioError([fault])
    transports(path)  # refuses a table of another kind, which has no column of any scenario
    scenarios, role = _users(card, path)
    there = {
        (column, scenario.workload.message_bytes)
        for scenario in scenarios
        for column in scenario.probe.columns
        if published(scenario, column)
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


def distance(measured: float, other: float) -> float:
    """Return the absolute log error of a number; `ZERO` if only one of both is zero."""
    error = log_error(other, measured)
    return abs(error) if error is not None else 0.0 if measured == other else ZERO


def mean_error(rows: Sequence[Row]) -> float:
    """Return the mean absolute log error of rows; 0 of none."""
    errors = [distance(row.published, row.simulated) for row in rows]
    return sum(errors) / len(errors) if errors else 0.0


def _users(card: str, path: Path) -> tuple[list[Scenario], str]:
    """Return the scenarios that use a card, with the data of a file, and its role there."""
    result, role = [], ""
    for item, reference in _referring():
        roles = [key for key, used in item.system.cards.items() if used.name == card]
        if roles:
            role = roles[0]
            result.append(replace(item, reference=replace(reference, file=str(path.resolve()))))
    return result, role


@cache
def _referring() -> tuple[tuple[Scenario, Reference], ...]:
    """Return the packaged scenarios of which anything was published."""
    loaded = [load(entry.name) for entry in list_scenarios() if entry.kind == "scenario"]
    return tuple(
        (item, item.reference)
        for item in loaded
        if isinstance(item, Scenario) and item.reference is not None
    )


def _keys(option: str, text: str, there: set[Key]) -> frozenset[Key]:
    """Return which columns of which sizes are meant."""
    labels = {label for label, _ in there}
    keys: set[Key] = set()
    for part in text.split(";"):
        label, colon, sizes = part.strip().rpartition(":")
        for word in sizes.split(","):
            if not word.strip().isdigit():
                message = f"'{part.strip()}' is not of the form r1:8,2048"
                raise ScenarioError([Fault(option, None, "", message)])
            wanted = {(item, int(word)) for item in ({label} if colon else labels)} & there
            if not wanted:
                known = ", ".join(f"{a}:{b}" for a, b in sorted(there, key=lambda k: (k[1], k[0])))
                message = f"no published column {part.strip()}; there are {known}"
                raise ScenarioError([Fault(option, None, "", message)])
            keys |= wanted
    return frozenset(keys)


def naive_error(fit: Sequence[Row], means: Sequence[Row], scenarios: Sequence[Scenario]) -> float:
    """Return the mean log error of means by a law through the fitted means of each transport.

    Means of a transport without a fitted one are left out.

    Parameters
    ----------
    fit
        Rows that may be used.
    means
        The means to be predicted.
    scenarios
        Of all of them, which know how many pieces a message has.
    """
    pieces = {scenario.name: _pieces(scenario) for scenario in scenarios}
    errors = []
    for transport in dict.fromkeys(row.transport for row in means):
        used = [row for row in fit if row.transport == transport and row.statistic == "mean"]
        if not used:
            continue
        times = [pieces[row.scenario] / row.published for row in used]
        law = fit_law([row.message_bytes for row in used], times).law
        for row in (row for row in means if row.transport == transport):
            rate = pieces[row.scenario] / seconds(law, row.message_bytes)
            errors.append(distance(row.published, rate))
    return sum(errors) / len(errors) if errors else 0.0


def _pieces(scenario: Scenario) -> int:
    """Return what a message counts as printed: pieces over cards, else one."""
    if scenario.system.transport != "data-vortex":
        return 1
    words = math.ceil(scenario.workload.message_bytes / 8)
    return math.ceil(max(1, words) / int(scenario.system.card["piece_words"]))
