"""A card fitted to measurements, judged by those that were held out."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dvsim.contract.load import load_card
from dvsim.errors import Argument, ScenarioError
from dvsim.evidence.affine import short
from dvsim.evidence.calibration.fit_text import Fitting
from dvsim.evidence.calibration.knobs import Knob, knobs_of, with_values
from dvsim.evidence.calibration.rows import (
    headlines,
    mean_error,
    naive_error,
    simulated_rows,
    trials_of,
)
from dvsim.evidence.calibration.search import STEP, known, search
from dvsim.evidence.calibration.target import Data, Target, target_of
from dvsim.evidence.calibration.uncertain import uncertain
from dvsim.evidence.lab.judge import unit_questions
from dvsim.evidence.statistics import Floats
from dvsim.scenario.bounds import SEED
from dvsim.scenario.types import Card
from dvsim.study.design import Design, Plan, Trial, planned

JUDGES = 10  # replications that judge a fit: their spread is the noise of a run


class Fit(Design[Trial, Fitting]):
    """A card fitted to measurements.

    Args:
        base: The card: a packaged one by name, or a file.
        data, fit, hold_out: See `dvsim.evidence.calibration.target.target_of`.
        parameters: See `dvsim.evidence.calibration.knobs.knobs_of`.
        budget: Evaluations of all starts together; each runs every fitted scenario.
        starts: Of the local search: the card, and others around it.
        replications, scale, seed: Of each run. The seed is the same in all: equal draws for all
            that is compared.
        name, command: Of the new card, and what was typed, for its sources.
        progress: Called with a line of text each time a smaller loss is found.

    Raises:
        ScenarioError: If there is no such card, file, case or parameter, the budget is too small,
            or the seed is none.
    """

    def __init__(
        self,
        base: str,
        data: Data,
        *,
        fit: str | None,
        hold_out: str,
        parameters: Sequence[str],
        budget: int,
        starts: int,
        replications: int,
        scale: float,
        seed: int,
        name: str,
        command: str,
        progress: Callable[[str], None] = lambda text: None,
    ) -> None:
        if not 0 <= seed < SEED:  # the runs that judge the fit have the next one
            raise ScenarioError.at(Argument("seed"), f"is {seed}; from 0 to {SEED - 1}")
        self.card = load_card(base)
        self.target = target_of(self.card, data, fit, hold_out)
        self.knobs = knobs_of(self.card, parameters)
        least = starts * (len(self.knobs) + 2)
        if budget < least:
            message = f"{starts} starts with {len(self.knobs)} parameters need {least} at least"
            raise ScenarioError.at(Argument("budget"), f"is {budget}; {message}")
        self.name, self.command, self.progress = name, command, progress
        self.settings = {"starts": starts, "budget": budget, "seed": seed}
        self.seed, self.replications, self.scale = seed, replications, scale
        self.losses: dict[bytes, float] = {}

    def plan(self) -> Plan[Trial, Fitting]:
        """Ask for what the search tries, for steps beside its end, and for runs that judge it."""
        card, target, knobs = self.card, self.target, self.knobs
        every = target.fit | target.held_out | target.predict
        start, low, high = (
            [math.log(getattr(knob, end)) for knob in knobs] for end in ("start", "low", "high")
        )
        result = yield from planned(
            lambda loss: search(loss, start, low, high, **self.settings), self.loss
        )
        stepped: list[pd.DataFrame] = []

        def step(at: Floats) -> Plan[Trial, float]:
            stepped.append((yield from self.rows(self._turned(at), every)))
            return mean_error(_of(stepped[-1], target.fit))

        certain = yield from planned(lambda loss: known(loss, result), step)
        values = list(np.exp(result.best.at))
        fitted = with_values(card, knobs, values, "", "")
        old = yield from self.rows(card, every, judges=True)
        new = yield from self.rows(fitted, every, judges=True)
        slopes = _slopes(result.best.at, stepped)
        known_to = (result.best.at, (low, high), slopes, new, target.fit)
        doubt = uncertain(*known_to, self.replications, self.seed)
        errors = pd.DataFrame(
            {"split": split}
            | _errors(_of(old, places), _of(new, places), _of(new, target.fit), target)
            for split, places in (("fitted", target.fit), ("held out", target.held_out))
            if places
        )
        splits = [(target.held_out, "held out"), (target.predict, "predicted")]
        cases = doubt.predicted.assign(split="fitted")
        for places, split in splits:
            cases.loc[cases.index.isin(places), "split"] = split
        cases.insert(0, "case", [target.cases[at].name for at in cases.index])
        cases["holds"] = (
            cases["holds"].map({True: "yes", False: "no"}).mask(cases["measured"].isna(), "-")
        )
        statistics = tuple(_of(new, target.fit)["statistic"].unique().tolist())
        firsts = headlines(_of(old, target.fit | target.held_out))
        metrics = [target.cases[place].case.metric for place in firsts["place"]]
        questions = [*unit_questions(zip(metrics, firsts["log_error"].tolist(), strict=True))]
        parameters = pd.DataFrame(certain, index=[knob.name for knob in knobs]).assign(
            before=[knob.start for knob in knobs],
            after=[short(value) for value in values],
            low=[math.exp(ends.low) for ends in doubt.parameters],
            high=[math.exp(ends.high) for ends in doubt.parameters],
            open=[ends.open for ends in doubt.parameters],
            weak=[one.weak for one in certain],
        )
        parameters["ratio"] = parameters["ratio"].astype(float)
        source = (
            f"least mean log error of {', '.join(statistics)}, "
            f"local search from {self.settings['starts']} starts; {self.command}"
        )
        fitted = _with_sources(fitted, knobs, parameters, target, source)
        title = f"{card.title}; fitted again"
        fitted = replace(fitted, name=f"{self.name}-{card.kind}", title=title)
        known_of = (knobs, parameters, doubt.misfit, cases)
        made = {target.role: fitted}
        return Fitting(card, made, target, result, *known_of, errors, statistics, questions)

    def loss(self, at: Floats) -> Plan[Trial, float]:
        """Ask for the fitted cases at the logarithms of the parameters, unless that was done."""
        key = np.round(at, 6).tobytes()
        if key not in self.losses:
            rows = yield from self.rows(self._turned(at), self.target.fit)
            self.losses[key] = mean_error(rows)
            if self.losses[key] <= min(self.losses.values()):
                done = f"{len(self.losses)} of {self.settings['budget']} evaluations"
                self.progress(f"{done}, loss {self.losses[key]:.4f}")
        return self.losses[key]

    def rows(
        self, card: Card, places: frozenset[int], *, judges: bool = False
    ) -> Plan[Trial, pd.DataFrame]:
        """Ask for cases with a card; `judges` has draws that the search has not seen."""
        times = max(JUDGES, self.replications) if judges else self.replications
        asked = {"seed": self.seed + judges, "replications": times}
        trials = trials_of(self.target, places, self.card, card, self.scale, **asked)
        return simulated_rows(self.target, places, (yield trials))

    def _turned(self, at: Floats) -> Card:
        return with_values(self.card, self.knobs, list(np.exp(at)), "", "a trial")


def _of(rows: pd.DataFrame, places: frozenset[int]) -> pd.DataFrame:
    return rows[rows["place"].isin(places)]


def _slopes(best: Floats, stepped: Sequence[pd.DataFrame]) -> dict[tuple[int, str], Floats]:
    """Return how the logarithm of each statistic moves with each parameter, by case and name.

    `stepped` has the rows with each parameter over, and times, `STEP`, in their order.
    """
    slopes: dict[tuple[int, str], Floats] = {}
    pairs = list(zip(stepped[0::2], stepped[1::2], strict=True))
    for number, (down, up) in enumerate(pairs):
        both: list[Any] = list(down.merge(up, on=["place", "statistic"]).itertuples())
        for row in both:
            if row.simulated_x > 0 and row.simulated_y > 0:
                slope = math.log(row.simulated_y / row.simulated_x) / (2 * STEP)
                key = (row.place, row.statistic)
                slopes.setdefault(key, np.zeros(len(best)))[number] = slope
    return slopes


def _with_sources(
    card: Card, knobs: Sequence[Knob], found: pd.DataFrame, target: Target, source: str
) -> Card:
    parameters = dict(card.parameters)
    fitted = "; ".join(
        f"{data.path.name} (sha256 {hashlib.sha256(data.path.read_bytes()).hexdigest()[:16]}): "
        f"{target.names(places)} B"
        for data, places in target.by_file(target.fit)
    )
    stated = {text for data, _ in target.by_file(target.fit) if (text := data.about.source)}
    ranges: dict[str, list[str]] = {}
    ends: list[Any] = found[["low", "high", "open"]].to_numpy().tolist()
    for knob, (low, high, open_) in zip(knobs, ends, strict=True):
        text = " to ".join(knob.text(card, short(end)) for end in (low, high))
        text = f"{knob.name} {text}{' (left to the bounds)' * open_}"
        ranges.setdefault(knob.parameter, []).append(text)
    for name, texts in ranges.items():
        parts = ["; ".join(sorted(stated)), f"95 %: {', '.join(texts)}", source]
        text = "; ".join(part for part in parts if part)
        parameters[name] = replace(parameters[name], fitted=fitted, source=text)
    return replace(card, parameters=parameters)


def _errors(
    before: pd.DataFrame, after: pd.DataFrame, fitted: pd.DataFrame, target: Target
) -> dict[str, Any]:
    means = [rows[rows["statistic"] == "mean"] for rows in (before, after)]
    return {
        "before": mean_error(before),
        "after": mean_error(after),
        "means_before": mean_error(means[0]),
        "means_after": mean_error(means[1]),
        "means_naive": naive_error(fitted, means[1], target.cases),
        "columns": len(means[1]),
    }
