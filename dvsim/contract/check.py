"""From a document to a checked scenario of its kind: class, cards, points; all faults together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from dvsim.contract.kind import Kind
from dvsim.errors import Fault, nearest
from dvsim.scenario import bounds, find
from dvsim.scenario.card import card_at
from dvsim.scenario.document import CARD_ROLES, OVERRIDES, Document, KeyPath, dotted
from dvsim.scenario.fields import can_vary, value_hints
from dvsim.scenario.input_errors import in_order, validate
from dvsim.scenario.quantity import show
from dvsim.scenario.spec import Spec, names_of, point_text, table_of
from dvsim.scenario.types import Card

FAULTY = Card("", "", "", "", {})
"""Takes the place of a wrong card whose faults are already in the list."""


def check(
    kind: Kind, document: Document, path: Path, *, partial: bool = False
) -> tuple[Any, list[Fault]]:
    """Check a document as a whole.

    Args:
        kind: Of the scenario.
        document: With all its layers.
        path: The file on top.
        partial: True for a common part of others, which may lack keys.

    Returns:
        tuple: The scenario, or None and everything that is wrong.
    """
    document = _completed(kind, document)
    places = Places(kind.Spec, document)
    data, of_cards = _with_cards(kind, document)
    moved = places.filled(data)
    data |= {"name": data.get("name", "unnamed"), "path": str(path)}
    model, faults = validate(kind.Spec, document, data, moved, places.missing, partial=partial)
    faults += [*_head(kind, document, partial=partial), *of_cards]
    faults += kind.between(document, partial=partial)
    faults += places.faults()
    if model is None or faults or partial:
        return None, in_order(faults, document)
    scenario = places.begun(model)
    if "name" not in document.data:
        scenario = replace(scenario, name=find.scenario_name(path))
    scenario, faults = kind.settled(scenario, document)
    fault = find.name_fault(scenario.name)
    if fault:
        faults.append(document.fault(("name",), f"missing, and that of the file {fault}"))
    faults = faults or _points(kind, scenario, document, places)
    return (None, in_order(faults, document)) if faults else (scenario, [])


def _completed(kind: Kind, document: Document) -> Document:
    system = document.data.get("system")
    usual = kind.usual(document.data) if isinstance(system, dict) else {}
    for role, name in usual.items():
        path: KeyPath = ("system", role)
        there = document.at(path)
        if there is None or (isinstance(there, dict) and not there.keys() & {"name", "kind"}):
            card = name if there is None else {"name": name, **there}
            origins = {key: origin for key, origin in document.origins.items() if key[:2] == path}
            origins.setdefault(path, document.origin(("system",)))
            document = document.copy()
            document.merge(Document({"system": {role: card}}, {**origins, (): origins[path]}))
    return document


def _head(kind: Kind, document: Document, *, partial: bool) -> Iterator[Fault]:
    name, abstract = document.data.get("kind"), document.data.get("abstract", False)
    if not isinstance(abstract, bool):
        message = f"must be true or false, not {show(abstract)}"
        yield document.fault(("abstract",), message)
    if name is None:
        if kind.Spec.NAMED and not partial:
            yield document.fault(("kind",), "missing")
    elif name != kind.name:
        near = nearest(name, [kind.name]) if isinstance(name, str) else None
        yield document.fault(("kind",), f"must be '{kind.name}', not {show(name)}", near)


def _with_cards(kind: Kind, document: Document) -> tuple[dict[str, Any], list[Fault]]:
    data = {key: value for key, value in document.data.items() if key not in ("kind", "abstract")}
    roles, faults = kind.roles(document.data), list[Fault]()

    def read(key_path: KeyPath, value: Any, role: str) -> Any:  # noqa: ANN401 - any TOML value
        if role not in CARD_ROLES or not isinstance(value, str | dict):
            return value  # if that is wrong, the class says so
        if role not in roles:
            return FAULTY  # not used, as `between` says; what it holds does not matter
        card, wrong = card_at(document, key_path, roles[role], kind.asks(role, document.data))
        faults.extend(wrong)
        return card or FAULTY

    def read_row(row: int, table: dict[str, Any]) -> dict[str, Any]:
        return {
            key: read_list(("vary", row, key), values, key) if isinstance(values, list) else values
            for key, values in table.items()
        }

    def read_list(key_path: KeyPath, values: list[Any], key: str) -> list[Any]:
        values_read = [read((*key_path, n), value, key) for n, value in enumerate(values)]
        cards = [card for card in values_read if isinstance(card, Card)]
        if any(a.name == b.name and a != b for a in cards for b in cards):
            faults.append(document.fault(key_path, "has two cards of one name"))
        return values_read

    if isinstance(system := data.get("system"), dict):
        data["system"] = {key: read(("system", key), value, key) for key, value in system.items()}
    if isinstance(vary := data.get("vary"), list):
        rows = enumerate(vary)
        data["vary"] = [read_row(n, row) if isinstance(row, dict) else row for n, row in rows]
    return data, faults


class Places:
    """Where each key stands: in a table of ``[[vary]]``, or in the table that it belongs to.

    A key that is set on the command line, or in a file that extends the one that varies it, is not
    varied any more; see `Spec.fixed`.
    """

    def __init__(self, spec: type[Spec], document: Document) -> None:
        self._document = document
        self._own = dict(_own_places(spec, document)) if "vary" in names_of(spec) else {}
        self.varied: dict[str, KeyPath] = {}
        self.pinned: set[str] = set()
        self._twice: list[Fault] = []
        for key_path, _ in self._listed():
            key = str(key_path[-1])
            own = self.own(key)
            given = any(
                known[: len(own)] == own and origin.fixes
                for known, origin in document.origins.items()
            )
            if document.origin(key_path) != OVERRIDES and (given or self._later(own, key_path)):
                self.pinned.add(key)
            elif key in self.varied:
                line = document.origin(self.varied[key]).line
                self._twice.append(
                    document.fault(key_path, f"is varied twice, first in line {line}")
                )
            else:
                self.varied[key] = key_path

    def _later(self, own: KeyPath, key_path: KeyPath) -> bool:
        files = list(map(str, self._document.files))
        origins = (self._document.origin(path).file for path in (own, key_path))
        value, varied = (files.index(file) if file in files else -1 for file in origins)
        return self._document.at(own) is not None and 0 <= value < varied

    def _listed(self) -> Iterator[tuple[KeyPath, Any]]:
        tables = self._document.at(("vary",))
        for number, table in enumerate(tables if isinstance(tables, list) else []):
            for key, values in table.items() if isinstance(table, dict) else ():
                yield ("vary", number, key), values

    def own(self, key: str) -> KeyPath:
        """Return the place of a key in its table."""
        return self._own.get(key, (key,))

    def of(self, key_path: KeyPath) -> KeyPath:
        """Return where the value of a key stands that counts; `key_path` is its own."""
        key = str(key_path[-1])
        return self.varied[key] if key in self.varied and self.own(key) == key_path else key_path

    def filled(self, data: dict[str, Any]) -> dict[KeyPath, KeyPath]:
        """Give tables the first value of what they leave to be varied.

        Returns:
            dict: For each place that was filled the one that its value comes from.
        """
        moved: dict[KeyPath, KeyPath] = {}
        for key, path in self.varied.items():
            own, values = self.own(key), data["vary"][path[1]][key]
            there = self._document.at(own[:-1])
            fits = len(own) > 1 and isinstance(there, dict) and isinstance(values, list)
            if not fits or key in there:
                continue
            table = data
            for name in own[:-1]:
                table[str(name)] = table = dict(table[str(name)])
            table[key] = values[0] if values else None
            moved[own] = (*path, 0) if values else path
        return moved

    def missing(self, key_path: KeyPath) -> str:
        """Return what is said of a key that is not there."""
        return "missing, and not varied" if key_path in self._own.values() else "missing"

    def faults(self) -> Iterator[Fault]:
        """Yield keys that are varied twice, or whose table is not there."""
        yield from self._twice
        for key_path, _ in self._listed():
            table = self.own(str(key_path[-1]))[:-1]
            if self._document.at(table) is None:
                message = f"is of [{dotted(table)}], which is not there"
                yield self._document.fault(key_path, message)

    def begun(self, scenario: Spec) -> Spec:
        """Return a scenario whose varied keys have their first value before they are varied."""
        first = {key: values[0] for table in scenario.vary for key, values in table.items()}
        for key, value in first.items():
            scenario = scenario if key in self.pinned else scenario.put(key, value)
        pinned = {key: scenario.value(key) for key in sorted(self.pinned)}
        for key, value in pinned.items():  # to fix one begins what was varied with it anew
            scenario = scenario.fixed(key, value)
        return scenario


def _own_places(
    spec: type, document: Document, path: KeyPath = ()
) -> Iterator[tuple[str, KeyPath]]:
    inner = []
    for key, hint in value_hints(spec).items():
        table = table_of(hint)
        if table is not None:
            inner.append(((*path, key), table))
        elif path and can_vary(hint):
            yield key, (*path, key)
    for place, table in sorted(inner, key=lambda item: document.at(item[0]) is not None):
        yield from _own_places(table, document, place)


def _points(kind: Kind, scenario: Spec, document: Document, places: Places) -> list[Fault]:
    number = len(scenario.points)
    if number > bounds.POINTS:
        message = f"makes {number} points; a scenario may have {bounds.POINTS}"
        return [document.fault(("vary",), message)]
    faults: dict[Fault, None] = {}  # a set that keeps its order
    for point in scenario.points:
        where = f"at {point_text(point)}: " if point else ""
        at_point = scenario.at(point)
        for key_path, message in kind.refused(at_point):
            faults[document.fault(places.of(key_path), where + message)] = None
        if not faults:
            for key_path, message in (*kind.extent(at_point), *kind.beside(at_point)):
                faults[document.fault(places.of(key_path), message)] = None
    return list(faults)
