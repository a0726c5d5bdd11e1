"""A comparison as text: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from dvsim.lab.against import Judged
from dvsim.lab.compare import MOMENTS, Compared, Row
from dvsim.lab.verdict import KINDS, Criterion

WIDTH = 10
UNITS = {"1/s": (1.0, "msg/s"), "s": (1e-6, "us")}
"""How the units of `dvsim.lab.types.METRICS` are shown."""


def lines(judged: Judged) -> Iterator[str]:
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
    held = sum(one.passed for one in judged.criteria)
    word = "PASS" if judged.passed else "FAIL"
    return (
        f"against {Path(judged.file).name}: {word}, {held} of {len(judged.criteria)} criteria hold"
    )


def _verdict(judged: Judged) -> Iterator[str]:
    yield headline(judged)
    told = ", ".join(f"{name} {value:.0%}" for name, value in asdict(judged.tolerances).items())
    own = f"{', '.join(judged.declared)} declared in [lab]" if judged.declared else "none declared"
    yield f"  tolerances: {told}; {own}, the others are the defaults"
    yield ""
    wide = max(len(case.name) for case in judged.cases)
    heads = "".join(f"{word:>14}" for word in KINDS.values())
    yield f"  {'error furthest away':<{wide}}  {'split':<10}{heads}"
    for case in judged.cases:
        by_kind = {one.kind: one for one in judged.criteria if one.what == case.name}
        cells = "".join(f"{_cell(by_kind.get(kind)):>14}" for kind in KINDS)
        yield f"  {case.name:<{wide}}  {case.split:<10}{cells}"
    for kind in ("ratio", "order"):
        asked = [one for one in judged.criteria if one.kind == kind]
        if asked:
            yield f"  {kind} between cases: {sum(one.passed for one in asked)} of {len(asked)} pass"


def _cell(criterion: Criterion | None) -> str:
    if criterion is None:
        return "-"
    got = "" if criterion.got is None else f"{percent(criterion.got)} "
    return f"{got}{'pass' if criterion.passed else 'fail'}"


def percent(error: float) -> str:
    """Return a relative error; a large one as a factor.

    Examples
    --------
    >>> percent(0.034), percent(-0.5), percent(11.0)
    ('+3.4 %', '-50.0 %', 'x 12')
    """
    return f"{error * 100:+.1f} %" if abs(error) < 5 else f"x {error + 1:.3g}"


def _provenance(judged: Judged) -> Iterator[str]:
    yield ""
    yield f"laboratory: {judged.form}"
    yield f"  {'file':<10} {judged.file}"
    yield from (f"  {key:<10} {value}" for key, value in judged.about.items())
    reasons: dict[str, list[str]] = {}
    for name, reason in judged.missing:
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        told = names[0] if len(names) == 1 else f"{len(names)} cases, {names[0]} the first"
        yield f"  not compared: {told}: {reason}"


def _case(case: Compared) -> Iterator[str]:
    factor, unit = UNITS[case.unit]
    yield ""
    count = "samples not counted" if case.count is None else f"{case.count:,} samples"
    yield f"{case.name}: {case.split}; {count}, each: {case.sample}"
    runs = "1 replication" if case.replications == 1 else f"{case.replications} replications"
    yield f"  beside {case.scenario}, {case.what}, {runs}; in {unit}"
    yield from (f"  note: {note}" for note in case.notes)
    heads = ("laboratory", "simulated", "ratio", "log error", "interval", "band if true")
    yield f"  {'':<8}{heads[0]:>14}{heads[1]:>14}{heads[2]:>8}{heads[3]:>10}" + (
        f"{heads[4]:>28}{heads[5]:>28}"
    )
    ordered = [row for row in case.rows if row.statistic not in MOMENTS]
    moments = [row for row in case.rows if row.statistic in MOMENTS]
    for row in ordered + moments:
        yield _row(row, factor)
    yield from _distances(case)


def _row(row: Row, factor: float) -> str:
    ratio = "-" if row.ratio is None else f"{row.ratio:.3f}"
    error = "-" if row.log_error is None else f"{row.log_error:+.3f}"
    interval = " .. ".join(number(x / factor) for x in (row.low, row.high))
    band = "-" if row.band is None else " .. ".join(number(x / factor) for x in row.band)
    marks = ["  outside"] if row.outside else []
    marks += [f"  {row.verdict}"] if row.verdict != "info" else []
    return (
        f"  {row.statistic:<8}{number(row.lab / factor):>14}{number(row.simulated / factor):>14}"
        f"{ratio:>8}{error:>10}{interval:>28}{band:>28}{''.join(marks)}"
    )


def number(value: float) -> str:
    """Return a number with four digits at least.

    Examples
    --------
    >>> [number(value) for value in (1712257.5, 812.52, 9.40671, 0.0)]
    ['1,712,258', '812.5', '9.407', '0']
    """
    return f"{value:,.0f}" if abs(value) >= 1000 or not value else f"{value:.4g}"


def _distances(case: Compared) -> Iterator[str]:
    found = case.distances
    if found is None:
        return
    ks = f"KS at least {found.ks:.3f}"
    if found.ks_limit is not None:
        ks += f" (chance up to {found.ks_limit:.3f})"
    parts = [ks]
    if found.g is not None:
        parts.append(f"G {found.g.g:.1f}, {found.g.freedom} df, p {found.g.p:.2g}")
    if found.wasserstein is not None:
        parts.append(f"Wasserstein at least {found.wasserstein:.1%} of the mean")
    if found.mean_log_error is not None:
        parts.append(f"mean |log error| {found.mean_log_error:.3f}")
    yield f"  distances: {'; '.join(parts)}"


def _between(judged: Judged) -> Iterator[str]:
    if not judged.ratios:
        return
    yield ""
    yield "ratios between cases: laboratory, simulated"
    for one in judged.ratios:
        order = {None: "", True: ", order right", False: ", ORDER WRONG"}[one.order_ok]
        word = "pass" if one.ratio_ok else "fail"
        yield (
            f"  {one.above} over {one.below}: {one.lab:.4g} x, {one.simulated:.4g} x  {word}{order}"
        )
    for cross in judged.crossovers:
        told = [
            "nowhere" if place is None else f"between {place[0]:,} and {place[1]:,} B"
            for place in (cross.lab, cross.simulated)
        ]
        names = f"{cross.first} and {cross.second}"
        yield f"  {names} cross: laboratory {told[0]}, simulated {told[1]}"


def _baseline(judged: Judged) -> Iterator[str]:
    found = judged.baseline
    if found is None:
        return
    yield ""
    seen = (
        "through the fitted ones" if found.fitted_to == "fitted" else "through all of these means"
    )
    yield (
        f"baseline: mean |log error| of {found.cases} means: simulated {found.simulated:.3f}, "
        f"naive {found.naive:.3f} (a latency and bytes over a rate, {seen})"
    )
