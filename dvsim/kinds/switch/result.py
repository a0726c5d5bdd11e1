"""One study in memory: a scenario of a switch or network at all its points, and what came out.

A study has a few small tables instead of samples. One row of `points` is one run: a point of the
scenario and a replication. Replication r of seed s is the run of `Switch.run` with the seed
``replication_seed(s, r - 1)``; the points share these seeds, so they meet the same arrivals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from dvsim.kinds.switch.spec import SwitchScenario
from dvsim.results.keyed import note_of
from dvsim.results.points import PointsStudy


@dataclass(frozen=True, eq=False, repr=False)
class Study(PointsStudy):
    """The outcome of a scenario of a switch or network.

    Attributes
    ----------
    scenario
        What was asked, resolved.
    seed, replications
        How it was asked.
    folder
        Where it is kept, or None while it lives in memory only.
    manifest
        Where it came from, see `dvsim.results.manifest`.
    points, histograms, cylinders, theory, events, queues
        Tables with the columns of `TABLES`.
    """

    scenario: SwitchScenario
    histograms: pd.DataFrame
    cylinders: pd.DataFrame
    theory: pd.DataFrame
    events: pd.DataFrame
    queues: pd.DataFrame

    @property
    def slot_ps(self) -> int | None:
        """How long a slot takes in picoseconds; None where the scenario does not say."""
        slot = self.manifest.get("slot_ps")
        return None if slot is None else int(slot)

    @property
    def beside(self) -> pd.DataFrame:
        """The table of theory."""
        return self.theory

    def notes(self) -> dict[int, str]:
        """Return by point why it has not settled; points that have settled are absent."""
        texts = self.points.groupby("point")["notes"].agg(lambda notes: note_of(notes.tolist()))
        return {int(str(point)): text for point, text in texts.items() if text}

    def flow_errors(self) -> dict[int, tuple[float, float]]:
        """Return by point the relative errors of mean latency and throughput at flow fidelity.

        Points at cycle fidelity are absent; of replications the largest error counts.
        """
        flow = self.points[self.points["fidelity"] == "flow"]
        errors = flow.groupby("point")[["latency_error", "throughput_error"]].max()
        return {
            int(str(point)): (float(latency), float(throughput))
            for point, latency, throughput in errors.itertuples()
        }


def flow_text(errors: Mapping[int, tuple[float, float]], points: int) -> str:
    """Say how far the points at flow fidelity are from the cycle level.

    Parameters
    ----------
    errors
        As `Study.flow_errors` gives them, of at least one point.
    points
        Of the study.
    """
    latency, throughput = (max(pair[item] for pair in errors.values()) for item in (0, 1))
    which = "all points" if len(errors) == points else f"{len(errors)} of {points} points"
    return (
        f"flow fidelity at {which}: against the cycle level, mean latency within {latency:.1%} "
        f"and throughput within {throughput:.1%}"
    )
