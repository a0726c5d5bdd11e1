"""Search for the largest value of a key at which a criterion holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from dvsim.contract.find import kind_of
from dvsim.contract.kind import Keys, Kind, Order, Reading, never_settles
from dvsim.errors import Argument, Fault, ScenarioError, nearest
from dvsim.pool import Workers, default_workers
from dvsim.scenario.document import dotted
from dvsim.scenario.spec import Point, Spec
from dvsim.study.design import Design, Plan, Trial
from dvsim.study.execute import Executor, execute
from dvsim.study.limit.criterion import Criterion, Verdict, deciding, prospect
from dvsim.study.precision import MOST as MOST_NEEDED
from dvsim.study.precision import PILOT, confidence_of, needed, pilot_seed
from dvsim.table.estimate import Estimate, estimate, share_of

FINEST = 1e-9  # tolerance; many roundings of a number above 0 and at most 1
TOLERANCE = {"share": 0.001, "scaled": 0.01}  # absolute, and relative


class Axis(Protocol):
    """Values in order."""

    @property
    def low(self) -> float:
        """The lower bound."""

    @property
    def high(self) -> float:
        """The upper bound."""

    def middle(self, low: float, high: float) -> float | None:
        """Return a value between two, None if they are as near as can be."""


@dataclass(frozen=True)
class Continuous:
    """All numbers; two are as near as can be within the tolerance."""

    low: float
    high: float
    tolerance: float

    def middle(self, low: float, high: float) -> float | None:
        """Return the mean of two numbers."""
        return (low + high) / 2 if high - low > self.tolerance else None


@dataclass(frozen=True)
class Scaled:
    """All numbers above 0; two are as near as can be if their ratio is within the tolerance."""

    low: float
    high: float
    tolerance: float

    def middle(self, low: float, high: float) -> float | None:
        """Return the geometric mean of two numbers, in four digits: people read it."""
        middle = float(f"{math.sqrt(low * high):.4g}")
        return middle if high > low * (1 + self.tolerance) and low < middle < high else None


@dataclass(frozen=True)
class Whole:
    """Whole numbers, or the powers of two among them."""

    low: int
    high: int
    powers: bool = False

    def middle(self, low: float, high: float) -> int | None:
        """Return the whole number, or the power of two, in the middle."""
        first, last = int(low), int(high)
        if self.powers:
            exponent = (first.bit_length() + last.bit_length()) // 2 - 1
            return 1 << exponent if first < 1 << exponent < last else None
        middle = (first + last) // 2
        return middle if first < middle else None


def axis_of(
    key: str, between: tuple[float, float] | None, tolerance: float | None, keys: Keys
) -> Axis:
    """Return the axis of a key.

    Args:
        key: Short name of a key of a scenario.
        between: Bounds; None for those of the key.
        tolerance: Of a key that is no whole number: absolute of a share, relative of anything else.
            None takes that of `TOLERANCE`.
        keys: Those that have an order.
    """
    if key not in keys:
        message = f"'{key}' has no order to search in; one of {', '.join(keys)}"
        raise ScenarioError.at(Argument("key"), message, hint=nearest(key, keys))
    order = keys[key]
    ends = between or order.between
    if ends is None:
        raise ScenarioError.at(Argument("between"), f"missing; '{key}' needs a range to search in")
    near = TOLERANCE.get(order.kind, 1.0) if tolerance is None else tolerance
    faults = [Argument("between").fault(fault) for fault in _wrong(key, order, *ends)]
    if order.kind in TOLERANCE and not FINEST <= near < 1:
        message = f"{near:g} is not from {FINEST:g} on and below 1"
        faults.append(Argument("tolerance").fault(message))
    if faults:
        raise ScenarioError(faults)
    low, high = ends
    if order.kind == "share":
        return Continuous(low, high, near)
    if order.kind == "scaled":
        return Scaled(low, high, near)
    return Whole(int(low), int(high), powers=order.kind == "powers")


def _wrong(key: str, order: Order, low: float, high: float) -> Iterator[str]:
    if not low < high:
        yield f"{low:g} is not below {high:g}"
    if order.kind in ("share", "scaled"):
        if not (low >= order.least and high <= order.most):
            yield f"a {key} is from {order.least:g} to {order.most:g}, not from {low:g} to {high:g}"
        return
    for bound in (low, high):
        if not math.isfinite(bound) or bound != int(bound):
            yield f"'{key}' is a whole number, not {bound:g}"
        elif abs(bound) > order.most:
            yield f"'{key}' must be at most {order.most}, not {bound:g}"
        elif order.kind == "powers" and (bound < 2 or int(bound) & (int(bound) - 1)):
            yield f"a {key} is a power of two from 2 on, not {bound:g}"
        elif bound < order.least:
            yield f"'{key}' must be at least {order.least}, not {bound:g}"


# Bisection with confidence: at each probe replications are added until one side is certain.
#
# With a precision a pilot says how many there are, and then the verdict is read.
#
# It is taken for granted that the criterion changes once between the bounds. A probe is looked at
# after 2, 4, 8, 16 and 32 replications as a rule. So that a verdict is wrong with at most 5 % over
# all these looks, an interval that decides has a confidence of 1 - 5 % / looks: see
# `dvsim.study.precision`, 99 % for five.
#
# A probe so near to the limit that its last look would not decide it either, by how much the
# replications so far scatter, stays undecided at once: it makes the answer wider by a little, and
# costs a quarter. Stopping there makes no verdict wrong.
#
# A load at which queues grow for as long as a run lasts has no mean latency and no quantile: the
# criterion fails there, whatever the run says, if half of the replications say so.
#
# A run at flow fidelity does not scatter, but has an error; it is added to the interval where it is
# known.

FIRST, LAST = 2, 32  # replications of the first look at a probe and of the last
MOST = 80  # of the last look where the first has a number that was asked for
TELLING = 8  # replications that say how much more of them would scatter
QUICK_S = 0.1  # replications that take no longer are not given to other processes

Outcome = Literal["found", "everywhere", "nowhere", "reversed", "undecided"]
OnProbe = Callable[["Probe"], None]


@dataclass(frozen=True)
class Probe:
    """One value of the key: what was measured there and what that says.

    `estimates` has the intervals that decide, see `confidence_of`.
    """

    value: float
    replications: int
    estimates: Mapping[str, Estimate]
    verdict: Verdict
    notes: str
    fidelity: str


@dataclass(frozen=True)
class Limit:
    """The limit at one point of the keys that are still varied."""

    point: Point  # those keys; empty if there are none
    # ``everywhere`` and ``nowhere``: the criterion holds, or fails, at both bounds. ``reversed``:
    # it changes, but the other way round; the smallest value is to be searched, or the largest.
    # ``undecided``: at one of the bounds nothing is certain.
    outcome: Outcome
    # The last value at which it holds and the first at which it fails, with confidence; None where
    # there is none. What lies between is the uncertainty.
    holds: float | None
    fails: float | None
    probes: tuple[Probe, ...]  # in the order of the values


def find_limits(
    scenario: Spec,
    key: str,
    axis: Axis,
    criterion: Criterion,
    *,
    smallest: bool = False,
    seed: int = 1,
    replications: int | None = None,
    precision: float | None = None,
    workers: int | None = 1,
    on_probe: OnProbe | None = None,
) -> Iterator[Limit]:
    """Yield the limit of a key at each point of the other varied keys.

    Args:
        scenario: Of any kind; the key is not varied any more, and its own value does not count.
        key, axis: What is searched, and where.
        criterion: What must hold.
        smallest: Look for the smallest value at which it holds, not for the largest.
        seed, replications: A probe has replications 1 .. `replications` first, then twice as many,
            up to `MOST`; None: from `FIRST` up to `LAST`.
        precision: Instead of `replications`: 3 to 30, as many as it takes by a pilot that half of
            the interval of each metric of the criterion is at most this share of it.
        workers: Processes; None: one for each core that this one may use.
        on_probe: Called with each probe as it is done.
    """
    kind = kind_of(scenario)
    if not scenario.has(key):
        raise ScenarioError.at(Argument("key"), f"'{key}' is no key of {scenario.name}")
    others = scenario.fixed(key, int(axis.low) if isinstance(axis, Whole) else axis.low)
    for number in range(len(others.points)):
        for bound in (axis.low, axis.high):  # before anything is run
            _check(kind, scenario.name, key, _at(others.at(number), key, axis, bound))
    steps = steps_of(replications, precision)
    with Workers(workers or default_workers()) as pool:
        by = Readings(seed, pool)
        for number, point in enumerate(others.points):
            yield execute(
                Bisect(
                    setting=others.at(number),
                    name=scenario.name,
                    point=point,
                    key=key,
                    axis=axis,
                    criterion=criterion,
                    smallest=smallest,
                    steps=steps,
                    precision=precision,
                    on_probe=on_probe,
                ),
                by,
            )


@dataclass(frozen=True)
class Readings(Executor[Trial]):
    """Replications of one point, on the processes of a pool; nothing is kept."""

    seed: int
    pool: Workers

    def run(self, trials: Sequence[Trial]) -> Iterator[tuple[Trial, list[Reading]]]:
        """Run the replications that a trial has not got yet, and yield all of its readings."""
        for trial in trials:
            begun = trial.begun or []
            numbers = range(len(begun) + 1, trial.replications + 1)
            seed = pilot_seed(self.seed) if trial.pilot else self.seed
            tasks = [(trial.scenario, seed, number) for number in numbers]
            quick = kind_of(trial.scenario).seconds(trial.scenario) * len(tasks) < QUICK_S
            yield trial, [*begun, *(map(_run, tasks) if quick else self.pool.do(_run, tasks))]


@dataclass(eq=False, kw_only=True)
class Bisect(Design[Trial, Limit]):
    """The search for a limit at one point of the keys that are still varied."""

    # The scenario there, and those keys.
    setting: Any
    point: Point
    name: str  # of the scenario
    key: str
    axis: Axis
    criterion: Criterion
    smallest: bool
    steps: Sequence[int]  # replications of the first look at a probe, of the second, …
    precision: float | None
    on_probe: OnProbe | None
    probes: dict[float, Probe] = field(default_factory=dict)  # those so far, by value

    def plan(self) -> Plan[Trial, Limit]:
        """Search between the bounds; `good` and `bad` are the sides where it holds and fails."""
        good, bad = self.axis.low, self.axis.high
        if self.smallest:
            good, bad = bad, good
        match (yield from self.verdict(good)), (yield from self.verdict(bad)):
            case "holds", "fails":
                pass
            case "holds", "holds":
                return self._limit("everywhere", bad, None)
            case "fails", "fails":
                return self._limit("nowhere", None, good)
            case "fails", "holds":
                return self._limit("reversed", bad, good)
            case _:
                return self._limit("undecided", self._last("holds"), self._last("fails"))
        while (middle := self._middle(good, bad)) is not None:
            verdict = yield from self.verdict(middle)
            if verdict == "undecided":  # from here on each side has a limit of its own
                good = yield from self._edge(good, middle, "holds")
                bad = yield from self._edge(bad, middle, "fails")
                break
            good, bad = (middle, bad) if verdict == "holds" else (good, middle)
        return self._limit("found", good, bad)

    def verdict(self, value: float) -> Plan[Trial, Verdict]:
        """Ask for replications at a value, as many as it takes to judge it."""
        if value in self.probes:
            return self.probes[value].verdict
        setting = _at(self.setting, self.key, self.axis, value)
        _check(kind_of(setting), self.name, self.key, setting)
        runs: list[Reading] = []
        steps = self.steps
        if self.precision is not None:
            (pilot,) = yield [Trial(setting, PILOT, pilot=True)]
            steps = [max(self._needed(metric, pilot) for metric in self.criterion.metrics)]
        for wanted in steps:
            (runs,) = yield [Trial(setting, wanted, begun=runs)]
            estimates = {metric: self._estimate(metric, runs) for metric in self.criterion.metrics}
            self._check_metrics(value, estimates)
            verdict = self.criterion.verdict(estimates) if len(runs) > 1 else "undecided"
            growing = sum(never_settles(run.notes) for run in runs)
            if 0 < growing < len(runs) < TELLING and wanted < steps[-1]:
                continue
            if 2 * growing >= len(runs):  # beyond the limit, whatever its metrics are after so long
                verdict = "fails"
            if verdict != "undecided" or self._hopeless(runs):
                break
        notes = next((run.notes for run in runs if run.notes), "")
        probe = Probe(value, len(runs), estimates, verdict, notes, runs[0].fidelity)
        self.probes[value] = probe
        if self.on_probe:
            self.on_probe(probe)
        return verdict

    def _needed(self, metric: str, pilot: Sequence[Reading]) -> int:
        assert self.precision is not None
        known = estimate(kind_of(self.setting).values(metric, pilot))
        return needed(share_of(known), self.precision)

    def _hopeless(self, runs: Sequence[Reading]) -> bool:
        if self.precision is not None or len(runs) < TELLING:
            return False
        last = self.steps[-1]
        then = {metric: self._estimate(metric, runs, last) for metric in self.criterion.metrics}
        return self.criterion.verdict(then) == "undecided"

    def _check_metrics(self, value: float, estimates: Mapping[str, Estimate]) -> None:
        absent = [metric for metric, estimate in estimates.items() if math.isnan(estimate.value)]
        if kind_of(self.setting).always and absent:
            message = f"{self.name} has no {', '.join(absent)} at {self.key} {value:g}"
            raise ScenarioError.at(Argument("until"), message)

    def _estimate(self, metric: str, runs: Sequence[Reading], last: int = 0) -> Estimate:
        """Estimate a metric, with the error of the flow level where it is known.

        With `last` as it would be after so many replications, if they scatter as these do.
        """
        values, share = kind_of(self.setting).values(metric, runs), confidence_of(self.steps)
        interval = prospect(values, last, share) if last else deciding(values, share)
        known = kind_of(self.setting).flow_errors.get(metric)
        if runs[0].fidelity != "flow" or known is None:
            return interval
        error = max(getattr(run, known) for run in runs) * abs(interval.value)
        return Estimate(interval.value, interval.low - error, interval.high + error)

    def _middle(self, low: float, high: float) -> float | None:
        return self.axis.middle(min(low, high), max(low, high))

    def _edge(self, certain: float, undecided: float, verdict: Verdict) -> Plan[Trial, float]:
        while (middle := self._middle(certain, undecided)) is not None:
            if (yield from self.verdict(middle)) == verdict:
                certain = middle
            else:
                undecided = middle
        return certain

    def _last(self, verdict: Verdict) -> float | None:
        values = [value for value, probe in self.probes.items() if probe.verdict == verdict]
        return values[0] if values else None

    def _limit(self, outcome: Outcome, holds: float | None, fails: float | None) -> Limit:
        probes = tuple(self.probes[value] for value in sorted(self.probes))
        return Limit(self.point, outcome, holds, fails, probes)


def _run(task: tuple[Spec, int, int]) -> Reading:
    setting, seed, replication = task
    reading: Reading = kind_of(setting).replicate(setting, seed, replication)
    return reading


def steps_of(replications: int | None = None, precision: float | None = None) -> Sequence[int]:
    """Return after how many replications a probe is looked at.

    >>> steps_of(), steps_of(10), steps_of(80), steps_of(precision=0.05)
    ((2, 4, 8, 16, 32), (10, 20, 40, 80), (80,), (30,))
    """
    if precision is not None:  # as a pilot says, and at most
        return (MOST_NEEDED,)
    steps, last = ([FIRST], LAST) if replications is None else ([replications], MOST)
    while steps[-1] < last:
        steps.append(min(2 * steps[-1], last))
    return tuple(steps)


def _at(setting: Any, key: str, axis: Axis, value: float) -> Any:  # noqa: ANN401 - of its kind
    return setting.put(key, int(value) if isinstance(axis, Whole) else value)


def _check(kind: Kind, name: str, key: str, setting: Any) -> None:  # noqa: ANN401 - of its kind
    refusals = list(kind.refused(setting)) or kind.extent(setting)
    faults = [Fault(name, None, dotted(where), message) for where, message in refusals]
    if faults:
        raise ScenarioError(faults)
