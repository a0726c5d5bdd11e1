"""A card fitted to measurements, judged by those that were held out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dvsim.errors import Fault, ScenarioError
from dvsim.evidence.calibration.knobs import Knob, knobs_of, logs, with_values
from dvsim.evidence.calibration.rows import Row, mean_error, naive_error, of, simulated_rows
from dvsim.evidence.calibration.search import STEP, Known, Outcome, known, search
from dvsim.evidence.calibration.target import Data, Target, target_of
from dvsim.evidence.calibration.uncertain import Uncertain, uncertain
from dvsim.evidence.numbers import Floats
from dvsim.evidence.runner import Runner
from dvsim.kinds.load import load_card
from dvsim.scenario.bounds import SEED
from dvsim.scenario.types import Card

JUDGES = 10  # replications that judge a fit: their spread is the noise of a run


@dataclass(frozen=True)
class How:
    """How a search is made.

    Parameters
    ----------
    budget
        Evaluations of all starts together; each runs every fitted scenario.
    starts
        Of the local search: the card, and others around it.
    replications, scale, seed, workers
        Of each run. The seed is the same in all: equal draws for all that is compared.
    """

    budget: int = 200
    starts: int = 3
    replications: int = 2
    scale: float = 0.1
    seed: int = 1
    workers: int = 1


@dataclass(frozen=True)
class Errors:
    """Mean absolute log errors of a set of cases: before, after, and of the naive rival.

    Attributes
    ----------
    before, after
        Of means, standard deviations and quantiles.
    means_before, means_after, means_naive
        Of the means alone, which are all that the rival, latency and bytes over a rate, predicts;
        None without means that it could be fitted to.
    columns
        How many means there are.
    """

    before: float
    after: float
    means_before: float
    means_after: float
    means_naive: float | None
    columns: int


@dataclass(frozen=True)
class Fitting:
    """A card that was fitted, and what is known of it.

    Attributes
    ----------
    base, card
        Before and after.
    knobs, outcome, known, uncertain
        What was turned, where that has led, how well it is known, how far it can be off.
    errors
        By ``fitted`` and ``held out``, with draws that the search has not seen.
    """

    base: Card
    card: Card
    knobs: tuple[Knob, ...]
    outcome: Outcome
    known: tuple[Known, ...]
    uncertain: Uncertain
    target: Target
    errors: Mapping[str, Errors]


def fit_card(
    run: Runner,
    base: str,
    data: Data,
    fit: str | None,
    hold_out: str,
    parameters: Sequence[str],
    how: How,
    name: str,
    command: str,
    progress: Callable[[str], None] = lambda text: None,
) -> Fitting:
    """Return a card fitted to measurements.

    Parameters
    ----------
    run
        Simulates scenarios.
    base
        The card: a packaged one by name, or a file.
    data, fit, hold_out
        See `dvsim.evidence.calibration.target.target_of`.
    parameters
        See `dvsim.evidence.calibration.knobs.knobs_of`.
    how
        How the search is made.
    name, command
        Of the new card, and what was typed, for its sources.
    progress
        Called with a line of text each time a smaller loss is found.

    Raises
    ------
    ScenarioError
        If there is no such card, file, case or parameter, the budget is too small, or the seed
        is none.
    """
    if not 0 <= how.seed < SEED:  # the runs that judge the fit have the next one
        raise ScenarioError([Fault("--seed", None, "", f"is {how.seed}; from 0 to {SEED - 1}")])
    card = load_card(base)
    target = target_of(card, data, fit, hold_out)
    knobs = knobs_of(card, parameters)
    least = how.starts * (len(knobs) + 2)
    if how.budget < least:
        message = f"{how.starts} starts with {len(knobs)} parameters need {least} at least"
        raise ScenarioError([Fault("--budget", None, "", f"is {how.budget}; {message}")])
    every = target.fit | target.held_out
    settings: dict[str, Any] = {"seed": how.seed, "replications": how.replications}
    settings |= {"scale": how.scale, "workers": how.workers}

    def trial(at: Floats, places: frozenset[int]) -> list[Row]:
        turned = with_values(card, knobs, list(np.exp(at)), "", "a trial")
        return simulated_rows(run, target, places, card, turned, settings)

    seen: dict[bytes, float] = {}

    def loss(at: Floats) -> float:
        key = np.round(at, 6).tobytes()
        if key not in seen:
            seen[key] = mean_error(trial(at, target.fit))
            if seen[key] <= min(seen.values()):
                progress(f"{len(seen)} of {how.budget} evaluations, loss {seen[key]:.4f}")
        return seen[key]

    start, low, high = logs(knobs)
    result = search(loss, start, low, high, starts=how.starts, budget=how.budget, seed=how.seed)
    stepped: dict[bytes, list[Row]] = {}

    def step(at: Floats) -> float:
        stepped[at.tobytes()] = trial(at, every)
        return mean_error(of(stepped[at.tobytes()], target.fit))

    certain = known(step, result)
    values = list(np.exp(result.best.at))
    fitted = with_values(card, knobs, values, "", "")
    settings |= {"seed": how.seed + 1, "replications": max(JUDGES, how.replications)}
    old, new = (simulated_rows(run, target, every, card, item, settings) for item in (card, fitted))
    slopes = _slopes(result.best.at, list(stepped.values()))
    bounds = (low, high)
    doubt = uncertain(result.best.at, bounds, slopes, new, target.fit, how.replications, how.seed)
    errors = {
        split: _errors(of(old, places), of(new, places), of(new, target.fit), target)
        for split, places in (("fitted", target.fit), ("held out", target.held_out))
        if places
    }
    source = (
        f"least mean log error of mean, std and quantiles, local search from {how.starts} starts"
    )
    fitted = _with_sources(fitted, knobs, doubt, target, f"{source}; {command}")
    title = f"{card.title}; fitted again"
    fitted = replace(fitted, name=f"{name}-{card.kind}", title=title)
    return Fitting(card, fitted, tuple(knobs), result, tuple(certain), doubt, target, errors)


def _slopes(best: Floats, stepped: Sequence[list[Row]]) -> dict[tuple[int, str], Floats]:
    """Return how the logarithm of each statistic moves with each parameter, by case and name.

    `stepped` has the rows with each parameter over, and times, `STEP`, in their order.
    """
    found: dict[tuple[int, str], Floats] = {}
    pairs = list(zip(stepped[0::2], stepped[1::2], strict=True))
    for number, (down, up) in enumerate(pairs):
        for below, above in zip(down, up, strict=True):
            if below.simulated > 0 and above.simulated > 0:
                slope = math.log(above.simulated / below.simulated) / (2 * STEP)
                key = (below.place, below.statistic)
                found.setdefault(key, np.zeros(len(best)))[number] = slope
    return found


def _with_sources(
    card: Card, knobs: Sequence[Knob], doubt: Uncertain, target: Target, source: str
) -> Card:
    """Return a card whose fitted values say what they were fitted to, how, and their intervals."""
    parameters = dict(card.parameters)
    fitted = "; ".join(
        f"{one.path.name} (sha256 {_checksum(one.path)}): {target.names(places)} B"
        for one, places in target.by_file(target.fit)
    )
    stated = {text for one, _ in target.by_file(target.fit) if (text := one.about.source)}
    for name in dict.fromkeys(knob.parameter for knob in knobs):
        told = ", ".join(
            f"{knob.name} {knob.range_text(card, ends)}"
            for knob, ends in zip(knobs, doubt.parameters, strict=True)
            if knob.parameter == name
        )
        parts = ["; ".join(sorted(stated)), f"95 %: {told}", source]
        text = "; ".join(part for part in parts if part)
        parameters[name] = replace(parameters[name], fitted=fitted, source=text)
    return replace(card, parameters=parameters)


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _errors(
    before: Sequence[Row], after: Sequence[Row], fitted: Sequence[Row], target: Target
) -> Errors:
    means = [[row for row in rows if row.statistic == "mean"] for rows in (before, after)]
    return Errors(
        before=mean_error(before),
        after=mean_error(after),
        means_before=mean_error(means[0]),
        means_after=mean_error(means[1]),
        means_naive=naive_error(fitted, means[1], target.cases),
        columns=len(means[1]),
    )
