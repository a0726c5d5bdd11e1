"""The two tables that every backend returns, column by column.

*Samples* hold what the probe saw: one row per poll interval and receiver (Data Vortex) or per
batch (TCP). *Counters* hold what each component counted: one row per replication, iteration,
instance of a component and metric. Times are integer picoseconds, so that equal runs give equal
bytes.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from dvsim.errors import RunFailed

SAMPLE_COLUMNS: Mapping[str, str] = {
    "replication": "int16",  # 1..
    "iteration": "int16",  # 1..
    "receiver": "int16",  # 1.., 0 = the whole system
    "index": "int32",  # 0.., order within one replication, iteration and receiver
    "start_ps": "int64",  # since the iteration began
    "duration_ps": "int64",
    "pieces": "int64",
    "messages": "int64",
}

COUNTER_COLUMNS: Mapping[str, str] = {
    "replication": "int16",
    "iteration": "int16",
    "component": "str",  # "card", "bridge", "conservation"
    "instance": "int16",  # 1.., 0 where there is only one
    "metric": "str",
    "value": "float64",
    "unit": "str",  # "1" for a pure number
}

_LEAST = {"replication": 1, "iteration": 1, "receiver": 0, "index": 0, "start_ps": 0}
_LEAST |= {"duration_ps": 1, "pieces": 0, "messages": 0}  # a rate is divided by the duration


def name_of(component: str, instance: int) -> str:
    """Return an instance of a component as people write it.

    >>> name_of("card", 1), name_of("run", 0)
    ('card.1', 'run')
    """
    return f"{component}.{instance}" if instance else component


def check_samples(samples: pd.DataFrame) -> pd.DataFrame:
    """Return `samples` unchanged if it is a samples table.

    Args:
        samples: Table with the columns of `SAMPLE_COLUMNS`, in that order and with those types.

    Raises:
        RunFailed: If a column is missing, unknown, out of order or of another type, or if a value
            is below the least one that can be meant (a duration of zero, a negative count).
    """
    _check_columns(samples, SAMPLE_COLUMNS, "samples")
    for name, least in _LEAST.items():
        values = samples[name].to_numpy()
        if values.size and values.min() < least:
            row = int(np.argmin(values))
            message = f"{name} is {values[row]}; it must be at least {least}"
            raise RunFailed(f"samples: row {row}: {message}")
    return samples


def check_counters(counters: pd.DataFrame) -> pd.DataFrame:
    """Return `counters` unchanged if it is a counters table with finite values.

    Raises:
        RunFailed: If the columns or types differ from `COUNTER_COLUMNS`, or a value is NaN or
            infinite.
    """
    _check_columns(counters, COUNTER_COLUMNS, "counters")
    bad = np.flatnonzero(~np.isfinite(counters["value"].to_numpy(dtype=np.float64)))
    if bad.size:
        row = counters.iloc[int(bad[0])]
        name = name_of(row["component"], row["instance"])
        message = f"counters: {name} {row['metric']} is {row['value']}, not a number"
        raise RunFailed(message)
    return counters


def _check_columns(table: pd.DataFrame, columns: Mapping[str, str], title: str) -> None:
    names = [str(name) for name in table.columns]
    if names != list(columns):
        message = f"{title}: columns are {', '.join(names)}; expected {', '.join(columns)}"
        raise RunFailed(message)
    types = table.dtypes.tolist()  # one by one takes longer than a small run
    for (name, kind), type_found in zip(columns.items(), types, strict=True):
        if kind == "str":
            good = bool(pd.api.types.is_string_dtype(table[name])) or table[name].empty
        else:
            good = type_found == np.dtype(kind)
        if not good:
            raise RunFailed(f"{title}: column {name} has type {type_found}; expected {kind}")
