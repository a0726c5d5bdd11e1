"""A fitted card as text: before and after, how well it is known, what it predicts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dvsim.evidence.affine import short
from dvsim.evidence.calibration.fit import Fitting
from dvsim.evidence.headings import METRICS
from dvsim.evidence.lab.data import shown
from dvsim.study.number_text import four_digits
from dvsim.study.table import Table


def fit_lines(fitting: Fitting) -> Iterator[str | Table]:
    """Yield what was found as text."""
    target, outcome = fitting.target, fitting.outcome
    files = " and ".join(data.path.name for data, _ in target.by_file(target.fit))
    head = f"{fitting.card.name}: {fitting.base.name} fitted to {target.names(target.fit)} B"
    yield f"{head} of {files}; {outcome.evaluations} evaluations, {len(outcome.ends)} starts"
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
        known = (error.before, error.after, error.means_before, error.means_after)
        naive = "-" if error.means_naive is None else f"{error.means_naive:.3f}"
        texts = (f"{value:.3f}" for value in known)
        rows.append((f"{split}, {error.columns} columns", *texts, naive))
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
    held_out = [(at, predicted[at]) for at in sorted(predicted) if at in target.held_out]
    if not held_out:
        return
    inside = sum(prediction.holds for _, prediction in held_out)
    within = f"{inside} of {len(held_out)} within the 95 % interval of one run"
    yield f"  held out and predicted: {within}"
    held_out.sort(key=lambda item: (target.cases[item[0]].size, item[0]))
    units = [shown(METRICS[target.cases[at].case.metric]) for at, _ in held_out]
    names = [
        f"{target.cases[at].name}, {prediction.row.statistic}" + (", us" if unit == "us" else "")
        for (at, prediction), (_, unit) in zip(held_out, units, strict=True)
    ]
    head = ("", "measured", "predicted", "95 %", "error", "")
    rows = []
    for name, (_, prediction), (factor, _) in zip(names, held_out, units, strict=True):
        numbers = (prediction.row.measured, prediction.value, prediction.low, prediction.high)
        measured, value, low, high = (four_digits(number / factor) for number in numbers)
        error = f"{prediction.value / prediction.row.measured - 1:+.1%}"
        outside = "" if prediction.holds else "outside"
        rows.append((name, measured, value, f"{low} to {high}", error, outside))
    yield Table(head, rows, range(1, len(head) - 1))
