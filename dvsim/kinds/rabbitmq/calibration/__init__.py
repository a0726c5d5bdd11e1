"""Cards of bridge, publisher and broker from emulated runs on this machine.

runs.py       emulated runs that belong together, and why others do not
steady.py     the steady part of an iteration: time per message, its drift and its scatter
points.py     what was measured at each size, over each path
cards.py      from points to cards
simulated.py  scenarios in the simulator with these cards, read as measurements are
text.py       all of it as text
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvsim.errors import Argument, ScenarioError
from dvsim.kinds.rabbitmq.calibration.cards import Measured, cards_of
from dvsim.kinds.rabbitmq.calibration.points import Point, points_of
from dvsim.kinds.rabbitmq.calibration.runs import load_runs
from dvsim.kinds.rabbitmq.calibration.simulated import simulated_s
from dvsim.kinds.rabbitmq.calibration.text import lines, machine, point_notes
from dvsim.scenario.types import Card
from dvsim.study.table import Table


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
) -> Calibration:
    """Return cards made from emulated runs; otherwise as `dvsim.evidence.calibration.calibrate`.

    Args:
        folders: Any sizes, either path.
        name: They are ``NAME-bridge``, ``NAME-publisher`` and ``NAME-broker``.
        command: What was typed.
        against: Is refused.
    """
    if against:
        message = "judges runs of kind cluster, such as rabbit/here, alone"
        raise ScenarioError.at(Argument("against"), message)
    points = points_of(load_runs(folders))
    where = machine(points[0])
    cards = cards_of(points, name, command, where)
    back = simulated_s([point.scenario for point in points], cards)
    return Calibration(tuple(points), tuple(cards), tuple(back))
