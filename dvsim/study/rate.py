"""The mean rate of a run: one number for each replication, in whole messages per second.

The rate of an iteration is the sum over all receivers of the system of messages / time, where the
time goes from the beginning of a receiver's first sample to the end of its last. The rate of a
replication is the mean over its iterations; times the size of a message it is the payload rate.
It is not the mean of the samples' rates, which the columns of a paper print (``docs/rates.md``).
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

SYSTEM = "system"
"""The column of all receivers together; its one statistic is the rate."""

PS_PER_S = 1e12


def sampled_rates(samples: pd.DataFrame) -> dict[int, float]:
    """Return the rate of each replication from the samples table, see above."""
    names = ("replication", "iteration", "receiver", "start_ps", "duration_ps", "messages")
    replication, iteration, receiver, start, duration, messages = (
        samples[name].to_numpy(dtype=np.int64) for name in names
    )
    if not replication.size:
        return {}
    code = (replication << 32) | (iteration << 16) | receiver
    runs = np.flatnonzero(np.diff(code, prepend=-1))  # where rows of the same code begin
    keys, group = np.unique(code[runs], return_inverse=True)
    first = np.full(keys.size, np.iinfo(np.int64).max)
    last = np.zeros(keys.size, dtype=np.int64)
    np.minimum.at(first, group, np.minimum.reduceat(start, runs))
    np.maximum.at(last, group, np.maximum.reduceat(start + duration, runs))
    counts = np.bincount(group, weights=np.add.reduceat(messages, runs), minlength=keys.size)
    each = counts * PS_PER_S / (last - first)
    by_column: dict[int, dict[int, float]] = {}
    for key, rate in zip(keys.tolist(), each.tolist(), strict=True):
        iterations = by_column.setdefault(key >> 32, {})
        iterations[key >> 16 & 0xFFFF] = iterations.get(key >> 16 & 0xFFFF, 0.0) + rate
    return {number: sum(rates.values()) / len(rates) for number, rates in by_column.items()}


def rate_of(summary: Mapping[str, Iterable[Any]]) -> dict[int, float]:
    """Return the rate of each replication from the columns of its summary.

    Args:
        summary: The columns of `summarise`, by name.

    Returns:
        dict: By replication; empty if nothing was sampled.
    """
    names = ("replication", "column", "statistic", "value")
    return {
        int(replication): float(value)
        for replication, column, statistic, value in zip(
            *(summary[name] for name in names), strict=True
        )
        if column == SYSTEM and statistic == "rate"
    }
