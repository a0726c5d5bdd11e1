"""The study of a modelled cluster: which of its points go on growing."""

from __future__ import annotations

from dataclasses import dataclass

from dvsim.study.points import PointsStudy

GROWS = "what waits grows"


@dataclass(frozen=True, eq=False, repr=False)
class ClusterStudy(PointsStudy):
    """The outcome of a scenario about a cluster at all its points."""

    def notes(self) -> dict[int, str]:
        """Return by point that what waits grows, where it does in any replication."""
        unstable = self.points.groupby("point")["unstable"].max()
        return {int(str(point)): GROWS for point in unstable.index[unstable > 0]}
