"""Runs side by side: what they have in common, statistic by statistic, and in what they differ.

Any backends, any scenarios of a system. Rates are compared where they count the same thing: pieces
only if all runs count them, whole messages always. What was asked differently is told, not refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dvsim.results.emulated import known_of
from dvsim.results.interval import half_width
from dvsim.results.run import Run
from dvsim.results.summary import STATISTICS

ALL = "all"
"""The column that every run has: whole messages of all receivers together."""


class Value(NamedTuple):
    """Mean over replications of a statistic, and its 95 % interval (the value itself of one)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Row:
    """One statistic of all runs.

    Attributes
    ----------
    column, reading, statistic
        What; `column` is `ALL` for all receivers together.
    unit
        Of the values: ``1/s``, ``B/s`` or ``1``.
    values
        A value for each run; None where it has none.
    """

    column: str
    reading: str
    statistic: str
    unit: str
    values: tuple[Value | None, ...]

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """Each value over that of the first run; None where either is missing or the first is 0."""
        base = self.values[0]
        return tuple(
            None if one is None or base is None or base.value == 0 else one.value / base.value
            for one in self.values
        )


@dataclass(frozen=True)
class Difference:
    """Something that was asked or done differently, in words for each run."""

    what: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Runs side by side; the first is what the others are held against."""

    runs: tuple[Run, ...]
    differences: tuple[Difference, ...]
    rows: tuple[Row, ...]


def compare(runs: Sequence[Run]) -> Comparison:
    """Put runs side by side.

    Parameters
    ----------
    runs
        Two at least.

    Raises
    ------
    ValueError
        If there are fewer.
    """
    if len(runs) < 2:
        message = f"a comparison needs two runs, not {len(runs)}"
        raise ValueError(message)
    return Comparison(tuple(runs), tuple(_differences(runs)), tuple(_rows(runs)))


def whole_messages(run: Run) -> Value | None:
    """Return the mean rate of whole messages over all receivers, None if there is no sample.

    The columns of a receiver are averaged, and receivers are added up.
    """
    table = run.summary()
    table = table[(table["reading"] == "messages") & (table["statistic"] == "mean")]
    if table.empty:
        return None
    receivers = {label: column.receiver for label, column in run.scenario.probe.columns.items()}
    by = [table["replication"], table["column"].map(receivers)]
    sums = table["value"].groupby(by).mean().groupby(level="replication").sum()
    half = float(half_width(len(sums), sums.std()))
    return Value(float(sums.mean()), float(sums.mean()) - half, float(sums.mean()) + half)


def _rows(runs: Sequence[Run]) -> Iterator[Row]:
    whole = [whole_messages(run) for run in runs]
    yield Row(ALL, "messages", "mean", "1/s", tuple(whole))
    sizes = [run.scenario.workload.message_bytes for run in runs]
    payload = (
        None if one is None else Value(*(part * size for part in one))
        for one, size in zip(whole, sizes, strict=True)
    )
    yield Row(ALL, "bytes", "mean", "B/s", tuple(payload))
    tables = [_lookup(run.estimates()) for run in runs]
    for column, reading, statistics in _common(runs):
        for statistic in statistics:
            found = tuple(table.get((column, reading, statistic)) for table in tables)
            if any(value is not None for value in found):
                unit = "1" if statistic in ("count", "empty") else "1/s"
                yield Row(column, reading, statistic, unit, found)


def _common(runs: Sequence[Run]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the columns that all runs have, what they count, and the statistics to compare.

    Where all count pieces, that is how they are printed, and of messages the mean is enough.
    """
    pieces = all(run.scenario.system.transport == "data-vortex" for run in runs)
    for label in runs[0].scenario.probe.columns:
        if not all(label in run.scenario.probe.columns for run in runs):
            continue
        if pieces:
            yield label, "pieces", STATISTICS
            yield label, "messages", ("mean",)
        else:
            yield label, "messages", STATISTICS


def _lookup(estimates: pd.DataFrame) -> Mapping[tuple[str, str, str], Value]:
    keys = zip(estimates["column"], estimates["reading"], estimates["statistic"], strict=True)
    values = estimates[["value", "low", "high"]].to_numpy(dtype=np.float64).tolist()
    return {key: Value(*value) for key, value in zip(keys, values, strict=True)}


def _differences(runs: Sequence[Run]) -> Iterator[Difference]:
    """Yield what is not the same in all runs, the most important first."""
    mixed = len({run.backend for run in runs}) > 1
    told = [_told(run, mixed=mixed) for run in runs]
    for what in dict.fromkeys(key for one in told for key in one):
        values = tuple(one.get(what, "–") for one in told)
        if len(set(values)) > 1:
            yield Difference(what, values)
    yield from _parameters(runs)


def _parameters(runs: Sequence[Run]) -> Iterator[Difference]:
    """Yield the parameters that differ, of cards that all runs have."""
    for role, first in runs[0].scenario.system.cards.items():
        cards = [run.scenario.system.cards.get(role, first) for run in runs]
        for name in first.parameters:
            if all(name in card.parameters for card in cards):
                values = tuple(card.parameters[name].text for card in cards)
                if len({card.parameters[name].value for card in cards}) > 1:
                    yield Difference(f"{role}.{name}", values)


def _told(run: Run, *, mixed: bool) -> dict[str, str]:
    """Return everything that may differ, in words."""
    scenario, manifest = run.scenario, run.manifest
    work, system, probe = scenario.workload, scenario.system, scenario.probe
    cards = system.cards
    told = {
        "backend": run.backend,
        "scenario": scenario.name,
        "transport": system.transport,
        "message size": f"{work.message_bytes:,} B",
        "messages": f"{work.messages:,}",
        "iterations": f"{work.iterations}",
        "offered load": _load(work.messages_per_second),
        "receivers": f"{system.receivers}",
        "sampled by": (
            f"{probe.batch:,} messages" if probe.batch else f"{(probe.interval_ps or 0) / 1e9:g} ms"
        ),
        **{f"column {label}": _column(column) for label, column in probe.columns.items()},
        "replications": f"{run.replications}",
        "seed": f"{run.seed}",
        "fidelity": (system.fidelity if run.backend == "sim" else None) or "–",
    }
    told |= {"card" if role == "card" else f"{role} card": c.name for role, c in cards.items()}
    told["version"] = str(manifest.get("version", "–"))  # other backends are other code
    told["version"] = told["version"].partition("+")[0] if mixed else told["version"]
    host = manifest.get("host")
    cpu = (host.get("cpu"), host.get("cores")) if isinstance(host, Mapping) else ("–", "–")
    told["machine"] = f"{cpu[0]}, {cpu[1]} cores"
    return told | _emulated(known_of(manifest))


def _emulated(known: Mapping[str, Any]) -> dict[str, str]:
    if not known:
        return {}
    question = known.get("question") or {}
    where = question.get("urls") or [f"{question.get('clusters')} x {question.get('nodes')} nodes"]
    brokers = [f"{one.get('product')} {one.get('version')}" for one in known.get("brokers") or []]
    return {
        "scale": f"{known.get('scale', 1):.3g}",
        "brokers": ", ".join(map(str, where)),
        "broker": ", ".join(dict.fromkeys(brokers)),
        "promise": str(question.get("promise")),
    }


def _load(rate: float | None) -> str:
    return "closed loop" if rate is None else f"{rate:,.6g} messages/s"


def _column(column: Any) -> str:  # noqa: ANN401 - a Column
    place = f"receiver {column.receiver}" if column.receiver else "all receivers"
    return f"{place}, iterations {', '.join(map(str, column.iterations))}"
