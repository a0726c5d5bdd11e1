"""One result: what was asked, the rows that came out, and the queries on them.

A result has a table of `points`, what was varied, and a long table of `values` with the columns of
`VALUES`: a row for each number of each replication. What a kind records besides, such as
distributions, is in tables of its own, its `sides`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.contract.kind import EMULATED, Own
from dvsim.scenario.spec import Spec, plain
from dvsim.study.manifest import asked_json
from dvsim.study.number_text import MISSING
from dvsim.table.estimate import ends
from dvsim.table.metrics import Metric

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
class Result(Points):
    """The outcome of a scenario at all its points.

    Attributes:
        scenario: What was asked, resolved.
        seed, replications: How it was asked.
        folder: Where it is kept, or None while it lives in memory only.
        manifest: Where it came from, see `dvsim.study.manifest`.
        values: Every number: a row for each metric of each replication of each point, with the
            columns of `VALUES`. Of what has no components, component is empty and instance 0.
        sides: The tables that its kind records besides, by name.
    """

    scenario: Spec
    seed: int
    replications: int
    folder: Path | None
    manifest: dict[str, Any]
    values: pd.DataFrame
    sides: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    key_units: ClassVar[Mapping[str, str]] = {}
    limit: ClassVar[None] = None  # what keeps it from being faster is said by point: `bottleneck`
    limit_text: ClassVar[str] = MISSING
    judged: ClassVar[bool] = False  # against published figures: claims are about several

    def __repr__(self) -> str:
        """Name the result by what was asked."""
        return (
            f"Result({self.scenario.name!r}, seed={self.seed}, "
            f"replications={self.replications}, points={len(self.scenario.points)})"
        )

    @cached_property
    def kind(self) -> Own:
        """The kind of its scenario."""
        return kind_of(self.scenario)

    @property
    def points(self) -> pd.DataFrame:
        """The varied keys of each point, index ``point``; lists and tables as text."""
        rows = [{key: plain(value) for key, value in p.items()} for p in self.scenario.points]
        index = pd.RangeIndex(len(rows), name="point")
        return pd.DataFrame(rows, index=index, columns=list(self.scenario.keys))

    @cached_property
    def wide(self) -> pd.DataFrame:
        """The values with a row for each point and replication, and a column for each metric."""
        by = self.values.pivot(index=["point", "replication"], columns="metric", values="value")
        return by.reindex(columns=list(self.METRICS)).rename_axis(columns=None).reset_index()

    @property
    def METRICS(self) -> Mapping[str, str]:  # noqa: N802 - a constant of its kind
        """What is measured in each run, with units."""
        units: Mapping[str, str] = self.kind.metrics(self.scenario)
        return units

    @property
    def SHOWN(self) -> Sequence[str]:  # noqa: N802 - a constant of its kind
        """The metrics that a table for people has."""
        return self.kind.shown or list(self.METRICS)[:MOST_SHOWN]

    def metric(self, name: str) -> Metric:
        """Return what is to be said of a metric."""
        metric: Metric = self.kind.metric(name)
        return metric

    @property
    def backend(self) -> str:
        """What made it, as its manifest names it."""
        return str(self.manifest.get("backend"))

    @property
    def simulated(self) -> bool:
        """Whether it was simulated: then its seed says which random numbers it met."""
        return self.backend != EMULATED

    def headline(self, point: int = 0, *, each: bool = False) -> Headline:
        """Return its first metric at a point; `each` is of runs."""
        first = self.kind.headline
        name = next((name for name in first if self.wide[name].notna().any()), first[0])
        unit = self.METRICS[name]
        text = name if unit == "1" else f"{name} {unit}"
        return Headline(name, text, self.each(point, name), self.metric(name).signed)

    def each(self, point: int, metric: str) -> Mapping[int, float]:
        """Return a metric at a point by replication."""
        rows = self.wide[self.wide["point"] == point]
        return dict(zip(rows["replication"].tolist(), rows[metric].tolist(), strict=True))

    def estimates(self) -> pd.DataFrame:
        """Return each metric of each point with its 95 % Student interval over replications.

        Returns:
            DataFrame: point, the varied keys, component, instance, metric, value, low, high, n (the
            replications that have a value), unit. With one replication
            the interval is the value itself; so it is at flow fidelity, where replications are
            equal, and what they may be wrong by is said by `flow_errors`. What is not a number in a
            replication is left out of the mean; a value is not a number where no replication has
            one.
        """
        return self._estimates.copy()

    @cached_property
    def _estimates(self) -> pd.DataFrame:
        by = ["point", "component", "instance", "metric"]
        groups = self.values.groupby(by, sort=False)["value"]
        mean, times = groups.mean(), groups.count().to_numpy()
        table = mean.reset_index()
        signed = table["metric"].map({name: self.metric(name).signed for name in self.METRICS})
        deviation = groups.std().to_numpy()
        table["low"], table["high"] = ends(
            mean.to_numpy(), np.maximum(times, 1), deviation, signed=signed.to_numpy(bool)
        )
        table["n"], table["unit"] = times, table["metric"].map(self.METRICS)
        keys = self.points.loc[table["point"]].reset_index(drop=True)
        return pd.concat([table[["point"]], keys, table.drop(columns="point")], axis=1)

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Its sides over all replications, by name."""
        tables: Mapping[str, pd.DataFrame] = self.kind.over_replications(self)
        return tables

    @property
    def beside(self) -> pd.DataFrame:
        """What theory says, with the columns point, name, metric and value."""
        return self.sides["theory"] if "theory" in self.sides else super().beside

    @property
    def slot_ps(self) -> int | None:
        """How long a slot takes in picoseconds; None where there are no slots."""
        slot = self.manifest.get("slot_ps")
        return None if slot is None else int(slot)

    @property
    def drawn(self) -> list[str]:
        """The metrics that figures have."""
        chosen = self.kind.drawn(self)
        return [name for name in chosen if self.wide[name].notna().any()]

    @property
    def listed(self) -> Sequence[str]:
        """The metrics that its text has."""
        listed: Sequence[str] = self.kind.listed(self)
        return listed

    def axes(self, keys: pd.DataFrame) -> pd.DataFrame:
        """Return the keys that tell the points apart, of those that were varied together one."""
        axes: pd.DataFrame = self.kind.axes(self.scenario, keys)
        return axes

    def levels(self, metric: str, key: str | None) -> list[tuple[float, str]]:
        """Return the published levels of a metric along a key, each with what it is."""
        levels: list[tuple[float, str]] = self.kind.levels(self.scenario, metric, key)
        return levels

    def bottleneck(self, point: int) -> tuple[str, float] | None:
        """Return the busiest stage of a point, and its utilisation; None without stages."""
        return self._bottlenecks.get(point)

    @cached_property
    def _bottlenecks(self) -> dict[int, tuple[str, float]]:
        if "stages" not in self.tables:
            return {}
        stages = self.tables["stages"].sort_values("utilisation", ascending=False, kind="stable")
        rows = stages.drop_duplicates("point").itertuples(index=False)
        return {int(point): (str(stage), float(used)) for point, stage, used in rows}

    def notes(self) -> dict[int, str]:
        """Return by point why some of its replications have not settled; others are absent."""
        notes: dict[int, str] = self.kind.notes(self)
        return notes

    def flow_errors(self) -> dict[int, tuple[float, float]]:
        """Return by point the relative errors of mean latency and throughput at flow fidelity.

        Points at cycle fidelity are absent; of replications the largest error counts.
        """
        if "runs" not in self.sides:
            return {}
        flow = self.sides["runs"][self.sides["runs"]["fidelity"] == "flow"]
        errors = flow.groupby("point")[["latency_error", "throughput_error"]].max()
        return {
            int(str(point)): (float(latency), float(throughput))
            for point, latency, throughput in errors.itertuples()
        }

    def table(self) -> pd.DataFrame:
        """Return one row per point for people: varied keys, metrics with half intervals, notes."""
        table = self.points
        for metric in self.SHOWN:
            rows = self._estimates[self._estimates["metric"] == metric].set_index("point")
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
        html: str = self.table().to_html(index=False, max_rows=40)
        return html


def finite(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row that JSON can hold: null for what is not a number."""
    return {str(key): None if value != value else value for key, value in row.items()}  # noqa: PLR0124


def flow_text(errors: Mapping[int, tuple[float, float]], points: int) -> str:
    """Say how far the points at flow fidelity are from the cycle level.

    Args:
        errors: As `Result.flow_errors` gives them, of at least one point.
        points: Of the study.
    """
    latency, throughput = (max(pair[item] for pair in errors.values()) for item in (0, 1))
    which = "all points" if len(errors) == points else f"{len(errors)} of {points} points"
    return (
        f"flow fidelity at {which}: against the cycle level, mean latency within {latency:.1%} "
        f"and throughput within {throughput:.1%}"
    )
