"""The figures of studies from which claims are decided, by scenario name, each worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from dvsim.scenario.spec import Spec
from dvsim.study.number_text import four_digits
from dvsim.table import estimate
from dvsim.table.result import Result


class Missing(Exception):  # noqa: N818 - caught and turned into a verdict, never shown as an error
    """A figure that a run does not have; the text names it."""


class Estimate(estimate.Estimate):
    """A metric of a point of a study, as claims write it."""

    @property
    def text(self) -> str:
        """The value and half of the interval, for people."""
        return f"{four_digits(self.value)} ± {four_digits(self.half)}"


class StudyFigures:
    """Figures of a set of studies, of all their replications or of some."""

    def __init__(self, studies: Mapping[str, Result]) -> None:
        self.studies = dict(studies)
        self._chosen: frozenset[int] | None = None  # replications; None for all
        self._points = cache(self._points_of)
        self._settings = cache(self._settings_of)

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

    def settings(self, scenario: str) -> list[Spec]:
        """Return the tables of each point of a study."""
        return self._settings(scenario)

    def _settings_of(self, scenario: str) -> list[Spec]:
        asked = self.studies[scenario].scenario
        return [asked.at(point) for point in range(len(asked.points))]

    def declared(self, scenario: str, name: str) -> float:
        """Return a number of the tolerances that a scenario of messaging declares.

        Raises:
            Missing: If it declares none of that name.
        """
        declared = self.studies[scenario].scenario.declared.get(name)
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
