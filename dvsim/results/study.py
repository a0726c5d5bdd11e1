"""One study in memory: a scenario of a switch or network at all its points, and what came out.

A study has a few small tables instead of samples. One row of `points` is one run: a point of the
scenario and a replication. Replication r of seed s is the run of `Switch.run` with the seed
``replication_seed(s, r - 1)``; the points share these seeds, so they meet the same arrivals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from dvsim.results.points import PointsStudy
from dvsim.scenario.switch_types import SwitchScenario

METRICS: Mapping[str, str] = {
    "offered": "packets",  # arrived at inputs; of one plane or all: of all
    "accepted": "packets",  # entered
    "delivered": "packets",  # left at their output
    "lost": "packets",  # by faults
    "refused": "packets",  # found no free node and are gone
    "throughput": "packets/slot/input",  # delivered
    "acceptance": "1",  # accepted / offered; not a number where nothing was offered
    "mean_hops": "nodes",
    "mean_latency": "slots",  # from arrival at the input to the output, waiting included
    "p50": "slots",  # quantiles of the latency
    "p99": "slots",
    "max": "slots",
    "blocked": "1",  # share of the wanted descents, mean over the cylinders but the innermost
    "in_flight": "packets",  # inside at the end
    "waiting": "packets",  # in the queues at the end
}
"""What is measured in each run, with units; a mean or quantile of nothing is not a number."""

POINT_COLUMNS: Mapping[str, str] = {
    "point": "int32",  # 0.., as in `SwitchScenario.points`
    "replication": "int16",  # 1..
    **dict.fromkeys(METRICS, "float64"),
    "fidelity": "str",  # "cycle": every packet; "flow": expected from tables, with these errors
    "latency_error": "float64",  # relative, of the mean; not a number at cycle fidelity
    "throughput_error": "float64",
    "notes": "str",  # why the run has not settled; empty if it has
}
HISTOGRAM_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "kind": "str",  # "hops" or "latency"
    "value": "int64",  # nodes visited, or slots
    "packets": "int64",  # over all replications; values without packets have no row
}
CYLINDER_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "level": "int32",  # 0 for a switch; of a network 0 is next to the ports
    "cylinder": "int32",  # 0 is the outermost
    "blocked": "float64",  # share of the wanted descents; not a number on the innermost
    "occupancy": "float64",  # packets per node; both are means over replications
}
THEORY_COLUMNS: Mapping[str, str] = {
    "point": "int32",
    "name": "str",  # "mean-field", "zero-load", "butterfly"
    "metric": "str",  # one of METRICS; "hops:5" the share of packets that visit 5 nodes;
    "value": "float64",  # "blocked:2" the blocked share of the descents from cylinder 2
}
EVENT_COLUMNS: Mapping[str, str] = {
    "slot": "int32",
    "packet": "int32",  # 0.. in the order in which they entered
    "kind": "str",  # "enter", "cross", "deflect", "descend", "leave", "lose"
    "cylinder": "int32",  # the node where the packet stands after the event
    "angle": "int32",
    "height": "int32",
    "to_angle": "int32",  # where it is addressed
    "to_height": "int32",
    "by": "int32",  # the packet that deflected it, -1 for none
}
QUEUE_COLUMNS: Mapping[str, str] = {
    "slot": "int32",
    "waiting": "int64",  # packets in all queues after the slot
    "in_flight": "int64",  # packets in the switch
    "deflected": "int64",  # descents blocked in the slot
}
TABLES: Mapping[str, Mapping[str, str]] = {
    "points": POINT_COLUMNS,
    "histograms": HISTOGRAM_COLUMNS,
    "cylinders": CYLINDER_COLUMNS,
    "theory": THEORY_COLUMNS,
    "events": EVENT_COLUMNS,
    "queues": QUEUE_COLUMNS,
}
"""The tables of a study; `events` and `queues` are empty where nothing was recorded."""

SHOWN = ("throughput", "acceptance", "mean_hops", "mean_latency")


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

    METRICS = METRICS
    SHOWN = SHOWN

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
        """Return by point why some of its replications have not settled; settled ones are absent.

        The texts of the replications differ in their figures: it is the first that is given, with
        the number of replications that have any.
        """
        noted = self.points[self.points["notes"] != ""]
        found = {}
        for point, rows in noted.groupby("point"):
            count = f" (in {len(rows)} of {self.replications} replications)"
            found[int(str(point))] = rows["notes"].iloc[0] + (
                count if self.replications > 1 else ""
            )
        return found

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

    def __repr__(self) -> str:
        return (
            f"Study({self.scenario.name!r}, seed={self.seed}, replications={self.replications}, "
            f"points={len(self.scenario.points)})"
        )


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
