"""What studies of any kind have in common: rows of points and replications, and their estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.contract.kind import EMULATED, Kind, Metric
from dvsim.scenario.spec import Spec, plain
from dvsim.study.changes import titled
from dvsim.study.manifest import asked_json
from dvsim.study.notebook import block, table
from dvsim.study.number_text import MISSING
from dvsim.table.estimate import ends

MOST_SHOWN = 4  # metrics of a kind that does not say which


class Headline(NamedTuple):
    """The number by which a result answers a question.

    Attributes:
        name, unit: What it is called.
        values: By replication.
        signed: Whether it may be negative.
    """

    name: str
    unit: str
    values: Mapping[int, float]
    signed: bool


class Points:
    """Points with results, as figures take them: what no kind of them need have is nothing here."""

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Other tables, by name."""
        return {}

    def each(self, point: int, metric: str) -> Mapping[int, float]:
        """Return a metric at a point by replication; nothing where only the mean is there."""
        return {}

    def axes(self, keys: pd.DataFrame) -> pd.DataFrame:
        """Return the keys that tell the points apart: all."""
        return keys

    @property
    def beside(self) -> pd.DataFrame:
        """What theory says, with the columns point, name, metric and value; here nothing."""
        return pd.DataFrame({"point": [], "name": [], "metric": [], "value": []})

    @property
    def slot_ps(self) -> int | None:
        """How long a slot takes in picoseconds; None where there are no slots."""
        return None

    def levels(self, metric: str, key: str | None) -> list[tuple[float, str]]:
        """Return the published levels of a metric along a key, each with what it is; here none."""
        return []

    def bottleneck(self, point: int) -> tuple[str, float] | None:
        """Return the busiest stage of a point, and its utilisation; None without stages."""
        return None

    def flow_errors(self) -> dict[int, tuple[float, float]]:
        """Return by point the errors of what was not simulated packet by packet; here none."""
        return {}


@dataclass(frozen=True, eq=False, repr=False)
class PointsStudy(Points):
    """The outcome of a scenario at all its points.

    Attributes:
        scenario: What was asked, resolved.
        seed, replications: How it was asked.
        folder: Where it is kept, or None while it lives in memory only.
        manifest: Where it came from, see `dvsim.study.manifest`.
        points: One row for each point and replication, with the metrics.
    """

    scenario: Spec
    seed: int
    replications: int
    folder: Path | None
    manifest: dict[str, Any]
    points: pd.DataFrame

    @property
    def METRICS(self) -> Mapping[str, str]:  # noqa: N802 - a constant of its kind
        """What is measured in each run, with units."""
        units: Mapping[str, str] = kind_of(self.scenario).units
        return units

    @property
    def SHOWN(self) -> Sequence[str]:  # noqa: N802 - a constant of its kind
        """The metrics that a table for people has."""
        shown: Sequence[str] = kind_of(self.scenario).shown
        return shown or list(self.METRICS)[:MOST_SHOWN]

    def __repr__(self) -> str:
        """Name the study by what was asked."""
        return (
            f"{type(self).__name__}({self.scenario.name!r}, seed={self.seed}, "
            f"replications={self.replications}, points={len(self.scenario.points)})"
        )

    @property
    def backend(self) -> str:
        """What made it, as its manifest names it."""
        return str(self.manifest.get("backend"))

    @property
    def simulated(self) -> bool:
        """Whether it was simulated: then its seed says which random numbers it met."""
        return self.backend != EMULATED

    @property
    def judged(self) -> bool:
        """Whether it is held against published figures by itself; claims are about several."""
        return False

    @cached_property
    def _headline(self) -> str:
        first: Sequence[str] = kind_of(self.scenario).headline
        return next((name for name in first if self.points[name].notna().any()), first[0])

    def headline(self, point: int = 0, *, each: bool = False) -> Headline:
        """Return its first metric at a point; `each` is of runs."""
        name = self._headline
        unit = self.METRICS[name]
        values = self.each(point, name)
        text = name if unit == "1" else f"{name} {unit}"
        return Headline(name, text, values, self.metric(name).signed)

    def each(self, point: int, metric: str) -> Mapping[int, float]:
        """Return a metric at a point by replication."""
        rows = self.points[self.points["point"] == point]
        return dict(zip(rows["replication"].tolist(), rows[metric].tolist(), strict=True))

    limit: ClassVar[None] = None  # what keeps it from being faster is said by point: `bottleneck`
    limit_text: ClassVar[str] = MISSING

    def estimates(self) -> pd.DataFrame:
        """Return each metric of each point with its 95 % Student interval over replications.

        Returns:
            DataFrame: point, the varied keys, metric, value, low, high, unit. With one replication
            the interval is the value itself; so it is at flow fidelity, where replications are
            equal, and what they may be wrong by is said by `flow_errors`. What is not a number in a
            replication is left out of the mean; a value is not a number where no replication has
            one.
        """
        return self._estimates.copy()

    @cached_property
    def _estimates(self) -> pd.DataFrame:
        groups = self.points.groupby("point")[list(self.METRICS)]
        count, mean = groups.count(), groups.mean()
        times = np.maximum(count.to_numpy(), 1)
        signed = [self.metric(name).signed for name in mean.columns]
        low, high = ends(mean.to_numpy(), times, groups.std().to_numpy(), signed=signed)
        shape = mean.shape
        table = self.keys().loc[np.repeat(mean.index.to_numpy(), shape[1])].reset_index()
        table["metric"] = np.tile(list(self.METRICS), shape[0])
        table["value"] = mean.to_numpy().ravel()
        table["low"], table["high"] = low.ravel(), high.ravel()
        table["unit"] = np.tile(list(self.METRICS.values()), shape[0])
        return table

    def keys(self) -> pd.DataFrame:
        """Return the varied keys of each point, index ``point``; lists and tables as text."""
        rows = [{key: plain(value) for key, value in p.items()} for p in self.scenario.points]
        index = pd.RangeIndex(len(rows), name="point")
        return pd.DataFrame(rows, index=index, columns=list(self.scenario.keys))

    key_units: ClassVar[Mapping[str, str]] = {}

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Every table that its kind keeps, by name."""
        return {name: getattr(self, name) for name in kind_of(self.scenario).tables}

    @property
    def kind(self) -> Kind:
        """The kind of its scenario."""
        kind: Kind = kind_of(self.scenario)
        return kind

    def metric(self, name: str) -> Metric:
        """Return what is to be said of a metric."""
        metric: Metric = self.kind.metric(name)
        return metric

    @property
    def drawn(self) -> list[str]:
        """The metrics that figures have."""
        return [name for name in self.SHOWN if self.points[name].notna().any()]

    def axes(self, keys: pd.DataFrame) -> pd.DataFrame:
        """Keep one of the keys that were varied together: the first that tells the points apart.

        `FOREMOST` of the scenario comes before the others.
        """
        independent = keys
        for group in self.scenario.vary:
            names = [name for name in group if name in keys]
            distinguishing = [name for name in names if keys[name].nunique() == len(group[name])]
            if len(names) > 1 and distinguishing:
                foremost = self.scenario.FOREMOST
                chosen = foremost if foremost in distinguishing else distinguishing[0]
                independent = independent.drop(columns=[name for name in names if name != chosen])
        return independent

    def notes(self) -> dict[int, str]:
        """Return by point why some of its replications have not settled; here always nothing."""
        return {}

    @property
    def listed(self) -> Sequence[str]:
        """The metrics that its text has."""
        return self.SHOWN

    def table(self) -> pd.DataFrame:
        """Return one row per point for people: varied keys, metrics with half intervals, notes."""
        table = self.keys()
        estimates = self._estimates
        for metric in self.SHOWN:
            rows = estimates[estimates["metric"] == metric].set_index("point")
            table[metric] = rows["value"]
            table[f"± {metric}"] = rows["high"] - rows["value"]
        notes = self.notes()
        table["notes"] = [notes.get(point, "") for point in range(len(table))]
        return table

    def as_json(self) -> dict[str, object]:
        """Return the study as JSON types: what was asked, manifest, estimates, theory and notes."""
        return {
            **asked_json(self),
            "manifest": self.manifest,
            "estimates": [finite(row) for row in self._estimates.to_dict(orient="records")],
            "theory": [finite(row) for row in self.beside.to_dict(orient="records")],
            "notes": {str(number): note for number, note in self.notes().items()},
        }

    def _repr_html_(self) -> str:
        asked = f"seed {self.seed}, {self.replications} replications; ± is half the 95 % interval"
        title = titled(self.scenario)
        return block(title, [self.scenario.question, asked], table(self.table()))


def finite(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row that JSON can hold: null for what is not a number."""
    return {str(key): None if value != value else value for key, value in row.items()}  # noqa: PLR0124


def flow_text(errors: Mapping[int, tuple[float, float]], points: int) -> str:
    """Say how far the points at flow fidelity are from the cycle level.

    Args:
        errors: As `PointsStudy.flow_errors` gives them, of at least one point.
        points: Of the study.
    """
    latency, throughput = (max(pair[item] for pair in errors.values()) for item in (0, 1))
    which = "all points" if len(errors) == points else f"{len(errors)} of {points} points"
    return (
        f"flow fidelity at {which}: against the cycle level, mean latency within {latency:.1%} "
        f"and throughput within {throughput:.1%}"
    )
