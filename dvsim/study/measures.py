"""Ratios of runs over replications, and what an answer can tell of a run besides its rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from dvsim.study.amounts import amount_text, share_text
from dvsim.study.paired import change
from dvsim.study.run import Run
from dvsim.study.statistics import Estimate, Floats


class Measure(NamedTuple):
    """Something that an answer may tell besides the rate.

    Args:
        heading: What it is, to begin a sentence or a column.
        of: From a run to its value, a mean over replications; not a number if the run has none.
        text: From the value to a figure with a unit.
    """

    heading: str
    of: Callable[[Run], float]
    text: Callable[[float], str]


def ratio(values: Floats, base: Floats, *, common: bool = True) -> Estimate | None:
    """Return how many times the base they are, replication by replication.

    The geometric mean, as `dvsim.study.paired.change` has it, with its least width; half of the
    interval is that of the logarithm times the mean. None if there is nothing to divide by, or not
    as many of both. `common`: whether replication r of both had the same random numbers.
    """
    if values.shape != base.shape or not (np.all(values > 0) and np.all(base > 0)):
        return None
    first, other = (dict(enumerate(each.tolist())) for each in (base, values))
    times = change(first, other, "ratio", common=common)
    if times is None:
        return None
    half = 0.0 if times.high is None else times.value * math.log(times.high / times.value)
    return Estimate.around(times.value, half)


def _counter(run: Run, kind: str, metric: str) -> pd.Series[float]:
    """Return a counter of every instance of a component."""
    table = run.counters
    rows = table[(table["component"] == kind) & (table["metric"] == metric)]
    return rows.groupby(["replication", "iteration", "instance"])["value"].sum()


def _mean(kind: str, metric: str) -> Callable[[Run], float]:
    return lambda run: float(_counter(run, kind, metric).mean())


def _time(metric: str, of: str) -> Measure:
    """Return a time that components of a kind count; answers print its mean."""
    kind, _, counter = metric.partition(".")
    return Measure(of, _mean(kind, counter), partial(amount_text, unit="s"))


def _overruns(run: Run) -> float:
    windows = _counter(run, "card", "windows").sum()
    return float(_counter(run, "card", "overruns").sum() / windows) if windows else float("nan")


def _empty(run: Run) -> float:
    return float((run.samples["pieces"] == 0).mean())


def _port(run: Run) -> float:
    """Return how busy the ports of senders are, each of which feeds one receiver or several."""
    several = _counter(run, "source", "utilisation")
    return float((_counter(run, "fabric", "utilisation") if several.empty else several).mean())


def _peak(run: Run) -> float:
    return float(_counter(run, "card", "sram_peak_bytes").max())


def _paged(run: Run) -> float:
    paged = _counter(run, "broker", "paged_bytes")
    return float(paged.groupby(level=["replication", "iteration"]).sum().mean())


MEASURES: dict[str, Measure] = {
    "overruns": Measure("buffers that overrun", _overruns, share_text),
    "empty": Measure("polls that find nothing", _empty, share_text),
    "sram": Measure("most in the SRAM of a card", _peak, partial(amount_text, unit="B")),
    "paged": Measure("paged to disk", _paged, partial(amount_text, unit="B")),
    "blocked": _time("broker.blocked_s", "publishers of a node blocked for"),
    "port": Measure("a sender's port in use", _port, share_text),
    "latency": _time("fabric.latency_s", "first word through the fabric after"),
    "together": Measure(
        "what the fabric carries for each when all send at once",
        _mean("fabric", "rate_together"),
        partial(amount_text, unit="B/s"),
    ),
    "late": Measure("words that come after a later one", _mean("fabric", "late_share"), share_text),
    "resequencing": Measure(
        "words that a port must hold back to deliver in order",
        _mean("fabric", "order_words"),
        lambda value: f"{value:,.0f}",
    ),
    "holding": _time("fabric.order_wait_s", "for which it holds a word back, at most"),
}
"""By the name that a scenario file uses, `dvsim.kinds.rabbitmq.spec.Measure`."""
