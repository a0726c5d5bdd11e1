"""Emulated runs that one card can be made of: of one machine, one version, the same settings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dvsim.errors import Advice, Fault, ScenarioError
from dvsim.evidence.calibration import EMULATE, NO_RUN
from dvsim.study.run import Run, runs_of
from dvsim.study.store import load_result

ADVICE = "measure both again, or calibrate them apart"


class Given(NamedTuple):
    """A run, and the folder as it was named."""

    folder: Path
    run: Run


def load_runs(folders: Sequence[Path]) -> list[Given]:
    """Return the runs that are kept in folders, each once."""
    given: list[Given] = []
    faults: list[Fault] = []
    for folder in {os.path.realpath(folder): folder for folder in folders}.values():
        own = runs_of([load_result(folder)])
        reason = _unusable(own[0]) if own else NO_RUN
        if reason:
            faults.append(Fault(str(folder), None, "", reason))
        else:
            given.append(Given(folder, own[0]))
    for item in given[1:]:
        faults += _apart(given, item)
    if faults:
        raise ScenarioError(faults)
    return given


def _unusable(run: Run) -> str | None:
    if run.backend != "emu":
        return Advice(f"is a run of backend {run.backend}, which has measured nothing; ", EMULATE)
    offered = run.scenario.workload.messages_per_second
    if offered is not None:
        return f"was offered {offered:,g} messages/s; a cost shows only where nothing else limits"
    return None


def _apart(given: Sequence[Given], chosen: Given) -> Iterator[Fault]:
    first = given[0]
    facts = _facts(first.run)
    for name, value in _facts(chosen.run).items():
        if value != facts[name]:
            yield _fault(chosen, name, value, first, facts[name])
    before = next(g for g in given if _transport(g) == _transport(chosen))
    ours, theirs = chosen.run.scenario.system, before.run.scenario.system
    if ours.receivers != theirs.receivers:
        yield _fault(chosen, "receivers", ours.receivers, before, theirs.receivers)
    for role, card in ours.cards.items():
        other = theirs.cards[role]
        if card.kind != other.kind:
            yield _fault(chosen, f"system.{role}", card.name, before, other.name)
            continue
        for name, parameter in card.parameters.items():
            if parameter != other.parameters[name]:
                key = f"system.{role}.{name}"
                yield _fault(chosen, key, parameter.text, before, other.parameters[name].text)
    own, other = (system.cards["broker"] for system in (ours, first.run.scenario.system))
    if own != other and before is not first:
        yield _fault(chosen, "system.broker", own.name, first, other.name)


def _facts(run: Run) -> dict[str, Any]:
    manifest = run.manifest
    host, known = manifest.get("host") or {}, manifest.get("emulated") or {}
    question = known.get("question") or {}
    brokers = {f"{b.get('product')} {b.get('version')}" for b in known.get("brokers") or []}
    names = ("cpu", "cores", "system", "python", "packages")
    return {
        **{f"host {name}": host.get(name) for name in names},
        "version of dvsim and its programs": manifest.get("version"),
        "broker": ", ".join(sorted(brokers)),
        **{name: question.get(name) for name in ("clusters", "nodes", "urls", "promise")},
    }


def _fault(given: Given, what: str, value: object, first: Given, other: object) -> Fault:
    message = f"{what} is {_show(value)}, and {_show(other)} in {first.folder}; {ADVICE}"
    return Fault(str(given.folder), None, "", message)


def _show(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return "none" if value is None else f"'{value}'"


def _transport(given: Given) -> str:
    return given.run.scenario.system.transport
