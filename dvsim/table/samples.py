"""What a run samples in time, and its statistics in the form in which the paper prints them.

A sample is a poll interval of one receiver (Data Vortex) or a batch (TCP); its rate is a count
divided by its duration. A column is the list of those rates for one receiver and some iterations,
put end to end, as `scenario.probe.columns` says; its statistics are those of
``pandas.DataFrame.describe``, which the source used, plus the share of samples that are zero.

Replications are never pooled: each has its own statistics, and an estimate is their mean with a
95 % Student interval over replications (quantiles too: a mean of quantiles, not a quantile of the
pooled samples). Samples within a run are correlated, so an interval over them would be too narrow.

The *rate* of a replication is one number, whatever its columns are: whole messages per second over
all receivers, see `sampled_rate` and ``docs/rates.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.errors import RunFailed
from dvsim.scenario.sampled import Column, Sampled

SAMPLES: Mapping[str, str] = {
    "replication": "int16",  # 1..
    "iteration": "int16",  # 1..
    "receiver": "int16",  # 1.., 0 = the whole system
    "index": "int32",  # 0.., order within one replication, iteration and receiver
    "start_ps": "int64",  # since the iteration began
    "duration_ps": "int64",
    "pieces": "int64",
    "messages": "int64",
}
"""The columns of the table of samples. Times are integers, so that equal runs give equal bytes."""

SYSTEM = "system"  # the component of all receivers together, which has the rate
QUANTILES = {"25%": 0.25, "50%": 0.5, "75%": 0.75, "90%": 0.9, "95%": 0.95, "99%": 0.99}
STATISTICS = ("count", "mean", "std", "min", *QUANTILES, "max", "empty")
PS_PER_S = 1e12

_LEAST = {"duration_ps": 1, "pieces": 0, "messages": 0}  # a rate is divided by the duration
_KEYS = ("replication", "iteration", "receiver", "index")

Arrays = Mapping[str, npt.NDArray[Any]]
Rates = npt.NDArray[np.float64]


def statistics(samples: Arrays, scenario: Sampled) -> Iterator[tuple[str, str, float]]:
    """Yield the statistics of every column and reading of one replication, then its rates.

    Args:
        samples: The columns of `SAMPLES`, all of one replication.
        scenario: Says which receiver and iterations make a column, and what is counted: pieces and
            messages for the Data Vortex, messages alone for TCP.

    Yields:
        Component, metric and value; the component is a column or `SYSTEM`, the metric
        ``READING.STATISTIC``, such as ``messages.mean``, or ``rate`` or ``payload_rate``. Rates and
        their spread are in 1/s. A statistic that the samples do not define (the spread of one
        sample, anything of none) is absent.

    Raises:
        RunFailed: If a sample lasts no time, or counts less than nothing.
    """
    wrong = impossible(samples)
    if wrong is not None:
        raise RunFailed(wrong)
    for label, column in scenario.probe.columns.items():
        for _, chosen in _rows_by_replication(samples, column):
            duration = samples["duration_ps"][chosen].astype(np.float64)
            for reading in scenario.readings:
                values = samples[reading][chosen].astype(np.float64) * PS_PER_S / duration
                for name, value in _describe(values):
                    yield label, f"{reading}.{name}", value
    rate = sampled_rate(samples)
    if rate is not None:
        yield SYSTEM, "rate", rate
        yield SYSTEM, "payload_rate", rate * scenario.workload.message_bytes


def impossible(samples: Arrays | pd.DataFrame) -> str | None:
    """Return which sample lasts no time or counts less than nothing; None if there is none."""
    for name, least in _LEAST.items():
        values = np.asarray(samples[name])
        if values.size and values.min() < least:
            row = int(values.argmin())
            return f"samples: row {row}: {name} is {values[row]}, below {least}"
    return None


def sampled_rate(samples: Arrays) -> float | None:
    """Return whole messages per second over all receivers of one replication; None without samples.

    The rate of an iteration is the sum over all receivers of messages / time, where the time goes
    from the beginning of a receiver's first sample to the end of its last. That of a replication is
    the mean over its iterations; times the size of a message it is the payload rate. It is not the
    mean of the samples' rates, which the columns of a paper print.
    """
    names = ("iteration", "receiver", "start_ps", "duration_ps", "messages")
    iteration, receiver, start, duration, messages = (
        samples[name].astype(np.int64) for name in names
    )
    if not iteration.size:
        return None
    code = (iteration << 16) | receiver
    runs = np.flatnonzero(np.diff(code, prepend=-1))  # where rows of the same code begin
    keys, group = np.unique(code[runs], return_inverse=True)
    first = np.full(keys.size, np.iinfo(np.int64).max)
    last = np.zeros(keys.size, dtype=np.int64)
    np.minimum.at(first, group, np.minimum.reduceat(start, runs))
    np.maximum.at(last, group, np.maximum.reduceat(start + duration, runs))
    counts = np.bincount(group, weights=np.add.reduceat(messages, runs), minlength=keys.size)
    each = counts * PS_PER_S / (last - first)
    rates: dict[int, float] = {}
    for key, rate in zip(keys.tolist(), each.tolist(), strict=True):
        rates[key >> 16] = rates.get(key >> 16, 0.0) + rate
    return float(sum(rates.values()) / len(rates))


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
    arrays: Arrays, column: Column
) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    # on arrays: where many small runs are made, tables cut into tables take longer than the runs
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


def _describe(values: Rates) -> Iterator[tuple[str, float]]:
    yield "count", float(values.size)
    yield "mean", float(values.mean())
    if values.size > 1:
        yield "std", float(values.std(ddof=1))
    yield "min", float(values.min())
    for name, value in zip(
        QUANTILES, np.quantile(values, list(QUANTILES.values())).tolist(), strict=True
    ):
        yield name, float(value)
    yield "max", float(values.max())
    yield "empty", float(np.mean(values == 0.0))
