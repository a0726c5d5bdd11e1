"""``dvsim list``: what there is to run, and the cards it is made of."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from dvsim.cli.options import json_option
from dvsim.cli.terminal import say
from dvsim.scenario.find import Entry, list_cards, list_scenarios


@click.command("list")
@click.argument("what", required=False, type=click.Choice(["scenarios", "cards"]))
@json_option
def list_entries(what: str | None, as_json: bool) -> None:
    """List scenarios and campaigns, cards, or both."""
    found: dict[str, list[Entry]] = {}
    if what != "cards":
        found["scenarios"] = list_scenarios()
    if what != "scenarios":
        found["cards"] = list_cards()
    if as_json:
        tables = {group: [_plain(entry) for entry in entries] for group, entries in found.items()}
        click.echo(json.dumps(tables, indent=2, ensure_ascii=False))
        return
    blocks = [_block(group, entries) for group, entries in found.items()]
    say("\n\n".join(blocks))


def _plain(entry: Entry) -> dict[str, str]:
    fields = {"name": entry.name, "kind": entry.kind, "title": entry.title}
    return fields | {"path": str(entry.path)}


def _block(group: str, entries: Sequence[Entry]) -> str:
    """Return a group as lines of equal columns."""
    name = max((len(entry.name) for entry in entries), default=0)
    kind = max((len(entry.kind) for entry in entries), default=0)
    rows = [f"  {entry.name:{name}}  {entry.kind:{kind}}  {entry.title}" for entry in entries]
    return "\n".join([group, *(rows or ["  (none)"])])
