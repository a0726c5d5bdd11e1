"""Which runs need more replications for the verdicts of a validation, and which do not.

A verdict is decided where it would be the same at both ends of the interval of its value, whose
confidence is such that all looks together err in 5 % at most (`dvsim.study.stopping`): a
claim whose interval lies in the claimed range or outside of it; a column whose statistics are all
within tolerance, or one of them outside; a goal that is met, or missed, whatever becomes of the
statistics whose intervals reach over its bound. A statistic alone is no verdict: where its interval
reaches over its tolerance, only a column that rests on it is open.

A goal counts statistics of several runs. The dearest of those that leave it open is not asked for
more replications while there is a cheaper one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dvsim.contract.find import kind_of
from dvsim.evidence.claims.source import Source
from dvsim.evidence.published.compare import JUDGED_QUANTILES, readings
from dvsim.evidence.published.goals import MEAN_NEAR, NEAR, SHARE, counted
from dvsim.evidence.statistics import agrees, log_error, within
from dvsim.evidence.validation import validate
from dvsim.evidence.verdicts import ColumnVerdict, Row, Validation
from dvsim.scenario.reference import published_transports
from dvsim.study.run import Run
from dvsim.study.stopping import VERDICT_STEPS, deciding
from dvsim.table.estimate import Estimate
from dvsim.table.result import Result

STEPS = VERDICT_STEPS

Holds = Callable[[float], bool]


def open_verdicts(results: Sequence[Run | Result], more: Iterable[Source] = ()) -> list[bool]:
    """Return for each result whether a verdict rests on it that is not decided yet.

    Args:
        results: All that there is, as `dvsim.evidence.validation.validate` takes them.
        more: Sources beside those that dvsim carries.
    """
    names = undecided(validate(results, more=more), results)
    return [result.scenario.name in names for result in results]


def undecided(validation: Validation, runs: Iterable[Run | Result]) -> frozenset[str]:
    """Return the names of the scenarios on which verdicts rest that are not decided.

    Args:
        validation: Of the runs, all of at least two replications.
        runs: Those runs.
    """
    names = {
        name for claim in validation.claims if claim.edge or claim.open for name in claim.scenarios
    }
    compared: dict[str, Any] = {run.scenario.name: run for run in runs}
    rows = [
        _deciding(row, compared[row.scenario])
        for row in validation.rows
        if row.reading == "as printed"
    ]
    for column in validation.columns:
        own = [r for r in rows if (r.scenario, r.column) == (column.scenario, column.column)]
        decided = list(_parts(column, own, compared[column.scenario]))
        if None in decided and False not in decided:  # judged otherwise at an end of an interval
            names.add(column.scenario)
    held = [row for row in rows if counted(row) and row.split == "held out"]
    for path in (None, *published_transports()):
        part = [row for row in held if path in (None, row.transport)]
        goals = [_open_goal(part, NEAR, SHARE)]
        if path is not None:
            means = [row for row in part if row.statistic == "mean"]
            goals.append(_open_goal(means, MEAN_NEAR, 1.0))
        for candidates in goals:
            by_cost = sorted(candidates, key=lambda name: (_seconds(compared[name]), name))
            names.update(by_cost[:-1] or by_cost)
    return frozenset(names)


def _deciding(row: Row, run: Run) -> Row:
    known = Estimate(row.simulated, row.low, row.high)
    _, low, high = deciding(known, run.replications, STEPS)
    return replace(row, low=low, high=high)


def _seconds(run: Run) -> float:
    return float(kind_of(run.scenario).seconds(run.scenario))


def _decided(holds: Holds, good: float, value: float, low: float, high: float) -> bool | None:
    """Return whether it holds in all of an interval; None if in a part of it.

    `good` is a value at which it does, in the middle of all that do.
    """
    verdict = holds(value)
    same = holds(low) == verdict == holds(high)
    return verdict if same and (verdict or not low <= good <= high) else None


def _parts(column: ColumnVerdict, rows: Iterable[Row], run: Run) -> Iterator[bool | None]:
    for row in rows:
        judged = row.statistic == "mean" or (row.statistic in JUDGED_QUANTILES and row.published)
        if judged and row.tolerance is not None:
            near = partial(agrees, measured=row.published, tolerance=row.tolerance)
            yield _decided(near, row.published, row.simulated, row.low, row.high)
    if column.empty_bounds is not None:
        least, most = column.empty_bounds
        slack = run.scenario.tolerance.empty_share
        counted = readings(run.scenario)["as printed"]
        interval = run.by_statistic.get((column.column, counted, "empty"))
        if interval is not None:
            middle = (least + most) / 2
            wide = deciding(interval, run.replications, STEPS)
            yield _decided(lambda share: least - slack <= share <= most + slack, middle, *wide)


def _open_goal(rows: Iterable[Row], near: float, share: float) -> set[str]:
    verdicts = []
    for row in rows:
        close = _close(row.published, near)
        holds = _decided(close, row.published, row.simulated, row.low, row.high)
        verdicts.append((row.scenario, holds))
    sure = sum(holds is True for _, holds in verdicts)
    most = sum(holds is not False for _, holds in verdicts)
    wanted = share * len(verdicts)
    return {name for name, holds in verdicts if holds is None} if sure < wanted <= most else set()


def _close(published: float, near: float) -> Holds:
    return lambda value: within(log_error(value, published), near)
