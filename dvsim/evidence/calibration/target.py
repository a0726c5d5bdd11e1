"""What a card is fitted to: measured cases, the scenario that answers each, which are held out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dvsim.contract import OWN
from dvsim.contract.find import kind_named
from dvsim.contract.load import load, load_campaign
from dvsim.errors import Argument, ScenarioError, nearest
from dvsim.evidence.lab.data import Case, LabData
from dvsim.evidence.lab.match import Taken, answer, is_reference, systems_of
from dvsim.evidence.lab.read import read_lab
from dvsim.scenario.find import Entry, list_scenarios
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Card
from dvsim.sheets.sheet import size_number

REST, ALL = "rest", "all"


@dataclass(frozen=True)
class Data:
    """What was measured, and the scenarios that are asked for it.

    Args:
        files: Each as `dvsim.evidence.lab.read.read_lab` takes it.
        meta, taken: See `dvsim.evidence.lab`.
        scenarios: Names, paths or patterns; none takes the packaged ones that use the card.
        overrides: Applied to each of them, such as ``system.receivers=1``.
        predict: Sizes to predict, which nobody has measured.
    """

    files: tuple[str | Path, ...]
    meta: Path | None = None
    taken: Taken | None = None
    scenarios: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    predict: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """A measured case and the scenario that answers it."""

    data: LabData
    case: Case
    scenario: Spec

    @property
    def size(self) -> int:
        """Bytes of a message."""
        size: int = self.scenario.get("message_bytes")
        return size

    @property
    def key(self) -> str:
        """How an option names it: ``r1:8``, or ``8`` if it has no label."""
        return f"{self.case.label}:{self.size}" if self.case.label else str(self.size)

    @property
    def name(self) -> str:
        """How a text names it."""
        return replace(self.case, message_bytes=self.size).name


@dataclass(frozen=True)
class Target:
    """The cases with a scenario, and which of these are for what."""

    cases: tuple[Asked, ...]  # all of them
    # fit, held_out: places in `cases`
    fit: frozenset[int]
    held_out: frozenset[int]
    role: str  # where the card is in the scenarios
    # cases that cannot be simulated, by name, with the reason
    missing: tuple[tuple[str, str], ...] = ()
    taken: Taken | None = None  # of `Data`
    # places of cases that were not measured, whose statistics are not known
    predict: frozenset[int] = frozenset()

    def by_file(self, places: frozenset[int]) -> list[tuple[LabData, frozenset[int]]]:
        """Return the files of some cases, with the places of each."""
        files = {
            str(self.cases[index].data.path): self.cases[index].data for index in sorted(places)
        }
        return [
            (data, frozenset(at for at in places if str(self.cases[at].data.path) == path))
            for path, data in files.items()
        ]

    def names(self, places: frozenset[int]) -> str:
        """Return cases as options name them, sizes of a label together: ``r1:8,2048; r2:8``."""
        by: dict[str, list[int]] = {}
        for index in sorted(
            places, key=lambda at: (self.cases[at].case.label, self.cases[at].size)
        ):
            case = self.cases[index]
            sizes = by.setdefault(case.case.label, [])
            sizes += [case.size] if case.size not in sizes else []
        texts = {label: ",".join(map(str, sizes)) for label, sizes in by.items()}
        return "; ".join(f"{label}:{text}" if label else text for label, text in texts.items())


def target_of(card: Card, data: Data, fit: str | None, hold_out: str = REST) -> Target:
    """Return what a card is fitted to.

    Args:
        card: The card as it is.
        data: What was measured.
        fit, hold_out: ``r1:8,2048`` (a label, or another word of a case, and sizes; several with
            ``;``), ``8,2048`` for all labels, or ``all``; `fit` is None for what ``[lab]`` calls
            fitted, and `hold_out` may be ``rest``.

    Raises:
        ScenarioError: If there is nothing to fit, or something is fitted and held out at once.
    """
    read = [read_lab(file, data.meta) for file in data.files]
    scenarios = _scenarios(card, data)
    cases: list[Asked] = []
    missing: list[tuple[str, str]] = []
    for measured in read:
        own = [scenario for scenario in scenarios if is_reference(scenario, measured)]
        if not (own or data.scenarios or all("transport" in case.keys for case in measured.cases)):
            _one_system(card, scenarios)
        for case in measured.cases:
            answered = answer(case, own or scenarios, measured, data.taken)
            if isinstance(answered, str):
                missing.append((case.name, answered))
            else:
                cases.append(Asked(measured, case, answered))
    if not cases:
        name, reason = missing[0]
        file = str(read[0].path)
        message = f"none of its cases can be simulated with {card.name}; {name}: {reason}"
        raise ScenarioError.at(file, message)
    fitted = _chosen(Argument("fit"), fit, cases) if fit is not None else _declared(cases)
    rest = frozenset(range(len(cases))) - fitted
    held = rest if hold_out == REST else _chosen(Argument("hold_out"), hold_out, cases)
    both = sorted(fitted & held)
    if both:
        message = f"{cases[both[0]].key} is fitted; what is held out must not be"
        raise ScenarioError.at(Argument("hold_out"), message)
    many = len(cases)
    cases += _unmeasured(data, cases, scenarios, fitted)
    roles = {_role(card, case.scenario) for case in cases}
    predict = frozenset(range(many, len(cases)))
    return Target(tuple(cases), fitted, held, min(roles), tuple(missing), data.taken, predict)


def _unmeasured(
    data: Data, cases: Sequence[Asked], scenarios: Sequence[Spec], fitted: frozenset[int]
) -> list[Asked]:
    found = []
    kinds = {
        (cases[at].case.metric, *cases[at].case.keys.items()): cases[at] for at in sorted(fitted)
    }
    argument = Argument("predict")
    for text in data.predict:
        size = size_number(text)
        if size is None:
            raise ScenarioError.at(argument, f"'{text}' is no size; write 5000, or '5 KB'")
        for like in kinds.values():
            unknown = {"mean": math.nan}
            case = replace(
                like.case, label="", message_bytes=size, count=None, statistics=unknown, values=None
            )
            near = [one.scenario for one in kinds.values() if one is like]
            answered = answer(case, [*near, *scenarios], like.data, data.taken)
            if isinstance(answered, str):
                raise ScenarioError.at(argument, f"{size:,} B cannot be simulated: {answered}")
            found.append(Asked(like.data, case, answered))
    return found


def with_card(scenario: Spec, old: Card, new: Card) -> Spec:
    """Return a scenario with a card in the place of another, wherever that one is.

    Where it is not, its kind tells the place.
    """
    role = _role(old, scenario)
    system = scenario.system  # type: ignore[attr-defined]
    changes: dict[str, Any] = {}
    for name, used in scenario.cards.items():
        if used.name == old.name or (name == role and not _names(scenario, old)):
            changes[name] = new
    return replace(scenario, system=replace(system, **changes))  # type: ignore[call-arg]


def _names(scenario: Spec, card: Card) -> list[str]:
    return [role for role, used in scenario.used_cards() if used.name == card.name]


def _role(card: Card, scenario: Spec) -> str:
    named = _names(scenario, card)
    roles = named or [role for role, used in scenario.used_cards() if used.kind == card.kind]
    if not roles:
        message = f"has no place for '{card.name}', a card of kind {card.kind}"
        raise ScenarioError.at(scenario.name, message)
    if not named and len(set(roles)) > 1:
        places = ", ".join(f"system.{role}={card.name}" for role in roles)
        message = f"'{card.name}' fits several places; say which: {places}"
        raise ScenarioError.at(scenario.name, message)
    return roles[0]


def _scenarios(card: Card, data: Data) -> list[Spec]:
    if data.scenarios:
        return [
            scenario for name in data.scenarios for scenario in load_campaign(name, data.overrides)
        ]
    candidates = [load(entry.name) for entry in list_scenarios() if _has_messages(entry)]
    users = [scenario for scenario in candidates if _names(scenario, card)]
    if not users:
        alike = [
            scenario.name
            for scenario in candidates
            if any(used.kind == card.kind for _, used in scenario.used_cards())
        ]
        kind = next(iter(alike), "SCENARIO")
        message = f"no packaged scenario uses '{card.name}'; name yours, such as {kind}"
        raise ScenarioError.at(Argument("scenarios"), message)
    # of a size that two have, one of a system whose data were published comes first
    users.sort(key=lambda user: user.reference is None)
    return [load(user.path, data.overrides) for user in users] if data.overrides else users


def _has_messages(entry: Entry) -> bool:
    if entry.kind not in OWN:  # a campaign, or of the kind that files need not name
        return entry.kind == "scenario"
    return kind_named(entry.kind).messages


def _one_system(card: Card, scenarios: Sequence[Spec]) -> None:
    transports = {system.name: system.system.transport for system in systems_of(scenarios)}
    systems: dict[str, str] = {}
    for scenario in scenarios:
        systems.setdefault(transports.get(scenario.name, scenario.name), scenario.name)
    if len(systems) > 1:
        names = " or ".join(systems.values())
        message = f"'{card.name}' is part of several systems; say what was measured: {names}"
        raise ScenarioError.at(Argument("scenarios"), message)


def _declared(cases: Sequence[Asked]) -> frozenset[int]:
    indices = {
        index
        for index, case in enumerate(cases)
        if {(case.case.label, case.size), ("", case.size)} & set(case.data.about.fitted or ())
    }
    if not indices:
        example = ",".join(dict.fromkeys(str(case.size) for case in cases[: len(cases) // 2 + 1]))
        message = f"say what to fit to, for example {example}; there are {_there(cases)}"
        raise ScenarioError.at(Argument("fit"), message)
    return frozenset(indices)


def _chosen(argument: Argument, text: str, cases: Sequence[Asked]) -> frozenset[int]:
    if text == ALL:
        return frozenset(range(len(cases)))
    indices: set[int] = set()
    for part in text.split(";"):
        label, colon, sizes = part.strip().rpartition(":")
        for word in sizes.split(","):
            if not word.strip().isdigit():
                raise ScenarioError.at(argument, f"'{part.strip()}' is not of the form r1:8,2048")
            meant = {
                index
                for index, case in enumerate(cases)
                if case.size == int(word) and (not colon or label in _words(case.case))
            }
            if not meant:
                asked = f"{label}{colon}{word.strip()}"
                message = f"nothing was measured at {asked}; there are {_there(cases)}"
                keys = [case.key if colon else str(case.size) for case in cases]
                raise ScenarioError.at(argument, message, hint=nearest(asked, keys))
            indices |= meant
    return frozenset(indices)


def _words(case: Case) -> set[str]:
    return {case.label, case.metric, *case.keys.values()}


def _there(cases: Sequence[Asked]) -> str:
    ordered = sorted(cases, key=lambda case: (case.size, case.case.label))
    return ", ".join(dict.fromkeys(case.key for case in ordered))
