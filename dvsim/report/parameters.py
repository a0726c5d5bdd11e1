"""The numbers that nobody published or measured, and which of them matter most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dvsim.report.table import Cell, Table
from dvsim.study.run import Run, runs_of
from dvsim.study.stages import busiest

if TYPE_CHECKING:
    from dvsim.scenario.types import Card, Parameter
    from dvsim.study.points import PointsStudy

# from the weakest; what is published or measured is not listed
WEAK = ("assumed", "unverified", "calibrated")
ROLES = {
    **{"fabric": "card", "link": "card", "socket": "bridge", "disk": "storage", "network": "host"},
    **dict.fromkeys(("queue", "leader", "follower", "confirms"), "rabbit"),
}
"""Stage -> the card with its numbers, where they are not called alike."""


def used_cards(one: Run | PointsStudy) -> list[Card]:
    """Return the cards that a run or study uses; a switch alone has none."""
    return [card for _, card in one.scenario.used_cards()]


def parameters_table(runs: Sequence[Run | PointsStudy]) -> Table:
    """Tabulate the parameters that nobody published or measured.

    Those of the cards that set the pace of a run come first, then the weakest.

    A parameter that several runs share is one row; one that a run overrides is a row of its own.
    """
    used: dict[tuple[str, str, str, str], tuple[Parameter, list[str]]] = {}
    pace = set()
    for run in runs:
        pace |= pace_cards(run)
        for card in used_cards(run):
            for parameter in card.parameters.values():
                if parameter.confidence in WEAK:
                    key = (card.name, parameter.name, parameter.text, parameter.confidence)
                    used.setdefault(key, (parameter, []))[1].append(run.scenario.name)
    rows = [
        [
            Cell(f"{card}.{name}", "code"),
            Cell(text),
            Cell(confidence, status="info"),
            Cell("busiest stage" if card in pace else "", status="strong"),
            Cell(source_text(parameter), "prose"),
            Cell(parameter.origin, "code"),
            Cell(users_text(names, len(runs)), raw=" ".join(dict.fromkeys(names))),
        ]
        for (card, name, text, confidence), (parameter, names) in sorted(
            used.items(),
            key=lambda item: (item[0][0] not in pace, WEAK.index(item[0][3]), *item[0]),
        )
    ]
    return Table(
        name="parameters",
        caption=(
            "Parameters that are assumed, unverified or calibrated; first those of the card of the "
            "busiest stage of a run, since an error in them shows in its rates at once."
        ),
        head=["parameter", "value", "confidence", "matters", "source", "set in", "used by"],
        rows=rows,
    )


def source_text(parameter: Parameter) -> str:
    """Give the source of a value; a calibrated one says what it was fitted to."""
    if parameter.fitted is None:
        return parameter.source
    return f"{parameter.source}. Fitted to: {parameter.fitted}"


def users_text(names: Sequence[str], total: int) -> str:
    """Say which runs use a value."""
    if len(names) == total:
        return "every run" if total > 1 else names[0]
    return ", ".join(names) if len(names) <= 2 else f"{len(names)} of {total} runs"


def pace_cards(one: Run | PointsStudy) -> set[str]:
    """Name the card that holds the numbers of the busiest stage of a run."""
    counted = [run for run in runs_of([one]) if run.backend != "emu"]
    busy = [(run, stage) for run in counted if (stage := busiest(run.counters)) is not None]
    cards = [run.scenario.system.cards.get(ROLES.get(at.name, at.name)) for run, at in busy]
    return {card.name for card in cards if card is not None}
