"""What a shell completes where a scenario or a card is asked for; quick, since somebody waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Items = list[CompletionItem]
Complete = Callable[[click.Context, click.Parameter, str], Items]


def complete_scenarios(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the scenarios and campaigns that begin so; files, if there are none."""
    from dvsim.scenario.find import list_scenarios

    return _items(((entry.name, entry.title) for entry in list_scenarios()), incomplete)


def complete_campaigns(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return what can be validated: whatever has a campaign of that name."""
    from dvsim.scenario.find import list_scenarios

    whole = [entry for entry in list_scenarios() if entry.name.endswith("/validation")]
    return _items(((entry.name.rpartition("/")[0], entry.title) for entry in whole), incomplete)


def complete_shown(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Return the scenarios and cards that begin so; files, if there are none."""
    from dvsim.scenario.find import list_cards, list_scenarios

    entries = [*list_scenarios(), *list_cards()]
    return _items(((entry.name, entry.title) for entry in entries), incomplete)


def complete_cards(kind: str) -> Complete:
    """Return the function that completes cards of a kind."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
        from dvsim.scenario.find import list_cards

        cards = (entry for entry in list_cards() if entry.kind == kind)
        return _items(((card.name, card.title) for card in cards), incomplete)

    return complete


def _items(named: Iterable[tuple[str, str]], incomplete: str) -> Items:
    items = [
        CompletionItem(name, help=title) for name, title in named if name.startswith(incomplete)
    ]
    return items or [CompletionItem(incomplete, type="file")]
