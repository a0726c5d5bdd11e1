"""``dvsim list``: what there is to run, and the cards it is made of."""

from __future__ import annotations

import json

import click

from dvsim.cli.options import json_option
from dvsim.cli.terminal import say, tell
from dvsim.results.lines import Table
from dvsim.scenario.find import Entry, list_cards, list_scenarios


@click.command("list")
@click.argument("what", required=False, type=click.Choice(["scenarios", "cards", "kinds"]))
@json_option
def list_entries(what: str | None, as_json: bool) -> None:
    """List scenarios and campaigns, and cards; or one of these, or the kinds of scenarios."""
    if what == "kinds":
        _list_kinds(as_json=as_json)
        return
    found: dict[str, list[Entry]] = {}
    if what != "cards":
        found["scenarios"] = list_scenarios()
    if what != "scenarios":
        found["cards"] = list_cards()
    if as_json:
        tables = {group: [_plain(entry) for entry in entries] for group, entries in found.items()}
        click.echo(json.dumps(tables, indent=2, ensure_ascii=False))
        return
    for number, (group, entries) in enumerate(found.items()):
        if number:
            say("")
        say(group)
        rows = [(entry.name, entry.kind, entry.title) for entry in entries]
        tell([Table((), rows) if rows else "  (none)"], indent=2)


def _list_kinds(*, as_json: bool) -> None:
    """List the kinds of scenarios that are installed, with what they are of."""
    from dvsim.kinds.base import kind_named, kinds

    rows = [(name, kind_named(name).about) for name in kinds()]
    if as_json:
        table = [{"name": name, "about": about} for name, about in rows]
        click.echo(json.dumps({"kinds": table}, indent=2, ensure_ascii=False))
        return
    say("kinds")
    tell([Table((), rows)], indent=2)


def _plain(entry: Entry) -> dict[str, str]:
    fields = {"name": entry.name, "kind": entry.kind, "title": entry.title}
    return fields | {"path": str(entry.path)}
