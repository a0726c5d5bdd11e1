"""A scenario as one TOML text that stands alone.

Nothing in it refers to another file: the cards are inside with every parameter and its source. So
the text gives an equal scenario when the packaged cards have changed, and its hash can name a run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from dvsim.scenario.messaging_render import messaging_lines, messaging_sections
from dvsim.scenario.messaging_types import MessagingScenario
from dvsim.scenario.switch_render import switch_lines, switch_sections
from dvsim.scenario.switch_types import SwitchScenario
from dvsim.scenario.types import Card, Parameter, Scenario
from dvsim.scenario.units import format_value

Value = str | int | float | list["Value"] | dict[str, "Value"]


def to_toml(scenario: Scenario | SwitchScenario | MessagingScenario) -> str:
    """Return the scenario as TOML.

    Parameters
    ----------
    scenario
        Resolved.

    Returns
    -------
    str
        The same for scenarios that ask the same, whatever files and units they were written in.

    Examples
    --------
    >>> from dvsim.scenario.load import load
    >>> print(to_toml(load("h3/dv-8")).splitlines()[0])
    name = "h3/dv-8"
    """
    if isinstance(scenario, MessagingScenario):
        return "\n".join(messaging_lines(scenario, _value, _card)) + "\n"
    if isinstance(scenario, SwitchScenario):
        return "\n".join(switch_lines(scenario, _value)) + "\n"
    lines: list[str] = []
    for section, table in sections(scenario).items():
        lines += ["", f"[{section}]"] if section else []
        lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items()]
        if section == "system":
            for role, card in scenario.system.cards.items():
                lines += _card(f"system.{role}", card)
        if section == "probe":
            lines += ["", "[probe.columns]", *_columns(scenario)]
    return "\n".join(lines) + "\n"


def sections(
    scenario: Scenario | SwitchScenario | MessagingScenario,
) -> dict[str, dict[str, Value]]:
    """Return the values of a scenario, without cards and columns, as they stand in TOML.

    Returns
    -------
    dict
        By section, ``""`` for the top, and key.
    """
    if isinstance(scenario, MessagingScenario):
        return messaging_sections(scenario)
    if isinstance(scenario, SwitchScenario):
        return switch_sections(scenario)
    workload, system, probe = scenario.workload, scenario.system, scenario.probe
    tables: dict[str, dict[str, Value]] = {
        "": {
            key: getattr(scenario, key) for key in ("name", "title", "question", "source", "loop")
        },
        "workload": {
            "message_bytes": workload.message_bytes,
            "messages": workload.messages,
            "iterations": workload.iterations,
        },
        "system": {"transport": system.transport, "receivers": system.receivers},
        "probe": {"kind": probe.kind},
    }
    for key in ("fidelity", "senders", "order"):
        if getattr(system, key) is not None:
            tables["system"][key] = getattr(system, key)
    if workload.messages_per_second is not None:
        tables["workload"]["messages_per_second"] = workload.messages_per_second
    if probe.interval_ps is not None:
        tables["probe"]["interval"] = format_value(probe.interval_ps, "time")
    if probe.batch is not None:
        tables["probe"]["batch"] = probe.batch
    if scenario.reference is not None:
        tables["reference"] = {
            "file": scenario.reference.file,
            "transport": scenario.reference.transport,
            "fitted": list(scenario.reference.fitted),
        }
    tables["tolerance"] = dict(vars(scenario.tolerance))
    if scenario.whatif is not None:
        given = vars(scenario.whatif).items()
        tables["whatif"] = {k: list(v) if isinstance(v, tuple) else v for k, v in given}
    return tables


def card_toml(card: Card) -> str:
    """Return a card as a file of its own."""
    head = [f"{key} = {_value(getattr(card, key))}" for key in ("name", "kind", "title", "notes")]
    values = (line for parameter in card.parameters.values() for line in _parameter("", parameter))
    return "\n".join([*head, *values]) + "\n"


def _card(path: str, card: Card) -> Iterator[str]:
    """Write a card with the whole statement of each parameter."""
    yield from ("", f"[{path}]")
    for key in ("name", "kind", "title", "notes"):
        yield f"{key} = {_value(getattr(card, key))}"
    for parameter in card.parameters.values():
        yield from _parameter(f"{path}.", parameter)


def _parameter(before: str, parameter: Parameter) -> Iterator[str]:
    """Write the whole statement of a parameter; `before` is the path of its card, with a dot."""
    plain = parameter.dimension in ("count", "ratio")
    text = format_value(parameter.value, parameter.dimension)
    yield from ("", f"[{before}{parameter.name}]", f"value = {text if plain else _value(text)}")
    for key in ("confidence", "source", "fitted"):
        if getattr(parameter, key) is not None:
            yield f"{key} = {_value(getattr(parameter, key))}"


def _columns(scenario: Scenario) -> Iterator[str]:
    """Write the columns, one to a line."""
    for label, column in scenario.probe.columns.items():
        inner = f"receiver = {column.receiver}, iterations = {_value(list(column.iterations))}"
        yield f"{_key(label)} = {{ {inner} }}"


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Value) -> str:
    """Write text, a number, a list or a table of these."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped as well
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
