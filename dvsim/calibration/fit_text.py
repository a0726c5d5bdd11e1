"""A fitted card as text: before and after, how well it is known, and the held-out columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dvsim.calibration.against import Fitting
from dvsim.calibration.target import Key


def lines(fitting: Fitting) -> Iterator[str]:
    """Yield what was found as text."""
    head = f"{fitting.card.name}: {fitting.base.name} fitted to {_columns(fitting.target.fit)}"
    yield f"{head}; {fitting.found.evaluations} evaluations, {len(fitting.found.ends)} starts"
    losses = ", ".join(f"{end.loss:.4f}" for end in fitting.found.ends)
    near = f"{len(fitting.found.near)} of {len(fitting.found.ends)} within 5 % of the least"
    yield f"  losses of the starts: {losses}; {near}"
    yield f"  {'parameter':<22} {'before':>14} {'after':>14} {'/1.2':>6} {'x1.2':>6} {'starts':>7}"
    values = np.exp(fitting.found.best.at)
    for knob, value, one in zip(fitting.knobs, values, fitting.known, strict=True):
        told = [knob.text(fitting.base, number) for number in (knob.start, _short(value))]
        yield (
            f"  {knob.name:<22} {told[0]:>14} {told[1]:>14} {one.down:>6.2f} {one.up:>6.2f} "
            f"{'-' if one.ratio is None else f'{one.ratio:.2f}':>7}"
            f"{'  hardly determined' if one.weak else ''}"
        )
    yield "  /1.2, x1.2: loss with this one moved, over the least; starts: largest over smallest"
    heads = f"{'before':>9} {'after':>9} {'means before':>13} {'after':>7} {'naive':>7}"
    yield f"  {'log errors':<22} {heads}"
    for what, error in fitting.errors.items():
        yield (
            f"  {f'{what}, {error.columns} columns':<22} {error.before:>9.3f} {error.after:>9.3f} "
            f"{error.means_before:>13.3f} {error.means_after:>7.3f} {error.means_naive:>7.3f}"
        )
    yield "  naive: a latency and bytes over a rate, fitted to the same means"


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _columns(keys: frozenset[Key]) -> str:
    by: dict[str, list[int]] = {}
    for column, size in sorted(keys, key=lambda key: (key[0], key[1])):
        by.setdefault(column, []).append(size)
    return "; ".join(f"{column}: {', '.join(map(str, sizes))} B" for column, sizes in by.items())
