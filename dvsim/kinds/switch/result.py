"""One study in memory: a scenario of a switch or network at all its points, and what came out.

A study has a few small tables instead of samples. One row of `points` is one run: a point of the
scenario and a replication. Replication r of seed s is the run of `Switch.run` with the seed
``replication_seed(s, r - 1)``; the points share these seeds, so they meet the same arrivals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from dvsim.kinds.switch.spec import SwitchScenario
from dvsim.study.point_numbers import note_of
from dvsim.study.points import PointsStudy


@dataclass(frozen=True, eq=False, repr=False)
class Study(PointsStudy):
    """The outcome of a scenario of a switch or network.

    Attributes:
        points, histograms, cylinders, theory, events, queues: Tables with the columns of `TABLES`.
    """

    scenario: SwitchScenario
    histograms: pd.DataFrame
    cylinders: pd.DataFrame
    theory: pd.DataFrame
    events: pd.DataFrame
    queues: pd.DataFrame

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Its tables; histograms are added up over replications, cylinders averaged."""
        histograms = self.histograms.groupby(["point", "kind", "value"], as_index=False)
        cylinders = self.cylinders.groupby(["point", "level", "cylinder"], as_index=False)
        return {
            **super().tables,
            "histograms": histograms[["packets"]].sum(),
            "cylinders": cylinders[["blocked", "occupancy"]].mean(),
        }

    @property
    def slot_ps(self) -> int | None:
        """How long a slot takes in picoseconds; None where the scenario does not say."""
        slot = self.manifest.get("slot_ps")
        return None if slot is None else int(slot)

    @property
    def beside(self) -> pd.DataFrame:
        """The table of theory."""
        return self.theory

    @property
    def drawn(self) -> list[str]:
        """The metrics that say something about the study, as figures have them.

        A packet that waits is never refused, one that always waits has no latency to speak of, and
        where nothing waits the latency is the hops.
        """
        scenario, points = self.scenario, self.points
        injection = "any" if "injection" in scenario.keys else scenario.traffic.injection
        chosen = {
            "queue": ["mean_latency", "throughput"],
            "saturate": ["throughput", "mean_hops"],
        }.get(injection, ["throughput", "acceptance", "mean_hops", "mean_latency"])
        if points["mean_latency"].equals(points["mean_hops"].rename("mean_latency")):
            chosen = [metric for metric in chosen if metric != "mean_latency"]
        if points["lost"].gt(0).any():
            chosen = [*chosen, "lost"]
        return [metric for metric in chosen if points[metric].notna().any()]

    def axes(self, keys: pd.DataFrame) -> pd.DataFrame:
        """Put H x A in the place of the height where switches of one size differ in their angles.

        So it is when heights and angles were varied together, and no size has one shape only: then
        the question is what the angles do at a fixed number of ports.
        """
        if not {"height", "angles"} <= set(keys) or "load" in keys:
            return keys
        shapes = keys[["height", "angles"]].drop_duplicates()
        ports = shapes["height"] * shapes["angles"]
        crossed = len(shapes) == shapes["height"].nunique() * shapes["angles"].nunique()
        if crossed or ports.value_counts().min() < 2:
            return keys
        named = keys.assign(ports=keys["height"] * keys["angles"])
        return named.drop(columns="height").loc[:, ["ports", *keys.columns.drop("height")]]

    def levels(self, metric: str, key: str | None) -> list[tuple[float, str]]:
        """Return the published levels of a metric along a key, each with what it is."""
        setting = self.scenario
        table = setting.switch if setting.network is None else setting.network.switch
        if table is None:
            return []
        if (metric, key) == ("throughput", "height") and setting.traffic.injection == "saturate":
            return [(2 / 9, "2/9: published limit for few angles, many heights")]
        if (metric, key) == ("acceptance", "angles") and table.injecting is not None:
            return [(0.99, "99 %: published for five idle angles to one")]  # some angles are idle
        return []

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
