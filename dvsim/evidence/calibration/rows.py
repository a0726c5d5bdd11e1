"""Measured statistics beside simulated ones, the distance between them, and the naive rival.

The rival of a fitted model: a latency, and bytes over a rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.errors import ScenarioError
from dvsim.evidence.affine import fit_law, seconds
from dvsim.evidence.calibration.target import Asked, Target, with_card
from dvsim.evidence.lab.match import match
from dvsim.scenario.types import Card
from dvsim.sheets.headings import share_of
from dvsim.study.design import Trial
from dvsim.table.compare import beside, log_errors
from dvsim.table.result import Result

LEAST, MOST = 0.25, 0.99  # shares of the quantiles that are judged; extremes hang on the length
ZERO = 1.0  # log error where one of two numbers is zero


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


def simulated_rows(
    target: Target, places: Iterable[int], results: Sequence[Result]
) -> pd.DataFrame:
    """Return the judged statistics of some cases beside their results, of `trials_of`.

    Returns:
        DataFrame: As `dvsim.table.compare.beside` has it, a row for each statistic, in 1/s or s,
        with the place of its case in `Target.cases`, the values of each replication, runs, and
        what is counted for each message, per_message: pieces, or 1.

    Raises:
        ScenarioError: If a run is too short to say anything of a case.
    """
    numbers: list[tuple[Any, ...]] = []
    estimates = []
    for index, result in zip(sorted(places), results, strict=True):
        asked = target.cases[index]
        pairs, _ = match([result], replace(asked.data, cases=(asked.case,)), target.taken)
        case, simulated = pairs[0]
        each, of_message = simulated.runs, simulated.per_message
        numbers += [
            (index, name, value, math.nan, each.get(name), of_message)
            for name, value in case.statistics.items()
            if judged(name)
        ]
        estimates.append(simulated.statistics.assign(place=index))
    head = ["place", "statistic", "measured", "tolerance", "runs", "per_message"]
    table = pd.DataFrame(numbers, columns=head).astype({"place": int})
    rows = beside(table, pd.concat(estimates), ["place", "statistic"])
    if rows.empty:
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


def headlines(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row of each case: its mean, or its first statistic."""
    means_first = rows.assign(other=rows["statistic"] != "mean")
    means_first = means_first.sort_values(["place", "other"], kind="stable").drop(columns="other")
    return means_first.drop_duplicates("place")


def distances(measured: npt.ArrayLike, other: npt.ArrayLike) -> list[float]:
    """Return the absolute log errors of numbers; `ZERO` where only one of both is zero."""
    errors = np.abs(log_errors(other, measured))
    alike = np.where(np.equal(measured, other), 0.0, ZERO)
    return list(np.where(np.isnan(errors), alike, errors).tolist())


def mean_error(rows: pd.DataFrame) -> float:
    """Return the mean absolute log error of rows; 0 of none."""
    errors = distances(rows["measured"], rows["simulated"])
    return sum(errors) / len(errors) if errors else 0.0


def naive_error(fit: pd.DataFrame, means: pd.DataFrame, cases: Sequence[Asked]) -> float | None:
    """Return the mean log error of means by a law through the fitted means of each series.

    Means of a series without a fitted one are left out; None if that leaves none.

    Args:
        fit: Rows that may be used.
        means: The means to be predicted.
        cases: Of all of them.
    """
    rows = pd.concat([means.assign(used=False), fit.assign(used=True)])
    rows = rows[(rows["statistic"] == "mean") & (rows["measured"] > 0)]
    own = [cases[place] for place in rows["place"]]
    series: list[Any] = [(asked.case.metric, *asked.case.keys.values()) for asked in own]
    latency = np.array([asked.case.metric.endswith("latency") for asked in own], dtype=bool)
    time = np.where(latency, rows["measured"], rows["per_message"] / rows["measured"])
    rows = rows.assign(series=series, size=[asked.size for asked in own], time=time)
    errors: list[float] = []
    for _, group in rows.groupby("series", sort=False):
        used = group["used"].astype(bool)
        if used.any():
            law = fit_law(group["size"][used].tolist(), group["time"][used].tolist())
            other = group[~used]
            errors += distances(other["time"], [seconds(law, size) for size in other["size"]])
    return sum(errors) / len(errors) if errors else None
