"""What was asked of a result and how it was made, in words: what comparisons find different."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dvsim.kinds.find import kind_of
from dvsim.scenario.document import dotted
from dvsim.scenario.render import to_toml
from dvsim.scenario.types import Parameter
from dvsim.study.emulated_text import known_of
from dvsim.study.run import Run
from dvsim.study.swept_points import Result, SweptPoints

LENGTHS = ("slots", "warmup", "messages")
"""Keys that say how long a point is run."""


def parameters_of(run: Run) -> dict[str, Parameter]:
    """Return the numbers of the cards of a run, by role and name."""
    return {
        f"{role}.{name}": parameter
        for role, card in run.scenario.system.cards.items()
        for name, parameter in card.parameters.items()
    }


def facts_of_run(run: Run, *, mixed: bool) -> dict[str, str]:
    """Return everything that may differ but for the numbers of cards, as `parameters_of`."""
    scenario, manifest = run.scenario, run.manifest
    work, system, probe = scenario.workload, scenario.system, scenario.probe
    cards = system.cards
    facts = {
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
    facts |= {"card" if role == "card" else f"{role} card": c.name for role, c in cards.items()}
    facts["version"] = str(manifest.get("version", "–"))  # other backends are other code
    facts["version"] = facts["version"].partition("+")[0] if mixed else facts["version"]
    host = manifest.get("host")
    cpu = (host.get("cpu"), host.get("cores")) if isinstance(host, Mapping) else ("–", "–")
    facts["machine"] = f"{cpu[0]}, {cpu[1]} cores"
    return facts | _emulated(known_of(manifest))


def _emulated(known: Mapping[str, Any]) -> dict[str, str]:
    if not known:
        return {}
    question = known.get("question") or {}
    where = question.get("urls") or [f"{question.get('clusters')} x {question.get('nodes')} nodes"]
    brokers = [
        f"{broker.get('product')} {broker.get('version')}" for broker in known.get("brokers") or []
    ]
    return {
        "scale": f"{known.get('scale', 1):.3g}",
        "brokers": ", ".join(map(str, where)),
        "broker": ", ".join(dict.fromkeys(brokers)),
        "promise": str(question.get("promise")),
    }


def _load(rate: float | None) -> str:
    return "closed loop" if rate is None else f"{rate:,.6g} messages/s"


def _column(column: Any) -> str:  # noqa: ANN401 - a Column
    receivers = f"receiver {column.receiver}" if column.receiver else "all receivers"
    return f"{receivers}, iterations {', '.join(map(str, column.iterations))}"


def facts_of_points(result: Result, varied: Sequence[str]) -> dict[str, str]:
    """Return everything that may differ, in words: what was asked, but for what is varied."""
    scenario = result.scenario
    swept = result.swept.keys if isinstance(result, SweptPoints) else ()
    facts = {
        "kind": str(kind_of(scenario).about),
        "scenario": scenario.name,
        "points": str(len(result.points if isinstance(result, SweptPoints) else scenario.points)),
        "seed": str(result.seed),
        "replications": str(result.replications),
        "version": str(result.manifest.get("version", "–")),
    }
    data = tomllib.loads(to_toml(scenario))
    tables = {name: data[name] for name in data if isinstance(data[name], Mapping)}
    for table in ("tolerance", "compare", "record"):
        tables.pop(table, None)
    skipped = {*varied, *(key for key in LENGTHS if key in scenario.keys)}
    for path, value in _leaves(tables, ()):
        named = path[2] if path[:2] == ("network", "switch") else path[1]
        if named not in skipped and dotted(path) not in swept:
            facts[dotted(path)] = str(value)
    return facts


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    """Yield what a resolved scenario says, key by key; of a card its name and its numbers."""
    if not isinstance(value, Mapping):
        if path[-1] not in ("title", "notes", "kind"):
            yield path, value
    elif "value" in value and "confidence" in value:
        yield path, value["value"]
    else:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
