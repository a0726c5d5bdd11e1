"""From a name or path to a checked scenario of its kind; all faults of a file at once.

Open questions: a campaign file with ``[[variant]]`` tables, and the scenarios that answer it.

Each member of the campaign is run as it is (the baseline) and once for each variant, with the same
seed, so that differences are of the variant and not of the draws. A variant is one more layer over
the member, after what the question itself changes in all of them::

    baseline = "one bridge process"
    campaign = ["../dv-8192"]

    [times]                       # of all, the baseline too
    "workload.messages" = 0.1

    [[variant]]
    name = "four"
    says = "four bridge processes"
    times = { "system.bridge.sockets" = 4 }

``times`` multiplies what the member has, so that a question stays the same question when a card
changes; the tables of the member's kind, such as ``workload`` and ``system``, set values, as in a
scenario.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, FiniteFloat, create_model, model_validator

from dvsim.contract import OWN
from dvsim.contract.find import DEFAULT, kind_named, kinds
from dvsim.contract.kind import Kind
from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.scenario import bounds, find, override
from dvsim.scenario.card import card_at, load_card
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.document import CARD_ROLES, OVERRIDES, Document, KeyPath, Origin, dotted, read
from dvsim.scenario.extend import read_card_layers, read_chain
from dvsim.scenario.fields import Name, Text, can_vary, unit_of, value_hints
from dvsim.scenario.input_errors import in_order, validate
from dvsim.scenario.override import Override, Setting
from dvsim.scenario.quantity import show
from dvsim.scenario.schema import CampaignFile, Table
from dvsim.scenario.spec import Spec, names_of, point_text, table_of
from dvsim.scenario.types import Card
from dvsim.scenario.units import Law, format_value, is_number

Built = Callable[[Document, Path], tuple[Spec | None, list[Fault]]]
KindFor = Callable[[Document], Kind]

BASELINE = "baseline"
"""What the baseline is called in names of runs; no variant has this name."""

OUTSIDE = ("reference", "tolerance", "whatif")
"""Tables of scenarios that no question, nor a variant, puts anything over."""

Factor = Annotated[FiniteFloat, Field(ge=0, le=1e6)]


def _plain_name(name: str) -> str:
    if "/" in name or name == BASELINE:
        raise ValueError("must be without '/', and not 'baseline', which is what is not varied")
    return name


class Layer(Table):
    """What is changed of a scenario; `_model` adds its tables, which are checked as part of it."""

    times: dict[str, Factor] = Field(default_factory=dict, description="keys that are multiplied")


class VariantTable(Layer):
    """One way in which things could be otherwise."""

    name: Annotated[Name, AfterValidator(_plain_name)] = Field(description="in names of runs")
    says: Text = Field(description="what is different, as in '… would change nothing'")

    @model_validator(mode="after")
    def _differs(self) -> VariantTable:
        if not any(value for key, value in self if key not in ("name", "says")):
            raise ValueError("changes nothing; the baseline is run without being asked for")
        return self


def _named_once(variants: list[VariantTable]) -> list[VariantTable]:
    names = [variant.name for variant in variants]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"two are called '{twice[0]}'")
    return variants


class WhatIfFile(Layer):
    """An open question: scenarios as they are, and varied."""

    title: Text
    question: Text = Field(description="what the answer, one sentence and a table, is to")
    source: Text = Field(description="where it was left open")
    assumed: list[Text] = Field(min_length=1, description="what the answer rests on")
    baseline: Text = Field(description="what the scenarios are as they are, as in 'with …'")
    rate: Literal["all", "each"] = Field(
        "all", description="messages of all receivers together, or of each of them"
    )
    also: list[Text] = Field(default_factory=list, description="what else the answer tells")
    campaign: list[Text] = Field(min_length=1, description="names, relative to this folder")
    variant: Annotated[list[VariantTable], AfterValidator(_named_once)] = Field(min_length=1)


@cache
def _model(tables: tuple[str, ...]) -> type[WhatIfFile]:
    own: dict[str, Any] = {name: (dict[str, Any], Field(default_factory=dict)) for name in tables}
    variant = create_model("Variant", __base__=VariantTable, **own)
    varied = Annotated[list[variant], AfterValidator(_named_once)]
    own["variant"] = (varied, Field(min_length=1))
    return create_model("Question", __base__=WhatIfFile, **own)


def is_whatif(data: Mapping[str, Any]) -> bool:
    """Say whether the content of a file is that of an open question."""
    return "campaign" in data and "variant" in data


def variants(
    path: Path, question: Document, members: list[Path], built: Built, kind_for: KindFor
) -> list[Document]:
    """Return the scenarios that answer a question: of each member the baseline, then the variants.

    Args:
        path: The file of the question.
        question: What it contains.
        members: The scenario files of its campaign.
        built: Checks a document as a whole.
        kind_for: Tells the kind of a document.
    """
    bases = [read_chain(member) for member in members]
    for base, member in zip(bases, members, strict=True):
        if "campaign" in base.data:
            message = f"'{member.stem}' is a campaign, and only scenarios can be varied"
            raise ScenarioError([question.fault(("campaign",), message)])
    kinds = [kind_for(base) for base in bases]
    hints = {key: hint for kind in kinds for key, hint in value_hints(kind.Spec).items()}
    tables = tuple(key for key, hint in hints.items() if table_of(hint) and key not in OUTSIDE)
    model, faults = validate(_model(tables), question)
    if model is None:
        raise ScenarioError(faults)
    for place, name in enumerate(model.also):
        for kind in kinds:
            if name not in kind.measures:
                message = f"must be one of {', '.join(kind.measures)}, not '{name}'"
                near = nearest(name, kind.measures)
                raise ScenarioError([question.fault(("also", place), message, near)])
    faults = [
        fault
        for base, at in zip(bases, members, strict=True)
        for fault in _varied(question, base, at, tables)
    ]
    if faults:
        raise ScenarioError(faults)
    documents = []
    for base, member in zip(bases, members, strict=True):
        base.data.pop("reference", None)  # what is asked here was not published
        base.data.get("probe", {}).pop("columns", None)
        base.files.append(path)
        _lay(base, member, question, (), built, tables)
        documents.append(_named(base.copy(), path, member, model, None))
        for index in range(len(model.variant)):
            document = base.copy()
            _lay(document, member, question, ("variant", index), built, tables)
            documents.append(_named(document, path, member, model, index))
    return documents


def _varied(
    question: Document, base: Document, member: Path, sections: Sequence[str]
) -> Iterator[Fault]:
    fixed = {key for name in sections for key in question.data.get(name, {})}
    varied = base.data.get("vary", [])
    keys = {key for table in varied if isinstance(table, dict) for key in table} - fixed
    for index, variant in enumerate(question.data["variant"]):
        for name in sections:
            for key in keys.intersection(variant.get(name, {})):
                message = f"is varied by '{member.stem}'; fix it in [{name}] of the question first"
                yield question.fault(("variant", index, name, key), message)


def _lay(
    document: Document,
    member: Path,
    question: Document,
    at: KeyPath,
    built: Built,
    sections: Sequence[str],
) -> None:
    given = question.at(at) if at else question.data
    tables = {key: given[key] for key in sections if key in given}
    origins = {
        known[len(at) :]: Origin(origin.file, origin.line, at, fixes=True)
        for known, origin in question.origins.items()
        if known[: len(at)] == at
    }
    here = question.origin(at)
    layer = Document(tables, origins | {(): Origin(here.file, here.line, at, fixes=True)}).copy()
    document.merge(layer)
    times = given.get("times", {})
    if times:
        scenario, faults = built(document, member)
        if scenario is None:
            raise ScenarioError(faults)
        for key, factor in times.items():
            path = (*at, "times", key)
            own = (*at, *key.split("."))
            if question.at(own) is not None:
                message = (
                    f"is given twice: multiplied here, and set in line {question.origin(own).line}"
                )
                raise ScenarioError([question.fault(path, message)])
            tree = _multiplied(scenario, key, float(factor))
            if tree is None:
                near = nearest(key, _numbers(scenario))
                message = f"'{member.stem}' has no such number to multiply"
                raise ScenarioError([question.fault(path, message, near)])
            written = question.origin(path)
            # what comes out may be beyond a bound, and that is said of the key that multiplies
            origin = Origin(written.file, written.line, (*at, "times"), fixes=True)
            document.merge(Document(tree, {(): origin}))


def _multiplied(scenario: Spec, key: str, factor: float) -> dict[str, Any] | None:
    section, _, name = key.partition(".")
    if section == "system" and "." in name:
        role, _, name = name.partition(".")
        card = scenario.cards.get(role)
        old = None if card is None else card.parameters.get(name)
        if old is None or isinstance(old.value, str):
            return None
        source = f"what if: {factor:g} times {old.text}, which is {old.confidence}"
        text = format_value(_times(old.value, factor), old.dimension)
        entry = {"value": text, "confidence": "assumed", "source": source}
        return {"system": {role: {name: entry}}}
    if key not in _numbers(scenario):
        return None
    value = getattr(getattr(scenario, section), name)
    if value is None:
        return None
    new = max(1, round(value * factor)) if isinstance(value, int) else value * factor
    return {section: {name: new}}


def _times(value: float | Law, factor: float) -> float | Law:
    if isinstance(value, Law):
        return Law(round(value.fixed_ps * factor), round(value.per_byte_fs * factor))
    return round(value * factor) if isinstance(value, int) else value * factor


def _numbers(scenario: Spec) -> Iterator[str]:
    yield from scenario.MULTIPLIED or (
        dotted((*path, item.name))
        for path, table in scenario.tables()
        for item in fields(table)
        if is_number(getattr(table, item.name))
        and unit_of(type(table), item.name) is None
        and item.name not in scenario.keys
    )
    for role, card in scenario.cards.items():
        for name, parameter in card.parameters.items():
            if not isinstance(parameter.value, str):
                yield dotted(("system", role, name))


def _named(
    document: Document, path: Path, member: Path, model: WhatIfFile, index: int | None
) -> Document:
    varied = find.scenario_name(member)
    name = find.scenario_name(path)
    called = BASELINE if index is None else model.variant[index].name
    says = model.baseline if index is None else model.variant[index].says
    document.data |= {
        "name": f"{name}/{called}/{member.stem}",
        "title": f"{document.data.get('title')}: {says}",
        "question": model.question,
        "source": model.source,
        "whatif": {
            "name": name,
            "title": model.title,
            "question": model.question,
            "member": varied,
            "says": says,
            "place": 0 if index is None else index + 1,
            "rate": model.rate,
            "also": list(model.also),
            "assumed": list(model.assumed),
        },
    }
    document.data.pop("abstract", None)
    return document


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
