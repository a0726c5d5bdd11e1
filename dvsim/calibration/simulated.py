"""Scenarios in the simulator with measured cards, read as measurements are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dvsim.calibration.measured import DATA_VORTEX, Measured
from dvsim.calibration.points import run_paces
from dvsim.results.run import Run
from dvsim.scenario.types import Card, Scenario
from dvsim.session import run_scenarios

REPLICATIONS = 20  # their spread must not be taken for an error
SEED = 1


def simulated_s(scenarios: Sequence[Scenario], cards: Sequence[Measured]) -> list[float]:
    """Return the simulated seconds per message and receiver of scenarios, found as measured.

    Of scenarios that the cards were made of this is no prediction: it says whether the simulator
    gives back what went in.
    """
    by_kind = {one.card.kind: one.card for one in cards}
    runs = run_scenarios(
        [_with(scenario, by_kind) for scenario in scenarios],
        seed=SEED,
        replications=REPLICATIONS,
        workers=1,
        out=None,
        report=False,
    )
    return [time_s(run) for run in runs if isinstance(run, Run)]


def time_s(run: Run) -> float:
    """Return the seconds per message and receiver of a run: geometric mean over iterations."""
    return float(np.exp(np.mean([np.log(pace.time_s) for pace in run_paces(run)])))


def _with(scenario: Scenario, by_kind: dict[str, Card]) -> Scenario:
    """Return a scenario with other cards."""
    system = scenario.system
    changed = replace(
        system,
        broker=by_kind.get("broker", system.broker),
        bridge=None if system.bridge is None else by_kind.get("bridge", system.bridge),
        publisher=None if system.publisher is None else by_kind.get("publisher", system.publisher),
    )
    # the fabric is no part of what was measured: it need not be run word by word
    fidelity = "flow" if system.transport == DATA_VORTEX else None
    return replace(scenario, system=replace(changed, fidelity=fidelity))
