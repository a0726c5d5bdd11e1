"""From a document to a frozen `Scenario`: schema, cards and checks, all faults together."""

from __future__ import annotations

from pathlib import Path

from dvsim.errors import Fault
from dvsim.scenario import find
from dvsim.scenario.bounds import extent
from dvsim.scenario.card import system_cards
from dvsim.scenario.checks import between_sections, limits
from dvsim.scenario.document import Document
from dvsim.scenario.faults import in_order, validate
from dvsim.scenario.schema import ReferenceTable, ScenarioFile, SystemTable, WhatIfTable
from dvsim.scenario.types import (
    Card,
    Column,
    Probe,
    Reference,
    Scenario,
    System,
    Tolerance,
    WhatIf,
    Workload,
)


def build(
    document: Document, path: Path, *, partial: bool = False
) -> tuple[Scenario | None, list[Fault]]:
    """Check a document as a whole and freeze it.

    Parameters
    ----------
    document
        With all its layers.
    path
        The file on top.
    partial
        True for a common part of others, which may lack keys.

    Returns
    -------
    tuple
        The scenario, or None and everything that is wrong.
    """
    model, faults = validate(ScenarioFile, document, partial=partial)
    cards, card_faults = system_cards(document)
    faults += card_faults + between_sections(document, partial=partial)
    if model is not None and not faults and not partial:
        faults = limits(document, cards)
    if model is None or faults:
        return None, in_order(faults)
    scenario = _freeze(model, cards, path)
    faults = [document.fault(key, message) for key, message in extent(scenario)]
    fault = None if model.name else find.name_fault(scenario.name)
    if fault:
        faults.append(document.fault(("name",), f"missing, and that of the file {fault}"))
    return (None, faults) if faults else (scenario, [])


def _freeze(model: ScenarioFile, cards: dict[str, Card], path: Path) -> Scenario:
    """Return the frozen form of a checked file."""
    system, probe = model.system, model.probe
    columns = {
        label: Column(label, column.receiver, tuple(column.iterations))
        for label, column in probe.columns.items()
    }
    return Scenario(
        name=model.name or find.scenario_name(path),
        path=str(path),
        title=model.title,
        question=model.question,
        source=model.source,
        loop=model.loop,
        workload=Workload(**model.workload.model_dump()),
        system=System(
            transport=system.transport,
            receivers=system.receivers,
            card=cards["card"],
            broker=cards["broker"],
            bridge=cards.get("bridge"),
            publisher=cards.get("publisher"),
            fidelity=(system.fidelity or "auto") if system.transport == "data-vortex" else None,
            senders=system.senders,
            order=system.order,
        ),
        probe=Probe(
            kind=probe.kind,
            interval_ps=probe.interval if probe.kind == "interval" else None,
            batch=probe.batch if probe.kind == "batch" else None,
            columns=columns or _default_columns(system, model.workload.iterations),
        ),
        reference=_reference(model.reference),
        tolerance=Tolerance(**model.tolerance.model_dump()) if model.tolerance else Tolerance(),
        whatif=_whatif(model.whatif),
    )


def _reference(table: ReferenceTable | None) -> Reference | None:
    """Return the frozen form of a reference."""
    if table is None:
        return None
    return Reference(table.file, table.transport, tuple(table.fitted))


def _whatif(table: WhatIfTable | None) -> WhatIf | None:
    """Return the frozen form of the place in a question."""
    if table is None:
        return None
    given = table.model_dump()
    return WhatIf(**given | {"also": tuple(table.also), "assumed": tuple(table.assumed)})


def _default_columns(system: SystemTable, iterations: int) -> dict[str, Column]:
    """Return one column per sampled receiver, over all iterations."""
    every = tuple(range(1, iterations + 1))
    if system.transport == "tcp":
        return {"all": Column("all", 0, every)}
    receivers = range(1, system.receivers + 1)
    return {f"r{number}": Column(f"r{number}", number, every) for number in receivers}
