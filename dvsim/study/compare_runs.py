"""Runs side by side: what they have in common, statistic by statistic, and in what they differ.

Any backends, any scenarios of a system. Rates are compared where they count the same thing: pieces
only if all runs count them, whole messages always. What was asked differently is told, not refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dvsim.study.compare import Difference, Sides, in_common, sides, unlike
from dvsim.study.emulated_text import known_of
from dvsim.study.paired import Each
from dvsim.study.run import Run
from dvsim.study.summary import STATISTICS, SYSTEM

Key = tuple[str, str, str]
"""Column, reading, statistic."""


@dataclass(frozen=True)
class Row(Sides):
    """One statistic of all runs.

    Attributes:
        column, reading, statistic: What; `column` is `SYSTEM` for all receivers together.
        unit: Of the values: ``1/s``, ``B/s`` or ``1``.
    """

    column: str
    reading: str
    statistic: str
    unit: str


@dataclass(frozen=True)
class Comparison:
    """Runs side by side; the first is what the others are held against."""

    runs: tuple[Run, ...]
    differences: tuple[Difference, ...]
    rows: tuple[Row, ...]


def compare(runs: Sequence[Run]) -> Comparison:
    """Put runs side by side.

    Args:
        runs: Two at least.

    Raises:
        ValueError: If there are fewer.
    """
    if len(runs) < 2:
        message = f"a comparison needs two runs, not {len(runs)}"
        raise ValueError(message)
    return Comparison(tuple(runs), tuple(_differences(runs)), tuple(_rows(runs)))


def _rows(runs: Sequence[Run]) -> Iterator[Row]:
    common, tables = in_common(runs), [_statistics(run) for run in runs]
    whole = [run.rates for run in runs]
    yield _row((SYSTEM, "messages", "rate"), "1/s", whole, common)
    sizes = [run.scenario.workload.message_bytes for run in runs]
    payload = [
        {number: rate * size for number, rate in one.items()}
        for one, size in zip(whole, sizes, strict=True)
    ]
    yield _row((SYSTEM, "bytes", "rate"), "B/s", payload, common)
    for column, reading, statistics in _common(runs):
        for statistic in statistics:
            key = (column, reading, statistic)
            found = [table.get(key, {}) for table in tables]
            if any(found):
                unit = "1" if statistic in ("count", "empty") else "1/s"
                yield _row(key, unit, found, common)


def _row(key: Key, unit: str, each: Sequence[Each], common: Sequence[bool]) -> Row:
    found = sides(each, common, share=key[2] == "empty")
    return Row(found.values, found.changes, *key, unit)


def _common(runs: Sequence[Run]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the columns that all runs have, what they count, and the statistics to compare.

    Where all count pieces, that is how they are printed, and of messages the mean is enough.
    """
    pieces = all(run.scenario.system.over_vortex for run in runs)
    for label in runs[0].scenario.probe.columns:
        if not all(label in run.scenario.probe.columns for run in runs):
            continue
        if pieces:
            yield label, "pieces", STATISTICS
            yield label, "messages", ("mean",)
        else:
            yield label, "messages", STATISTICS


def _statistics(run: Run) -> Mapping[Key, Each]:
    """Return every statistic of every column in each replication."""
    found: dict[Key, dict[int, float]] = {}
    names = ("column", "reading", "statistic", "replication", "value")
    columns = (run.summary_columns[name] for name in names)
    for column, reading, statistic, replication, value in zip(*columns, strict=True):
        if reading != "counter":
            found.setdefault((column, reading, statistic), {})[replication] = value
    return found


def _differences(runs: Sequence[Run]) -> Iterator[Difference]:
    """Yield what is not the same in all runs, the most important first."""
    mixed = len({run.backend for run in runs}) > 1
    yield from unlike([_told(run, mixed=mixed) for run in runs])
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
