"""Which runs need more replications for the verdicts of a validation, and which do not.

A verdict is decided where it would be the same at both ends of the interval of its value, whose
confidence is such that all looks together err in 5 % at most (`dvsim.study.precision`): a
claim whose interval lies in the claimed range or outside of it; a column whose statistics are all
within tolerance, or one of them outside; a goal that is met, or missed, whatever becomes of the
statistics whose intervals reach over its bound. A statistic alone is no verdict: where its interval
reaches over its tolerance, only a column that rests on it is open.

A goal counts statistics of several runs. The dearest of those that leave it open is not asked for
more replications while there is a cheaper one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.evidence.claims.source import Source
from dvsim.evidence.goals import MEAN_NEAR, NEAR, SHARE, counted
from dvsim.evidence.published import JUDGED_QUANTILES
from dvsim.evidence.validation import validate
from dvsim.evidence.verdicts import Validation
from dvsim.scenario.reference import published_transports
from dvsim.study.precision import VERDICT_STEPS, deciding
from dvsim.table.compare import agree
from dvsim.table.estimate import Estimate
from dvsim.table.result import Result

STEPS = VERDICT_STEPS
Bools = npt.NDArray[np.bool_]


def open_verdicts(results: Sequence[Result], more: Iterable[Source] = ()) -> list[bool]:
    """Return for each result whether a verdict rests on it that is not decided yet.

    Args:
        results: All that there is, as `dvsim.evidence.validation.validate` takes them.
        more: Sources beside those that dvsim carries.
    """
    names = undecided(validate(results, more=more), results)
    return [result.scenario.name in names for result in results]


def undecided(validation: Validation, runs: Iterable[Result]) -> frozenset[str]:
    """Return the names of the scenarios on which verdicts rest that are not decided.

    Args:
        validation: Of the runs, all of at least two replications.
        runs: Those runs.
    """
    names = {
        name for claim in validation.claims if claim.edge or claim.open for name in claim.scenarios
    }
    if not validation.judged:
        return frozenset(names)
    compared: dict[str, Any] = {run.scenario.name: run for run in runs}
    rows = validation.rows[validation.rows["reading"] == "as printed"]
    wide = [
        deciding(Estimate(value, low, high), compared[name].replications, STEPS)
        for name, value, low, high in rows[["scenario", "simulated", "low", "high"]].to_numpy()
    ]
    rows = rows.assign(low=[end.low for end in wide], high=[end.high for end in wide])
    published = rows["published"]
    decided = _decided(lambda x: agree(x, published, rows["tolerance"]), published, rows)
    judged = (rows["statistic"] == "mean") | (
        rows["statistic"].isin(JUDGED_QUANTILES) & (published != 0)
    )
    parts = rows.assign(decided=decided)[judged & rows["tolerance"].notna()]
    shares = validation.printed()
    shares = shares[shares["empty_share"].notna()]
    parts = pd.concat(
        [parts, *(_share(one, compared[one["scenario"]]) for _, one in shares.iterrows())]
    )
    for (name, _), own in parts.groupby(["scenario", "column"])["decided"]:
        if own.isna().any() and not (own == 0).any():  # judged otherwise at an end of an interval
            names.add(str(name))
    held = rows.loc[counted(validation).index]
    held = held[held["split"] == "held out"]
    for path in (None, *published_transports()):
        part = held if path is None else held[held["transport"] == path]
        goals = [_open_goal(part, NEAR, SHARE)]
        if path is not None:
            goals.append(_open_goal(part[part["statistic"] == "mean"], MEAN_NEAR, 1.0))
        for candidates in goals:
            by_cost = sorted(candidates, key=lambda name: (_seconds(compared[name]), name))
            names.update(by_cost[:-1] or by_cost)
    return frozenset(names)


def _seconds(run: Result) -> float:
    return float(kind_of(run.scenario).seconds(run.scenario))


def _decided(holds: Callable[[Any], Bools], good: Any, rows: pd.DataFrame) -> pd.Series[float]:  # noqa: ANN401
    """Return 1 where it holds in all of an interval, 0 where nowhere, else not a number.

    `good` is a value at which it does, in the middle of all that do.
    """
    verdict = holds(rows["simulated"])
    same = (holds(rows["low"]) == verdict) & (holds(rows["high"]) == verdict)
    sure = same & (verdict | ~((rows["low"] <= good) & (good <= rows["high"])))
    return pd.Series(verdict.astype(float), rows.index).where(sure)


def _share(column: pd.Series[Any], run: Result) -> pd.DataFrame:
    """Return whether the share of empty samples of a column is decided, as a row."""
    known = run.by_metric[column["column"], 0, f"{run.scenario.readings[0]}.empty"]
    row = pd.DataFrame(
        [deciding(known, run.replications, STEPS)], columns=["simulated", "low", "high"]
    )
    low, high = column["empty_low"], column["empty_high"]
    slack = run.scenario.tolerance.empty_share
    decided = _decided(
        lambda x: np.asarray((low - slack <= x) & (x <= high + slack)), (low + high) / 2, row
    )
    return row.assign(scenario=column["scenario"], column=column["column"], decided=decided)


def _open_goal(rows: pd.DataFrame, near: float, share: float) -> set[str]:
    decided = _decided(lambda x: agree(x, rows["published"], near), rows["published"], rows)
    open_ = decided.isna()
    sure, wanted = (decided == 1).sum(), share * len(rows)
    return set(rows["scenario"][open_]) if sure < wanted <= sure + open_.sum() else set()
