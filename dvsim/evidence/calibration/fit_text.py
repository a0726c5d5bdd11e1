"""A fitted card as text: before and after, how well it is known, what it predicts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dvsim.evidence.calibration.fit import Fitting
from dvsim.evidence.calibration.knobs import short
from dvsim.evidence.calibration.uncertain import Prediction
from dvsim.evidence.lab.data import METRICS
from dvsim.evidence.lab.text import UNITS
from dvsim.evidence.numbers import number_text


def fit_lines(fitting: Fitting) -> Iterator[str]:
    """Yield what was found as text."""
    target, outcome = fitting.target, fitting.outcome
    files = " and ".join(one.path.name for one, _ in target.by_file(target.fit))
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
    heads = f"{'before':>9} {'after':>9} {'means before':>13} {'after':>7} {'naive':>7}"
    yield f"  {'log errors':<22} {heads}"
    for split, error in fitting.errors.items():
        naive = "-" if error.means_naive is None else f"{error.means_naive:.3f}"
        yield (
            f"  {f'{split}, {error.columns} columns':<22} {error.before:>9.3f} {error.after:>9.3f} "
            f"{error.means_before:>13.3f} {error.means_after:>7.3f} {naive:>7}"
        )
    yield "  naive: a latency and bytes over a rate, fitted to the same means"
    yield from _predictions(fitting)


def _parameters(fitting: Fitting) -> Iterator[str]:
    heads = f"{'before':>14} {'after':>14} {'95 %':>26} {'/1.2':>6} {'x1.2':>6} {'starts':>7}"
    yield f"  {'parameter':<22} {heads}"
    values = np.exp(fitting.outcome.best.at)
    ranges = fitting.uncertain.parameters
    for knob, value, ends, item in zip(fitting.knobs, values, ranges, fitting.known, strict=True):
        before, after = (knob.text(fitting.base, one) for one in (knob.start, short(value)))
        told = "left open" if ends.open else knob.range_text(fitting.base, ends)
        yield (
            f"  {knob.name:<22} {before:>14} {after:>14} {told:>26} {item.down:>6.2f} "
            f"{item.up:>6.2f} {'-' if item.ratio is None else f'{item.ratio:.2f}':>7}"
            f"{'  hardly determined' if item.weak else ''}"
        )
    yield "  /1.2, x1.2: loss with this one moved, over the least; starts: largest over smallest"
    misfit = fitting.uncertain.misfit
    if misfit is None:
        yield "  as many parameters as fitted cases: what the model is off by cannot be seen"
    elif misfit > 0:
        beyond = f"{np.expm1(misfit):.1%} beyond chance, which the intervals have in them"
        yield f"  the fitted cases are off by {beyond}"


def _predictions(fitting: Fitting) -> Iterator[str]:
    target, predicted = fitting.target, fitting.uncertain.predicted
    told = [(at, predicted[at]) for at in sorted(predicted) if at in target.held_out]
    if not told:
        return
    inside = sum(one.holds for _, one in told)
    yield f"  held out and predicted: {inside} of {len(told)} within the 95 % interval of one run"
    told.sort(key=lambda item: (target.cases[item[0]].size, item[0]))
    units = [UNITS[METRICS[target.cases[at].case.metric]] for at, _ in told]
    names = [
        f"{target.cases[at].name}, {one.row.statistic}" + (", us" if unit == "us" else "")
        for (at, one), (_, unit) in zip(told, units, strict=True)
    ]
    wide = max(map(len, names))
    yield f"    {'':<{wide}} {'measured':>12} {'predicted':>12} {'95 %':>26} {'error':>7}"
    for name, (_, one), (factor, _) in zip(names, told, units, strict=True):
        numbers = (one.row.measured, one.value, one.low, one.high)
        measured, value, low, high = (number_text(number / factor) for number in numbers)
        yield (
            f"    {name:<{wide}} {measured:>12} {value:>12} {f'{low} to {high}':>26} "
            f"{one.value / one.row.measured - 1:>+7.1%}{_mark(one)}"
        )


def _mark(one: Prediction) -> str:
    return "" if one.holds else "  outside"
