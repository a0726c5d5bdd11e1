"""From a document to a frozen `MessagingScenario`: schema, cards, checks, all faults together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dvsim.errors import Fault
from dvsim.scenario import bounds, find
from dvsim.scenario.card import card_at
from dvsim.scenario.document import COMMAND_LINE, Document, KeyPath
from dvsim.scenario.faults import in_order, validate
from dvsim.scenario.messaging_schema import NEEDED, FlowFileTable, MessagingFile
from dvsim.scenario.messaging_types import (
    PEER_ROLES,
    ROLES,
    FlowTable,
    MessagingScenario,
    Setting,
    SystemTable,
)
from dvsim.scenario.types import Card
from dvsim.scenario.varied import point_text

MOST_BYTES = 2**36  # of all messages of a run: each is carried piece by piece


def is_messaging(data: Mapping[str, Any]) -> bool:
    """Say whether a file is a scenario of messaging over hosts."""
    return data.get("kind") == "messaging"


def build_messaging(
    document: Document, path: Path, *, partial: bool = False
) -> tuple[MessagingScenario | None, list[Fault]]:
    """Check a document as a whole and freeze it; as `dvsim.scenario.build.build`."""
    model, faults = validate(MessagingFile, document, partial=partial)
    if model is None or faults or partial:
        return None, in_order(faults)
    cards: dict[str, Card] = {}
    for role in ROLES:
        if document.at(("system", role)) is None:
            continue
        card, found = card_at(document, ("system", role), ROLES[role])
        faults += found
        if card is not None:
            cards[role] = card
    vary, found = _varied(model, document)
    faults += found
    faults += _needed(document, {key for table in vary for key in table})
    if faults:
        return None, in_order(faults)
    pinned = _pinned(document)
    scenario = _freeze(model, cards, vary, path, pinned)
    for key in sorted(pinned):
        value = scenario.setting.cards.get(key) if key in ROLES else scenario.setting.get(key)
        scenario = scenario.fixed(key, value)
    fault = None if model.name else find.name_fault(scenario.name)
    if fault:
        faults.append(document.fault(("name",), f"missing, and that of the file {fault}"))
    faults = faults or _together(scenario, document)
    return (None, in_order(faults)) if faults else (scenario, [])


def _varied(
    model: MessagingFile, document: Document
) -> tuple[tuple[dict[str, tuple[Any, ...]], ...], list[Fault]]:
    """Return the varied values, cards read, and what is wrong with them."""
    tables, faults, seen = [], [], set[str]()
    for number, table in enumerate(model.vary):
        values = table.given()
        for key in values:
            place: KeyPath = ("vary", number, key)
            if key in seen:
                faults.append(document.fault(place, "is varied twice"))
            seen.add(key)
            if key not in ROLES:
                continue
            cards = []
            for index in range(len(values[key])):
                card, found = card_at(document, (*place, index), ROLES[key])
                faults += found
                cards += [] if card is None else [card]
            if any(a.name == b.name and a != b for a in cards for b in cards):
                faults.append(document.fault(place, "has two cards of one name"))
            values[key] = tuple(cards)
        tables.append(values)
    return tuple(tables), faults


def _needed(document: Document, varied: set[str]) -> Iterator[Fault]:
    """Look for keys and cards that are neither given nor varied."""
    for table, keys in NEEDED.items():
        for key in keys:
            if document.at((table, key)) is None and key not in varied:
                yield document.fault((table, key), "missing, and not varied")
    pattern = document.at(("system", "pattern"))
    for role in ROLES if pattern == "broker" else PEER_ROLES:
        if document.at(("system", role)) is None and role not in varied:
            yield document.fault(("system", role), "missing, and not varied")


def _pinned(document: Document) -> set[str]:
    """Return the varied keys that the command line sets, unless it sets what is varied too."""
    found = set()
    tables = document.at(("vary",))
    for number, table in enumerate(tables if isinstance(tables, list) else []):
        for key in table:
            own = ("workload" if key in FlowFileTable.model_fields else "system", key)
            given = any(
                known[:2] == own and origin == COMMAND_LINE
                for known, origin in document.origins.items()
            )
            if given and document.origin(("vary", number, key)) != COMMAND_LINE:
                found.add(key)
    return found


def _freeze(
    model: MessagingFile,
    cards: dict[str, Card],
    vary: tuple[dict[str, tuple[Any, ...]], ...],
    path: Path,
    pinned: set[str],
) -> MessagingScenario:
    """Return the frozen form of a checked file; before it is varied a key has its first value."""
    first = {key: values[0] for table in vary for key, values in table.items() if key not in pinned}
    flow = model.workload.model_dump()
    system = model.system.model_dump(exclude=set(ROLES))
    for table in (flow, system):
        table.update({key: first[key] for key in table if key in first})
    roles = {role: first.get(role, cards.get(role)) for role in ROLES}
    setting = Setting(
        FlowTable(**flow),
        SystemTable(**system),
        {role: card for role, card in roles.items() if card is not None},
    )
    return MessagingScenario(
        name=model.name or find.scenario_name(path),
        path=str(path),
        title=model.title,
        question=model.question,
        source=model.source,
        setting=setting,
        vary=vary,
        tolerance=dict(model.tolerance),
    )


def _together(scenario: MessagingScenario, document: Document) -> list[Fault]:
    """Return what is wrong between the tables of each point, and what is too much."""
    number = len(scenario.points)
    if number > bounds.POINTS:
        message = f"makes {number} points; a scenario may have {bounds.POINTS}"
        return [document.fault(("vary",), message)]
    faults: dict[Fault, None] = {}  # a set that keeps its order
    for point in scenario.points:
        where = f"at {point_text(point)}: " if point else ""
        for place, message in extent(scenario.at(point)):
            faults[document.fault(place, where + message)] = None
    return list(faults)


def extent(setting: Setting) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what cannot be, or is too much, in a point whose numbers are each within bounds."""
    flow, system = setting.flow, setting.system
    if flow.messages * flow.message_bytes > MOST_BYTES:
        most = max(1, MOST_BYTES // flow.message_bytes)
        yield (
            ("workload", "messages"),
            f"must be at most {most} of {flow.message_bytes} B each, is {flow.messages}",
        )
    pairs = flow.streams if setting.peer else flow.publishers
    if flow.mode == "ping" and pairs * (1 if setting.peer else flow.consumers) > 1:
        yield ("workload", "mode"), "a ping is from one publisher to one consumer"
    if flow.mode == "flow" and flow.messages < 2 * pairs:
        yield ("workload", "messages"), f"must be at least {2 * pairs}, is {flow.messages}"
    if flow.mode == "ping" and flow.rate is not None:
        yield ("workload", "rate"), "is of a flow; a ping waits for the answer"
    if flow.rate is not None and flow.window is not None:
        yield ("workload", "window"), "not beside rate: what is due is sent"
    if not setting.peer:
        yield from _broker(setting)
    elif system.durability != "none":
        yield ("system", "durability"), "is of a broker; pattern 'peer' has none"


def _broker(setting: Setting) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what cannot be with a broker."""
    system = setting.system
    held, batch = system.prefetch, system.acknowledge
    if (held is None) != (batch is None):
        yield ("system", "prefetch"), "and acknowledge go together"
    elif held is not None and batch is not None and batch > held:
        yield ("system", "acknowledge"), f"must be at most prefetch {held}, or nothing more comes"
    if system.exchange == "queue" and held is None:
        yield ("system", "prefetch"), "missing; consumers of one queue hold a limited number"
    if system.exchange == "queue" and system.brokers > 1:
        yield ("system", "brokers"), "a queue that is shared has one node"
    if system.brokers > setting.flow.consumers:
        yield ("system", "brokers"), "must be at most the number of consumers"
