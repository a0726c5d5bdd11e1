"""How much a prediction for a Data Vortex depends on what nobody could verify about its card.

Of each point its time with one thing changed, over its time: half and twice the rate of the port,
half and twice that of PIO, headers sent along instead of waiting in the card or the other way
round, and the other way of buffers from node memory into the card.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dvsim.kinds.irregular.spec import IrregularScenario, WordsTable
from dvsim.kinds.irregular.vortex import over_vortex
from dvsim.scenario.spec import Spec
from dvsim.scenario.types import Card
from dvsim.study.table import Table

if TYPE_CHECKING:
    from dvsim.table.result import Result

RATES = {"port": "port_rate", "PIO": "pio_rate"}
FACTORS = {"/2": 0.5, "x2": 2.0}
HEADERS = {"cached": "sent", "sent": "cached"}
PATHS = {"dma": "pio", "pio": "dma"}

CHANGES = (*(f"{name} {factor}" for name in RATES for factor in FACTORS), "headers", "path")
"""What is changed, as the head of a column."""

MEANING = """\
  Predictions: no such run on a Data Vortex is known. Columns on the right: the time with one thing
  changed, over the time: the rate of the port or of PIO halved or doubled (neither is verified),
  headers where they are not now (cached or sent), buffers by the other path (dma or pio)."""


def sensitivity(work: WordsTable, host: Card, card: Card) -> Mapping[str, float]:
    """Return by change how many times as long a program takes with it."""
    plain = over_vortex(work, host, card).whole
    changed = {
        f"{name} {factor}": (work, card.having({key: card[key] * times}))
        for name, key in RATES.items()
        for factor, times in FACTORS.items()
    }
    changed["headers"] = replace(work, headers=HEADERS[work.headers]), card  # type: ignore[arg-type]
    changed["path"] = replace(work, path=PATHS[work.path]), card  # type: ignore[arg-type]
    times = {change: over_vortex(it, host, other).whole for change, (it, other) in changed.items()}
    return {change: times[change] / plain for change in CHANGES}


def with_sensitivity(study: Result, table: Table) -> Iterator[Table | str]:
    """Yield the table of a study with a column for each change, and what they say, if it has any.

    Points over other networks have no such cells.
    """
    cells = [list(_cells(study.scenario.at(n))) for n in range(len(study.scenario.points))]
    if not any(cells):
        yield table
        return
    none = ["-"] * len(CHANGES)
    rows = [[*row, *(own or none)] for row, own in zip(table.rows, cells, strict=True)]
    right = range(table.right[0], len(table.head) + len(CHANGES))
    groups = [*table.groups, *[1] * len(CHANGES)]
    yield replace(table, head=[*table.head, *CHANGES], rows=rows, right=right, groups=groups)
    yield MEANING


def _cells(scenario: Spec) -> Iterator[str]:
    assert isinstance(scenario, IrregularScenario)
    link, host = scenario.system.link, scenario.system.host
    assert link is not None  # the kind has asked for both cards
    assert host is not None
    if link.kind == "vortex":
        for factor in sensitivity(scenario.workload, host, link).values():
            yield f"{factor:.2f}"
