"""``dvsim list``: what there is to run, and the cards it is made of."""

from __future__ import annotations

from collections.abc import Sequence

import click

from dvsim.cli.options import json_option
from dvsim.cli.terminal import say, say_json, tell
from dvsim.errors import ScenarioError, nearest
from dvsim.scenario.find import Entry, list_cards, list_scenarios, nearest_name
from dvsim.study.table import Table

WHAT = ("scenarios", "cards", "kinds")


@click.command("list")
@click.argument("what", required=False, metavar="[scenarios|cards|kinds]")
@click.argument("text", nargs=-1)
@click.option("--source", metavar="NAME", help="Scenarios of one source only, such as h3.")
@json_option
def list_entries(
    what: str | None, text: tuple[str, ...], source: str | None, as_json: bool
) -> None:
    """List scenarios, campaigns and cards, or only one of these, or the kinds of scenarios.

    With TEXT: only entries with TEXT in name or title, in upper or lower case.
    """
    texts = text
    if what is not None and what not in WHAT:
        texts, what = (what, *text), None
    if what == "kinds":
        _list_kinds(as_json=as_json)
        return
    if source is not None:
        what, known = "scenarios", sorted({_source(entry) for entry in list_scenarios()})
        if source not in known:
            message = f"no such source; there are {', '.join(known)}"
            raise ScenarioError.at("--source", message, source, hint=nearest(source, known))
    groups: dict[str, list[Entry]] = {}
    if what != "cards":
        groups["scenarios"] = list_scenarios()
    if what != "scenarios":
        groups["cards"] = list_cards()
    groups = {
        group: [entry for entry in entries if _meant(entry, texts, source)]
        for group, entries in groups.items()
    }
    if texts and not any(groups.values()):
        words = " ".join(texts)
        message = "is in no name and no title; dvsim list has all"
        raise ScenarioError.at("dvsim list", message, words, hint=nearest_name(words, WHAT))
    if texts:
        groups = {group: entries for group, entries in groups.items() if entries}
    if as_json:
        from dvsim.table.reply import Reply

        tables = {group: [_plain(entry) for entry in entries] for group, entries in groups.items()}
        say_json(Reply.of(**tables))
        return
    for number, (group, entries) in enumerate(groups.items()):
        if number:
            say("")
        say(group)
        rows = [(entry.name, entry.kind, entry.title) for entry in entries]
        tell([Table((), rows) if rows else "  (none)"], indent=2)


def _source(entry: Entry) -> str:
    return entry.name.partition("/")[0]


def _meant(entry: Entry, texts: Sequence[str], source: str | None) -> bool:
    said = f"{entry.name} {entry.title}".lower()
    return source in (None, _source(entry)) and all(text.lower() in said for text in texts)


def _list_kinds(*, as_json: bool) -> None:
    from dvsim.contract.find import kind_named, kinds

    rows = [(name, kind_named(name).about) for name in kinds()]
    if as_json:
        from dvsim.table.reply import Reply

        say_json(Reply.of(kinds=[{"name": name, "about": about} for name, about in rows]))
        return
    say("kinds")
    tell([Table((), rows)], indent=2)


def _plain(entry: Entry) -> dict[str, str]:
    fields = {"name": entry.name, "kind": entry.kind, "title": entry.title}
    return fields | {"path": str(entry.path)}
