"""Cards of bridge, publisher and broker from emulated runs on this machine.

measured.py   emulated runs that belong together as rows, one for each iteration
steady.py     the steady part of an iteration: time per message, its drift and its scatter
cards.py      from rows to cards; scenarios in the simulator with these cards
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from dvsim.errors import Argument, ScenarioError
from dvsim.kinds.rabbitmq.calibration.cards import Measured, cards_of, simulated_s
from dvsim.kinds.rabbitmq.calibration.measured import (
    KINDS,
    POINT,
    Runs,
    iterations_of,
    load_runs,
    machine,
    points_of,
)
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.scenario.types import Card
from dvsim.scenario.units import format_value
from dvsim.study.table import Table

HEAD = (
    "path", "bytes", "iterations", "time", "± sd", "drift", "busy", "own", "simulated", "error",
)  # fmt: skip
CROWDED = 0.1  # share of the cores that others may have before it is said
DRIFTING = 1.25


@dataclass(frozen=True, eq=False)
class Calibration:
    """What was measured, the cards that it gives, and what the simulator makes of them.

    `points` has a row for each path and size, see `points_of`, with simulated_s, the simulated
    seconds per message and receiver, sd, the deviation of log times, and notes.
    """

    points: pd.DataFrame
    cards: Sequence[Measured]
    machine: str

    @property
    def made(self) -> dict[str, Card]:
        """The cards by their roles in a scenario."""
        return {one.card.kind: one.card for one in self.cards}

    def lines(self) -> Iterator[str | Table]:
        """Yield all of it as text."""
        yield f"measured on {self.machine}; time per message and receiver while all are sent to"
        points: list[Any] = list(self.points.itertuples())
        rows = [
            [one.path, f"{one.message_bytes:,}", str(one.iterations), f"{one.time_s * 1e6:,.1f} us",
             *(_percent(one.sd), f"{one.drift:.2f}", _percent(one.busy), _percent(one.own)),
             f"{one.simulated_s * 1e6:,.1f} us", f"{one.simulated_s / one.time_s - 1:+.1%}"]
            for one in points
        ]  # fmt: skip
        yield Table(HEAD, rows, range(1, len(HEAD)))
        for one in points:
            yield from (
                f"  note: {one.path}, {one.message_bytes:,} B: {note}" for note in one.notes
            )
        paths = self.points["path"]
        if "over cards" in paths.tolist() and "at most once" in self.machine:
            yield (
                "  note: over cards, at most once: sockets hold megabytes that the broker has not "
                "taken; at least once measures the broker"
            )
        for path, many in paths.value_counts(sort=False).items():
            if many == 1:
                yield (
                    f"  note: {path}: one size, hence constants, which say nothing of other sizes"
                )
        for measured in self.cards:
            yield ""
            yield from _card_lines(measured)

    def table(self) -> list[dict[str, Any]]:
        """Return the points as JSON types."""
        columns = ["iterations", "time_s", "drift", "busy", "own", "simulated_s", "notes"]
        rows = self.points[[*POINT, *columns]].astype(object)
        known: list[Any] = rows.where(rows.notna(), None).to_dict(orient="records")
        return [
            {**row, "runs": list(map(str, folders)), "cpu_s": cpu.dropna().to_dict()}
            for row, folders, (_, cpu) in zip(
                known, self.points["folders"], self.points[KINDS].iterrows(), strict=True
            )
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
    runs = load_runs(folders)
    iterations = iterations_of(runs)
    cards = cards_of(iterations, runs, name, command)
    return beside_simulated(iterations, runs, cards)


def beside_simulated(
    iterations: pd.DataFrame, runs: Runs, cards: Sequence[Measured]
) -> Calibration:
    """Return cards with the points of iterations, simulated with them."""
    points = points_of(iterations, runs)
    scenarios = [cast("Scenario", runs[folder].scenario) for folder in points["folder"]]
    deviations = np.log(iterations["time_s"]).groupby([iterations[key] for key in POINT]).std()
    points["sd"] = deviations.to_numpy()
    points["simulated_s"] = simulated_s(scenarios, cards)
    points["notes"] = [list(_notes(one)) for _, one in points.iterrows()]
    return Calibration(points, cards, machine(runs))


def _notes(point: pd.Series) -> Iterator[str]:
    if not 1 / DRIFTING < point["drift"] < DRIFTING:
        yield (
            f"the later half took {point['drift']:.2f} times the earlier; not steady, or "
            "disturbed; send more, by a larger scale"
        )
    if point["busy"] - point["own"] > CROWDED:
        others = point["busy"] - point["own"]
        yield f"other work, or the harness, took {others:.0%} of the cores"


def _card_lines(measured: Measured) -> Iterator[str]:
    yield f"{measured.card.name}: {measured.card.title}"
    parameters = measured.card.parameters
    for name, parameter in parameters.items():
        if measured.measured(name):
            yield f"  {name:<16} {format_value(parameter.value, parameter.dimension)}"
        if name in measured.laws:
            law, paths = measured.laws[name]
            several = len(set(paths)) > 1
            parts = (
                f"{law.sizes[n]:,} B{f' {path}' * several} {law.error(n):+.1%}"
                for n, path in enumerate(paths)
            )
            yield f"  {'':<16}   law against measurement: {', '.join(parts)}"
    for name, parameter in parameters.items():
        if not measured.measured(name):
            yield f"  {name:<16} {parameter.text}  ({parameter.confidence}, taken over)"


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.0%}"
