"""A comparison as text: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from dvsim.evidence.lab.compare import MOMENTS, Compared, Row
from dvsim.evidence.lab.criteria import KINDS, Criterion
from dvsim.evidence.lab.judge import Judged
from dvsim.evidence.numbers import log_text, number_text
from dvsim.study.text_table import Table

UNITS = {"1/s": (1.0, "msg/s"), "s": (1e-6, "us")}
"""How the units of `dvsim.evidence.lab.data.METRICS` are shown."""


def lines(judged: Judged) -> Iterator[str | Table]:
    """Yield all of it."""
    yield from _verdict(judged)
    yield from _provenance(judged)
    for case in judged.cases:
        yield from _case(case)
    yield from _between(judged)
    yield from _baseline(judged)
    yield ""
    yield "what these data cannot show"
    yield from (f"  - {limit}" for limit in judged.limits)


def headline(judged: Judged) -> str:
    """Return the verdict as one sentence, with the name of the file."""
    held = sum(item.passed for item in judged.criteria)
    word = "PASS" if judged.passed else "FAIL"
    return (
        f"against {Path(judged.file).name}: {word}, {held} of {len(judged.criteria)} criteria hold"
    )


def _verdict(judged: Judged) -> Iterator[str | Table]:
    yield headline(judged)
    text = ", ".join(f"{name} {value:.0%}" for name, value in asdict(judged.tolerances).items())
    own = f"{', '.join(judged.declared)} declared in [lab]" if judged.declared else "none declared"
    yield f"  tolerances: {text}; {own}, the others are the defaults"
    yield ""
    head = ("error furthest away", "split", *KINDS.values())
    by_case = {(item.what, item.kind): item for item in judged.criteria}
    rows = [
        (case.name, case.split, *(_cell(by_case.get((case.name, kind))) for kind in KINDS))
        for case in judged.cases
    ]
    yield Table(head, rows, range(2, len(head)), keys=2)
    for kind in ("ratio", "order"):
        of_kind = [criterion for criterion in judged.criteria if criterion.kind == kind]
        if of_kind:
            passed = sum(criterion.passed for criterion in of_kind)
            yield f"  {kind} between cases: {passed} of {len(of_kind)} pass"


def _cell(criterion: Criterion | None) -> str:
    if criterion is None:
        return "-"
    got = "" if criterion.got is None else f"{percent(criterion.got)} "
    if criterion.kind == "empty" and criterion.got is not None:
        got = f"{100 * criterion.got:+.0f} points "
    return f"{got}{'pass' if criterion.passed else 'fail'}"


def percent(error: float) -> str:
    """Return a relative error; a large one as a factor.

    >>> percent(0.034), percent(-0.5), percent(11.0)
    ('+3.4 %', '-50.0 %', 'x 12')
    """
    return f"{error * 100:+.1f} %" if abs(error) < 5 else f"x {error + 1:.3g}"


def _provenance(judged: Judged) -> Iterator[str | Table]:
    yield ""
    yield f"laboratory: {judged.form}"
    yield Table((), [("file", str(judged.file)), *judged.about.items()])
    reasons: dict[str, list[str]] = {}
    for name, reason in judged.missing:
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        text = names[0] if len(names) == 1 else f"{len(names)} cases, {names[0]} the first"
        yield f"  not compared: {text}: {reason}"


def _case(case: Compared) -> Iterator[str | Table]:
    factor, unit = UNITS[case.unit]
    yield ""
    count = "samples not counted" if case.count is None else f"{case.count:,} samples"
    yield f"{case.name}: {case.split}; {count}, each: {case.sample}"
    runs = "1 replication" if case.replications == 1 else f"{case.replications} replications"
    yield f"  beside {case.scenario}, {case.what}, {runs}; in {unit}"
    yield from (f"  note: {note}" for note in case.notes)
    head = ("", "laboratory", "simulated", "ratio", "log error", "interval", "band if true", "")
    ordered = sorted(case.rows, key=lambda row: row.statistic in MOMENTS)
    yield Table(head, [_row(row, factor) for row in ordered], range(1, len(head) - 1))
    yield from _distances(case)


def _row(row: Row, factor: float) -> tuple[str, ...]:
    ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
    interval = " .. ".join(number_text(x / factor) for x in (row.low, row.high))
    band = "-" if row.band is None else " .. ".join(number_text(x / factor) for x in row.band)
    lab, simulated = (number_text(x / factor) for x in (row.lab, row.simulated))
    marks = ["outside"] if row.outside else []
    marks += [row.verdict] if row.verdict != "info" else []
    numbers = (lab, simulated, ratio, log_text(row.log_error), interval, band)
    return row.statistic, *numbers, "  ".join(marks)


def _distances(case: Compared) -> Iterator[str]:
    result = case.distances
    if result is None:
        return
    ks = f"KS at least {result.ks:.3f}"
    if result.ks_limit is not None:
        ks += f" (chance up to {result.ks_limit:.3f})"
    parts = [ks]
    if result.g is not None:
        parts.append(f"G {result.g.g:.1f}, {result.g.freedom} df, p {result.g.p:.2g}")
    if result.wasserstein is not None:
        parts.append(f"Wasserstein at least {result.wasserstein:.1%} of the mean")
    if result.mean_log_error is not None:
        parts.append(f"mean |log error| {result.mean_log_error:.3f}")
    yield f"  distances: {'; '.join(parts)}"


def _between(judged: Judged) -> Iterator[str]:
    if not judged.ratios:
        return
    yield ""
    yield "ratios between cases: laboratory, simulated"
    for ratio in judged.ratios:
        order = {None: "", True: ", order right", False: ", ORDER WRONG"}[ratio.order_ok]
        word = "pass" if ratio.ratio_ok else "fail"
        yield (
            f"  {ratio.above} over {ratio.below}: {ratio.lab:.4g} x, {ratio.simulated:.4g} x  "
            f"{word}{order}"
        )
    for cross in judged.crossovers:
        lab, simulated = cross.places
        yield f"  {cross.first} and {cross.second} cross: laboratory {lab}, simulated {simulated}"


def _baseline(judged: Judged) -> Iterator[str]:
    result = judged.baseline
    if result is None:
        return
    yield ""
    seen = f"through {'the fitted ones' if result.fitted_to == 'fitted' else 'all of these means'}"
    yield (
        f"baseline: mean |log error| of {result.cases} means: simulated {result.simulated:.3f}, "
        f"naive {result.naive:.3f} (a latency and bytes over a rate, {seen})"
    )
