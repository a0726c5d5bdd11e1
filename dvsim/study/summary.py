"""Statistics of a run in the form in which the paper prints them, and their intervals.

The unit of measurement is one sample: a poll interval or a batch. Its rate is a count divided by
its duration. A column of the result is the list of those rates for one receiver and some
iterations, put end to end, as `scenario.probe.columns` says; its statistics are those of
``pandas.DataFrame.describe``, which the source used, plus the share of samples that are zero.

Replications are never pooled: each has its own statistics, and an estimate is their mean with a
95 % Student interval over replications (quantiles too: a mean of quantiles, not a quantile of the
pooled samples). Samples within a run are correlated, so an interval over them would be too narrow.

The *rate* of a run is one number for each replication, whatever its columns are: whole messages per
second over all receivers, see `dvsim.study.rate`.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.scenario.sampled import Column, Sampled
from dvsim.study.rate import PS_PER_S, SYSTEM, sampled_rates
from dvsim.table.estimate import Estimate, ends

QUANTILES = {"25%": 0.25, "50%": 0.5, "75%": 0.75, "90%": 0.9, "95%": 0.95, "99%": 0.99}
STATISTICS = ("count", "mean", "std", "min", *QUANTILES, "max", "empty")
SUMMARY_COLUMNS = {
    "replication": "int16",
    "iteration": "int16",  # 0 for the statistics of a column: they span iterations
    "column": "str",  # of the probe, or the component of a counter; SYSTEM: of all receivers
    "instance": "int16",  # of the component of a counter; else 0
    "reading": "str",  # "pieces", "messages" or "counter"
    "statistic": "str",
    "value": "float64",
    "unit": "str",
}

_STATISTIC = ["column", "instance", "reading", "statistic", "unit"]
_KEYS = ("replication", "iteration", "receiver", "index")

Rates = npt.NDArray[np.float64]
Row = tuple[int, int, str, int, str, str, float, str]


def summarise(samples: pd.DataFrame, counters: pd.DataFrame, scenario: Sampled) -> pd.DataFrame:
    """Return the statistics of every column and reading, then the counters, as a tidy table.

    Args:
        samples, counters: The tables of one run, see `dvsim.study.samples`.
        scenario: Says which receiver and iterations make a column, and what is counted: pieces and
            messages for the Data Vortex, messages alone for TCP.

    Returns:
        DataFrame: Columns of `SUMMARY_COLUMNS`. Rates and their spread are in 1/s. A statistic that
        the samples do not define (the spread of one sample, anything of none) has no row.
    """
    return as_table(summary_columns(samples, counters, scenario))


def as_table(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """Return the columns of a summary as a table."""
    return pd.DataFrame(
        {name: pd.Series(columns[name], dtype=kind) for name, kind in SUMMARY_COLUMNS.items()}
    )


def summary_columns(
    samples: pd.DataFrame, counters: pd.DataFrame, scenario: Sampled
) -> dict[str, list[Any]]:
    """Return the columns of `summarise` as plain lists; of small runs, tables take longer."""
    rows: list[Row] = []
    columns_of = (*_KEYS, *scenario.readings, "duration_ps")
    arrays = {name: samples[name].to_numpy() for name in columns_of}
    for label, column in scenario.probe.columns.items():
        for replication, chosen in _rows_by_replication(arrays, column):
            duration = arrays["duration_ps"][chosen].astype(np.float64)
            for reading in scenario.readings:
                values = arrays[reading][chosen].astype(np.float64) * PS_PER_S / duration
                rows += [
                    (replication, 0, label, 0, reading, statistic, value, unit)
                    for statistic, value, unit in _describe(values)
                ]
    counted = {name: counters[name].tolist() for name in counters.columns}
    counted |= {"reading": ["counter"] * len(counters)}
    rows += [
        (replication, 0, SYSTEM, 0, "messages", "rate", value, "1/s")
        for replication, value in sampled_rates(samples).items()
    ]
    names = {"column": "component", "statistic": "metric"}
    columns = zip(*rows, strict=True) if rows else [()] * len(SUMMARY_COLUMNS)
    return {
        name: [*values, *counted[names.get(name, name)]]
        for name, values in zip(SUMMARY_COLUMNS, columns, strict=True)
    }


def counters_of(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the counters table that `summarise` put at the end of a summary."""
    rows = summary[summary["reading"] == "counter"]
    names = {"column": "component", "statistic": "metric"}
    counters = rows.drop(columns="reading").rename(columns=names)
    return counters.reset_index(drop=True)


def estimates(summary: pd.DataFrame) -> pd.DataFrame:
    """Return mean and 95 % interval over replications of every statistic of a summary.

    Counters are first averaged over the iterations of a replication. With one replication the
    interval is the value itself: nothing is known about the spread between runs.

    Returns:
        DataFrame: column, instance, reading, statistic, value, low, high, unit; in the order of the
        summary.

    The interval is that of `dvsim.table.estimate.ends`, over n replications.
    """
    return over_replications(per_replication(summary))


def per_replication(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a summary with counters averaged over the iterations of each replication.

    Column ``what`` numbers the statistics.
    """
    means = summary.groupby([*_STATISTIC, "replication"], sort=False)["value"].mean().reset_index()
    return means.assign(what=means.groupby(_STATISTIC, sort=False).ngroup())


def over_replications(table: pd.DataFrame) -> pd.DataFrame:
    """Return what `estimates` does, of what `per_replication` returned or of some of its rows."""
    groups = table.groupby("what", sort=False)["value"]
    count, spread, value = (
        made.to_numpy() for made in (groups.size(), groups.std(), groups.mean())
    )
    estimates = table.drop_duplicates("what")[_STATISTIC].reset_index(drop=True)
    estimates["value"] = value
    estimates["low"], estimates["high"] = ends(value, count, spread, signed=False)
    return estimates[[*_STATISTIC[:-1], "value", "low", "high", "unit"]]


def by_statistic(table: pd.DataFrame) -> dict[tuple[str, str, str], Estimate]:
    """Return a table of estimates by column, reading and statistic, without the counters."""
    columns = _by(table[table["reading"] != "counter"], "column", "reading", "statistic")
    return cast("dict[tuple[str, str, str], Estimate]", columns)


def by_counter(table: pd.DataFrame) -> dict[tuple[str, int, str], Estimate]:
    """Return the counters of a table of estimates by component, instance and metric."""
    counters = _by(table[table["reading"] == "counter"], "column", "instance", "statistic")
    return cast("dict[tuple[str, int, str], Estimate]", counters)


def _by(table: pd.DataFrame, *names: str) -> dict[tuple[Any, ...], Estimate]:
    keys = zip(*(table[name].tolist() for name in names), strict=True)
    values = zip(*(table[name].tolist() for name in Estimate._fields), strict=True)
    return {key: Estimate(*row) for key, row in zip(keys, values, strict=True)}


def moving_average(values: Rates, window: int) -> Rates:
    """Return the means of every `window` values in a row; of all of them if there are fewer."""
    if values.size == 0:
        return values
    size = min(window, values.size)
    sums = np.concatenate(([0.0], np.cumsum(values)))
    means: Rates = (sums[size:] - sums[:-size]) / size
    return means


def column_rates(samples: pd.DataFrame, reading: str) -> Rates:
    """Return pieces or messages per second of each row of a samples table, shape (rows,)."""
    counts = samples[reading].to_numpy(dtype=np.float64)
    rates: Rates = counts * PS_PER_S / samples["duration_ps"].to_numpy(dtype=np.float64)
    return rates


def column_samples(samples: pd.DataFrame, column: Column) -> Iterator[tuple[int, pd.DataFrame]]:
    """Yield each replication's number and the rows of `column` in it, in order of time."""
    arrays = {name: samples[name].to_numpy() for name in _KEYS}
    for replication, rows in _rows_by_replication(arrays, column):
        yield replication, samples.iloc[rows]


def _rows_by_replication(
    arrays: Mapping[str, npt.NDArray[Any]], column: Column
) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Yield each replication's number and where the rows of `column` in it are, in order of time.

    It works on arrays: where many small runs are made, tables cut into tables take longer than
    the runs.
    """
    chosen = arrays["receiver"] == column.receiver
    chosen &= np.isin(arrays["iteration"], column.iterations)
    rows = np.flatnonzero(chosen)
    keys = [arrays[name][rows] for name in ("index", "iteration", "replication")]
    if not _in_order(keys[::-1]):
        rows = rows[np.lexsort(keys)]
    if not rows.size:
        return
    replications = arrays["replication"][rows]
    starts = np.flatnonzero(np.diff(replications, prepend=0))  # numbered from 1, and in order
    for start, end in pairwise([*starts.tolist(), len(rows)]):
        yield int(replications[start]), rows[start:end]


def _in_order(keys: list[npt.NDArray[np.int64]]) -> bool:
    tied = np.ones(max(len(keys[0]) - 1, 0), dtype=bool)
    for key in keys:
        step = np.diff(key.astype(np.int64))
        if (step[tied] < 0).any():
            return False
        tied &= step == 0
    return True


def _describe(values: Rates) -> Iterator[tuple[str, float, str]]:
    yield "count", float(values.size), "1"
    yield "mean", float(values.mean()), "1/s"
    if values.size > 1:
        yield "std", float(values.std(ddof=1)), "1/s"
    yield "min", float(values.min()), "1/s"
    for name, value in zip(
        QUANTILES, np.quantile(values, list(QUANTILES.values())).tolist(), strict=True
    ):
        yield name, float(value), "1/s"
    yield "max", float(values.max()), "1/s"
    yield "empty", float(np.mean(values == 0.0)), "1"
