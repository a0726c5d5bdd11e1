"""Cards from measurements: what an emulated run says of the software on this machine.

runs.py       emulated runs that belong together, and why others do not
steady.py     the steady part of an iteration: time per message, its drift and its scatter
points.py     what was measured at each size, over each path
cards.py      from points to cards of bridge, publisher and broker, and to files
queues.py     the same of quorum queues of a cluster of real nodes, beside published ones
simulated.py  scenarios in the simulator with these cards, read as measurements are

and cards that are fitted to measurements:

target.py     which cases are fitted and which are held out, and the scenario that answers each
rows.py       measured beside simulated statistics, the distance between them, and the rival
knobs.py      the numbers of a card that a search may turn, as logarithms
search.py     a search from several starts, by Nelder-Mead, and how well it knows its end
uncertain.py  intervals of the parameters, and of what is predicted
fit.py        from a card to a fitted one

text.py and fit_text.py  either as text
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvsim.errors import Argument, ScenarioError
from dvsim.evidence.calibration.cards import Measured, cards_of
from dvsim.evidence.calibration.points import Point, points_of
from dvsim.evidence.calibration.queues import Queues, calibrate_queues
from dvsim.evidence.calibration.runs import load_runs
from dvsim.evidence.calibration.simulated import simulated_s
from dvsim.evidence.calibration.text import lines, machine, point_notes
from dvsim.kinds.cluster.spec import ClusterScenario
from dvsim.scenario.types import Card
from dvsim.study.store import load_result
from dvsim.study.text_table import Table

__all__ = ["Calibration", "calibrate"]


@dataclass(frozen=True)
class Calibration:
    """What was measured, the cards that it gives, and what the simulator makes of them.

    `simulated_s` has the seconds per message and receiver of each point.
    """

    points: tuple[Point, ...]
    cards: tuple[Measured, ...]
    simulated_s: tuple[float, ...]

    @property
    def made(self) -> dict[str, Card]:
        """The cards by their roles in a scenario."""
        return {card.card.kind: card.card for card in self.cards}

    def lines(self) -> Iterator[str | Table]:
        """Yield all of it as text."""
        return lines(self.points, self.cards, self.simulated_s)

    def table(self) -> list[dict[str, Any]]:
        """Return the points as JSON types."""
        return [
            {
                "transport": point.transport,
                "message_bytes": point.size,
                "runs": [str(folder) for folder in point.folders],
                "iterations": len(point.paces),
                "time_s": point.time_s,
                "drift": point.drift,
                "cpu_s": {kind: point.cpu(kind) for kind in point.cpu_s},
                "busy": point.busy,
                "own": point.own,
                "simulated_s": back_s,
                "notes": list(point_notes(point)),
            }
            for point, back_s in zip(self.points, self.simulated_s, strict=True)
        ]


def calibrate(
    folders: Sequence[Path], name: str, command: str, against: Sequence[Path] = ()
) -> Calibration | Queues:
    """Return cards made from emulated runs.

    Args:
        folders: Of the runs: of one machine and version, with the same settings; any sizes, either
            path. Or of runs of kind cluster.
        name: What the names of the cards begin with: ``NAME-bridge``, ``NAME-publisher``,
            ``NAME-broker``, or ``NAME-volume`` and ``NAME-rabbit``.
        command: What was typed, for the sources of the values.
        against: Of runs of kind cluster that judge the cards.

    Raises:
        ScenarioError: If a run cannot be used, or two do not belong together.
        RunFailed: If a folder is no run.
    """
    if load_result(folders[0]).scenario.KIND == ClusterScenario.KIND:
        return calibrate_queues(folders, name, command, against)
    if against:
        message = "judges runs of kind cluster, such as rabbit/here, alone"
        raise ScenarioError.at(Argument("against"), message)
    points = points_of(load_runs(folders))
    where = machine(points[0])
    cards = cards_of(points, name, command, where)
    back = simulated_s([point.scenario for point in points], cards)
    return Calibration(tuple(points), tuple(cards), tuple(back))
