"""Cards of bridge, publisher and broker from emulated runs on this machine.

measured.py   emulated runs that belong together as rows, one for each iteration
steady.py     the steady part of an iteration: time per message, its drift and its scatter
cards.py      from rows to cards; scenarios in the simulator with these cards
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd

from dvsim.errors import Argument, ScenarioError
from dvsim.evidence.calibration import Calibrated
from dvsim.kinds.rabbitmq.calibration.cards import cards_of, simulated_s
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

SHOWN = [*POINT, "iterations", "time_s", "sd", "drift", "busy", "own", *KINDS, "simulated_s"]


def calibrate(
    folders: Sequence[Path], name: str, command: str, against: Sequence[Path] = ()
) -> Calibrated:
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


def beside_simulated(iterations: pd.DataFrame, runs: Runs, cards: Sequence[Card]) -> Calibrated:
    """Return cards with the points of iterations, simulated with them."""
    points = points_of(iterations, runs)
    scenarios = [cast("Scenario", runs[folder].scenario) for folder in points["folder"]]
    deviations = np.log(iterations["time_s"]).groupby([iterations[key] for key in POINT]).std()
    points["sd"] = deviations.to_numpy()
    points["simulated_s"] = simulated_s(scenarios, cards)
    rows = points[SHOWN].assign(error=points["simulated_s"] / points["time_s"] - 1)
    about = f"measured on {machine(runs)}; time per message and receiver while all are sent to"
    return Calibrated({card.kind: card for card in cards}, rows, about)
