"""One study of messaging over hosts: a scenario at all its points, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from dvsim.kinds.hosts.spec import MessagingScenario
from dvsim.results.points import PointsStudy


@dataclass(frozen=True, eq=False, repr=False)
class MessagingStudy(PointsStudy):
    """The outcome of a scenario of messaging over hosts.

    Attributes
    ----------
    stages
        How busy each stage was, with the columns of `STAGE_COLUMNS`.
    """

    scenario: MessagingScenario
    stages: pd.DataFrame

    def bottleneck(self, point: int) -> tuple[str, float]:
        """Return the busiest stage of a point, and its utilisation."""
        return self._bottlenecks[point]

    @cached_property
    def _bottlenecks(self) -> dict[int, tuple[str, float]]:
        found: dict[int, tuple[str, float]] = {}
        for point, stage, used in self.stages.itertuples(index=False):
            if used > found.get(int(point), ("", -1.0))[1]:
                found[int(point)] = (str(stage), float(used))
        return found
