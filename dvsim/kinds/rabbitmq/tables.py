"""The tables of a run, put together from its iterations in the order of their numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from dvsim.core.probe import Iteration
from dvsim.study.samples import COUNTER_COLUMNS, SAMPLE_COLUMNS


class Tables(NamedTuple):
    """What a backend returns for one scenario; see `dvsim.study.samples` for the columns.

    `work_s` is the wall time of all its iterations, added up.
    """

    samples: pd.DataFrame
    counters: pd.DataFrame
    work_s: float


class Gathered:
    """Iterations of one scenario, as they are done."""

    def __init__(self) -> None:
        self._columns: dict[str, list[np.ndarray]] = {name: [] for name in SAMPLE_COLUMNS}
        self._counters: list[tuple[int, int, str, int, str, float, str]] = []
        self._work_s = 0.0

    def add(self, replication: int, number: int, iteration: Iteration, work_s: float) -> None:
        """Add an iteration by its numbers, and the wall time that it took."""
        self._work_s += work_s
        for receiver, record in iteration.records.items():
            rows = len(record.pieces)
            values = {
                "replication": np.full(rows, replication),
                "iteration": np.full(rows, number),
                "receiver": np.full(rows, receiver),
                "index": np.arange(rows),
                **record._asdict(),
            }
            for name, kind in SAMPLE_COLUMNS.items():
                self._columns[name].append(values[name].astype(kind))
        for counter in iteration.counters:
            self._counters.append((replication, number, *counter.row))

    def tables(self) -> Tables:
        """Return the tables of all that was added."""
        samples = pd.DataFrame(
            {name: np.concatenate(parts) for name, parts in self._columns.items()}
        )
        counters = pd.DataFrame(self._counters, columns=list(COUNTER_COLUMNS))
        return Tables(samples, counters.astype(dict(COUNTER_COLUMNS)), self._work_s)
