"""Cards from measurements: from emulated runs, as their kind makes them, or by a fit.

target.py     which cases are fitted and which are held out, and the scenario that answers each
rows.py       measured beside simulated statistics, the distance between them, and the rival
knobs.py      the numbers of a card that a search may turn, as logarithms
search.py     a search from several starts, by Nelder-Mead, and how well it knows its end
uncertain.py  intervals of the parameters, and of what is predicted
fit.py        from a card to a fitted one; fit_text.py as text and JSON
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pandas as pd

from dvsim.atomic import write_output
from dvsim.contract.find import kind_of
from dvsim.errors import Advice, Argument, ScenarioError
from dvsim.scenario.render import card_toml
from dvsim.scenario.types import Card
from dvsim.scenario.units import format_value
from dvsim.study.store import load_result
from dvsim.study.table import Table, frame_table
from dvsim.table.reply import records

EMULATE = Advice("run its scenario with ", Argument("backend"), " emu")
NO_RUN = Advice(
    "is no run of a system; cards are measured by runs of h3/… with ", Argument("backend"), " emu"
)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """Cards made from emulated runs, by their roles, and what was measured beside the model of it.

    `rows` has what was measured and simulated at each point, `about` says where.
    """

    made: Mapping[str, Card]
    rows: pd.DataFrame
    about: str

    def lines(self) -> Iterator[str | Table]:
        """Yield what was measured, what the simulator makes of the cards, and the cards."""
        yield self.about
        yield frame_table(self.rows)
        for card in self.made.values():
            yield f"{card.name}: {card.title}"
            for name, known in card.parameters.items():
                value = format_value(known.value, known.dimension)
                yield f"  {name:<16} {value}  ({known.confidence})"

    def facts(self) -> dict[str, Any]:
        """Return what was measured as JSON types."""
        return {"measured": records(self.rows)}


def calibrate(
    folders: Sequence[Path], name: str, command: str, against: Sequence[Path] = ()
) -> Calibrated:
    """Return cards made from emulated runs.

    Args:
        folders: Of the runs, all of one kind: of one machine, with the same settings.
        name: What the names of the cards begin with: ``NAME-bridge``.
        command: What was typed, for the sources of the values.
        against: Of runs that judge the cards.

    Raises:
        ScenarioError: If a run cannot be used, or two do not belong together.
        RunFailed: If a folder is no run.
    """
    function = kind_of(load_result(folders[0]).scenario).calibration
    if not function:
        raise ScenarioError.at(str(folders[0]), NO_RUN)
    make: Callable[..., Calibrated] = resolve_name(function)
    return make(folders, name, command, against)


def write_cards(cards: Sequence[Card], folder: Path) -> list[Path]:
    """Return the paths of cards, each written to ``folder/NAME.toml``, whole or not at all.

    A card of that name that is there is replaced.

    Raises:
        OutputError: If one cannot be written.
    """
    paths = []
    for card in cards:
        paths.append(folder / f"{card.name}.toml")
        write_output(paths[-1], card_toml(card).encode())
    return paths
