"""A scenario of a switch or network as TOML tables; `dvsim.scenario.render` makes the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from dvsim.scenario.switch_types import Hot, SwitchScenario, SwitchTable
from dvsim.scenario.units import format_value

Tables = dict[str, dict[str, Any]]


def switch_sections(scenario: SwitchScenario) -> Tables:
    """Return the values of a scenario as they stand in TOML, by section, ``""`` for the top.

    A varied key stands in a section ``vary.0``, ``vary.1``, … only.
    """
    setting, varied = scenario.setting, set(scenario.keys)
    head = {key: getattr(scenario, key) for key in ("name", "title", "question", "source")}
    tables: Tables = {"": {"kind": "switch"} | head}
    if setting.switch is not None:
        tables["switch"] = _switch(setting.switch, varied)
    if setting.network is not None:
        tables["network"] = _given(setting.network, {*varied, "switch"})
        if setting.network.switch is not None:
            tables["network.switch"] = _switch(setting.network.switch, varied)
    tables["traffic"] = _given(setting.traffic, varied)
    for number, table in enumerate(scenario.vary):
        tables[f"vary.{number}"] = {
            key: [_plain(value) for value in values] for key, values in table.items()
        }
    if scenario.compare:
        tables["compare"] = {"with": list(scenario.compare)}
    if scenario.record is not None:
        tables["record"] = dict(vars(scenario.record))
    return tables


def switch_lines(scenario: SwitchScenario, value: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the lines of the TOML text; `value` writes one value."""
    for section, table in switch_sections(scenario).items():
        if section:
            yield ""
            yield "[[vary]]" if section.startswith("vary.") else f"[{section}]"
        for key, item in table.items():
            yield f"{key} = {value(item)}"


def _switch(table: SwitchTable, leave: set[str]) -> dict[str, Any]:
    values = _given(table, {*leave, "slot_ps"})
    if table.slot_ps is not None:
        values["slot"] = format_value(table.slot_ps, "time")
    return values


def _given(table: Any, leave: set[str]) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    """Return the values of a table that are there, but for those that stand elsewhere."""
    values = {item.name: getattr(table, item.name) for item in fields(table)}
    return {
        key: _plain(value)
        for key, value in values.items()
        if key not in leave and value is not None and value != ()
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - any value of a table
    """Return a value as TOML has it: lists for tuples, a table for a hot spot."""
    if isinstance(value, Hot):
        return {"fraction": value.fraction, "outputs": list(value.outputs)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return value
