"""How far a fit can be off: 95 % intervals of parameters, and of what it predicts.

The fit is made again, many times, of laboratories that might have been: what was measured, moved by
what simulated runs differ by among themselves, and by what the fitted cases are off beyond that.
Around the fit all is taken as linear in logarithms, with the slopes that a step of 1.2 either way
shows, so that no further run is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.evidence.calibration.rows import headlines
from dvsim.evidence.statistics import Floats
from dvsim.table.compare import log_errors
from dvsim.table.estimate import middle_share

DRAWS = 1000
ROUNDS = 25  # of the reweighted least squares that give least absolute errors
FLAT = 1e-6  # of a slope: the parameter moves nothing


class Range(NamedTuple):
    """The ends of a 95 % interval, as logarithms; `open` if they are but the bounds."""

    low: float
    high: float
    open: bool = False


class Uncertain(NamedTuple):
    """What is known of a fit."""

    parameters: tuple[Range, ...]  # A range for each, of its logarithm
    # what the fit says of one more run of the laboratory, in 1/s or s, by place of the case:
    # statistic, measured, value with its 95 % interval low and high, holds: measured is within
    predicted: pd.DataFrame
    # by what factor the fitted cases are off beyond chance, as a logarithm; None if there are no
    # more cases than parameters, which are then met exactly
    misfit: float | None


def uncertain(
    best: Floats,
    bounds: tuple[Sequence[float], Sequence[float]],
    slopes: Mapping[tuple[int, str], Floats],
    rows: pd.DataFrame,
    fit: frozenset[int],
    trials: int,
    seed: int,
) -> Uncertain:
    """Return how far a fit can be off.

    Args:
        best, bounds: The fitted logarithms, and their least and largest.
        slopes: Of the logarithm of each statistic, by case and name, for each parameter.
        rows: Of all cases with the fitted card, with draws that the search has not seen.
        fit: The cases that were fitted.
        trials: Replications of each run of the search.
        seed: Of the draws.
    """
    rng = np.random.default_rng(seed)
    known = [
        (row.measured > 0 or math.isnan(row.measured))  # or is to be predicted
        and row.runs.size > 1
        and bool((row.runs > 0).all())
        and (row.place, row.statistic) in slopes
        for row in _each(rows)
    ]
    used = rows[known]
    fitted = used[used["place"].isin(fit)]
    jacobian = np.array([slopes[row.place, row.statistic] for row in _each(fitted)])
    misfit = _misfit(fitted, len(best), trials)
    extra = misfit or 0.0
    laboratory, search = _draws(fitted, rng, extra), _draws(fitted, rng, 0.0, together=True)
    noise = laboratory + search / math.sqrt(trials)
    low, high = (np.asarray(ends, dtype=np.float64) - best for ends in bounds)
    moved = np.clip(_least_absolute(jacobian, noise), low, high)
    free = _free(jacobian, len(best))
    ends = middle_share(moved)
    ranges = [
        Range(float(best[k] + low[k]), float(best[k] + high[k]), True)
        if free[k]
        else Range(float(best[k] + ends[0, k]), float(best[k] + ends[1, k]))
        for k in range(len(best))
    ]
    moved[:, free] = rng.uniform(low[free], high[free], (DRAWS, int(free.sum())))
    means = headlines(used)
    again = _draws(means, rng, extra)
    shares = [
        np.exp(middle_share(moved @ slopes[row.place, row.statistic] + again[:, column]))
        for column, row in enumerate(_each(means))
    ]
    predicted = means.set_index("place")[["statistic", "measured", "simulated"]]
    predicted = predicted.rename(columns={"simulated": "value"})
    ends = np.reshape(shares, (-1, 2)) * predicted["value"].to_numpy()[:, None]
    predicted[["low", "high"]] = ends
    predicted["holds"] = predicted["measured"].between(predicted["low"], predicted["high"])
    return Uncertain(tuple(ranges), predicted, misfit)


def _each(rows: pd.DataFrame) -> list[Any]:
    return list(rows.itertuples(index=False))


def _residuals(runs: Floats) -> Floats:
    logs = np.log(runs)
    return np.asarray(logs - logs.mean(), dtype=np.float64)


def _draws(
    rows: pd.DataFrame, rng: np.random.Generator, extra: float, *, together: bool = False
) -> Floats:
    """Return by how much statistics of one run are off, a row for each draw.

    The statistics of a case move together, as those of the replications did. So do cases that were
    simulated with the same random numbers, `together`; those of a laboratory do not. The spread of
    few replications is itself uncertain, hence Student's t.
    """
    result = np.zeros((DRAWS, len(rows)))
    groups = np.zeros(len(rows)) if together else rows["place"].to_numpy()
    for group in dict.fromkeys(groups.tolist()):
        columns = np.flatnonzero(groups == group)
        apart = np.array([_residuals(runs) for runs in rows["runs"].iloc[columns]])
        freedom = apart.shape[1] - 1
        normal = rng.standard_normal((DRAWS, apart.shape[1])) / math.sqrt(freedom)
        wider = np.sqrt(freedom / rng.chisquare(freedom, DRAWS))
        common = extra * rng.standard_normal(DRAWS)
        result[:, columns] = (normal @ apart.T) * wider[:, None] + common[:, None]
    return result


def _misfit(fitted: pd.DataFrame, parameters: int, trials: int) -> float | None:
    """Return the error of the fit that the spread of runs does not explain.

    None if there are as many parameters as cases, which leaves nothing to estimate it from.
    """
    means = headlines(fitted)
    freedom = len(means) - parameters
    if freedom < 1:
        return None
    squares = sum((log_errors(means["measured"], means["simulated"]) ** 2).tolist())
    variance = sum(float(_residuals(runs).var(ddof=1)) for runs in means["runs"]) / len(means)
    # the error of the search is one of all cases
    chance = variance * (1 + len(means) / freedom / trials)
    return math.sqrt(max(0.0, squares / freedom - chance))


def _free(jacobian: Floats, parameters: int) -> npt.NDArray[np.bool_]:
    if not jacobian.size:
        return np.ones(parameters, dtype=bool)
    _, values, directions = np.linalg.svd(jacobian, full_matrices=True)
    size = np.zeros(parameters)
    size[: len(values)] = values
    loose = directions[size <= FLAT * max(1.0, float(size.max()))]
    return np.asarray((np.abs(loose) > 0.01).any(axis=0), dtype=bool)


def _least_absolute(jacobian: Floats, errors: Floats) -> Floats:
    """Return the steps whose changes of the statistics are nearest to rows of errors, absolutely.

    By reweighted least squares, as the loss of the search is the mean of absolute errors.
    """
    weights = np.ones(errors.shape)
    steps = np.zeros((len(errors), jacobian.shape[1]))
    for _ in range(ROUNDS):
        inner = np.einsum("bn,ni,nj->bij", weights, jacobian, jacobian)
        right = np.einsum("bn,ni,bn->bi", weights, jacobian, errors)
        steps = np.einsum("bij,bj->bi", np.linalg.pinv(inner, hermitian=True), right)
        residuals = np.abs(errors - steps @ jacobian.T)
        weights = 1 / np.maximum(residuals, 1e-3 * residuals.mean(axis=1, keepdims=True) + 1e-9)
    return np.asarray(steps, dtype=np.float64)
