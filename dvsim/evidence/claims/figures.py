"""What claims are decided from: figures of several runs, by scenario name, each worked out once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.evidence.statistics import active_rate_bounds
from dvsim.scenario.reference import published
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Card
from dvsim.study.number_text import four_digits
from dvsim.table import estimate as table
from dvsim.table.result import Result, keyed
from dvsim.table.samples import (
    Rates,
    column_rates,
    column_samples,
    moving_average,
)

MOVING_AVERAGE = 50  # active polls; the source smooths its plots without saying over how many


Estimates = Mapping[tuple[str, int, str], table.Estimate]
Replicated = tuple[int, float]
"""The number of a replication, and its value."""


class Missing(Exception):  # noqa: N818 - caught and turned into a verdict, never shown as an error
    """A figure that a run does not have; the text names it."""


class Estimate(table.Estimate):
    """A metric of a point of a study, as claims write it."""

    @property
    def text(self) -> str:
        """The value and half of the interval, for people."""
        return f"{four_digits(self.value)} ± {four_digits(self.half)}"


class Evidence:
    """Figures of a set of runs and studies.

    Args:
        runs: By scenario name.
        columns: The judged columns of those runs, see `dvsim.evidence.published.compare`.
        studies: By scenario name.
        emulated: Emulated runs by scenario name, of the claims that a simulation cannot decide.
        emulated_by: What to type to get them, or None where there are none.
    """

    def __init__(
        self,
        runs: Mapping[str, Result],
        columns: pd.DataFrame,
        studies: Mapping[str, Result] | None = None,
        emulated: Mapping[str, Result] | None = None,
        emulated_by: str | None = None,
    ) -> None:
        self.runs, self.studies = dict(runs), dict(studies or {})
        self._chosen: frozenset[int] | None = None  # replications; None for all
        self._points = cache(self._points_of)
        self.settings = cache(self._settings_of)
        self.emulated = dict(emulated or {})
        self.emulated_by = emulated_by
        self._columns = columns
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
        part.settings = self.settings
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
        if self._columns.empty:
            return 0, 0
        own = self._columns["scenario"].isin(set(scenarios))
        judged = self._columns[own & (self._columns["reading"] == "as printed")]["passed"]
        return int(judged.sum()), len(judged)

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
            key = column, 0, f"{reading}.{name}"
            if key not in estimates:
                raise Missing(f"no {name} of {column} in {scenario}")
            results[column] = estimates[key].value
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
        parts = [
            (replication, column_rates(part, reading))
            for column in run.scenario.probe.columns.values()
            for replication, part in column_samples(run.sides["samples"], column)
        ]
        smooth = ((n, moving_average(rates[rates > 0], MOVING_AVERAGE)) for n, rates in parts)
        return [(number, active) for number, active in smooth if active.size]

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
        return str(self.runs[scenario].scenario.readings[0])

    def receivers(self, scenario: str) -> int:
        """Return the number of broker nodes that own a queue."""
        return int(self.runs[scenario].scenario.system.receivers)

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
            f"{name}.{instance}" if instance else name: estimate.value
            for (name, instance, counted), estimate in self._estimates(scenario).items()
            if counted == metric and component in ("", name)
        }
        if not results:
            raise Missing(f"no counter {component or '*'} {metric} in {scenario}")
        return results

    def conservation(self, scenario: str) -> pd.DataFrame:
        """Return the conservation counters, one row per replication and iteration."""
        values = (self.emulated.get(scenario) or self.runs[scenario]).values
        rows = values[values["component"] == "conservation"]
        if rows.empty:
            raise Missing(f"no counter conservation in {scenario}")
        books: pd.DataFrame = rows.pivot_table(
            index=["replication", "iteration"], columns="metric", values="value", aggfunc="sum"
        )
        return books

    def _estimates_of(self, scenario: str) -> Estimates:
        run = self.runs[scenario]
        if self._chosen is None:
            return run.by_metric
        return keyed(run.estimated(run.means[self._is_chosen(run.means)]))

    def point(self, scenario: str, metric: str, **keys: object) -> Estimate:
        """Return a metric of the first point of a study whose keys have these values.

        Raises:
            Missing: If there is no such point, or nothing could be measured there.
        """
        point = self._number(scenario, keys)
        result = None if point is None else self._points(scenario)[point][metric]
        if result is None or np.isnan(result.value):
            raise Missing(f"no {metric} at {_keys_text(keys)} in {scenario}")
        return result

    def theory(self, scenario: str, name: str, metric: str, **keys: object) -> float:
        """Return what a theory says of the first point whose keys have these values.

        Raises:
            Missing: If it says nothing.
        """
        table = self.studies[scenario].beside
        table = table[table["point"] == self._number(scenario, keys)]
        rows = table[(table["name"] == name) & (table["metric"] == metric)]
        if rows.empty:
            raise Missing(f"no {metric} of {name} at {_keys_text(keys)} in {scenario}")
        return float(rows["value"].iloc[0])

    def _settings_of(self, scenario: str) -> list[Spec]:
        """Return the tables of each point of a study."""
        asked = self.studies[scenario].scenario
        return [asked.at(point) for point in range(len(asked.points))]

    def declared(self, scenario: str, name: str) -> float:
        """Return a number of the tolerances that a scenario of messaging declares.

        Raises:
            Missing: If it declares none of that name.
        """
        declared: float | None = self.studies[scenario].scenario.declared.get(name)
        if declared is None:
            raise Missing(f"{scenario} declares no {name}")
        return declared

    def bottleneck(self, scenario: str, point: int) -> str:
        """Return the busiest stage of a point of a study of messaging.

        Raises:
            Missing: If it is a study of something else.
        """
        stage = self.studies[scenario].bottleneck(point)
        if stage is None:
            raise Missing(f"no stages in {scenario}")
        return stage[0]

    def _number(self, scenario: str, keys: Mapping[str, object]) -> int | None:
        for point, setting in enumerate(self.settings(scenario)):
            if all(setting.get(key) == value for key, value in keys.items()):
                return point
        return None

    def _points_of(self, scenario: str) -> dict[int, dict[str, Estimate]]:
        study = self.studies[scenario]
        if self._chosen is not None:
            study = replace(study, values=study.values[self._is_chosen(study.values)])
        table = study.estimates()
        columns = [table[name].tolist() for name in ("point", "metric", "value", "low", "high")]
        results: dict[int, dict[str, Estimate]] = {}
        for point, metric, *values in zip(*columns, strict=True):
            results.setdefault(point, {})[metric] = Estimate(*values)
        return results

    def _is_chosen(self, table: pd.DataFrame) -> npt.NDArray[np.bool_]:
        return np.isin(table["replication"].to_numpy(), sorted(self._chosen or ()))


def _keys_text(keys: Mapping[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in keys.items()) or "its point"
