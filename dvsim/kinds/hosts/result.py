"""One study of messaging over hosts: a scenario at all its points, and what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from dvsim.kinds.hosts.metrics import METRICS
from dvsim.kinds.hosts.spec import MessagingScenario
from dvsim.study.points import PointsStudy

DRAWN = (
    "rate_in",
    "rate_out",
    "megabytes",
    "megabits",
    "density",
    "latency",
    "ack_mean",
    "fairness",
    "setup",
    "busiest",
)
QUANTILES = {"p50": "latency", "p99": "latency", "ack_p99": "ack_mean"}  # of what
EVEN = 0.99  # an index of fairness above which there is nothing to see
ALIKE = 1e-3  # relative; rates in and out that differ less are one curve


@dataclass(frozen=True, eq=False, repr=False)
class MessagingStudy(PointsStudy):
    """The outcome of a scenario of messaging over hosts."""

    scenario: MessagingScenario
    stages: pd.DataFrame  # how busy each stage was, with the columns of `STAGE_COLUMNS`

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Its tables; of stages the mean over replications, of several alike the busiest."""
        keys = ["point", "stage"]
        means = self.stages.groupby([*keys, "number"], sort=False)["utilisation"].mean()
        most = means.groupby(level=keys, sort=False).max().reset_index()
        return {**super().tables, "stages": most}

    @property
    def drawn(self) -> list[str]:
        """The metrics that say something about the study, as figures have them."""
        points, peer = self.points, self.scenario.peer
        dull = {"busiest", "megabytes" if peer else "megabits"}
        dull |= {"setup"} if points["setup"].nunique(dropna=True) <= 1 else set()
        dull |= {"fairness"} if points["fairness"].min() > EVEN else set()
        unlike = (points["rate_in"] / points["rate_out"] - 1).abs().max()
        if not unlike > ALIKE or peer:
            dull.add("rate_in")
        if "streams" not in self.scenario.keys and not peer:
            dull.add("density")
        return [name for name in DRAWN if name not in dull and points[name].notna().any()]

    @property
    def listed(self) -> list[str]:
        """The metrics that its text has: those that are drawn, and quantiles of latencies."""
        drawn = self.drawn
        return [name for name in METRICS if QUANTILES.get(name, name) in drawn]

    def bottleneck(self, point: int) -> tuple[str, float]:
        """Return the busiest stage of a point, and its utilisation."""
        return self._bottlenecks[point]

    @cached_property
    def _bottlenecks(self) -> dict[int, tuple[str, float]]:
        busiest: dict[int, tuple[str, float]] = {}
        for point, stage, used in self.tables["stages"].itertuples(index=False):
            if used > busiest.get(int(point), ("", -1.0))[1]:
                busiest[int(point)] = (str(stage), float(used))
        return busiest
