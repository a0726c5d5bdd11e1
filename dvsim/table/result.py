"""One result: what was asked, the rows that came out, and the queries on them.

A result has a table of `points`, what was varied, and a long table of `values` with the columns of
`VALUES`: a row for each number of each replication. What a kind records besides, such as
distributions, is in tables of its own, its `sides`. A sweep is a result as any other; its points
are a side that it keeps, see `dvsim.study.sweep`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.contract.kind import EMULATED, Own
from dvsim.scenario.spec import plain
from dvsim.study.changes import of_published_system
from dvsim.study.number_text import MISSING, Amount
from dvsim.table.estimate import Estimate, estimate, estimates
from dvsim.table.manifest import Manifest, Swept
from dvsim.table.metrics import Metric

if TYPE_CHECKING:
    from dvsim.table.stages import Limit

MOST_SHOWN = 4  # metrics of a kind that does not say which
MOST_SWEPT = 2  # of a sweep
SWEEP = "sweep"  # in the place of a backend


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


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of a scenario at all its points.

    Attributes:
        scenario: What was asked, resolved.
        seed, replications: How it was asked.
        folder: Where it is kept, or None while it lives in memory only.
        manifest: Where it came from, see `dvsim.table.manifest`.
        values: Every number: a row for each metric of each replication of each point, with the
            columns of `VALUES`. Of what has no components, component is empty and instance 0.
        sides: The tables that its kind records besides, by name.
    """

    scenario: Any  # of the class that its kind declares
    seed: int
    replications: int
    folder: Path | None
    manifest: Manifest
    values: pd.DataFrame
    sides: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Name the result by what was asked."""
        return (
            f"Result({self.scenario.name!r}, seed={self.seed}, "
            f"replications={self.replications}, points={len(self.points)}"
            + (f", failed={len(self.failed)})" if self.swept else ")")
        )

    @cached_property
    def kind(self) -> Own:
        """The kind of its scenario."""
        return kind_of(self.scenario)

    @property
    def points(self) -> pd.DataFrame:
        """The varied keys of each point, index ``point``; lists and tables as text.

        Of a sweep without those that failed; sizes are in bytes, times in seconds, see `key_units`.
        """
        if self.swept:
            all_points = self.sides["points"]
            good = all_points.loc[all_points["error"] == "", ["point", *self._names]]
            return good.set_index("point").rename(columns=self._names)
        rows = [{key: plain(value) for key, value in p.items()} for p in self.scenario.points]
        index = pd.RangeIndex(len(rows), name="point")
        return pd.DataFrame(rows, index=index, columns=list(self.scenario.keys))

    @property
    def swept(self) -> bool:
        """Whether it is of a sweep: whoever asked has varied its points."""
        return self.manifest.swept is not None

    @property
    def asked(self) -> Swept:
        """What a sweep was asked, as its manifest says."""
        assert self.manifest.swept is not None
        return self.manifest.swept

    @property
    def failed(self) -> pd.DataFrame:
        """The points of a sweep that failed, with their keys and what went wrong in `error`."""
        if not self.swept:
            return self.points.assign(error="")[:0]
        rows = self.sides["points"]
        failed = rows.loc[rows["error"] != "", ["point", *self._names, "error"]]
        return failed.set_index("point").rename(columns=self._names)

    @property
    def key_units(self) -> Mapping[str, str]:
        """The units of varied keys that have one: ``B``, ``s``, ``B/s``."""
        if not self.swept:
            return {}
        return {short: self.asked.units.get(key, "") for key, short in self._names.items()}

    @cached_property
    def _names(self) -> dict[str, str]:
        return short_names(self.asked.keys)

    @property
    def name(self) -> str:
        """The name of the scenario, and what a sweep of it varied."""
        over = f" over {', '.join(self._names.values())}" if self.swept else ""
        return f"{self.scenario.name}{over}"

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The full names of keys that a sweep varies, by their short names."""
        every = self.scenario.every_key() if self.swept else []
        return {
            short: next((full for full in every if f".{full}".endswith(f".{key}")), key)
            for key, short in (self._names.items() if self.swept else ())
        }

    @cached_property
    def wide(self) -> pd.DataFrame:
        """Its metrics with a row for each point and replication, and a column for each.

        Metrics are the values of what has no components, and of a run of a system the few numbers
        that it comes down to.
        """
        if self.sampled:
            each = {name: values for (_, name), values in self._each.items()}
            table = pd.DataFrame(each).reindex(range(1, self.replications + 1))
            return table.rename_axis("replication").reset_index().assign(point=0)
        by = self.values.pivot(index=["point", "replication"], columns="metric", values="value")
        return by.reindex(columns=list(self.METRICS)).rename_axis(columns=None).reset_index()

    @property
    def METRICS(self) -> Mapping[str, str]:  # noqa: N802 - a constant of its kind
        """What is measured in each run, with units."""
        if self.swept:
            return {name: self.asked.units[name] for name in self.asked.results}
        units: Mapping[str, str] = self.kind.metrics(self.scenario)
        return units

    @property
    def SHOWN(self) -> Sequence[str]:  # noqa: N802 - a constant of its kind
        """The metrics that a table for people has."""
        if self.swept:
            return self.drawn
        return self.kind.shown or list(self.METRICS)[:MOST_SHOWN]

    def metric(self, name: str) -> Metric:
        """Return what is to be said of a metric."""
        metric: Metric = self.kind.metric(name)
        return metric if metric.unit else metric._replace(unit=self.METRICS.get(name, ""))

    @property
    def backend(self) -> str:
        """What made it, as its manifest names it."""
        return self.manifest.backend

    @property
    def simulated(self) -> bool:
        """Whether it was simulated: then its seed says which random numbers it met."""
        return self.backend != EMULATED

    @property
    def judged(self) -> bool:
        """Whether it is held against what was published: of the same system, and simulated.

        What was measured on this machine is not: its tolerances were declared for a model. Nor is
        another system, such as one with ``system.bridge.sockets=4``, set or in a file of one's own.
        """
        published = self.scenario.reference is not None
        return published and self.simulated and of_published_system(self.scenario)

    def headline(self, point: int = 0, *, each: bool = False) -> Headline:
        """Return its first metric at a point; with `each` of a system that of a receiver."""
        headline: Headline = self.kind.headline_at(self, point, each=each)
        return headline

    @cached_property
    def rate(self) -> Amount:
        """The number that answers, the first of its kind, at its first point, with its interval.

        Of a system it is whole messages per second over all receivers.
        """
        _, unit, values, signed = self.headline()
        return Amount(*estimate(values.values(), signed=signed), unit)

    def amount(self, metric: str, point: int = 0) -> Amount:
        """Return a metric at a point with its interval."""
        known, unit = self.metric(metric), self.METRICS[metric]
        values = estimate(self.each(point, metric).values(), signed=known.signed)
        return Amount(*values, unit if known.written is None else known.written)

    @property
    def answer(self) -> str:
        """Its rate in words, and what limits it."""
        answer: str = self.kind.answer(self)
        return answer

    @property
    def sampled(self) -> bool:
        """Whether its messages were sampled as they came: it has columns, and rates over time."""
        return bool(self.kind.sampled) and not self.swept

    @cached_property
    def limit(self) -> Limit | None:
        """What keeps it from being faster; None of an emulated run, whose stages are not counted.

        What limits one of several points says `bottleneck`.
        """
        limit: Limit | None = self.kind.limit(self)
        return limit

    @property
    def limit_text(self) -> str:
        """What keeps it from being faster, in words."""
        nothing = "not counted" if self.sampled else MISSING
        return nothing if self.limit is None else str(self.limit)

    def plot(self) -> Any:  # noqa: ANN401 - a figure of the view, which is above
        """Return it as a figure, which a notebook shows: of a system its rates over time."""
        return resolve_name(self.kind.figure)(self)

    def compare(self, other: Result) -> pd.DataFrame:
        """Return another result beside this one: see `dvsim.table.compare.compare`."""
        # the module of it imports this one
        rows: pd.DataFrame = resolve_name("dvsim.table.compare:side_by_side")([self, other]).rows
        return rows

    @cached_property
    def by_metric(self) -> Mapping[tuple[str, int, str], Estimate]:
        """The estimates of its first point by component, instance and metric."""
        return keyed(self._estimates[self._estimates["point"] == 0])

    def each(self, point: int, metric: str) -> Mapping[int, float]:
        """Return a metric at a point by replication."""
        return self._each.get((point, metric), {})

    @cached_property
    def _each(self) -> dict[tuple[int, str], dict[int, float]]:
        if self.sampled:
            few = self.kind.few(self).items()
            return {(0, n): {r: v for r, v in each.items() if not isnan(v)} for n, each in few}
        found: dict[tuple[int, str], dict[int, float]] = {}
        rows = self.values[self.values["value"].notna()]
        for point, metric, replication, value in zip(
            *(rows[name].tolist() for name in ("point", "metric", "replication", "value")),
            strict=True,
        ):
            found.setdefault((point, metric), {})[replication] = value
        return found

    @cached_property
    def there(self) -> frozenset[str]:
        """The metrics that have a value in some replication of a point."""
        return frozenset(metric for (_, metric), each in self._each.items() if each)

    def estimates(self) -> pd.DataFrame:
        """Return each metric of each point with its 95 % Student interval over replications.

        Returns:
            DataFrame: point, the varied keys, component, instance, metric, value, low, high, n (the
            replications that have a value), unit. What was counted in each iteration is first
            averaged over those of a replication. With one replication
            the interval is the value itself; so it is at flow fidelity, where replications are
            equal, and what they may be wrong by is said by `flow_errors`. What is not a number in a
            replication is left out of the mean; a value is not a number where no replication has
            one.
        """
        return self._estimates.copy()

    @cached_property
    def _estimates(self) -> pd.DataFrame:
        return self.estimated(self.means)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Its values, what was counted in each iteration averaged over those of a replication."""
        if not self.values["iteration"].any():
            return self.values
        by = ["point", "component", "instance", "metric", "replication"]
        means: pd.DataFrame = self.values.groupby(by, sort=False)["value"].mean().reset_index()
        return means

    def estimated(self, means: pd.DataFrame) -> pd.DataFrame:
        """Return what `estimates` does, of some of its `means`."""
        by = ["point", "component", "instance", "metric"]
        table = means[by].drop_duplicates(ignore_index=True)
        number = means.groupby(by, sort=False).ngroup().to_numpy()
        names, units = table["metric"].unique(), self.METRICS
        signed = table["metric"].map({name: self.metric(name).signed for name in names})
        table["value"], table["low"], table["high"], table["n"] = estimates(
            number, means["value"].to_numpy(), signed.to_numpy(bool)
        )
        of_each = {name: units.get(name) or self.kind.unit(name) for name in names}
        table["unit"] = table["metric"].map(of_each)
        keys = self.points.loc[table["point"]].reset_index(drop=True)
        return pd.concat([table[["point"]], keys, table.drop(columns="point")], axis=1)

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Its sides over all replications, by name."""
        if self.swept:
            return self.sides
        tables: Mapping[str, pd.DataFrame] = self.kind.over_replications(self)
        return tables

    @property
    def beside(self) -> pd.DataFrame:
        """What theory says, with the columns point, name, metric and value."""
        nothing = pd.DataFrame({"point": [], "name": [], "metric": [], "value": []})
        return self.sides.get("theory", nothing)

    @property
    def slot_ps(self) -> int | None:
        """How long a slot takes in picoseconds; None where there are no slots."""
        slot: int | None = self.kind.slot_ps(self.scenario)
        return slot

    @property
    def drawn(self) -> list[str]:
        """The metrics that figures have; of a sweep two, hops that wait nowhere once."""
        if not self.swept:
            chosen = self.kind.drawn(self)
        else:
            there = set(self.METRICS)
            chosen = [name for name in self.kind.swept or self.kind.headline if name in there]
            if {"mean_hops", "mean_latency"} <= there and self.wide["mean_latency"].equals(
                self.wide["mean_hops"].rename("mean_latency")
            ):
                chosen = [name for name in chosen if name != "mean_latency"]
            chosen = (chosen or list(self.METRICS))[:MOST_SWEPT]
        return [name for name in chosen if name in self.there]

    @property
    def listed(self) -> Sequence[str]:
        """The metrics that its text has."""
        listed: Sequence[str] = self.kind.listed(self)
        return listed

    def axes(self, keys: pd.DataFrame) -> pd.DataFrame:
        """Return the keys that tell the points apart, of those that were varied together one."""
        if self.swept:
            return keys[[name for name in keys if keys[name].nunique() > 1]]
        axes: pd.DataFrame = self.kind.axes(self.scenario, keys)
        return axes

    def levels(self, metric: str, key: str | None) -> list[tuple[float, str]]:
        """Return the published levels of a metric along a key, each with what it is."""
        if self.swept:
            return []
        levels: list[tuple[float, str]] = self.kind.levels(self.scenario, metric, key)
        return levels

    def bottleneck(self, point: int) -> tuple[str, float] | None:
        """Return what limits a point and how busy the busiest stage was; None without stages."""
        if self.limit is not None:
            return self.limit.cause, self.limit.busy
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
        if self.swept:
            rows = self.sides["points"]
            rows = rows[rows["note"] != ""]
            return dict(zip(rows["point"].tolist(), rows["note"].tolist(), strict=True))
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
            amounts = [self.amount(metric, point) for point in table.index]
            table[metric] = [amount.value for amount in amounts]
            table[f"± {metric}"] = [amount.high - amount.value for amount in amounts]
        notes = self.notes()
        table["notes"] = [notes.get(point, "") for point in table.index]
        return table

    def _repr_html_(self) -> str:
        html: str = self.table().to_html(index=False, max_rows=40)
        return html


def short_names(keys: Iterable[str]) -> dict[str, str]:
    """Return what people call keys: the last part, or all of a key where two have that.

    >>> short_names(["card.sram", "card.threads", "bridge.threads"]).values()
    dict_values(['sram', 'card.threads', 'bridge.threads'])
    """
    lasts = {key: key.rpartition(".")[2] for key in keys}
    times = Counter(lasts.values())
    return {key: last if times[last] == 1 else key for key, last in lasts.items()}


def keyed(estimates: pd.DataFrame) -> dict[tuple[str, int, str], Estimate]:
    """Return estimates of one point by component, instance and metric."""
    names = ("component", "instance", "metric", *Estimate._fields)
    cells = zip(*(estimates[name].tolist() for name in names), strict=True)
    return {(component, at, name): Estimate(*ends) for component, at, name, *ends in cells}


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
