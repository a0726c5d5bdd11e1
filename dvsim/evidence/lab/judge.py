"""All of it: from runs and a file of measurements to a verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dvsim.evidence.lab.compare import (
    MEANS,
    Baseline,
    Compared,
    Criterion,
    Crossover,
    Ratio,
    Split,
    baseline,
    between,
    compare,
    criteria,
)
from dvsim.evidence.lab.data import NOT_STATED, About, Case, LabData, Tolerances
from dvsim.evidence.lab.match import Matched, Taken, is_reference, match
from dvsim.study.run import Run
from dvsim.table.result import Result

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


@dataclass(frozen=True)
class Judged:
    """What a file of measurements says of some runs."""

    file: str
    form: str  # what kind of file it is
    about: dict[str, str]  # what is known of the measurement; `NOT_STATED` where it is not
    tolerances: Tolerances
    declared: tuple[str, ...]  # see `dvsim.evidence.lab.data.About`
    criteria: tuple[Criterion, ...]
    cases: tuple[Compared, ...]
    missing: tuple[tuple[str, str], ...]  # cases without a run, and why
    ratios: tuple[Ratio, ...]
    crossovers: tuple[Crossover, ...]
    baseline: Baseline | None
    limits: tuple[str, ...]  # what these data cannot show
    questions: tuple[str, ...] = ()  # what is to be looked at before the verdict is believed

    @property
    def passed(self) -> bool:
        """Whether every criterion holds, and there is one."""
        return bool(self.criteria) and all(item.passed for item in self.criteria)

    @property
    def headline(self) -> str:
        """The verdict as one sentence, with the name of the file."""
        held = sum(item.passed for item in self.criteria)
        verdict = f"{'PASS' if self.passed else 'FAIL'}, {held} of {len(self.criteria)} criteria"
        return f"against {Path(self.file).name}: {verdict} hold"

    def table(self) -> dict[str, Any]:
        """Return all of it as JSON types, without the samples."""
        cases = [case.table() for case in self.cases]
        return {"passed": self.passed, **asdict(replace(self, cases=())), "cases": cases}


def judge(results: Sequence[Run | Result], data: LabData, taken: Taken | None = None) -> Judged:
    """Return what a file of measurements says of runs.

    Args:
        results: Runs of systems, studies of messaging.
        data: See `dvsim.evidence.lab.read.read_lab`.
        taken: See `dvsim.evidence.lab.match.match`.

    Raises:
        ScenarioError: If no case was simulated, or samples are unlike.
    """
    result = match(results, data, taken)
    about = data.about
    tolerances = about.tolerance
    references = _fitted_columns(results, data)
    cases = [
        compare(pair, _split(pair.case, pair.simulated.scenario, about, references), tolerances)
        for pair in result.pairs
    ]
    twice = Counter(case.name for case in cases)
    cases = [
        replace(case, name=f"{case.name}, {case.simulated.scenario}")
        if twice[case.name] > 1
        else case
        for case in cases
    ]
    ratios, crossovers = between(cases, tolerances.ratio)
    return Judged(
        file=str(data.path),
        form=data.form,
        about=_provenance(about),
        tolerances=tolerances,
        declared=about.declared,
        criteria=tuple(criteria(cases, ratios, tolerances)),
        cases=tuple(cases),
        missing=tuple((case.name, reason) for case, reason in result.missing),
        ratios=ratios,
        crossovers=crossovers,
        baseline=baseline(cases),
        limits=(*_limits(data, cases), *_named_in_vain(data, result)),
        questions=tuple(
            unit_questions(
                (case.case.metric, row.log_error if (row := case.row(*MEANS)) else None)
                for case in cases
            )
        ),
    )


def unit_questions(errors: Iterable[tuple[str, float | None]]) -> Iterator[str]:
    """Yield a question for each metric that is off by one factor of units in all its cases.

    Args:
        errors: Of each case the metric, and the logarithm of simulated over measured.
    """
    by: dict[str, list[float | None]] = {}
    for metric, error in errors:
        by.setdefault(metric, []).append(error)
    for metric, some in by.items():
        logs = [error for error in some if error is not None]
        for factor in FACTORS if len(logs) == len(some) else ():
            off = [abs(abs(error) - math.log(factor)) for error in logs]
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


def _fitted_columns(results: Sequence[Run | Result], data: LabData) -> dict[str, tuple[str, ...]]:
    return {
        result.scenario.name: result.scenario.reference.fitted
        for result in results
        if is_reference(result.scenario, data)
    }


def _split(
    case: Case, scenario: str, about: About, references: dict[str, tuple[str, ...]]
) -> Split:
    if about.fitted is not None:
        pairs = {(case.label, case.message_bytes), ("", case.message_bytes)}
        return "fitted" if pairs & set(about.fitted) else "held out"
    if scenario in references:
        return "fitted" if case.label in references[scenario] else "held out"
    return "not stated"


def _provenance(about: About) -> dict[str, str]:
    values = {name: getattr(about, name) for name in ASKED}
    known = {
        name: NOT_STATED if value is None else f"{value:g}" if name == "rounding" else str(value)
        for name, value in values.items()
    }
    return {"told by": str(about.file) if about.file else "no [lab] table", **known}


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
