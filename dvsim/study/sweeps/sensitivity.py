"""Sobol indices: how much of the spread of a result comes from which of the keys that are varied.

The first-order index of a key is the share of the variance that it explains alone, the total index
the share that it has a part in; where the two differ, keys act together. Estimators: Saltelli et
al., Computer Physics Communications 181 (2010) 259, as ``scipy.stats.sobol_indices`` has them.
Intervals: bootstrap over the samples, percentiles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dvsim.errors import Argument, RunFailed, ScenarioError
from dvsim.study.sweep import Sweep
from dvsim.study.sweeps.executors import Refused
from dvsim.study.sweeps.grid import Point, Range, power_of_two, sobol
from dvsim.study.table import csv_text
from dvsim.table.estimate import middle_share
from dvsim.table.result import Result

CSV = "sensitivity.csv"
RESAMPLES = 500  # of the bootstrap

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Index:
    """The indices of one key for one result, each with the ends of its 95 % interval."""

    result: str
    key: str
    range: str
    first: float
    first_low: float
    first_high: float
    total: float
    total_low: float
    total_high: float


@dataclass(eq=False, kw_only=True)
class Sensitivity(Sweep):
    """A sweep over the points of `points_for`, whose result also has a table of indices."""

    # As of `points_for`.
    ranges: Sequence[Range]
    samples: int
    # From the table to the names of the results that are explained.
    results: Callable[[Result], Sequence[str]]
    indices: Sequence[Index] = ()

    def __post_init__(self) -> None:
        """Refuse points that cannot be run, before the others are."""
        refused = [trial for trial in self.trials if isinstance(trial, Refused)]
        if refused:
            count = f"{len(refused):,} of {len(self.trials):,}"
            message = f"{count} points are impossible, and an index needs them all; "
            message += f"({self.points[refused[0].number]}) {refused[0].error}"
            raise ScenarioError.at(Argument("sensitivity"), message)

    def files(self, swept: Result) -> Mapping[str, bytes]:
        """Return the table of the indices, which `indices` has from then on."""
        names = self.results(swept)
        self.indices = indices(swept, self.ranges, self.samples, names, self.how.seed)
        return {CSV: to_csv(self.indices)}


def points_for(ranges: Sequence[Range], samples: int, seed: int) -> list[Point]:
    """Return the points of a design: two samples A and B, then A with each column of B in turn.

    Args:
        ranges: Of d keys.
        samples: n, a power of two; there are ``n (d + 2)`` points.
        seed: Of the scrambled Sobol sequence of 2 d columns.
    """
    power_of_two(Argument("samples"), "", samples)
    count = len(ranges)
    shares = sobol(2 * count, samples, seed)
    first, second = shares[:, :count], shares[:, count:]
    parts = [first, second]
    for number in range(count):
        mixed = first.copy()
        mixed[:, number] = second[:, number]
        parts.append(mixed)
    return [
        Point(tuple((r.key, r.at(share)) for r, share in zip(ranges, row, strict=True)))
        for row in np.concatenate(parts).tolist()
    ]


def indices(
    swept: Result, ranges: Sequence[Range], samples: int, results: Sequence[str], seed: int
) -> list[Index]:
    """Return the indices of some results, the most important key of each first.

    Args:
        swept: The points of `points_for`.
        ranges, samples, seed: As there.
        results: Names.
    """
    points = samples * (len(ranges) + 2)
    if len(swept.sides["points"]) > points:
        message = f"the scenario itself varies {', '.join(swept.asked.keys[len(ranges) :])}"
        raise ScenarioError.at(Argument("sensitivity"), f"{message}; vary them too")
    failed = swept.failed
    if len(failed):
        message = f"{len(failed):,} of {points:,} points failed, and an index needs them all"
        raise RunFailed(f"{message}; point {failed.index[0]}: {failed['error'].iloc[0]}")
    all_indices = []
    for name in results:
        estimates = swept.estimates().set_index(["metric", "point"])["value"].loc[name]
        values = estimates.reindex(range(points)).to_numpy(np.float64).reshape(-1, samples)
        if not np.isfinite(values).all():
            raise RunFailed(f"{name} is not a number at some points, and an index needs them all")
        all_indices += sorted(
            _of_result(name, values, ranges, seed), key=lambda index: index.total, reverse=True
        )
    return all_indices


def _of_result(name: str, values: Floats, ranges: Sequence[Range], seed: int) -> list[Index]:
    """Return the indices of one result; `values` has the rows A, B and one for each key.

    They are shares: an estimate beyond 0 or 1 is cut, and so are the ends of its interval.
    """
    samples = values.shape[1]
    first, total = np.clip(_sobol(values), 0, 1)
    draws = np.random.default_rng(seed).integers(samples, size=(RESAMPLES, samples))
    again = np.array([_sobol(values[:, chosen]) for chosen in draws])  # resample, order, key
    low, high = (np.clip(end, 0, 1) for end in middle_share(again))
    return [
        Index(
            name, varied.key, varied.text,
            float(first[position]), float(low[0, position]), float(high[0, position]),
            float(total[position]), float(low[1, position]), float(high[1, position]),
        )
        for position, varied in enumerate(ranges)
    ]  # fmt: skip


def _sobol(values: Floats) -> tuple[Floats, Floats]:
    from scipy.stats import sobol_indices

    func = {"f_A": values[:1], "f_B": values[1:2], "f_AB": values[2:, np.newaxis]}
    if np.ptp(values[:2]) == 0:  # nothing varies, and nothing is explained
        return np.zeros(len(values) - 2), np.zeros(len(values) - 2)
    result = sobol_indices(func=func, n=values.shape[1])
    return result.first_order, result.total_order


def to_csv(indices: Sequence[Index]) -> bytes:
    """Return indices as a table."""
    rows = (vars(index).values() for index in indices)
    return csv_text(Index.__dataclass_fields__, rows).encode()
