"""The points of a sweep in the form in which figures take those of a study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pandas as pd

from dvsim.kinds.base import Metric
from dvsim.kinds.find import metric_of
from dvsim.study.points import Points
from dvsim.study.sweep_table import short

if TYPE_CHECKING:
    from dvsim.study.sweep_table import SweepResult

DRAWN = ("delivered_rate", "payload_rate", "throughput", "mean_latency", "rate_out", "latency")
MOST = 2  # results that are drawn of a kind that has none of these


class SweptPoints(Points):
    """The points of a sweep that have results; what they are called is as short as it can be.

    Attributes:
        swept: The sweep.
        replications: The most of a point.
        key_units: By key, ``1`` for a plain number, empty for a text.
        METRICS: The results with their units.
    """

    def __init__(self, swept: SweepResult) -> None:
        self.swept = swept
        self.replications = swept.replications[1]
        self.METRICS: Mapping[str, str] = {
            name: swept.units.get(name, "") for name in swept.results
        }
        lasts = [short(key) for key in swept.keys]
        self.names = {
            key: last if lasts.count(last) == 1 else key
            for key, last in zip(swept.keys, lasts, strict=True)
        }
        self.key_units = {name: swept.units.get(key, "") for key, name in self.names.items()}
        self._good = swept.good.reset_index(drop=True)

    @property
    def drawn(self) -> list[str]:
        """The results that are drawn: rates and latencies; hops that wait nowhere once."""
        chosen = [name for name in DRAWN if name in self.METRICS] or list(self.METRICS)[:MOST]
        if "mean_hops" in self.METRICS and "mean_latency" in chosen:
            hops, latency = (
                self._good[name].rename(None) for name in ("mean_hops", "mean_latency")
            )
            chosen = [name for name in chosen if name != "mean_latency" or not hops.equals(latency)]
        return [name for name in chosen if self._good[name].notna().any()]

    def metric(self, name: str) -> Metric:
        """Return what is to be said of a result."""
        return metric_of(name, self.METRICS.get(name, ""))

    def keys(self) -> pd.DataFrame:
        """Return the keys that took several values, of each point."""
        keys = self._good[list(self.swept.keys)].rename(columns=self.names)
        return keys[[name for name in keys.columns if keys[name].nunique() > 1]]

    def estimates(self) -> pd.DataFrame:
        """Return each result of each point with its interval."""
        parts = []
        for name, unit in self.METRICS.items():
            ends = {"value": name, "low": f"{name}_low", "high": f"{name}_high"}
            columns = {end: self._good[column] for end, column in ends.items()}
            point = {"point": self._good.index, "metric": name}
            parts.append(pd.DataFrame({**point, **columns, "unit": unit}))
        return pd.concat(parts, ignore_index=True)

    def notes(self) -> dict[int, str]:
        """Return by point why it has not settled; those that have are absent."""
        return {point: note for point, note in enumerate(self._good["note"].tolist()) if note}
