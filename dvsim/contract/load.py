"""From a name or path to a checked scenario of its kind; all faults of a file at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from dvsim.contract import OWN
from dvsim.contract.find import DEFAULT, kind_named, kinds
from dvsim.contract.kind import Kind
from dvsim.contract.whatif import is_whatif, variants
from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.scenario import bounds, find, override
from dvsim.scenario.card import card_at, load_card
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.document import CARD_ROLES, OVERRIDES, Document, KeyPath, dotted, read
from dvsim.scenario.extend import read_card_layers, read_chain
from dvsim.scenario.fields import can_vary, value_hints
from dvsim.scenario.input_errors import in_order, validate
from dvsim.scenario.override import Override, Setting
from dvsim.scenario.quantity import show
from dvsim.scenario.schema import CampaignFile
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


__all__ = [
    "Resolved",
    "Template",
    "check_file",
    "is_card",
    "load",
    "load_campaign",
    "load_card",
    "resolve",
    "template",
]


@dataclass(frozen=True)
class Resolved:
    """A scenario with the place of each of its values."""

    scenario: Spec
    document: Document

    def origin(self, path: KeyPath) -> str:
        """Return where a value was written: ``dv.toml:9``, ``overrides`` or ``default``."""
        given = self.document.at(path) is not None
        return str(self.document.origin(path)) if given else "default"


def load(name_or_path: str | os.PathLike[str], overrides: Sequence[Override] = ()) -> Spec:
    """Read one scenario.

    Args:
        name_or_path: A name such as ``h3/dv-8``, or a path that ends in ``.toml``. Cards are looked
            for in ``cards`` beside the file, then among the packaged ones.
        overrides: Such as ``workload.messages=1000``, each key once.
    """
    return resolve(name_or_path, overrides).scenario


def resolve(name_or_path: str | os.PathLike[str], overrides: Sequence[Override] = ()) -> Resolved:
    """Read one scenario and keep where each value was written; otherwise as `load`."""
    return template(name_or_path).resolved(overrides)


@dataclass(frozen=True)
class Template:
    """A scenario file that was read once, to be asked with many overrides."""

    path: Path
    document: Document

    def resolved(self, overrides: Sequence[Override]) -> Resolved:
        """Apply overrides, check the scenario as a whole and freeze it."""
        document, refused = self._overridden(overrides)
        scenario, faults = _built(document, self.path)
        if scenario is None or refused:
            raise ScenarioError([*refused, *faults])
        return Resolved(scenario, document)

    def wrong(self, overrides: Sequence[Override]) -> list[Fault]:
        """Return what is wrong with overrides whatever else the scenario says."""
        document, refused = self._overridden(overrides)
        return [*refused, *_built(document, self.path, partial=True)[1]]

    def _overridden(self, overrides: Sequence[Override]) -> tuple[Document, list[Fault]]:
        document, given = self.document.copy(), self.lengthened(overrides)
        refused = [option for option in given if isinstance(option, Fault)]
        settings = [option for option in given if isinstance(option, Setting)]
        return document, [*refused, *self.twice(given), *override.apply(document, settings)]

    def lengthened(self, overrides: Sequence[Override]) -> list[Setting | Fault]:
        """Return overrides with the full names of keys that were shortened."""
        given = override.read(overrides)
        whole = all(isinstance(own, Fault) or override.begins(own, self._tops) for own in given)
        keys = [] if whole else self._keys
        return [override.lengthen(own, self._tops, keys) for own in given]

    def full(self, key: str) -> str:
        """Return the full name of a key that may be shortened; what is none as it is."""
        (own,) = self.lengthened([Setting(tuple(key.split(".")), None, key)])
        return dotted(own.path) if isinstance(own, Setting) else key

    def twice(self, overrides: Sequence[Override]) -> list[Fault]:
        """Return what is wrong with keys that are given twice, whichever spelling they have."""
        given = self.lengthened(overrides)
        return [*override.twice(given), *override.beside_variants(given, self.document)]

    @cached_property
    def _tops(self) -> frozenset[str]:
        try:
            kind = kind_for(self.document)
        except ScenarioError:
            return frozenset(self.document.data)
        return frozenset({*value_hints(kind.Spec), *self.document.data})

    @cached_property
    def base(self) -> Spec | None:
        """The scenario as it is in its files; None if it is no valid one alone."""
        return _built(self.document.copy(), self.path)[0]

    @cached_property
    def _keys(self) -> list[str]:
        return [] if self.base is None else self.base.every_key()


def template(name_or_path: str | os.PathLike[str]) -> Template:
    """Read the files of one scenario; whether it is good is seen when it is resolved."""
    path = find.resolve_name(name_or_path)
    document = read_chain(path)
    if "campaign" in document.data:
        message = "is a campaign of several scenarios; name one of them"
        raise ScenarioError([document.fault(("campaign",), message)])
    if document.data.get("abstract") is True:
        message = "this file is a common part of others; name one that extends it"
        raise ScenarioError([document.fault(("abstract",), message)])
    return Template(path, document)


def load_campaign(
    name_or_path: str | os.PathLike[str], overrides: Sequence[Override] = ()
) -> list[Spec]:
    """Read all scenarios of a campaign.

    Args:
        name_or_path: A campaign; a scenario, which gives a list of one; or a pattern such as
            ``h3/dv-*``, which gives the packaged scenarios with such a name.
        overrides: Applied to each of them. Of several, those over a transport that has no such card
            or parameter go without, as long as one has it.
    """
    return _all(_members(name_or_path), overrides)


def check_file(path: Path) -> list[Fault]:
    """Return everything that is wrong with a file: scenario, common part, campaign or card."""
    try:
        document = read(find.existing(path))
        if "campaign" in document.data:
            _all(_members(path))
        elif is_card(document):
            load_card(path)
        elif document.data.get("abstract") is True:
            return _built(read_chain(path), path, partial=True)[1]
        else:
            load(path)
    except ScenarioError as error:
        return list(error.faults)
    return []


def is_card(document: Document) -> bool:
    """Return whether a file that was read is that of a card."""
    data = document.data
    if data.keys() & _OF_SCENARIOS:
        return False
    kind, base = data.get("kind"), data.get("extends")
    if base is None and kind is None:
        return False
    if kind is not None and (base is None or kind in KINDS):
        return not isinstance(kind, str) or kind in KINDS or kind not in kinds()
    if data.keys() & _PARAMETERS:
        return True
    try:
        *_, last = read_card_layers(Path(document.origins[()].file))
    except ScenarioError:
        return False
    return last.data.get("kind") in KINDS


_OF_SCENARIOS = {"question", "workload", "system", "traffic", "vary", "abstract"}
"""Keys of which no card has one."""

_PARAMETERS = {name for parameters in KINDS.values() for name in parameters}
"""Keys of which no scenario has one at its top."""


def kind_for(document: Document) -> Kind:
    """Return the kind of a scenario file."""
    name = document.data.get("kind")
    if not isinstance(name, str):
        known = map(kind_named, OWN)
        return next((kind for kind in known if kind.recognises(document.data)), kind_named(DEFAULT))
    try:
        return kind_named(name)
    except ScenarioError as error:
        (fault,) = error.faults
        raise ScenarioError([document.fault(("kind",), fault.message, fault.hint)]) from None


def _built(
    document: Document, path: Path, *, partial: bool = False
) -> tuple[Spec | None, list[Fault]]:
    try:
        kind = kind_for(document)
    except ScenarioError as error:
        return None, list(error.faults)
    return check(kind, document, path, partial=partial)


def _all(paths: Iterable[Path], overrides: Sequence[Override] = ()) -> list[Spec]:
    """Build each scenario with the options that concern it, and with those that concern none.

    If some are wrong, raise the faults of all.
    """
    templates: list[Template] = []
    faults: list[Fault] = []
    for path in paths:
        try:
            templates += _templates(path)
        except ScenarioError as error:
            faults += error.faults
    options, given = override.read(overrides), [own.lengthened(overrides) for own in templates]
    for place, some in enumerate(zip(*given, strict=True)):  # means the same for all that have it
        longer = (own for own in some if isinstance(own, Setting) and own != options[place])
        options[place] = next(longer, options[place])
    settings = [option for option in options if isinstance(option, Setting)]
    roles = [_roles(template, settings) for template in templates] if settings else []
    useful = [any(override.concerns(option, own) for own in roles) for option in options]
    scenarios: list[Spec] = []
    for index, template in enumerate(templates):
        concerned = [
            option
            for option, used in zip(options, useful, strict=True)
            if not used or override.concerns(option, roles[index])
        ]
        try:
            scenarios.append(template.resolved(concerned).scenario)
        except ScenarioError as error:
            faults += error.faults
    if faults:
        raise ScenarioError(faults)
    return scenarios


def _templates(path: Path) -> list[Template]:
    document = read(path)
    if not is_whatif(document.data):
        return [template(path)]
    members, faults = _listed(path, document)
    if faults:
        raise ScenarioError(in_order(faults, document))
    return [
        Template(path, variant) for variant in variants(path, document, members, _built, kind_for)
    ]


def _roles(template: Template, settings: Sequence[Setting]) -> Mapping[str, str | None]:
    document = template.document.copy()
    override.apply(document, settings)
    try:
        return kind_for(document).roles(document.data)
    except ScenarioError:
        return {}


def _members(name_or_path: str | os.PathLike[str]) -> list[Path]:
    text = os.fspath(name_or_path)
    if not text.endswith(".toml") and any(sign in text for sign in "*?["):
        entries = [
            entry for entry in find.list_scenarios() if entry.kind not in ("campaign", "what-if")
        ]
        paths = [entry.path for entry in entries if fnmatchcase(entry.name, text)]
        if not paths:
            raise ScenarioError.at(text, "no scenario has such a name")
        return paths
    path = find.resolve_name(name_or_path)
    document = read(path)
    if "campaign" not in document.data or is_whatif(document.data):
        return [path]
    model, faults = validate(CampaignFile, document)
    members, missing = _listed(path, document)
    if model is None or missing:
        raise ScenarioError(in_order([*faults, *missing], document))
    return members


def _listed(path: Path, document: Document) -> tuple[list[Path], list[Fault]]:
    names = document.data["campaign"]
    members, faults = [], []
    for name in names if isinstance(names, list) else []:
        if not isinstance(name, str) or not name:
            continue  # a fault of the schema
        member = Path(os.path.normpath(path.parent / f"{name}.toml"))
        if find.is_file(member):
            members.append(member)
        else:
            others = (other.stem for other in path.parent.glob("*.toml") if other != path)
            near = nearest(name, others)
            faults.append(document.fault(("campaign",), f"no scenario '{name}'", near))
    return members, faults
