"""The study of a modelled cluster: which of its points do not settle, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dvsim.scenario.types import GROWS
from dvsim.study.points import PointsStudy

SHOWN = ("unstable", "full", "blocked")


def unsettled(metrics: Mapping[str, float]) -> str:
    """Return why a run does not settle, from its metrics; nothing if it does.

    >>> unsettled({"unstable": 1.0, "full": 0.25, "blocked": 0.0})
    'what waits grows; a disk is full for 25 % of the time'
    >>> unsettled({"unstable": 0.0, "blocked": 0.0})
    ''
    """
    full, blocked = metrics.get("full", 0.0), metrics.get("blocked", 0.0)
    notes_of_run = [GROWS] if metrics["unstable"] > 0 else []
    notes_of_run += [f"a disk is full for {100 * full:.3g} % of the time"] if full > 0 else []
    notes_of_run += (
        [f"publishers are stopped for {100 * blocked:.3g} % of the time"] if blocked > 0 else []
    )
    return "; ".join(notes_of_run)


@dataclass(frozen=True, eq=False, repr=False)
class ClusterStudy(PointsStudy):
    """The outcome of a scenario about a cluster at all its points."""

    def notes(self) -> dict[int, str]:
        """Return by point why a replication of it does not settle, or what stopped publishers."""
        worst = self.points.groupby("point")[
            [metric for metric in SHOWN if metric in self.points]
        ].max()
        unsettled_points = {
            int(str(point)): unsettled({str(name): float(value) for name, value in row.items()})
            for point, row in worst.iterrows()
        }
        return {point: note for point, note in unsettled_points.items() if note}
