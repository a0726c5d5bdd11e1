"""A fitted card as text: before and after, how well it is known, what it predicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from dvsim.evidence.affine import short
from dvsim.evidence.calibration.fit import Fitting
from dvsim.evidence.calibration.uncertain import DRAWS
from dvsim.evidence.lab.data import shown
from dvsim.sheets.headings import METRICS
from dvsim.study.number_text import four_digits
from dvsim.study.table import Table


def fit_lines(fitting: Fitting) -> Iterator[str | Table]:
    """Yield what was found as text."""
    target, outcome = fitting.target, fitting.outcome
    files = " and ".join(data.path.name for data, _ in target.by_file(target.fit))
    head = f"{fitting.card.name}: {fitting.base.name} fitted to {target.names(target.fit)} B"
    yield f"{head} of {files}; {outcome.evaluations} evaluations, {len(outcome.ends)} starts"
    yield from (f"  {question}" for question in fitting.questions)
    yield f"  fitted of each case: {', '.join(fitting.statistics)}"
    yield f"  held out: {target.names(target.held_out) + ' B' if target.held_out else 'nothing'}"
    if target.missing:
        name, reason = target.missing[0]
        more = len(target.missing) - 1
        yield f"  not used: {name}{f' and {more} more' if more else ''}: {reason}"
    losses = ", ".join(f"{end.loss:.4f}" for end in outcome.ends)
    near = f"{len(outcome.near)} of {len(outcome.ends)} within 5 % of the least"
    yield f"  losses of the starts: {losses}; {near}"
    yield from _parameters(fitting)
    heads = ("log errors", "before", "after", "means before", "after", "naive")
    rows = []
    for split, error in fitting.errors.items():
        texts = ("-" if value is None else f"{value:.3f}" for value in [*error.values()][:-1])
        rows.append((f"{split}, {error['columns']} columns", *texts))
    yield Table(heads, rows, range(1, len(heads)))
    yield "  naive: a latency and bytes over a rate, fitted to the same means"
    yield from _predictions(fitting)


def _parameters(fitting: Fitting) -> Iterator[str | Table]:
    head = ("parameter", "before", "after", "95 %", "/1.2", "x1.2", "starts", "")
    rows = []
    values = np.exp(fitting.outcome.best.at)
    ranges = fitting.uncertain.parameters
    for knob, value, ends, item in zip(fitting.knobs, values, ranges, fitting.known, strict=True):
        before, after = (knob.text(fitting.base, number) for number in (knob.start, short(value)))
        text = "left open" if ends.open else knob.range_text(fitting.base, ends)
        starts = "-" if item.ratio is None else f"{item.ratio:.2f}"
        weak = "hardly determined" if item.weak else ""
        moved = (f"{loss:.2f}" for loss in (item.down, item.up))
        rows.append((knob.name, before, after, text, *moved, starts, weak))
    yield Table(head, rows, range(1, len(head) - 1))
    yield "  /1.2, x1.2: loss with this one moved, over the least; starts: largest over smallest"
    misfit = fitting.uncertain.misfit
    if misfit is None:
        yield "  as many parameters as fitted cases: what the model is off by cannot be seen"
    elif misfit > 0:
        beyond = f"{np.expm1(misfit):.1%} beyond chance, which the intervals have in them"
        yield f"  the fitted cases are off by {beyond}"


def _predictions(fitting: Fitting) -> Iterator[str | Table]:
    target, predicted = fitting.target, fitting.uncertain.predicted
    held_out = predicted[predicted.index.isin(target.held_out)]
    asked = predicted[predicted.index.isin(target.predict)]
    if len(held_out):
        within = f"{held_out['holds'].sum()} of {len(held_out)} within the 95 % interval of one run"
        yield f"  held out and predicted: {within}"
    rows = []
    table: list[Any] = list(pd.concat([held_out, asked]).itertuples())
    for row in sorted(table, key=lambda row: (target.cases[row.Index].size, row.Index)):
        case = target.cases[row.Index]
        factor, unit = shown(METRICS[case.case.metric])
        name = f"{case.name}, {row.statistic}{', us' * (unit == 'us')}"
        value, low, high = (four_digits(one / factor) for one in (row.value, row.low, row.high))
        measured, error, outside = "-", "", ""
        if row.Index not in target.predict:
            measured = four_digits(row.measured / factor)
            error, outside = f"{row.value / row.measured - 1:+.1%}", "outside" * (not row.holds)
        rows.append((name, measured, value, f"{low} to {high}", error, outside))
    head = ("", "measured", "predicted", "95 %", "error", "")
    if rows:
        yield Table(head, rows, range(1, len(head) - 1))
    if len(asked):
        yield (
            f"  95 %: of one more run; a parametric bootstrap, {DRAWS:,} fits of measurements that "
            "might have been, so the parameters' uncertainty is in it"
        )
