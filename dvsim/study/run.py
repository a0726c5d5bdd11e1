"""One run in memory: what was asked, what came out, and where it is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pandas as pd

from dvsim.contract.find import kind_of
from dvsim.scenario.sampled import Sampled
from dvsim.study.changes import changes_of, of_published_system
from dvsim.study.manifest import asked_json
from dvsim.study.number_text import Amount, amount_text
from dvsim.study.rate import SYSTEM, rate_of
from dvsim.study.samples import COUNTER_COLUMNS, check_samples
from dvsim.study.stages import Limit, busiest, limit_of
from dvsim.study.summary import (
    as_table,
    by_counter,
    by_statistic,
    counters_of,
    over_replications,
    per_replication,
    summary_columns,
)
from dvsim.table.estimate import Estimate, estimate
from dvsim.table.result import Headline, finite

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from dvsim.table.result import Result


@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of one scenario.

    Attributes:
        scenario: What was asked, resolved.
        seed, replications, backend: How it was asked; with the scenario and the version they
            determine every sample.
        folder: Where it is kept, or None while it lives in memory only.
        manifest: Where it came from, see `dvsim.study.manifest`.
        samples, counters: The tables, see `dvsim.study.samples`.
    """

    scenario: Sampled
    seed: int
    replications: int
    backend: str
    folder: Path | None
    manifest: dict[str, Any]
    samples: pd.DataFrame
    counters: pd.DataFrame

    @property
    def simulated(self) -> bool:
        """Whether it was simulated: then its seed says which random numbers it met."""
        return self.backend == "sim"

    @property
    def judged(self) -> bool:
        """Whether it is held against what was published: of the same system, and simulated.

        What was measured on this machine is not: its tolerances were declared for a model. Nor is
        another system, such as one with ``system.bridge.sockets=4``, set or in a file of one's own.
        """
        return (
            self.scenario.reference is not None
            and self.backend == "sim"
            and of_published_system(self.scenario)
        )

    def summary(self) -> pd.DataFrame:
        """Return the statistics of each replication, see `dvsim.study.summary.summarise`."""
        return self._summary.copy()

    def estimates(self) -> pd.DataFrame:
        """Return each statistic with its 95 % interval over replications.

        The first rows are of all receivers, column ``system``: the rate in ``messages`` and in
        ``bytes``, and the ``limit``, whose statistic is its cause and whose value says for which
        share of the time the busiest stage was busy. Those of the columns and the counters follow.
        """
        return self._estimates.copy()

    @cached_property
    def _estimates(self) -> pd.DataFrame:
        estimates = over_replications(self.per_replication)
        rest = estimates[estimates["column"] != SYSTEM]
        return pd.concat([*self._whole(estimates), rest], ignore_index=True)

    @cached_property
    def by_statistic(self) -> Mapping[tuple[str, str, str], Estimate]:
        """The estimates of the columns, by column, reading and statistic."""
        return by_statistic(self._estimates)

    @cached_property
    def by_counter(self) -> Mapping[tuple[str, int, str], Estimate]:
        """The estimates of the counters, by component, instance and metric."""
        return by_counter(self._estimates)

    @cached_property
    def per_replication(self) -> pd.DataFrame:
        """Each statistic of each replication, which must not be changed.

        See `dvsim.study.summary.per_replication`.
        """
        return per_replication(self._summary)

    def _whole(self, estimates: pd.DataFrame) -> Iterator[pd.DataFrame]:
        if not self.rates:
            return
        rate, payload, stage = self.rate, self.payload_rate, busiest(self.counters)
        rows = [
            (SYSTEM, 0, "messages", "rate", rate.value, rate.low, rate.high, "1/s"),
            (SYSTEM, 0, "bytes", "rate", payload.value, payload.low, payload.high, payload.unit),
        ]
        if self.limit is not None and stage is not None:
            own = estimates["column"] == stage.name
            busy = estimates[own & (estimates["statistic"] == "utilisation")]
            most = busy.nlargest(1, "value")
            value, low, high = (float(most[name].iloc[0]) for name in ("value", "low", "high"))
            rows.append((SYSTEM, 0, "limit", self.limit.cause, value, low, high, "1"))
        yield pd.DataFrame(rows, columns=estimates.columns)

    @cached_property
    def summary_columns(self) -> dict[str, list[Any]]:
        """The columns of `summary` as plain lists, which must not be changed."""
        return summary_columns(self.samples, self.counters, self.scenario)

    @cached_property
    def rates(self) -> dict[int, float]:
        """Whole messages per second over all receivers, by replication; empty without samples.

        See `dvsim.study.rate.rate_of`.
        """
        return rate_of(self.summary_columns)

    @cached_property
    def rate(self) -> Amount:
        """The mean of `rates` with its interval; not a number without samples."""
        return Amount(*estimate(self.rates.values(), signed=False), "msg/s")

    def headline(self, point: int = 0, *, each: bool = False) -> Headline:
        """Return its rate; with `each` that of a receiver, not of all together."""
        receivers = self.scenario.system.receivers if each else 1
        unit = "msg/s for each receiver" if each else "msg/s"
        rates = {number: rate / receivers for number, rate in self.rates.items()}
        return Headline("rate", unit, rates, signed=False)

    @property
    def SHOWN(self) -> Sequence[str]:  # noqa: N802 - as of a study
        """The numbers that a table for people has."""
        shown: Sequence[str] = kind_of(self.scenario).shown
        return shown

    def flow_errors(self) -> dict[int, tuple[float, float]]:
        """Return by point the errors of what was not simulated packet by packet; here none."""
        return {}

    @property
    def payload_rate(self) -> Amount:
        """The rate in bytes of messages per second."""
        size = self.scenario.workload.message_bytes
        rates = (rate * size for rate in self.rates.values())
        return Amount(*estimate(rates, signed=False), "B/s")

    @cached_property
    def limit(self) -> Limit | None:
        """What keeps it from being faster; None of an emulated run, whose stages are not counted.

        See `dvsim.study.stages.limit_of`.
        """
        return limit_of(busiest(self.counters), self.scenario, self.rate.value)

    @property
    def limit_text(self) -> str:
        """What keeps it from being faster, in words."""
        return "not counted" if self.limit is None else str(self.limit)

    @property
    def answer(self) -> str:
        """Its rate and what limits it, in words."""
        if not self.rates:
            return "nothing was delivered"
        payload = amount_text(self.payload_rate.value, unit="B/s")
        limit = "" if self.limit is None else f". Limit: {self.limit}"
        return f"{self.rate}, {payload} (all receivers){limit}"

    @cached_property
    def _summary(self) -> pd.DataFrame:
        return as_table(self.summary_columns)

    def as_json(self) -> dict[str, object]:
        """Return the run as JSON types: what was asked, its manifest and its estimates."""
        return {
            **asked_json(self),
            "manifest": self.manifest,
            "changed": list(changes_of(self.scenario).said),
            "rate": _plain(self.rate),
            "payload_rate": _plain(self.payload_rate),
            "limit": None if self.limit is None else asdict(self.limit) | {"text": str(self.limit)},
            "estimates": self.estimates().to_dict(orient="records"),
        }

    def plot(self) -> Figure:
        """Return the rates of its columns over time as a figure of Plotly; a notebook shows it."""
        figure: Figure = resolve_name(kind_of(self.scenario).figure)(self)
        return figure

    def _repr_html_(self) -> str:
        html: str = self.estimates().to_html(index=False, max_rows=40)
        return html

    def __repr__(self) -> str:
        """Name the run by what was asked, not by its millions of rows."""
        return (
            f"Run({self.scenario.name!r}, seed={self.seed}, replications={self.replications}, "
            f"backend={self.backend!r}, samples={len(self.samples)})"
        )


def of_tables(
    scenario: Sampled,
    seed: int,
    replications: int,
    folder: Path | None,
    manifest: dict[str, Any],
    samples: pd.DataFrame,
    summary: pd.DataFrame,
) -> Run:
    """Return the run of which these tables were kept.

    Raises:
        RunFailed: If the samples are none.
    """
    counters = counters_of(summary)[list(COUNTER_COLUMNS)]
    backend = str(manifest["backend"])
    return Run(
        scenario, seed, replications, backend, folder, manifest, check_samples(samples), counters
    )


def _plain(amount: Amount) -> dict[str, float | str | None]:
    numbers = finite({"value": amount.value, "low": amount.low, "high": amount.high})
    return {**numbers, "unit": amount.unit}


def runs_of(results: Iterable[Any]) -> list[Run]:
    """Return the runs among results of several kinds: what is no study."""
    return [result for result in results if not kind_of(result.scenario).studies]


def studies_of(results: Iterable[Any]) -> list[Result]:
    """Return the studies among results of several kinds."""
    return [result for result in results if kind_of(result.scenario).studies]
