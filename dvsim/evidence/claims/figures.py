"""What claims are decided from: figures of several runs, by scenario name, each worked out once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache

import numpy as np
import pandas as pd

from dvsim.evidence.claims.study_figures import Estimate, Missing, StudyFigures
from dvsim.evidence.published.compare import Estimates, readings
from dvsim.evidence.statistics import active_rate_bounds
from dvsim.evidence.verdicts import ColumnVerdict
from dvsim.scenario.reference import published
from dvsim.scenario.types import Card
from dvsim.study.run import Run
from dvsim.study.samples import name_of
from dvsim.study.summary import (
    Rates,
    by_counter,
    by_statistic,
    column_rates,
    column_samples,
    moving_average,
    over_replications,
)
from dvsim.table.result import Result

__all__ = ["MOVING_AVERAGE", "Estimate", "Evidence", "Missing"]

MOVING_AVERAGE = 50  # active polls; the source smooths its plots without saying over how many


Replicated = tuple[int, float]
"""The number of a replication, and its value."""


class Evidence(StudyFigures):
    """Figures of a set of runs and studies.

    Args:
        runs: By scenario name.
        columns: The judged columns of those runs, as printed.
        studies: By scenario name.
        emulated: Emulated runs by scenario name, of the claims that a simulation cannot decide.
        emulated_by: What to type to get them, or None where there are none.
    """

    def __init__(
        self,
        runs: Mapping[str, Run],
        columns: Iterable[ColumnVerdict],
        studies: Mapping[str, Result] | None = None,
        emulated: Mapping[str, Run] | None = None,
        emulated_by: str | None = None,
    ) -> None:
        super().__init__(studies or {})
        self.runs = dict(runs)
        self.emulated = dict(emulated or {})
        self.emulated_by = emulated_by
        self._columns = tuple(columns)
        self._smoothed = cache(self._smoothed_of)
        self._quantiles = cache(self._quantiles_of)
        self._estimates = cache(self._estimates_of)
        self._parts: dict[frozenset[int], Evidence] = {}

    def of(self, replications: Collection[int]) -> Evidence:
        """Return what some replications alone say; which columns are reproduced stays."""
        chosen = frozenset(replications)
        if chosen in self._parts:  # another claim has asked, and its figures are worked out
            return self._parts[chosen]
        part = Evidence(self.runs, self._columns, self.studies, self.emulated, self.emulated_by)
        part._chosen = chosen
        part._quantiles = self._quantiles  # each replication by itself: it need not be done again
        part._settings = self._settings
        self._parts[chosen] = part
        return part

    def has(self, scenario: str) -> bool:
        """Return whether there is a run or a study of a scenario."""
        return scenario in self.runs or scenario in self.studies

    def replications(self, scenarios: Iterable[str]) -> range:
        """Return the numbers of the replications that all of these runs and studies have."""
        results = [self.runs.get(name) or self.studies[name] for name in scenarios]
        return range(1, 1 + min((result.replications for result in results), default=0))

    def cards(self, scenarios: Iterable[str]) -> list[Card]:
        """Return the cards that runs and studies use; a switch alone has none."""
        known = self.runs | self.studies
        return [
            card
            for name in scenarios
            if name in known
            for _, card in known[name].scenario.used_cards()
        ]

    def fitted_columns(self, scenarios: Iterable[str]) -> tuple[str, ...]:
        """Return the published columns of these runs to which parameters were fitted."""
        asked = [self.runs[name].scenario for name in scenarios if name in self.runs]
        return tuple(
            f"column {label} of {item.name}"
            for item in asked
            if item.reference is not None
            for label in item.reference.fitted
        )

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
        results = {}
        for column in self.runs[scenario].scenario.probe.columns:
            if (column, reading, name) not in estimates:
                raise Missing(f"no {name} of {column} in {scenario}")
            results[column] = estimates[column, reading, name][0]
        return results

    def active(self, scenario: str, reading: str) -> float:
        """Return the mean rate over the samples that are not empty, averaged over the columns.

        Empty samples add nothing to a sum of rates, so this is the mean over all of them divided
        by the share that is not empty.
        """
        means = self.by_column(scenario, reading, "mean")
        empty = self.by_column(scenario, reading, "empty")
        if any(share >= 1 for share in empty.values()):
            raise Missing(f"every sample of {scenario} is empty")
        return float(np.mean([means[column] / (1 - empty[column]) for column in means]))

    def smoothed(self, scenario: str, reading: str, quantile: float) -> float:
        """Return a quantile of the moving average over the active samples.

        The mean over columns and replications of the quantile of each.

        Raises:
            Missing: If every sample is empty.
        """
        results = [
            value
            for replication, value in self._quantiles(scenario, reading, quantile)
            if self._chosen is None or replication in self._chosen
        ]
        if not results:
            raise Missing(f"every sample of {scenario} is empty")
        return float(np.mean(results))

    def _quantiles_of(self, scenario: str, reading: str, quantile: float) -> list[Replicated]:
        averages = self._smoothed(scenario, reading)
        return [(number, float(np.quantile(rates, quantile))) for number, rates in averages]

    def _smoothed_of(self, scenario: str, reading: str) -> list[tuple[int, Rates]]:
        run = self.runs[scenario]
        results = []
        for column in run.scenario.probe.columns.values():
            for replication, part in column_samples(run.samples, column):
                rates = column_rates(part, reading)
                active = moving_average(rates[rates > 0], MOVING_AVERAGE)
                if active.size:
                    results.append((replication, active))
        return results

    def allowed(self, scenario: str) -> tuple[float, float] | None:
        """Return the mean rates of active samples that the published columns leave possible.

        The mean over the columns of either bound; None where nothing was published.
        """
        asked = self.runs[scenario].scenario
        printed = [published(asked, column) for column in asked.probe.columns]
        bounds = [active_rate_bounds(item) for item in printed if item]
        if not bounds:
            return None
        low, high = np.mean(bounds, axis=0)
        return float(low), float(high)

    def published_mean(self, scenario: str) -> float:
        """Return the mean over the columns of what was published as their mean.

        Raises:
            Missing: If nothing was published.
        """
        asked = self.runs[scenario].scenario
        means = [published(asked, column).get("mean") for column in asked.probe.columns]
        known = [mean for mean in means if mean is not None]
        if not known:
            raise Missing(f"nothing published of {scenario}")
        return float(np.mean(known))

    def printed(self, scenario: str) -> str:
        """Return what the simulation counts where the source says messages."""
        return readings(self.runs[scenario].scenario)["as printed"]

    def receivers(self, scenario: str) -> int:
        """Return the number of broker nodes that own a queue."""
        return self.runs[scenario].scenario.system.receivers

    def counters(self, scenario: str, component: str, metric: str) -> dict[str, float]:
        """Return a counter of each component, per iteration, averaged over all of them.

        Args:
            scenario: Name of a run.
            component: ``card`` gives ``card.1``, ``card.2``, …; an empty text every component.
            metric: Name of the counter.

        Raises:
            Missing: If no such component has this counter.
        """
        results = {
            name_of(name, instance): value
            for (name, instance, counted), (value, _, _) in by_counter(
                self._table(scenario)
            ).items()
            if counted == metric and component in ("", name)
        }
        if not results:
            raise Missing(f"no counter {component or '*'} {metric} in {scenario}")
        return results

    def conservation(self, scenario: str) -> pd.DataFrame:
        """Return the conservation counters, one row per replication and iteration."""
        counters = (self.emulated.get(scenario) or self.runs[scenario]).counters
        rows = counters[counters["component"] == "conservation"]
        if rows.empty:
            raise Missing(f"no counter conservation in {scenario}")
        return rows.pivot_table(
            index=["replication", "iteration"], columns="metric", values="value", aggfunc="sum"
        )

    def _estimates_of(self, scenario: str) -> Estimates:
        return by_statistic(self._table(scenario))

    def _table(self, scenario: str) -> pd.DataFrame:
        table = self.runs[scenario].per_replication
        if self._chosen is not None:
            table = table[self._is_chosen(table)]
        return over_replications(table)
