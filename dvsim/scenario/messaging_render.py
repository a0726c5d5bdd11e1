"""A scenario of messaging as TOML tables; `dvsim.scenario.render` makes the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from dvsim.scenario.messaging_types import ROLES, MessagingScenario
from dvsim.scenario.types import Card
from dvsim.scenario.units import format_value

Tables = dict[str, dict[str, Any]]


def messaging_sections(scenario: MessagingScenario) -> Tables:
    """Return the values of a scenario as they stand in TOML, by section, ``""`` for the top.

    A varied key stands in a section ``vary.0``, ``vary.1``, … only; of cards their names.
    """
    setting, varied = scenario.setting, set(scenario.keys)
    head = {key: getattr(scenario, key) for key in ("name", "title", "question", "source")}
    tables: Tables = {"": {"kind": "messaging"} | head}
    tables["workload"] = _given(setting.flow, varied)
    tables["system"] = _given(setting.system, varied)
    for number, table in enumerate(scenario.vary):
        tables[f"vary.{number}"] = {
            key: [_plain(key, value) for value in values] for key, values in table.items()
        }
    if scenario.tolerance:
        tables["tolerance"] = dict(scenario.tolerance)
    return tables


def messaging_lines(
    scenario: MessagingScenario,
    value: Callable[[Any], str],
    card_lines: Callable[[str, Card], Iterator[str]],
) -> Iterator[str]:
    """Yield the lines of the TOML text; `value` writes one value, `card_lines` a card."""
    varied = set(scenario.keys)
    for section, table in messaging_sections(scenario).items():
        if section:
            yield ""
            yield "[[vary]]" if section.startswith("vary.") else f"[{section}]"
        whole = scenario.vary[int(section[5:])] if section.startswith("vary.") else {}
        for key, item in table.items():
            cards = [_whole(card) for card in whole[key]] if key in ROLES and whole else item
            yield f"{key} = {value(cards)}"
        if section == "system":
            for role, card in scenario.setting.cards.items():
                if role not in varied:
                    yield from card_lines(f"system.{role}", card)


def _whole(card: Card) -> dict[str, Any]:
    """Return a card as one table, with the whole statement of each parameter."""
    table: dict[str, Any] = {key: getattr(card, key) for key in ("name", "kind", "title", "notes")}
    for name, parameter in card.parameters.items():
        plain = parameter.dimension in ("count", "ratio")
        text = format_value(parameter.value, parameter.dimension)
        statement = {"value": parameter.value if plain else text}
        statement |= {"confidence": parameter.confidence, "source": parameter.source}
        table[name] = statement | ({"fitted": parameter.fitted} if parameter.fitted else {})
    return table


def _given(table: Any, leave: set[str]) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    """Return the values of a table that are there, but for those that stand elsewhere."""
    values: Mapping[str, Any] = {item.name: getattr(table, item.name) for item in fields(table)}
    return {
        key: _plain(key, value)
        for key, value in values.items()
        if key not in leave and value is not None
    }


def _plain(key: str, value: Any) -> Any:  # noqa: ANN401 - any value of a table
    """Return a value as TOML has it: a card by its name, a buffer with its unit."""
    if isinstance(value, Card):
        return value.name
    return format_value(value, "size") if key == "buffer" else value
