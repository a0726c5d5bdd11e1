"""Cases beside their runs: a row for each statistic, with band and verdict, and what is between.

Those who ask what-if decide on ratios, so these are looked at by themselves: sizes of one series,
and two series at one size.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from dvsim.evidence.lab.data import NOT_STATED, About, Case, LabData, Tolerances
from dvsim.evidence.lab.distances import LIMIT, band, ks_bound
from dvsim.evidence.lab.match import Taken, is_reference, match
from dvsim.evidence.lab.simulated import Simulated
from dvsim.evidence.statistics import zero_share_bounds
from dvsim.sheets.headings import share_of
from dvsim.table.compare import agree, beside
from dvsim.table.result import Result

Split = Literal["fitted", "held out", "not stated"]
MEANS = ("mean", "50%")
TAIL = 0.99
ROUNDING = 1e-9  # of a difference of two shares
KINDS = {"mean": "mean", "median": "median", "quantile": "quantiles", "tail": "tail"}
KINDS |= {"empty": "zeros"}
"""What is judged of a case, with the word for people."""

CRITERION = ["what", "kind", "tolerance", "got", "statistic", "passed"]
RATIO = ["above", "below", "statistic", "lab", "simulated", "ratio_ok", "order_ok"]
NEAR = 1.25  # how far a factor may be from one of units, in each case
FACTORS = {
    8: "bits and bytes differ by 8",
    60: "minutes and seconds differ by 60",
    1000: "a prefix (k, m, M), or 1,024, is that far from the next",
    8000: "kilobits and bytes differ by 8,000",
    1_000_000: "two prefixes are that far apart",
    8_000_000: "megabits and bytes differ by 8,000,000",
    1_000_000_000: "three prefixes are that far apart",
}
ASKED = ("source", "page", "hardware", "versions", "loop", "origin", "rounding", "warmup")


class Zeros(NamedTuple):
    """Shares of samples that are zero, 0 to 1: simulated, and bounds of the measured one."""

    simulated: float
    low: float
    high: float

    @property
    def apart(self) -> float:
        """How far the simulated share is above (or below, negative) what was measured."""
        return self.simulated - min(max(self.simulated, self.low), self.high)


@dataclass(frozen=True, eq=False)
class Compared:
    """A case beside what was simulated.

    Attributes:
        rows: One for each statistic, in 1/s or s, as `dvsim.table.compare.beside` has it, with lab
            for what was measured; band_low and band_high, between which the measured one lies with
            95 % if the model is true, and outside, None where there is no band; kind of `KINDS`,
            which tolerance judges it, else empty.
        distances: ks, a bound from below, and ks_limit, what chance allows with 95 %;
            mean_log_error. None without quantiles or samples.
        zeros: Where their share is judged.
    """

    name: str
    case: Case
    simulated: Simulated
    split: Split
    rows: pd.DataFrame
    distances: Mapping[str, float | None] | None
    zeros: Zeros | None

    def row(self, *statistics: str) -> Any:  # noqa: ANN401 - a named tuple of `rows`
        """Return the row of the first of these statistics that there is; None without one."""
        known = {str(row.statistic): row for row in self.rows.itertuples(index=False)}
        return next((known[name] for name in statistics if name in known), None)


@dataclass(frozen=True, eq=False)
class Judged:
    """What a file of measurements says of some runs.

    Attributes:
        file, form: Its name, and what kind of file it is.
        about: What is known of the measurement; `NOT_STATED` where it is not.
        tolerances, declared: See `dvsim.evidence.lab.data.About`.
        criteria: What was asked, a row for each: what, which case or which two; kind, of `KINDS`,
            ratio or order; tolerance, relative, of ``empty`` a difference of shares; got, the
            relative error furthest away, of ``empty`` how far the simulated share of zeros is
            above the measured one; statistic, which one that is; passed, whether all of this kind
            do.
        missing: Cases without a run, and why.
        ratios: One case over another, of their means, or of their medians where a file has no
            means: above, below, statistic, lab, simulated, ratio_ok, order_ok: whether the same
            one is larger, None where the measured ones are too near.
        limits: What these data cannot show.
        questions: What is to be looked at before the verdict is believed.
    """

    file: str
    form: str
    about: dict[str, str]
    tolerances: Tolerances
    declared: tuple[str, ...]
    criteria: pd.DataFrame
    cases: tuple[Compared, ...]
    missing: tuple[tuple[str, str], ...]
    ratios: pd.DataFrame
    limits: tuple[str, ...]
    questions: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every criterion holds, and there is one."""
        return bool(len(self.criteria) and self.criteria["passed"].all())

    @property
    def headline(self) -> str:
        """The verdict as one sentence, with the name of the file."""
        verdict = f"{'PASS' if self.passed else 'FAIL'}, {self.criteria['passed'].sum()} of "
        return f"against {Path(self.file).name}: {verdict}{len(self.criteria)} criteria hold"


def judge(results: Sequence[Result], data: LabData, taken: Taken | None = None) -> Judged:
    """Return what a file of measurements says of runs.

    Args:
        results: Runs of systems, studies of messaging.
        data: See `dvsim.evidence.lab.read.read_lab`.
        taken: See `dvsim.evidence.lab.match.match`.

    Raises:
        ScenarioError: If no case was simulated, or samples are unlike.
    """
    (pairs, missing), about = match(results, data, taken), data.about
    scenarios = [result.scenario for result in results if is_reference(result.scenario, data)]
    references = {scenario.name: scenario.reference.fitted for scenario in scenarios}
    twice = Counter(case.name for case, _ in pairs)
    cases = []
    for case, own in pairs:
        name = f"{case.name}, {own.scenario}" if twice[case.name] > 1 else case.name
        split = _split(case, own.scenario, about, references)
        cases.append(_compared(name, case, own, split, about.tolerance))
    ratios = _ratios(cases, about.tolerance.ratio)
    values = {name: getattr(about, name) for name in ASKED}
    known = {
        name: NOT_STATED if value is None else f"{value:g}" if name == "rounding" else str(value)
        for name, value in values.items()
    }
    means = ((case.case.metric, case.row(*MEANS)) for case in cases)
    errors = ((metric, math.nan if row is None else row.log_error) for metric, row in means)
    return Judged(
        file=str(data.path),
        form=data.form,
        about={"told by": str(about.file) if about.file else "no [lab] table", **known},
        tolerances=about.tolerance,
        declared=about.declared,
        criteria=_criteria(cases, ratios, about.tolerance),
        cases=tuple(cases),
        missing=tuple((case.name, reason) for case, reason in missing),
        ratios=ratios,
        limits=tuple(_limits(data, cases)),
        questions=tuple(unit_questions(errors)),
    )


def _split(
    case: Case, scenario: str, about: About, references: dict[str, tuple[str, ...]]
) -> Split:
    if about.fitted is not None:
        pairs = {(case.label, case.message_bytes), ("", case.message_bytes)}
        return "fitted" if pairs & set(about.fitted) else "held out"
    if scenario in references:
        return "fitted" if case.label in references[scenario] else "held out"
    return "not stated"


def _compared(
    name: str, case: Case, own: Simulated, split: Split, tolerances: Tolerances
) -> Compared:
    model, count, zeros, distances = own.model, case.count, None, None
    rows = pd.DataFrame(case.statistics.items(), columns=["statistic", "measured"])
    rows["kind"] = [_kind(name, share_of(name)) for name in rows["statistic"]]
    rows["tolerance"] = rows["kind"].map(asdict(tolerances)).astype(float)
    rows = beside(rows, own.statistics, ["statistic"]).rename(columns={"measured": "lab"})
    lab, shares = rows["lab"], [share_of(name) for name in rows["statistic"]]
    found = [
        None if share is None or model is None or not count
        else band(model, share, count, case.half)
        for share in shares
    ]  # fmt: skip
    rows[["band_low", "band_high"]] = np.array([b or (np.nan,) * 2 for b in found]).reshape(-1, 2)
    outside = [b and not b[0] <= value <= b[1] for b, value in zip(found, lab, strict=True)]
    rows["outside"] = pd.Series(outside, dtype=object)
    rows = rows.drop(columns="tolerance")
    if model is None:
        return Compared(name, case, own, split, rows, None, None)
    bounds = zero_share_bounds(case.statistics)
    if case.values is not None:
        bounds = (float(np.mean(case.values == 0)),) * 2
    one_zero = (rows[["lab", "simulated"]].min(axis=1) == 0) & (lab + rows["simulated"] > 0)
    empty = one_zero & (rows["kind"] != "") & pd.Series(shares).notna()
    if empty.any():
        zeros = Zeros(float(np.mean(model == 0)), *bounds)
        near = abs(zeros.apart) <= tolerances.empty + ROUNDING
        rows.loc[empty, ["kind", "verdict"]] = "empty", "pass" if near else "fail"
    if any(0 < share < 1 for share in case.quantiles):
        errors = rows["log_error"][(rows["kind"] != "") & rows["log_error"].notna()].abs()
        distances = {
            "ks": ks_bound(model, case.quantiles, case.half),
            "ks_limit": LIMIT / math.sqrt(count) if count else None,
            "mean_log_error": float(errors.mean()) if len(errors) else None,
        }
    return Compared(name, case, own, split, rows, distances, zeros)


def _kind(statistic: str, share: float | None) -> str:
    """Return which tolerance judges a statistic; empty for none.

    Minimum, maximum and standard deviation hang on single samples or on the tail.

    >>> [_kind(name, share_of(name)) for name in ("mean", "50%", "95%", "99%", "max", "std")]
    ['mean', 'median', 'quantile', 'tail', '', '']
    """
    if statistic == "mean" or share == 0.5:
        return "mean" if statistic == "mean" else "median"
    if share is None or share in (0.0, 1.0):
        return ""
    return "tail" if share >= TAIL else "quantile"


def _criteria(
    cases: Iterable[Compared], ratios: pd.DataFrame, tolerances: Tolerances
) -> pd.DataFrame:
    """Return what is asked of each case, then a ratio and an order for each that has one."""
    asked: list[tuple[Any, ...]] = []
    for case in cases:
        for kind in KINDS:
            rows = case.rows[case.rows["kind"] == kind]
            if rows.empty:
                continue
            fails, size = rows["verdict"] == "fail", rows["log_error"].abs().fillna(math.inf)
            worst = rows.iloc[size.where(fails, -1.0 if fails.any() else size).argmax()]
            got = float(np.expm1(worst["log_error"]))
            if kind == "empty" and case.zeros is not None:
                got = case.zeros.apart
            tolerance = getattr(tolerances, kind)
            asked.append((case.name, kind, tolerance, got, worst["statistic"], not fails.any()))
    for one in ratios.to_dict(orient="records"):
        pair, got = f"{one['above']} over {one['below']}", one["simulated"] / one["lab"] - 1
        asked.append((pair, "ratio", tolerances.ratio, got, one["statistic"], one["ratio_ok"]))
        if one["order_ok"] is not None:
            asked.append((pair, "order", math.nan, math.nan, one["statistic"], one["order_ok"]))
    return pd.DataFrame(asked, columns=CRITERION)


def _ratios(cases: Sequence[Compared], tolerance: float) -> pd.DataFrame:
    """Return each size over the next smaller one, and series over series at one size."""
    series = list(by_series(cases).values())
    pairs = [(large, small) for one in series for small, large in pairwise(one)]
    for item, other in combinations(series, 2):
        first, second = item[0].case.series, other[0].case.series
        alike = len(first) == len(second) and first[0] == second[0] and first[-1] == second[-1]
        sizes = [(above, below) for above in item for below in other if alike and first != second]
        pairs += [
            (a, b) for a, b in sizes if a.simulated.message_bytes == b.simulated.message_bytes
        ]
    ratios = []
    for above, below in pairs:
        rows = ((name, above.row(name), below.row(name)) for name in MEANS)
        for name, a, b in [both for both in rows if None not in both[1:]][:1]:
            if min(a.lab, a.simulated, b.lab, b.simulated) > 0:
                lab, simulated = a.lab / b.lab, a.simulated / b.simulated
                order = None if agree(lab, 1.0, tolerance) else (lab > 1) == (simulated > 1)
                ok = bool(agree(simulated, lab, tolerance))
                ratios.append((above.name, below.name, name, lab, simulated, ok, order))
    return pd.DataFrame(ratios, columns=RATIO).astype({"order_ok": object})


def by_series(cases: Sequence[Compared]) -> dict[tuple[str, ...], list[Compared]]:
    """Return cases that differ by size only, ascending."""
    results: dict[tuple[str, ...], list[Compared]] = {}
    for case in sorted(cases, key=lambda item: item.simulated.message_bytes):
        family = re.sub(r"[-_]?\d+$", "", case.simulated.scenario)  # h3/fdr of h3/fdr-8
        results.setdefault((*case.case.series, family), []).append(case)
    return results


def unit_questions(errors: Iterable[tuple[str, float]]) -> Iterator[str]:
    """Yield a question for each metric that is off by one factor of units in all its cases.

    Args:
        errors: Of each case the metric, and the logarithm of simulated over measured.
    """
    by: dict[str, list[float]] = {}
    for metric, error in errors:
        by.setdefault(metric, []).append(error)
    for metric, some in by.items():
        logs = np.array(some)
        for factor in () if np.isnan(logs).any() else FACTORS:
            off = np.abs(np.abs(logs) - math.log(factor))
            alike = min(logs) > 0 or max(logs) < 0
            # one case says little of a small factor; chance makes no thousand
            if alike and max(off) <= math.log(NEAR) and (len(logs) > 1 or factor >= 1000):
                larger = "larger" if logs[0] > 0 else "smaller"
                many = f"all {len(logs)} cases" if len(logs) > 1 else "the one case"
                yield (
                    f"is the unit right? The simulated {metric} is about {factor:,} times {larger} "
                    f"in {many}: {FACTORS[factor]}"
                )
                break


def _limits(data: LabData, compared: Sequence[Compared]) -> Iterator[str]:
    about, cases = data.about, [case.case for case in compared]
    loops = {case.simulated.loop for case in compared} - {""}
    asked = {
        "one run of each case: the spread from run to run of the laboratory is not in them": (
            len({case.label for case in cases}) < 2
        ),
        "which cases were used to choose parameters: agreement may be a fit, no prediction": (
            about.fitted is None and any(case.split == "not stated" for case in compared)
        ),
        "open or closed loop: a closed one hides waiting that an open one has": (
            about.loop is None and loops
        ),
        f"measured in {about.loop} loop, simulated in {' and '.join(sorted(loops))} loop": (
            about.loop is not None and loops and loops != {about.loop}
        ),
        "whether the start was left out: a warm-up in the data shifts means and tails": (
            about.warmup is None
        ),
        "how many samples there are: without it no bands and no tests": (
            any(case.count is None for case in cases)
        ),
        "independence: bands and tests take samples for independent; neighbours that are alike "
        "make true bands wider, so what is outside may be chance": (
            any(case.count for case in cases)
        ),
        "the size of a message: taken as that of the scenario": (
            any(case.message_bytes is None and case.own_unit is None for case in cases)
        ),
        "numbers between the marks of a figure: digitised values are as good as the drawing": (
            about.origin == "digitised"
        ),
    }
    yield from (text for text, told in asked.items() if told)
    known = {
        (label, one.message_bytes) for one in (*data.cases, *cases) for label in (one.label, "")
    }
    for label, size in about.fitted or ():
        if (label, size) not in known:
            name = f"{label}:{size}" if label else str(size)
            yield f"{name}, which [lab] calls fitted: what is not called so counts as held out"
