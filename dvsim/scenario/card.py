"""Cards: the numbers of one component, each with its source.

A card is a file of its own, or a table of a scenario: one that names a card and overrides some of
its parameters, or one with a `kind`, which is complete in itself. A file that `extends` another
card says only what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.scenario.card_kinds import CARD_HEAD, KINDS
from dvsim.scenario.document import OVERRIDES, Document, KeyPath, Origin
from dvsim.scenario.extend import read_card_layers
from dvsim.scenario.find import card_names, existing, find_card, is_file
from dvsim.scenario.input_errors import validate
from dvsim.scenario.quantity import show
from dvsim.scenario.schema import card_model
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import format_value

_STATEMENT = ("value", "confidence", "source", "fitted")

ADVICE = {
    "confidence": 'of your own measurement "measured-here", of a data sheet "published", of a '
    'number that you chose "assumed"',
    "source": "of your own measurement the command or program, the machine and the day, "
    '"perftest 2.22 on node 3, 12 May, lab.csv"; of your choice the reason for it',
}
"""What to write of a number that is your own."""


def load_card(name_or_path: str | Path) -> Card:
    """Read a card by its name, or by a path that ends in ``.toml``."""
    text = str(name_or_path)
    if text.endswith(".toml") or isinstance(name_or_path, Path):
        path = existing(Path(text))
    else:
        file = find_card(text)
        if file is None:
            near = nearest(text, card_names())
            raise ScenarioError.at(text, "no such card", hint=near)
        path = file
    card, faults = _checked(*_read_file(path))
    if card is None:
        raise ScenarioError(faults)
    return card


def card_at(
    document: Document, path: KeyPath, kind: str | None, asker: str
) -> tuple[Card | None, list[Fault]]:
    """Read the card that a path of a scenario names or contains.

    Args:
        document: Of the whole scenario; need not be valid otherwise.
        path: Of the card.
        kind: That it must have; None for any.
        asker: What asks for that kind, for the message.

    Returns:
        tuple: The card, or None and everything that is wrong with it.
    """
    table = document.at(path)
    if isinstance(table, str):
        table = {"name": table}
    part, faults = _part(document, path, table, kind)
    if part is None:
        return None, faults
    stated = part.data.get("kind")
    if kind is not None and isinstance(stated, str) and stated in KINDS and stated != kind:
        message = f"{show(table.get('name'))} is a {stated} card; {asker} needs one of kind {kind}"
        return None, [document.fault(path, message)]
    return _checked(part, faults)


def _part(
    document: Document, path: KeyPath, table: dict[str, Any], kind: str | None
) -> tuple[Document | None, list[Fault]]:
    inner = {
        known[len(path) :]: Origin(origin.file, origin.line, path)
        for known, origin in document.origins.items()
        if known[: len(path)] == path
    }
    here = document.origin(path)
    inner[()] = Origin(here.file, here.line, path)
    layer = Document(dict(table), inner)
    for key in table.keys() - set(CARD_HEAD):
        layer.data[key] = _statement(table[key], layer.origin((key,)))
    if "kind" in table:
        return layer, []
    name = table.get("name")
    if not isinstance(name, str):
        message = "missing" if name is None else f"must be text, not {show(name)}"
        return None, [layer.fault(("name",), message)]
    at = _path(name, here)
    file = find_card(name, document.folders) if at is None else at if is_file(at) else None
    if file is None:
        deep = (*path, "name") in document.origins
        known = card_names(document.folders, kind)
        message, near = f"no card '{name}'", nearest(name, known)
        if near is None and known:
            message += f"; there are {', '.join(known)}" if len(known) > 1 else f"; try {known[0]}"
        if at is not None:
            beside = {item.name: str(item) for item in at.parent.glob("*.toml")}
            message, near = f"no such file {at}", beside.get(nearest(at.name, beside) or "")
        return None, [document.fault((*path, "name") if deep else path, message, near)]
    try:
        base, faults = _read_file(file)
    except ScenarioError as error:
        return None, list(error.faults)
    del layer.data["name"]
    for key in layer.data:
        base.data.pop(key, None)  # replaced as a whole, with its confidence and source
    base.merge(layer)
    return base, faults


def _path(name: str, origin: Origin) -> Path | None:
    """Return the file that a card is named by, if it is named by one and not found by its name.

    In a scenario the path counts from the folder of the file, on the command line from here.
    """
    if not name.endswith(".toml"):
        return None
    folder = Path() if origin.file == OVERRIDES.file else Path(origin.file).parent
    return folder / name


def _statement(value: Any, origin: Origin) -> Any:  # noqa: ANN401 - any TOML value
    if not (isinstance(value, dict) and any(key in value for key in _STATEMENT)):
        value = {"value": value}
    if "confidence" in value:
        return value
    by = "on the command line" if origin.file == OVERRIDES.file else "by the scenario"
    return {"source": f"set {by}"} | value | {"confidence": "assumed"}


def _read_file(path: Path) -> tuple[Document, list[Fault]]:
    layers = read_card_layers(path)
    faults = []
    for layer in layers:
        stem = Path(layer.origins[()].file).stem
        name = layer.data.setdefault("name", stem)
        if name != stem and isinstance(name, str):
            faults.append(layer.fault(("name",), f"must be that of the file, '{stem}'"))
    merged = layers[-1]
    for layer in reversed(layers[:-1]):
        faults += _laid_over(merged, layer)
    merged.origins[()] = layers[0].origins[()]  # what is missing is missing in the file itself
    return merged, faults


def _laid_over(base: Document, layer: Document) -> list[Fault]:
    kind, given = base.data.get("kind"), layer.data.pop("kind", None)
    faults = []
    if given not in (None, kind):
        message = f"is {show(given)}; {show(base.data['name'])}, which this card extends, is a"
        faults = [layer.fault(("kind",), f"{message} {kind} card")]
    changed = [key for key in layer.data if key not in CARD_HEAD]
    for key in changed:
        base.data.pop(key, None)  # replaced as a whole, with its confidence and source
    if changed:
        text = f"{base.data['name']} with another {', '.join(changed)}"
        layer.data.setdefault("title", text)
    base.merge(layer)
    return faults


def _checked(document: Document, before: Sequence[Fault]) -> tuple[Card | None, list[Fault]]:
    kind = document.data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        message = (
            "missing" if kind is None else f"must be one of {', '.join(KINDS)}, not {show(kind)}"
        )
        near = nearest(kind, KINDS) if isinstance(kind, str) else None
        return None, [*before, document.fault(("kind",), message, near)]
    model, faults = validate(card_model(kind), document, missing=_missing)
    if faults or before:
        advised = [fault_text for fault in faults for fault_text in _with_advice(document, fault)]
        return None, [*before, *advised]
    parameters = {}
    for name, spec in KINDS[kind].items():
        table = getattr(model, name)
        if table is None:  # optional
            continue
        written = document.at((name, "value"))
        parameters[name] = Parameter(
            name=name,
            value=table.value,
            dimension=spec.dimension,
            text=written if isinstance(written, str) else format_value(table.value, spec.dimension),
            confidence=table.confidence,
            source=table.source,
            fitted=table.fitted,
            origin=str(document.origin((name, "value"))),
        )
    return Card(model.name, kind, model.title, model.notes, parameters), []


def _missing(path: KeyPath) -> str:
    return f"missing; {ADVICE[str(path[-1])]}" if str(path[-1]) in ADVICE else "missing"


def _with_advice(document: Document, fault: Fault) -> list[Fault]:
    name = fault.key.rpartition(".")[2]
    value = document.at((name,))
    if name in CARD_HEAD or fault.hint is not None:
        return [fault]
    if isinstance(value, dict):
        return _misplaced(document, (name,), value) or [fault]
    message = "every number of a card says where it is from: "
    return [fault if value is None else replace(fault, message=message + _example(name, value))]


def _misplaced(document: Document, path: KeyPath, table: dict[str, Any]) -> list[Fault]:
    known = KINDS[document.data["kind"]]
    if path[0] in known:
        return []
    inside = table["value"] if isinstance(table.get("value"), dict) else table  # see `_statement`
    near = {key: nearest(key, known) for key in inside}
    message = "each parameter stands by itself at the top of a card: "
    return [
        document.fault((*path, key), message + _example(meant, inside[key]))
        for key, meant in near.items()
        if meant is not None
    ]


def _example(name: str, value: object) -> str:
    if isinstance(value, dict):
        return f"[{name}]"
    written = f'"{value}"' if isinstance(value, str) else str(value)
    return f'{name} = {{ value = {written}, confidence = "measured-here", source = "…" }}'
