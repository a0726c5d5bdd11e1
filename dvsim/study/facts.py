"""What was asked of results and how they were made, in words: what comparisons find different."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dvsim.contract.find import kind_of
from dvsim.scenario.document import dotted
from dvsim.scenario.render import to_toml
from dvsim.study.emulated_text import known_of
from dvsim.study.number_text import MISSING
from dvsim.study.swept_points import Result, SweptPoints

NOT_RUN = ("tolerance", "reference", "compare", "record")
"""Tables of a scenario that say nothing of what is run."""


@dataclass(frozen=True)
class Difference:
    """Something that was asked or done differently, in words for each result."""

    what: str
    values: tuple[str, ...]


def differences(results: Sequence[Result], varied: Sequence[str] = ()) -> Iterator[Difference]:
    """Yield what is not the same in all results, but for keys that are varied.

    A number of a card is told if all results have it; so is every key of several kinds, or beside a
    sweep.
    """
    mixed = len({result.simulated for result in results}) > 1
    apart = len({result.scenario.KIND for result in results}) > 1
    apart = apart or any(isinstance(result, SweptPoints) for result in results)
    facts = [_facts(result, mixed=mixed) for result in results]
    yield from _unlike(facts, partly=True)
    settings = [list(_settings(result, varied)) for result in results]
    for card in (False, True):
        texts = [{key: text for key, text, of_card in own if of_card is card} for own in settings]
        yield from _unlike(texts, partly=not card and not apart)


def _unlike(texts: Sequence[Mapping[str, str]], *, partly: bool) -> Iterator[Difference]:
    for what in dict.fromkeys(what for own in texts for what in own):
        values = tuple(own.get(what, MISSING) for own in texts)
        if len(set(values)) > 1 and (partly or all(what in own for own in texts)):
            yield Difference(what, values)


def _facts(result: Result, *, mixed: bool) -> dict[str, str]:
    scenario, manifest = result.scenario, result.manifest
    points = result.points if isinstance(result, SweptPoints) else scenario.points
    version = str(manifest.get("version", MISSING))
    host = manifest.get("host")
    cpu = (host.get("cpu"), host.get("cores")) if isinstance(host, Mapping) else (MISSING, MISSING)
    return {
        "backend": "sim" if result.simulated else "emu",
        "kind": str(kind_of(scenario).about),
        "scenario": scenario.name,
        "points": str(len(points)),
        "seed": str(result.seed),
        "replications": str(result.replications),
        "version": version.partition("+")[0] if mixed else version,  # other backends: other code
        "machine": f"{cpu[0]}, {cpu[1]} cores",
        **_emulated(known_of(manifest)),
    }


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


def _settings(result: Result, varied: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    scenario = result.scenario
    swept = result.paths.values() if isinstance(result, SweptPoints) else ()
    data = tomllib.loads(to_toml(scenario))
    tables = {
        name: table
        for name, table in data.items()
        if isinstance(table, Mapping) and name not in NOT_RUN
    }
    skipped = {*varied, *(key for key in scenario.lengths() if key in scenario.keys)}
    for path, value, of_card in _leaves(tables, ()):
        named = path[2] if path[:2] == ("network", "switch") else path[1]
        if named not in skipped and dotted(path) not in swept:
            yield dotted(path), str(value), of_card


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any, bool]]:  # noqa: ANN401
    if not isinstance(value, Mapping):
        if path[-1] not in ("title", "notes", "kind"):
            yield path, value, False
    elif "value" in value and "confidence" in value:
        yield path, value["value"], True
    else:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
