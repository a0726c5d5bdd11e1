"""A card fitted to published columns, judged by those that were held out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dvsim.errors import Fault, ScenarioError
from dvsim.evidence.calibration.knobs import Knob, knobs_of, logs, with_values
from dvsim.evidence.calibration.search import (
    Known,
    Outcome,
    known,
    require_optuna,
    search,
    search_tpe,
)
from dvsim.evidence.calibration.target import (
    Key,
    Target,
    mean_error,
    naive_error,
    rows_of,
    target_of,
)
from dvsim.evidence.numbers import Floats
from dvsim.evidence.runner import Runner
from dvsim.evidence.verdicts import Row
from dvsim.kinds.load import load_card
from dvsim.kinds.rabbitmq.spec import Scenario
from dvsim.results.run import Run, runs_of
from dvsim.scenario.bounds import SEED
from dvsim.scenario.types import Card


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
    optuna
        Search by Optuna's sampler instead of the local search; a start is a study of it.
    """

    budget: int = 200
    starts: int = 3
    replications: int = 2
    scale: float = 0.1
    seed: int = 1
    workers: int = 1
    optuna: bool = False


def _with(scenario: Scenario, role: str, card: Card) -> Scenario:
    """Return a scenario with another card in a role."""
    given: dict[str, Any] = {role: card}
    return replace(scenario, system=replace(scenario.system, **given))


def _simulated(
    run: Runner, how: How, scenarios: Sequence[Scenario], role: str, card: Card, seed: int
) -> list[Run]:
    """Return the runs of scenarios with a card."""
    runs = run(
        [_with(scenario, role, card) for scenario in scenarios],
        seed=seed,
        replications=how.replications,
        scale=how.scale,
        workers=how.workers,
        out=None,
    )
    return runs_of(runs)


@dataclass(frozen=True)
class Errors:
    """Mean absolute log errors of a set of columns: before, after, and of the naive rival.

    Attributes
    ----------
    before, after
        Of means, standard deviations and quantiles.
    means_before, means_after, means_naive
        Of the means alone, which are all that the rival, latency and bytes over a rate, predicts.
    columns
        How many there are.
    """

    before: float
    after: float
    means_before: float
    means_after: float
    means_naive: float
    columns: int


@dataclass(frozen=True)
class Fitting:
    """A card that was fitted, and what is known of it.

    Attributes
    ----------
    base, card
        Before and after.
    knobs, outcome, known
        What was turned, where that has led, how well it is known.
    errors
        By ``fitted`` and ``held out``, with draws that the search has not seen.
    """

    base: Card
    card: Card
    knobs: tuple[Knob, ...]
    outcome: Outcome
    known: tuple[Known, ...]
    target: Target
    errors: Mapping[str, Errors]


def fit_card(
    run: Runner,
    base: str,
    data: str,
    fit: str,
    hold_out: str,
    parameters: Sequence[str],
    how: How,
    name: str,
    command: str,
    progress: Callable[[str], None] = lambda text: None,
) -> Fitting:
    """Return a packaged card fitted to published columns.

    Parameters
    ----------
    run
        Simulates scenarios.
    base, data, fit, hold_out
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
        If there is no such card, table, column or parameter, the budget is too small, or the seed
        is none.
    """
    if not 0 <= how.seed < SEED:  # the runs that judge the fit have the next one
        raise ScenarioError([Fault("--seed", None, "", f"is {how.seed}; from 0 to {SEED - 1}")])
    if how.optuna:
        require_optuna()
    card = load_card(base)
    target = target_of(card.name, data, fit, hold_out)
    knobs = knobs_of(card, parameters)
    least = how.starts * (len(knobs) + 2)
    if how.budget < least:
        message = f"{how.starts} starts with {len(knobs)} parameters need {least} at least"
        raise ScenarioError([Fault("--budget", None, "", f"is {how.budget}; {message}")])
    scenarios = target.of(target.fit)
    seen: dict[bytes, float] = {}

    def loss(at: Floats) -> float:
        key = np.round(at, 6).tobytes()
        if key not in seen:
            trial = with_values(card, knobs, list(np.exp(at)), fit, "a trial")
            runs = _simulated(run, how, scenarios, target.role, trial, how.seed)
            seen[key] = mean_error(rows_of(runs, target.fit))
            if seen[key] <= min(seen.values()):
                progress(f"{len(seen)} of {how.budget} evaluations, loss {seen[key]:.4f}")
        return seen[key]

    look, named = (search_tpe, "Optuna's TPE") if how.optuna else (search, "local search")
    result = look(loss, *logs(knobs), starts=how.starts, budget=how.budget, seed=how.seed)
    judged = "log errors of mean, std and quantiles"
    source = f"{judged}, {named} from {how.starts} starts; {command}"
    values = list(np.exp(result.best.at))
    fitted = with_values(card, knobs, values, f"{fit} of {data}", source)
    fitted = replace(fitted, name=f"{name}-{card.kind}", title=f"{card.title}; fitted again")
    certain = known(loss, result)
    old, new = (
        rows_of(
            _simulated(run, how, target.scenarios, target.role, item, how.seed + 1),
            target.fit | target.held_out,
        )
        for item in (card, fitted)
    )
    errors = {
        split: _errors(old, new, keys, target)
        for split, keys in (("fitted", target.fit), ("held out", target.held_out))
        if keys
    }
    return Fitting(card, fitted, tuple(knobs), result, tuple(certain), target, errors)


def _errors(
    before: Sequence[Row], after: Sequence[Row], keys: frozenset[Key], target: Target
) -> Errors:
    old, new = (_of(rows, keys) for rows in (before, after))
    means = [[row for row in rows if row.statistic == "mean"] for rows in (old, new)]
    return Errors(
        before=mean_error(old),
        after=mean_error(new),
        means_before=mean_error(means[0]),
        means_after=mean_error(means[1]),
        means_naive=naive_error(_of(after, target.fit), means[1], target.scenarios),
        columns=len(means[1]),
    )


def _of(rows: Sequence[Row], keys: frozenset[Key]) -> list[Row]:
    return [row for row in rows if (row.column, row.message_bytes) in keys]
