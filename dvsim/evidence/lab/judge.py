"""Cases beside their runs: a row for each statistic, with band and verdict, and what is between.

Those who ask what-if decide on ratios and on where one line crosses another, so both are
looked at by themselves: sizes of one series, and two series at one size.

The naive rival: a latency and bytes over a rate, through the same measured means.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from dvsim.evidence.affine import by_law
from dvsim.evidence.lab.data import NOT_STATED, About, Case, LabData, Tolerances
from dvsim.evidence.lab.distances import LIMIT, band, g_test, ks_bound, wasserstein_bound
from dvsim.evidence.lab.match import Matched, Taken, is_reference, match
from dvsim.evidence.lab.simulated import Simulated
from dvsim.evidence.statistics import zero_share_bounds
from dvsim.sheets.headings import share_of
from dvsim.table.compare import agree, beside, log_errors
from dvsim.table.reply import records
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
        rows: One for each statistic, in 1/s or s: statistic; lab; simulated, with its 95 % interval
            over replications low and high; ratio, simulated over measured, and log_error, where
            neither is zero; band_low and band_high, between which the measured one lies with 95 %
            if the model is true, and outside, None where there is no band; kind of `KINDS`, which
            tolerance judges it, else empty; verdict: pass, fail or info.
        distances: How far two distributions are apart, bounds from below, see distances.py: ks,
            and ks_limit, what chance allows with 95 %; g, a G-test; wasserstein, relative to the
            measured mean, or to the median; mean_log_error. None without quantiles or samples.
        zeros: Where their share is judged.
    """

    name: str
    case: Case
    simulated: Simulated
    split: Split
    rows: pd.DataFrame
    distances: Mapping[str, Any] | None
    zeros: Zeros | None

    def row(self, *statistics: str) -> Any:  # noqa: ANN401 - a named tuple of `rows`
        """Return the row of the first of these statistics that there is; None without one."""
        known = {str(row.statistic): row for row in self.rows.itertuples(index=False)}
        return next((known[name] for name in statistics if name in known), None)

    def table(self) -> dict[str, Any]:
        """Return it as JSON types, without the samples."""
        case, own, distances = self.case, self.simulated, dict(self.distances or {})
        if distances.get("g"):
            distances["g"] = distances["g"]._asdict()
        return {
            **{"name": self.name, "where": case.where, "scenario": own.scenario, "what": own.what},
            **{"unit": case.unit, "metric": case.metric, "message_bytes": own.message_bytes},
            **{"sample": str(case.sample), "count": case.count, "split": self.split},
            **{"replications": own.replications, "loop": own.loop},
            "notes": [*case.notes, *own.notes],
            "rows": records(self.rows),
            "distances": distances or None,
            "zeros": self.zeros and self.zeros._asdict(),
        }


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
        crossovers: first, second; lab and simulated: between which two sizes the two series change
            their order, None where they do not.
        baseline: Mean absolute log errors of the means of some cases: simulated, naive; cases, how
            many; fitted_to: ``fitted``, or ``all``: then the law has seen what it is judged by.
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
    crossovers: tuple[dict[str, Any], ...]
    baseline: dict[str, Any] | None
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

    def table(self) -> dict[str, Any]:
        """Return all of it as JSON types, without the samples."""
        return {
            "passed": self.passed,
            **vars(self),
            "tolerances": asdict(self.tolerances),
            "criteria": records(self.criteria),
            "ratios": records(self.ratios),
            "cases": [case.table() for case in self.cases],
        }


def judge(results: Sequence[Result], data: LabData, taken: Taken | None = None) -> Judged:
    """Return what a file of measurements says of runs.

    Args:
        results: Runs of systems, studies of messaging.
        data: See `dvsim.evidence.lab.read.read_lab`.
        taken: See `dvsim.evidence.lab.match.match`.

    Raises:
        ScenarioError: If no case was simulated, or samples are unlike.
    """
    found, about = match(results, data, taken), data.about
    references = {
        result.scenario.name: result.scenario.reference.fitted
        for result in results
        if is_reference(result.scenario, data)
    }
    cases = [
        _compared(case, own, _split(case, own.scenario, about, references), about.tolerance)
        for case, own in found.pairs
    ]
    twice = Counter(case.name for case in cases)
    cases = [
        replace(case, name=f"{case.name}, {case.simulated.scenario}")
        if twice[case.name] > 1
        else case
        for case in cases
    ]
    ratios, crossovers = _between(cases, about.tolerance.ratio)
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
        missing=tuple((case.name, reason) for case, reason in found.missing),
        ratios=ratios,
        crossovers=tuple(crossovers),
        baseline=baseline(cases),
        limits=(*_limits(data, cases), *_named_in_vain(data, found)),
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


def _compared(case: Case, own: Simulated, split: Split, tolerances: Tolerances) -> Compared:
    model, zeros = own.model, None
    if model is not None:
        bounds = zero_share_bounds(case.statistics)
        if case.values is not None:
            bounds = (float(np.mean(case.values == 0)),) * 2
        zeros = Zeros(float(np.mean(model == 0)), *bounds)
    rows = pd.DataFrame(case.statistics.items(), columns=["statistic", "measured"])
    rows["kind"] = [_kind(name, share_of(name)) for name in rows["statistic"]]
    rows["tolerance"] = rows["kind"].map(asdict(tolerances)).astype(float)
    rows = beside(rows, own.statistics, ["statistic"]).rename(columns={"measured": "lab"})
    lab, simulated = rows["lab"], rows["simulated"]
    shares = [share_of(name) for name in rows["statistic"]]
    bands = [
        None if share is None or model is None or not case.count
        else band(model, share, case.count, case.half)
        for share in shares
    ]  # fmt: skip
    ends = [b or (math.nan, math.nan) for b in bands]
    rows[["band_low", "band_high"]] = np.array(ends).reshape(-1, 2)
    rows["outside"] = pd.Series(
        [b and not b[0] <= value <= b[1] for b, value in zip(bands, lab, strict=True)], dtype=object
    )
    one_zero = (rows[["lab", "simulated"]].min(axis=1) == 0) & (lab + simulated > 0)
    empty = one_zero & (rows["kind"] != "") & pd.Series(shares).notna() & bool(zeros)
    near = zeros is not None and abs(zeros.apart) <= tolerances.empty + ROUNDING
    rows.loc[empty, "verdict"] = "pass" if near else "fail"
    rows["kind"] = rows["kind"].where(~empty, "empty")
    zeros = zeros if empty.any() else None
    rows = rows.drop(columns="tolerance")
    return Compared(case.name, case, own, split, rows, _distances(case, own, rows), zeros)


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


def _distances(case: Case, own: Simulated, rows: pd.DataFrame) -> dict[str, Any] | None:
    model, quantiles, count = own.model, case.quantiles, case.count
    if model is None or not any(0 < share < 1 for share in quantiles):
        return None
    errors = rows["log_error"][(rows["kind"] != "") & rows["log_error"].notna()].abs()
    mean = case.statistics.get("mean")
    middle = mean or case.statistics.get("50%") or 0.0
    area = wasserstein_bound(model, quantiles)
    if mean is not None:  # |E X - E Y| is a bound as well
        area = max(area, abs(mean - float(model.mean())))
    return {
        "ks": ks_bound(model, quantiles, case.half),
        "ks_limit": LIMIT / math.sqrt(count) if count else None,
        "g": g_test(model, quantiles, count) if count else None,
        "wasserstein": area / middle if middle > 0 else None,
        "mean_log_error": float(errors.mean()) if len(errors) else None,
    }


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


def _between(
    cases: Sequence[Compared], tolerance: float
) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Return each size over the next smaller one, series over series, and where these cross."""
    series = list(by_series(cases).values())
    pairs = [(large, small) for one in series for small, large in pairwise(one)]
    ratios = [ratio for pair in pairs for ratio in _ratio(*pair, tolerance)]
    crossovers = []
    for item, other in combinations(series, 2):
        first, second = item[0].case.series, other[0].case.series
        alike = len(first) == len(second) and first[0] == second[0] and first[-1] == second[-1]
        if not alike or first == second:
            continue
        by_size: dict[int, tuple[Any, ...]] = {}
        for above in item:
            for below in other:
                if above.simulated.message_bytes == below.simulated.message_bytes:
                    found = list(_ratio(above, below, tolerance))
                    ratios += found
                    by_size |= (
                        dict.fromkeys([above.simulated.message_bytes], *found) if found else {}
                    )
        crossed = {}
        for who, at in (("lab", 3), ("simulated", 4)):
            steps = pairwise((size, ratio[at] > 1) for size, ratio in by_size.items())
            crossed[who] = next(((a, b) for (a, up), (b, then) in steps if up != then), None)
        if any(crossed.values()):
            names = (", ".join(filter(None, one)) for one in (first, second))
            crossovers.append(dict(zip(("first", "second"), names, strict=True)) | crossed)
    return pd.DataFrame(ratios, columns=RATIO).astype({"order_ok": object}), crossovers


def by_series(cases: Sequence[Compared]) -> dict[tuple[str, ...], list[Compared]]:
    """Return cases that differ by size only, ascending."""
    results: dict[tuple[str, ...], list[Compared]] = {}
    for case in sorted(cases, key=lambda item: item.simulated.message_bytes):
        family = re.sub(r"[-_]?\d+$", "", case.simulated.scenario)  # h3/fdr of h3/fdr-8
        results.setdefault((*case.case.series, family), []).append(case)
    return results


def _ratio(above: Compared, below: Compared, tolerance: float) -> Iterator[tuple[Any, ...]]:
    for statistic in MEANS:
        upper, lower = above.row(statistic), below.row(statistic)
        if upper is None or lower is None:
            continue
        if min(upper.lab, upper.simulated, lower.lab, lower.simulated) > 0:
            lab, simulated = upper.lab / lower.lab, upper.simulated / lower.simulated
            order = None if agree(lab, 1.0, tolerance) else (lab > 1) == (simulated > 1)
            ok = bool(agree(simulated, lab, tolerance))
            yield above.name, below.name, statistic, lab, simulated, ok, order
        return


def baseline(cases: Sequence[Compared]) -> dict[str, Any] | None:
    """Return how well a law does, None where no series has means of two sizes to fit it to."""
    means = pd.DataFrame(
        [
            (case.case.series[:-1], case.split, case.simulated.message_bytes, row.log_error,
             row.lab if case.case.unit == "s" else
             case.simulated.per_message / row.lab if row.lab > 0 else math.nan, row.lab > 0)
            for case in cases
            if (row := case.row("mean")) is not None
        ],
        columns=["series", "split", "size", "own", "time", "known"],
    )  # fmt: skip
    stated = bool((means["split"] == "fitted").any())
    fitted = means["split"] == "fitted"
    table = by_law(means.assign(used=means["known"] & (fitted | (not stated))), sizes=2)
    fitted = table["split"] == "fitted"
    # of times below a picosecond the law is 0
    table = table[table["own"].notna() & ~(fitted & stated) & (table["naive"] > 0)]
    if table.empty:
        return None
    table = table.assign(naive=log_errors(table["naive"], table["time"]))
    own, naive = (float(table[name].abs().mean()) for name in ("own", "naive"))
    fitted_to = "fitted" if stated else "all"
    return {"simulated": own, "naive": naive, "cases": len(table), "fitted_to": fitted_to}


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


def _limits(data: LabData, cases: Sequence[Compared]) -> Iterator[str]:
    about, labels = data.about, {case.case.series for case in cases}
    if len({series[-1] for series in labels}) < 2:
        yield "one run of each case: the spread from run to run of the laboratory is not in them"
    if about.fitted is None and any(case.split == "not stated" for case in cases):
        yield "which cases were used to choose parameters: agreement may be a fit, no prediction"
    loops = {case.simulated.loop for case in cases if case.simulated.loop}
    if about.loop is None and loops:
        yield "open or closed loop: a closed one hides waiting that an open one has"
    if loops and about.loop is not None and loops != {about.loop}:
        yield f"measured in {about.loop} loop, simulated in {' and '.join(sorted(loops))} loop"
    if about.warmup is None:
        yield "whether the start was left out: a warm-up in the data shifts means and tails"
    if any(case.case.count is None for case in cases):
        yield "how many samples there are: without it no bands and no tests"
    if any(case.case.count for case in cases):
        yield (
            "independence: bands and tests take samples for independent; neighbours that are alike "
            "make true bands wider, so what is outside may be chance"
        )
    if any(case.case.message_bytes is None and case.case.own_unit is None for case in cases):
        yield "the size of a message: taken as that of the scenario"
    if about.origin == "digitised":
        yield "numbers between the marks of a figure: digitised values are as good as the drawing"


def _named_in_vain(data: LabData, matched: Matched) -> Iterator[str]:
    cases = [*data.cases, *(pair.case for pair in matched.pairs)]
    known = {(label, case.message_bytes) for case in cases for label in (case.label, "")}
    for label, size in data.about.fitted or ():
        if (label, size) not in known:
            name = f"{label}:{size}" if label else str(size)
            yield f"{name}, which [lab] calls fitted: what is not called so counts as held out"
