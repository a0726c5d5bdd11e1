"""A fitted card, and what is known of it: as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dvsim.evidence.affine import short
from dvsim.evidence.calibration.knobs import Knob
from dvsim.evidence.calibration.search import Outcome
from dvsim.evidence.calibration.target import Target
from dvsim.scenario.types import Card
from dvsim.study.table import Table, frame_table
from dvsim.table.reply import records


@dataclass(frozen=True, eq=False)
class Fitting:
    """A card that was fitted, and what is known of it.

    Attributes:
        base, made: The card before, and after, by its role.
        target, outcome: What it was fitted to, and where the search has led.
        knobs: What was turned.
        parameters: A row for each of them by name: before and after; its 95 % interval low and
            high, open if that is but the bounds; and how well it is known: see `known`.
        misfit: See `dvsim.evidence.calibration.uncertain.Uncertain`.
        cases: What the fit says of one more run of each case, in 1/s or s: case, statistic, split
            (fitted, held out, predicted: nobody has measured it), measured, value with its 95 %
            interval low and high, holds: measured is within.
        errors: Mean absolute log errors by split, with draws that the search has not seen: before,
            after; of the means alone, which are all that the rival, latency and bytes over a rate,
            predicts: means_before, means_after, means_naive, none without means that it could be
            fitted to; columns: how many means there are.
        statistics: What was fitted of each case: ``mean``, ``50%`` …
        questions: What is to be looked at before the fit is believed.
    """

    base: Card
    made: Mapping[str, Card]
    target: Target
    outcome: Outcome
    knobs: Sequence[Knob]
    parameters: pd.DataFrame
    misfit: float | None
    cases: pd.DataFrame
    errors: pd.DataFrame
    statistics: Sequence[str]
    questions: Sequence[str]

    def facts(self) -> dict[str, Any]:
        """Return what was found as JSON types."""
        known = ["case", "statistic", "split", "measured", "value", "low", "high"]
        asked = self.cases["split"] == "predicted"
        return {
            "fitted": self.target.names(self.target.fit),
            "held_out": self.target.names(self.target.held_out),
            "evaluations": self.outcome.evaluations,
            "losses": [end.loss for end in self.outcome.ends],
            "known": dict(zip(self.parameters.index, records(self.parameters), strict=True)),
            "errors": records(self.errors),
            "predicted": records(self.cases[~asked][known]),
            "predictions": records(self.cases[asked][known]),
            "statistics": list(self.statistics),
            "questions": list(self.questions),
        }

    def lines(self) -> Iterator[str | Table]:
        """Yield what was found as text."""
        target, outcome = self.target, self.outcome
        (card,) = self.made.values()
        files = " and ".join(data.path.name for data, _ in target.by_file(target.fit))
        head = f"{card.name}: {self.base.name} fitted to {target.names(target.fit)} B of {files}"
        yield f"{head}; {outcome.evaluations} evaluations, {len(outcome.ends)} starts"
        yield from (f"  {question}" for question in self.questions)
        yield f"  fitted of each case: {', '.join(self.statistics)}"
        for name, reason in target.missing[:1]:
            yield f"  {len(target.missing)} not used, such as {name}: {reason}"
        losses = ", ".join(f"{end.loss:.4f}" for end in outcome.ends)
        near = f"{len(outcome.near)} of {len(outcome.ends)} within 5 % of the least"
        yield f"  losses of the starts: {losses}; {near}"
        told: Any = self.parameters.astype(object)
        for knob in self.knobs:
            for name in ("before", "after", "low", "high"):
                told.loc[knob.name, name] = knob.text(self.base, short(told.loc[knob.name, name]))
        yield frame_table(told.reset_index(names="parameter"))
        if self.misfit is None:
            yield "  as many parameters as fitted cases: what the model is off by cannot be seen"
        elif self.misfit > 0:
            yield f"  the fitted cases are off by {np.expm1(self.misfit):.1%} beyond chance"
        yield frame_table(self.errors)
        told = self.cases[self.cases["split"] != "fitted"]
        if len(told):
            yield frame_table(told)
