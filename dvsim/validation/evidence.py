"""What claims are decided from: figures of several runs, by scenario name, each worked out once."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from dvsim.results.messaging import MessagingStudy
from dvsim.results.points import PointsStudy
from dvsim.results.run import Run
from dvsim.results.summary import column_rates, column_samples, moving_average
from dvsim.scenario.messaging_types import MessagingScenario
from dvsim.scenario.messaging_types import Setting as Flows
from dvsim.scenario.switch_types import Setting
from dvsim.validation.types import ColumnVerdict
from dvsim.validation.verdict import Estimates, estimates_by_key, readings

MOVING_AVERAGE = 50  # active polls; the source smooths its plots without saying over how many


class Missing(Exception):  # noqa: N818 - caught and turned into a verdict, never shown as an error
    """A figure that a run does not have; the text names it."""


class Estimate(NamedTuple):
    """A metric of a point of a study, with its 95 % interval over replications."""

    value: float
    low: float
    high: float


class Evidence:
    """Figures of a set of runs and studies.

    Parameters
    ----------
    runs
        By scenario name.
    columns
        The judged columns of those runs, as printed.
    studies
        By scenario name.
    """

    def __init__(
        self,
        runs: Mapping[str, Run],
        columns: Iterable[ColumnVerdict],
        studies: Mapping[str, PointsStudy] | None = None,
    ) -> None:
        self.runs = dict(runs)
        self.studies = dict(studies or {})
        self._points = cache(self._points_of)
        self._columns = tuple(columns)
        self._estimates = cache(self._estimates_of)
        self.active_moving = cache(self._active_moving)

    def has(self, scenario: str) -> bool:
        """Say whether there is a run or a study of a scenario."""
        return scenario in self.runs or scenario in self.studies

    def point(self, scenario: str, metric: str, **keys: object) -> Estimate:
        """Return a metric of the first point of a study whose keys have these values.

        Raises
        ------
        Missing
            If there is no such point, or nothing could be measured there.
        """
        point = self._number(scenario, keys)
        found = None if point is None else self._points(scenario)[point][metric]
        if found is None or np.isnan(found.value):
            raise Missing(f"no {metric} at {_said(keys)} in {scenario}")
        return found

    def theory(self, scenario: str, name: str, metric: str, **keys: object) -> float:
        """Return what a theory says of the first point whose keys have these values.

        Raises
        ------
        Missing
            If it says nothing.
        """
        table = self.studies[scenario].beside
        table = table[table["point"] == self._number(scenario, keys)]
        rows = table[(table["name"] == name) & (table["metric"] == metric)]
        if rows.empty:
            raise Missing(f"no {metric} of {name} at {_said(keys)} in {scenario}")
        return float(rows["value"].iloc[0])

    def settings(self, scenario: str) -> list[Setting | Flows]:
        """Return the tables of each point of a study."""
        asked = self.studies[scenario].scenario
        return [asked.at(point) for point in range(len(asked.points))]

    def declared(self, scenario: str, name: str) -> float:
        """Return a number of the tolerances that a scenario of messaging declares.

        Raises
        ------
        Missing
            If it declares none of that name.
        """
        asked = self.studies[scenario].scenario
        if not isinstance(asked, MessagingScenario) or name not in asked.tolerance:
            raise Missing(f"{scenario} declares no {name}")
        return asked.tolerance[name]

    def bottleneck(self, scenario: str, point: int) -> str:
        """Return the busiest stage of a point of a study of messaging.

        Raises
        ------
        Missing
            If it is a study of something else.
        """
        study = self.studies[scenario]
        if not isinstance(study, MessagingStudy):
            raise Missing(f"no stages in {scenario}")
        return study.bottleneck(point)[0]

    def _number(self, scenario: str, keys: Mapping[str, object]) -> int | None:
        """Return the number of the first point with these values, varied or not."""
        for point, setting in enumerate(self.settings(scenario)):
            if all(setting.get(key) == value for key, value in keys.items()):
                return point
        return None

    def _points_of(self, scenario: str) -> dict[int, dict[str, Estimate]]:
        table = self.studies[scenario].estimates()
        found: dict[int, dict[str, Estimate]] = {}
        for point, rows in table.groupby("point"):
            values = rows[["value", "low", "high"]].to_numpy()
            metrics = rows["metric"].tolist()
            found[int(str(point))] = {
                metric: Estimate(*map(float, row))
                for metric, row in zip(metrics, values, strict=True)
            }
        return found

    def fit(self, scenarios: Iterable[str]) -> tuple[int, int]:
        """Return how many published columns of these scenarios are reproduced, and of how many."""
        names = set(scenarios)
        judged = [column.passed for column in self._columns if column.scenario in names]
        return sum(judged), len(judged)

    def mean(self, scenario: str, reading: str = "messages") -> float:
        """Return the mean rate over all samples in 1/s, averaged over the columns."""
        return self.statistic(scenario, reading, "mean")

    def statistic(self, scenario: str, reading: str, name: str) -> float:
        """Return a statistic of the rates, averaged over the columns of a scenario."""
        return float(np.mean(list(self.by_column(scenario, reading, name).values())))

    def by_column(self, scenario: str, reading: str, name: str) -> dict[str, float]:
        """Return a statistic of the rates of each column of a scenario."""
        estimates = self._estimates(scenario)
        found = {}
        for column in self.runs[scenario].scenario.probe.columns:
            if (column, reading, name) not in estimates:
                message = f"no {name} of {column} in {scenario}"
                raise Missing(message)
            found[column] = estimates[column, reading, name][0]
        return found

    def active(self, scenario: str, reading: str) -> float:
        """Return the mean rate over the samples that are not empty, averaged over the columns.

        Empty samples add nothing to a sum of rates, so this is the mean over all of them divided
        by the share that is not empty.
        """
        means = self.by_column(scenario, reading, "mean")
        empty = self.by_column(scenario, reading, "empty")
        if any(share >= 1 for share in empty.values()):
            message = f"every sample of {scenario} is empty"
            raise Missing(message)
        return float(np.mean([means[column] / (1 - empty[column]) for column in means]))

    def _active_moving(self, scenario: str, reading: str) -> float:
        """Return the median of the moving average over active samples, averaged over columns."""
        run = self.runs[scenario]
        medians = []
        for column in run.scenario.probe.columns.values():
            for _, part in column_samples(run.samples, column):
                rates = column_rates(part, reading)
                active = moving_average(rates[rates > 0], MOVING_AVERAGE)
                if active.size:
                    medians.append(float(np.median(active)))
        if not medians:
            message = f"every sample of {scenario} is empty"
            raise Missing(message)
        return float(np.mean(medians))

    def printed(self, scenario: str) -> str:
        """Return what the simulation counts where the source says messages."""
        return readings(self.runs[scenario].scenario)["as printed"]

    def receivers(self, scenario: str) -> int:
        """Return the number of broker nodes that own a queue."""
        return self.runs[scenario].scenario.system.receivers

    def counters(self, scenario: str, component: str, metric: str) -> dict[str, float]:
        """Return a counter of each component, per iteration, averaged over all of them.

        Parameters
        ----------
        scenario
            Name of a run.
        component
            ``card`` stands for ``card.1``, ``card.2``, …; an empty text for every component.
        metric
            Name of the counter.

        Raises
        ------
        Missing
            If no such component has this counter.
        """
        found = {
            column: value
            for (column, reading, statistic), (value, _, _) in self._estimates(scenario).items()
            if reading == "counter"
            and statistic == metric
            and (not component or column.split(".")[0] == component)
        }
        if not found:
            message = f"no counter {component or '*'} {metric} in {scenario}"
            raise Missing(message)
        return found

    def conservation(self, scenario: str) -> pd.DataFrame:
        """Return the conservation counters, one row per replication and iteration."""
        counters = self.runs[scenario].counters
        rows = counters[counters["component"] == "conservation"]
        if rows.empty:
            message = f"no counter conservation in {scenario}"
            raise Missing(message)
        return rows.pivot_table(
            index=["replication", "iteration"], columns="metric", values="value", aggfunc="sum"
        )

    def _estimates_of(self, scenario: str) -> Estimates:
        return estimates_by_key(self.runs[scenario])


def _said(keys: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in keys.items()) or "its point"
