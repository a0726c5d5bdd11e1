"""From a name or path to a checked scenario of its kind; all faults of a file at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from dvsim.contract import OWN
from dvsim.contract.check import check
from dvsim.contract.find import DEFAULT, kind_named, kinds
from dvsim.contract.kind import Kind
from dvsim.contract.whatif import is_whatif, variants
from dvsim.errors import Fault, ScenarioError, nearest
from dvsim.scenario import find, override
from dvsim.scenario.card import load_card
from dvsim.scenario.card_kinds import KINDS
from dvsim.scenario.document import Document, KeyPath, dotted, read
from dvsim.scenario.extend import read_card_layers, read_chain
from dvsim.scenario.fields import value_hints
from dvsim.scenario.input_errors import in_order, validate
from dvsim.scenario.override import Override, Setting
from dvsim.scenario.schema import CampaignFile
from dvsim.scenario.spec import Spec

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
