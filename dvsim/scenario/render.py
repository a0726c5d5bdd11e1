"""A scenario as one TOML text that stands alone.

Nothing in it refers to another file: the cards are inside with every parameter and its source. So
the text gives an equal scenario when the packaged cards have changed, and its hash can name a run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from dvsim.scenario.fields import spelled, unit_of
from dvsim.scenario.spec import Spec, Table
from dvsim.scenario.types import Card, Parameter
from dvsim.scenario.units import Dimension, format_value

Value = str | int | float | list["Value"] | dict[str, "Value"]


def to_toml(scenario: Spec) -> str:
    """Return the scenario as TOML.

    Args:
        scenario: Resolved.

    Returns:
        str: The same for scenarios that ask the same, whatever files and units they were written
        in.
    """
    known = vars(scenario).get("_toml")  # kept with it: a run asks for it ten times
    if known is not None:
        return str(known)
    lines: list[str] = []
    for section, table in sections(scenario).items():
        if section:
            lines += ["", "[[vary]]" if section.startswith("vary.") else f"[{section}]"]
        lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
        if section == "system":
            for role, card in scenario.cards.items():
                lines += [] if role in scenario.keys else _card(f"system.{role}", card)
    text = vars(scenario)["_toml"] = "\n".join(lines) + "\n"
    return text


def sections(scenario: Spec, *, whole: bool = True) -> dict[str, dict[str, Any]]:
    """Return the values of a scenario, without the cards of its system, as they stand in TOML.

    Args:
        scenario: Resolved.
        whole: A card among the values of a varied key is a table with all its numbers, not only a
            name.

    Returns:
        dict: By section, ``""`` for the top, and key. A varied key stands in a section ``vary.0``,
        ``vary.1``, … only.
    """
    result: dict[str, dict[str, Any]] = {"": {"kind": scenario.KIND} if scenario.NAMED else {}}
    varied = set(scenario.keys)
    units = {
        item.name: unit_of(type(table), item.name)
        for _, table in scenario.tables()
        for item in fields(table)
    }
    for item in sorted(fields(scenario), key=lambda item: item.name == "whatif"):  # at the end
        value, key = getattr(scenario, item.name), spelled(type(scenario), item.name)
        if key == "vary":
            for number, table in enumerate(value):
                result[f"vary.{number}"] = {
                    key: [_plain(entry, units.get(key), whole=whole) for entry in values]
                    for key, values in table.items()
                }
        elif isinstance(value, Table):
            result |= _section(key, value, varied)
        elif isinstance(value, Mapping):
            result |= {key: dict(value)} if value else {}
        elif key != "path" and value is not None:
            result[""][key] = _plain(value)
    return result


def _section(path: str, table: Table, leave: Collection[str]) -> dict[str, dict[str, Any]]:
    own: dict[str, Any] = {}
    result, kind = {path: own}, type(table)
    for item in fields(table):  # type: ignore[arg-type]
        value, key = getattr(table, item.name), spelled(kind, item.name)
        if value is None or key in leave or (value == () and item.default == ()):
            continue
        if isinstance(value, Table):
            result |= _section(f"{path}.{key}", value, leave)
        elif isinstance(value, Mapping):
            result[f"{path}.{key}"] = {name: _plain(entry) for name, entry in value.items()}
        elif not isinstance(value, Card):
            own[key] = _plain(value, unit_of(kind, item.name))
    return result


def _plain(value: Any, unit: Dimension | None = None, *, whole: bool = True) -> Any:  # noqa: ANN401
    if unit is not None:
        return format_value(value, unit)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Card):
        return _whole(value) if whole else value.name
    if is_dataclass(value):
        kind, given = type(value), {own.name: getattr(value, own.name) for own in fields(value)}
        return {
            spelled(kind, name): _plain(entry, unit_of(kind, name))
            for name, entry in given.items()
            if entry is not None
        }
    return value


def card_toml(card: Card) -> str:
    """Return a card as a file of its own, which is named by the file that it is written to."""
    head = [f"{key} = {_value(getattr(card, key))}" for key in ("kind", "title", "notes")]
    values = (line for parameter in card.parameters.values() for line in _parameter("", parameter))
    return "\n".join([*head, *values]) + "\n"


def _card(path: str, card: Card) -> Iterator[str]:
    yield from ("", f"[{path}]")
    for key in ("name", "kind", "title", "notes"):
        yield f"{key} = {_value(getattr(card, key))}"
    for parameter in card.parameters.values():
        yield from _parameter(f"{path}.", parameter)


def _parameter(before: str, parameter: Parameter) -> Iterator[str]:
    yield from ("", f"[{before}{parameter.name}]")
    for key, value in _statement(parameter).items():
        yield f"{key} = {_value(value)}"


def _statement(parameter: Parameter) -> dict[str, Any]:
    number = parameter.dimension in ("count", "ratio")
    value = format_value(parameter.value, parameter.dimension)
    given = {"value": parameter.value if number else value, "confidence": parameter.confidence}
    given["source"] = parameter.source
    return given if parameter.fitted is None else given | {"fitted": parameter.fitted}


def _whole(card: Card) -> dict[str, Any]:
    table: dict[str, Any] = {key: getattr(card, key) for key in ("name", "kind", "title", "notes")}
    return table | {name: _statement(parameter) for name, parameter in card.parameters.items()}


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Value) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str | bool):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped as well
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
