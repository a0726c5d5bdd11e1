"""Scenarios in the simulator with measured cards, read as measurements are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

import numpy as np

from dvsim.kinds.rabbitmq.calibration.cards import Measured
from dvsim.kinds.rabbitmq.calibration.points import run_paces
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.scenario.types import Card
from dvsim.study.design import Trial, Variants
from dvsim.study.execute import Runs, execute
from dvsim.study.run import Run

REPLICATIONS = 20  # their spread must not be taken for an error
SEED = 1


def simulated_s(scenarios: Sequence[Scenario], cards: Sequence[Measured]) -> list[float]:
    """Return the simulated seconds per message and receiver of scenarios, found as measured.

    Of scenarios that the cards were made of this is no prediction: it says whether the simulator
    gives back what went in.
    """
    by_kind = {card.card.kind: card.card for card in cards}
    trials = [Trial(_with(scenario, by_kind), REPLICATIONS) for scenario in scenarios]
    runs = execute(Variants(trials), Runs(SEED, None, workers=1))
    return [time_s(run) for run in cast("list[Run]", runs)]


def time_s(run: Run) -> float:
    """Return the seconds per message and receiver of a run: geometric mean over iterations."""
    return float(np.exp(np.mean([np.log(pace.time_s) for pace in run_paces(run)])))


def _with(scenario: Scenario, by_kind: dict[str, Card]) -> Scenario:
    system = scenario.system
    changed = replace(
        system,
        broker=by_kind.get("broker", system.broker),
        bridge=None if system.bridge is None else by_kind.get("bridge", system.bridge),
        publisher=None if system.publisher is None else by_kind.get("publisher", system.publisher),
    )
    # the fabric is no part of what was measured: it need not be run word by word
    fidelity: Literal["flow"] | None = "flow" if system.over_cards else None
    return replace(scenario, system=replace(changed, fidelity=fidelity))
