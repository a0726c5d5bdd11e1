"""A criterion such as ``acceptance > 0.99 and p99 < 40``, and what replications say to it."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dvsim.errors import Argument, Fault, ScenarioError, nearest
from dvsim.scenario.quantity import UnitError
from dvsim.scenario.units import parse
from dvsim.table.estimate import CONFIDENCE, Estimate, ends, estimate

Verdict = Literal["holds", "fails", "undecided"]

_TERM = re.compile(r"\s*(\w+)\s*(<=|>=|<|>)\s*(\S.*?)\s*")
_UNITS: Mapping[str, tuple[Literal["time", "rate"], float]] = {
    "ns": ("time", 1e3),
    "us": ("time", 1e6),
    "ms": ("time", 1e9),
    "s": ("time", 1e12),
    "B/s": ("rate", 1),
    "MB/s": ("rate", 1e6),
    "Mb/s": ("rate", 1e6 / 8),
}
"""Of metrics with units that a number may have too: the dimension, and what one of it is."""
EXAMPLE = "write for example 'acceptance > 0.99'"


@dataclass(frozen=True)
class Term:
    """One comparison of a metric with a number in its unit; `unit` is empty where it has none."""

    metric: str
    sign: str
    bound: float
    unit: str = ""

    def verdict(self, value: Estimate) -> Verdict:
        """Return what an interval says: it must lie on one side of the bound.

        A metric that is not a number, such as the latency where nothing is delivered, speaks
        against nothing: it holds.
        """
        if math.isnan(value.value):
            return "holds"
        low, high = value.low, value.high
        if self.sign in ("<", "<="):  # as if turned around at zero
            low, high, bound = -high, -low, -self.bound
        else:
            bound = self.bound
        strict = len(self.sign) == 1
        if low > bound or (low == bound and not strict):
            return "holds"
        if high < bound or (high == bound and strict):
            return "fails"
        return "undecided"

    def __str__(self) -> str:
        return f"{self.metric} {self.sign} {self.bound:g} {self.unit}".rstrip()


@dataclass(frozen=True)
class Criterion:
    """Comparisons that must all hold."""

    terms: tuple[Term, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that it speaks of."""
        return tuple(dict.fromkeys(term.metric for term in self.terms))

    def verdict(self, values: Mapping[str, Estimate]) -> Verdict:
        """Return what estimates say: one comparison that fails is enough to fail."""
        verdicts = [term.verdict(values[term.metric]) for term in self.terms]
        if "fails" in verdicts:
            return "fails"
        return "undecided" if "undecided" in verdicts else "holds"

    def __str__(self) -> str:
        return " and ".join(map(str, self.terms))


def parse_criterion(text: str, metrics: Mapping[str, str]) -> Criterion:
    """Read a criterion: a metric, one of ``< <= > >=`` and a number; several joined by ``and``.

    Args:
        text: A number may have a unit where its metric has one; without it it is in that of the
            metric.
        metrics: Those that there are, with their units. ``latency_p99`` is ``p99`` and so on.

    >>> print(parse_criterion("acceptance>0.99 and p99 <= 40", {"acceptance": "1", "p99": "slots"}))
    acceptance > 0.99 and p99 <= 40
    >>> print(parse_criterion("latency_p99 < 1 ms", {"p99": "us"}))
    p99 < 1000 us
    """
    terms, faults = [], []
    for part in re.split(r"\band\b", text):
        match = _TERM.fullmatch(part)
        if not match:
            faults.append(_fault(f"'{part.strip()}' is no comparison; {EXAMPLE}"))
            continue
        metric, sign, number = match.groups()
        if metric not in metrics and metric.removeprefix("latency_") in metrics:
            metric = metric.removeprefix("latency_")
        unit = metrics.get(metric, "")
        if metric not in metrics:
            known = ", ".join(metrics)
            whole = next((name for name in metrics if name.endswith(f"_{metric}")), None)
            near = whole or nearest(metric, metrics)
            faults.append(_fault(f"no metric '{metric}' in {known}", near))
        units = [unit] if metric in metrics else _UNITS  # it may be that of the metric meant
        bound = next((value for u in units if (value := _number(number, u)) is not None), None)
        if bound is None:
            also = f" in {unit}" if unit in _UNITS else ""
            faults.append(_fault(f"'{number}' is no number{also}; {EXAMPLE}"))
        else:
            terms.append(Term(metric, sign, bound, unit if unit in _UNITS else ""))
    if faults:
        raise ScenarioError(faults)
    return Criterion(tuple(terms))


def deciding(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the estimate of a metric; the interval is infinite where one run alone has a value."""
    interval = estimate(values, confidence)
    alone = sum(not math.isnan(value) for value in values) == 1
    return Estimate.around(interval.value, math.inf) if alone else interval


def prospect(values: Sequence[float], times: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return the estimate that `times` runs would give, if all of them scatter as these do.

    The interval is nothing where one run alone has a value: it says nothing about more of them.

    >>> deciding([1.0, 3.0], 0.95).half > prospect([1.0, 3.0], 8, 0.95).half > 0
    True
    """
    known = [value for value in values if not math.isnan(value)]
    if len(known) < 2:
        return Estimate.around(known[0] if known else math.nan, 0.0)
    mean, deviation = statistics.fmean(known), statistics.stdev(known)
    return Estimate(
        mean, *map(float, ends(mean, times * len(known) / len(values), deviation, confidence))
    )


def _number(text: str, unit: str) -> float | None:
    own = ("msg/s", "1/s") if unit in ("msg/s", "1/s") else (unit,)
    plain = next(
        (text.removesuffix(ending) for ending in own if ending and text.endswith(ending)), text
    )
    try:
        number = float(plain)
    except ValueError:
        if unit not in _UNITS:
            return None
        dimension, size = _UNITS[unit]
        try:
            number = parse(text, dimension) / size
        except UnitError:
            return None
    return number if math.isfinite(number) else None


def _fault(message: str, hint: str | None = None) -> Fault:
    return Argument("until").fault(message, hint)
