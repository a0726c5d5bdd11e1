"""``dvsim show``: what a name stands for, value by value, with units and sources."""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.names import complete_shown
from dvsim.cli.options import json_option, set_option
from dvsim.cli.terminal import say, say_json
from dvsim.errors import ScenarioError
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.contract.load import Resolved
    from dvsim.scenario.types import Card

MOST_SHOWN = 40  # items of a list

_UNITS = {"message_bytes": "B", "messages": "messages", "batch": "messages"}
_UNITS |= {"slots": "slots", "warmup": "slots", "link": "slots", "burst": "slots"}
"""Units of the plain numbers of a scenario; all others carry theirs, or have none."""


@click.command("show")
@click.argument("name", required=False, metavar="NAME|FILE|CARD", shell_complete=complete_shown)
@set_option
@json_option
@click.option(
    "--toml", "as_toml", is_flag=True, help="Print a complete file, as a start for your own."
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of scenario files.")
def show(
    name: str | None, overrides: tuple[str, ...], as_json: bool, as_toml: bool, schema: bool
) -> None:
    """Show a scenario with all that it extends, or a card.

    Prints each value with its unit and the line that sets it, and each parameter of a card with
    its confidence and source. Of a campaign: its scenarios.

    With --toml: one self-contained file, with every card in full. Example: dvsim show
    h3-bridge --toml > mine.toml, then dvsim run h3/dv-8 --set system.bridge=mine.toml
    """
    if schema:
        from pydantic import TypeAdapter

        from dvsim.contract.find import kind_named, kinds

        every: TypeAdapter[object] = TypeAdapter(
            functools.reduce(operator.or_, (kind_named(name).Spec for name in kinds()))
        )
        click.echo(json.dumps(every.json_schema(), indent=2, ensure_ascii=False))
        return
    if name is None:
        raise click.UsageError("name a scenario, a file or a card; `dvsim list` lists them")
    if as_toml:
        if as_json:
            raise click.UsageError("--toml or --json")
        click.echo(_toml(name, overrides), nl=False)
        return
    table, text = _describe(name, overrides)
    if as_json:
        from dvsim.table.reply import Reply

        say_json(Reply.of(**table))
    else:
        say(text)


def _describe(name: str, overrides: Sequence[str]) -> tuple[dict[str, Any], str]:
    from dvsim.contract.load import load_campaign, load_card, resolve
    from dvsim.scenario.document import read

    path, is_card = _locate(name)
    head = read(path).data
    if overrides and (is_card or "campaign" in head):
        raise click.UsageError("--set belongs to a scenario")
    if is_card:
        card = load_card(path)
        about = {"name": card.name, "kind": card.kind, "title": card.title, "notes": card.notes}
        return about | {"parameters": _parameters("", card)}, _card_text(card.name, card)
    if "campaign" in head:
        members = [{"name": item.name, "title": item.title} for item in load_campaign(path)]
        rows = [("  " + item["name"], item["title"]) for item in members]
        text = f"{head['title']}\nquestion  {head['question']}\n\n" + _columns(rows)
        return {"title": head["title"], "question": head["question"], "campaign": members}, text
    return _scenario(resolve(path, overrides))


def _toml(name: str, overrides: Sequence[str]) -> str:
    from dvsim.contract.load import load, load_card
    from dvsim.scenario.render import card_toml, to_toml

    path, is_card = _locate(name)
    if not is_card:
        return to_toml(load(path, overrides))
    if overrides:
        raise click.UsageError("--set belongs to a scenario")
    return card_toml(load_card(path))


def _locate(name: str) -> tuple[Path, bool]:
    from dvsim.contract.load import is_card
    from dvsim.scenario.document import read
    from dvsim.scenario.find import card_names, find_card, nearest_name, resolve_name

    if name.endswith(".toml"):
        path = resolve_name(name)
        return path, is_card(read(path))
    try:
        return resolve_name(name), False
    except ScenarioError:
        card = find_card(name)
        if card is not None:
            return card, True
    near = nearest_name(name, card_names())
    message = "no such scenario or card" + ("" if near else "; `dvsim list` names them all")
    raise ScenarioError.at(name, message, hint=near)


def _scenario(resolved: Resolved) -> tuple[dict[str, Any], str]:
    from dvsim.scenario.render import sections
    from dvsim.study.changes import titled

    scenario = resolved.scenario
    one_of_each = scenario.vary == ()
    in_use = {
        role if one_of_each else f"{role}.{card.name}": card for role, card in scenario.used_cards()
    }
    tables = sections(scenario, whole=False)
    head = tables.pop("")
    values: list[dict[str, Any]] = []

    def add(path: tuple[str | int, ...], value: object) -> None:
        known = {"unit": _UNITS.get(str(path[-1])), "origin": _place(resolved.origin(path))}
        values.append({"key": ".".join(map(str, path)), "value": value, **known})

    for section, table in tables.items():
        parts = [int(part) if part.isdigit() else part for part in section.split(".")]
        for key, value in table.items():
            add((*parts, key), value)
        if section == "system" and one_of_each:
            for role, card in in_use.items():
                add((section, role), card.name)
    parameters = [row for role, card in in_use.items() for row in _parameters(role, card)]
    rows = [(row["key"], _words(row["value"], row["unit"]), row["origin"]) for row in values]
    lines = [titled(scenario)]
    lines += [f"{key:8}  {head[key]}" for key in ("question", "source", "loop") if key in head]
    lines += ["", _columns(rows)]
    for role, card in in_use.items():
        label = f"system.{role} = {card.name}" if one_of_each else f"system.{role}"
        lines += ["", _card_text(label, card)]
    about = {"path": scenario.path, "keys": values, "parameters": parameters}
    return head | about, "\n".join(lines)


def _card_text(label: str, card: Card) -> str:
    from dvsim.scenario.units import format_value

    lines = [f"{label} ({card.kind}): {card.title}"]
    lines += [card.notes] if card.notes else []
    rows = [("  parameter", "value", "confidence", "origin", "source")]
    for name, item in card.parameters.items():
        source = item.source + (f" [fitted to {item.fitted}]" if item.fitted else "")
        value = format_value(item.value, item.dimension)
        rows.append((f"  {name}", value, item.confidence, _place(item.origin), source))
    return "\n".join([*lines, _columns(rows)])


def _place(origin: str) -> str:
    from dvsim.scenario.document import OVERRIDES

    return "--set" if origin == OVERRIDES.file else origin


def _words(value: object, unit: str | None) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(item, None)}" for key, item in value.items())
    if isinstance(value, list):
        shown = [_words(item, None) if isinstance(item, dict) else str(item) for item in value]
        if len(shown) > MOST_SHOWN:
            shown[MOST_SHOWN:] = [f"… ({len(value)} in all)"]
        return " ".join(shown) or "(none)"
    text = f"{value:_}" if isinstance(value, int) else str(value)
    return f"{text} {unit}" if unit else text


def _columns(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(Table((), list(rows)).lines())


def _parameters(role: str, card: Card) -> list[dict[str, Any]]:
    from dvsim.scenario.units import format_value

    return [
        {
            "role": role,
            "card": card.name,
            "parameter": name,
            "value": asdict(item.value) if is_dataclass(item.value) else item.value,
            "dimension": item.dimension,
            "text": format_value(item.value, item.dimension),
            "confidence": item.confidence,
            "source": item.source,
            "fitted": item.fitted,
            "origin": _place(item.origin),
        }
        for name, item in card.parameters.items()
    ]
