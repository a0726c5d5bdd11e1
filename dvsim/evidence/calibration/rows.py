"""Measured statistics beside simulated ones, the distance between them, and the naive rival.

The rival of a fitted model: a latency, and bytes over a rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dvsim.contract.find import kind_of
from dvsim.errors import ScenarioError
from dvsim.evidence.affine import fit_law, seconds
from dvsim.evidence.calibration.target import Asked, Target, with_card
from dvsim.evidence.lab.match import match
from dvsim.evidence.statistics import Floats, log_error
from dvsim.scenario.types import Card
from dvsim.sheets.headings import share_of
from dvsim.study.design import Trial
from dvsim.table.result import Result

LEAST, MOST = 0.25, 0.99  # shares of the quantiles that are judged; extremes hang on the length
ZERO = 1.0  # log error where one of two numbers is zero


@dataclass(frozen=True, eq=False)
class Row:
    """One statistic of a case."""

    place: int  # of the case in `Target.cases`
    statistic: str  # ``mean``, ``std``, ``50%`` …
    # measured, simulated: 1/s or s; the simulated one is the mean of `runs`, the values of each
    # replication
    measured: float
    simulated: float
    runs: Floats
    per_message: float  # what is counted for each message: pieces, or 1


def trials_of(
    target: Target,
    places: Iterable[int],
    old: Card,
    card: Card,
    scale: float,
    **how: Any,  # noqa: ANN401
) -> list[Trial]:
    """Return the runs that answer some cases with a card in the place of another.

    Args:
        target, places: Which cases.
        old, card: The card whose place another takes.
        scale: Multiplies the number of messages.
        **how: Replications and seed, as of a `Trial`.
    """
    scenarios = [with_card(target.cases[index].scenario, old, card) for index in sorted(places)]
    return [Trial(kind_of(scenario).sized(scenario, scale, None), **how) for scenario in scenarios]


def simulated_rows(target: Target, places: Iterable[int], results: Sequence[Result]) -> list[Row]:
    """Return the judged statistics of some cases beside their results, of `trials_of`.

    Raises:
        ScenarioError: If a run is too short to say anything of a case.
    """
    rows: list[Row] = []
    for index, result in zip(sorted(places), results, strict=True):
        asked = target.cases[index]
        matched = match([result], replace(asked.data, cases=(asked.case,)), target.taken)
        case, simulated = matched.pairs[0]
        for name, value in case.statistics.items():
            if judged(name) and name in simulated.statistics:
                own = (simulated.statistics[name][0], simulated.runs[name], simulated.per_message)
                rows.append(Row(index, name, value, *own))
    if not rows:
        message = "none of its statistics is simulated: mean, std and quantiles from 25 to 99 % are"
        raise ScenarioError.at(target.cases[0].data.path, message)
    return rows


def judged(statistic: str) -> bool:
    """Return whether a statistic is part of the distance.

    >>> [judged(name) for name in ("mean", "std", "count", "min", "50%", "99%", "99.9%")]
    [True, True, False, False, True, True, False]
    """
    share = share_of(statistic)
    return statistic in ("mean", "std") or (share is not None and LEAST <= share <= MOST)


def of(rows: Iterable[Row], places: frozenset[int]) -> list[Row]:
    """Return the rows of some cases."""
    return [row for row in rows if row.place in places]


def headlines(rows: Iterable[Row]) -> dict[int, Row]:
    """Return one row of each case, by place: its mean, or its first statistic."""
    chosen: dict[int, Row] = {}
    for row in rows:
        if row.place not in chosen or row.statistic == "mean":
            chosen[row.place] = row
    return chosen


def distance(measured: float, other: float) -> float:
    """Return the absolute log error of a number; `ZERO` if only one of both is zero."""
    error = log_error(other, measured)
    return abs(error) if error is not None else 0.0 if measured == other else ZERO


def mean_error(rows: Sequence[Row]) -> float:
    """Return the mean absolute log error of rows; 0 of none."""
    errors = [distance(row.measured, row.simulated) for row in rows]
    return sum(errors) / len(errors) if errors else 0.0


def naive_error(fit: Sequence[Row], means: Sequence[Row], cases: Sequence[Asked]) -> float | None:
    """Return the mean log error of means by a law through the fitted means of each series.

    Means of a series without a fitted one are left out; None if that leaves none.

    Args:
        fit: Rows that may be used.
        means: The means to be predicted.
        cases: Of all of them.
    """

    def series(row: Row) -> tuple[str, ...]:
        case = cases[row.place].case
        return case.metric, *case.keys.values()

    def time(row: Row) -> float:
        latency = cases[row.place].case.metric.endswith("latency")
        return row.measured if latency else row.per_message / row.measured

    errors = []
    for name in dict.fromkeys(map(series, means)):
        used = [row for row in fit if series(row) == name and row.statistic == "mean"]
        used = [row for row in used if row.measured > 0]
        if not used:
            continue
        law = fit_law([cases[row.place].size for row in used], [time(row) for row in used]).law
        for row in (row for row in means if series(row) == name and row.measured > 0):
            errors.append(distance(time(row), seconds(law, cases[row.place].size)))
    return sum(errors) / len(errors) if errors else None
