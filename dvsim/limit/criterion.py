"""A criterion such as ``acceptance > 0.99 and p99 < 40``, and what replications say to it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dvsim.errors import Fault, ScenarioError
from dvsim.results.interval import CONFIDENCE, half_width
from dvsim.results.study import METRICS
from dvsim.scenario.find import nearest

Verdict = Literal["holds", "fails", "undecided"]

_TERM = re.compile(r"\s*(\w+)\s*(<=|>=|<|>)\s*(\S+)\s*")
EXAMPLE = "write for example 'acceptance > 0.99'"


@dataclass(frozen=True)
class Estimate:
    """A mean over replications, and half of its interval; infinite where one run alone has it."""

    value: float
    half: float


@dataclass(frozen=True)
class Term:
    """One comparison of a metric with a number."""

    metric: str
    sign: str
    bound: float

    def verdict(self, found: Estimate) -> Verdict:
        """Return what an interval says: it must lie on one side of the bound.

        A metric that is not a number, such as the latency where nothing is delivered, speaks
        against nothing: it holds.
        """
        if math.isnan(found.value):
            return "holds"
        low, high = found.value - found.half, found.value + found.half
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
        return f"{self.metric} {self.sign} {self.bound:g}"


@dataclass(frozen=True)
class Criterion:
    """Comparisons that must all hold."""

    terms: tuple[Term, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that it speaks of."""
        return tuple(dict.fromkeys(term.metric for term in self.terms))

    def verdict(self, found: Mapping[str, Estimate]) -> Verdict:
        """Return what estimates say: one comparison that fails is enough to fail."""
        verdicts = [term.verdict(found[term.metric]) for term in self.terms]
        if "fails" in verdicts:
            return "fails"
        return "undecided" if "undecided" in verdicts else "holds"

    def __str__(self) -> str:
        return " and ".join(map(str, self.terms))


def parse_criterion(text: str) -> Criterion:
    """Read a criterion: a metric, one of ``< <= > >=`` and a number; several joined by ``and``.

    Raises
    ------
    ScenarioError
        With everything that is wrong with it, and the nearest metric.

    Examples
    --------
    >>> print(parse_criterion("acceptance>0.99 and p99 <= 40"))
    acceptance > 0.99 and p99 <= 40
    """
    terms, faults = [], []
    for part in re.split(r"\band\b", text):
        match = _TERM.fullmatch(part)
        if not match:
            faults.append(_fault(f"'{part.strip()}' is no comparison; {EXAMPLE}"))
            continue
        metric, sign, number = match.groups()
        if metric not in METRICS:
            known = ", ".join(METRICS)
            faults.append(_fault(f"no metric '{metric}' in {known}", nearest(metric, METRICS)))
        bound = _number(number)
        if bound is None:
            faults.append(_fault(f"'{number}' is no number; {EXAMPLE}"))
        else:
            terms.append(Term(metric, sign, bound))
    if faults:
        raise ScenarioError(faults)
    return Criterion(tuple(terms))


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of a metric over replications; not a number if no replication has one."""
    known = np.array([value for value in values if not math.isnan(value)])
    if not known.size:
        return Estimate(math.nan, 0.0)
    if known.size == 1:
        return Estimate(float(known[0]), math.inf)
    half = half_width(known.size, known.std(ddof=1), confidence)
    return Estimate(float(known.mean()), float(half))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _fault(message: str, hint: str | None = None) -> Fault:
    return Fault("--until", None, "", message, hint)
