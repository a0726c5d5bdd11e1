"""The page about measurements of a laboratory: verdict, provenance, each case, what is between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dvsim.evidence.lab.compare import MOMENTS
from dvsim.evidence.lab.criteria import KINDS
from dvsim.evidence.lab.text import UNITS, headline, percent
from dvsim.report.basis import commands_of
from dvsim.report.blocks import Block, Fold, Heading, Items, Page, Section, Text, pair, tables
from dvsim.report.blocks import commands as repeated
from dvsim.report.lab_figures import cdf_drawing, qq_drawing, sizes_drawings
from dvsim.report.table import Cell, Table, mark, number, table_of, times

if TYPE_CHECKING:
    from dvsim.evidence.lab.compare import Compared, Row
    from dvsim.evidence.lab.criteria import Criterion
    from dvsim.evidence.lab.data import LabData
    from dvsim.evidence.lab.judge import Judged
    from dvsim.study.points import PointsStudy
    from dvsim.study.run import Run

SPLITS = {"fitted": "fitted", "held out": "held-out", "not stated": "info"}
MOST_FIGURES = 12  # cases that have figures of their own; tables have all


def lab_page(
    runs: Sequence[Run | PointsStudy], judged: Judged, data: LabData, command: str | None = None
) -> Page:
    """Return the page about measurements beside what was simulated; `command` is what makes it."""
    sign = "✓" if judged.passed else "✗"
    provenance: list[Block] = [_provenance(judged)]
    if not any(case.values is not None for case in data.cases):
        text = (
            "The file has statistics and no samples: what lies between two quantiles is unknown, "
            "and distances are bounds."
        )
        provenance.append(Text(text))
    return Page(
        f"{Path(judged.file).name}, laboratory and simulation",
        [
            Section(
                "answer",
                "The verdict",
                [
                    Text(f"{sign} {headline(judged)}.", "verdict"),
                    _verdict_table(judged),
                    Text(_tolerances(judged)),
                ],
            ),
            Section("measured", "The measurement", provenance),
            Section("cases", "Case by case", _cases(judged)),
            Section("between", "Between cases", _between(judged)),
            Section("limits", "What these data cannot show", [Items(judged.limits)]),
            Section(
                "origin",
                "Where it comes from",
                [_runs(runs), *repeated(commands_of(runs, command))],
            ),
        ],
        f"{judged.form}.",
    )


def _cases(judged: Judged) -> list[Block]:
    some = f" The first {MOST_FIGURES} cases have figures, all have tables."
    text = (
        "The band says where a quantile of as many independent samples lies if the simulation is "
        "true (order statistics, 95 %). Neighbouring samples are rarely independent, so true bands "
        f"are wider.{some * (len(judged.cases) > MOST_FIGURES)}"
    )
    parts = [block for index, case in enumerate(judged.cases) for block in _case(case, index)]
    return [Text(text), *parts]


def _between(judged: Judged) -> list[Block]:
    blocks: list[Block] = [*sizes_drawings(judged.cases), *tables(_ratios(judged))]
    if not blocks:
        return []
    blocks += map(Text, _crossovers(judged))
    if judged.baseline:
        own = judged.baseline
        means = (
            "through the fitted means"
            if own.fitted_to == "fitted"
            else "through all of these means, which it has therefore seen"
        )
        text = (
            f"Baseline: over {own.cases} means the simulation has a mean |log error| of "
            f"{own.simulated:.3f}, a naive law (a latency and bytes over a rate, {means}) "
            f"{own.naive:.3f}."
        )
        blocks.append(Text(text))
    return blocks


def _verdict_table(judged: Judged) -> Table:
    rows = []
    by_case = {(item.what, item.kind): item for item in judged.criteria}
    for case in judged.cases:
        cells = [_criterion(by_case.get((case.name, kind))) for kind in KINDS]
        rows.append([Cell(case.name), Cell(case.split, status=SPLITS[case.split]), *cells])
    for kind in ("ratio", "order"):
        asked = [criterion for criterion in judged.criteria if criterion.kind == kind]
        if asked:
            held = sum(criterion.passed for criterion in asked)
            word = "pass" if held == len(asked) else "fail"
            told = Cell(f"{held} of {len(asked)}", status=word)
            rest = [Cell("") for _ in range(len(KINDS) - 1)]
            rows.append([Cell(f"{kind} between cases"), Cell(""), told, *rest])
    return Table(
        "lab-verdict",
        "The criteria: the error furthest away, and whether all are within tolerance",
        ["case", "split", *KINDS.values()],
        rows,
    )


def _criterion(criterion: Criterion | None) -> Cell:
    if criterion is None:
        return Cell("–", status="info", raw="")
    sign = "✓" if criterion.passed else "✗"
    got = "" if criterion.got is None else f" {percent(criterion.got)} ({criterion.statistic})"
    if criterion.kind == "empty" and criterion.got is not None:
        got = f" {100 * criterion.got:+.0f} points"
    raw = criterion.got if criterion.got is not None else ("pass" if criterion.passed else "fail")
    return Cell(f"{sign}{got}", "number", "pass" if criterion.passed else "fail", raw)


def _tolerances(judged: Judged) -> str:
    texts = (f"{name} {value:.0%}" for name, value in asdict(judged.tolerances).items())
    own = f"{', '.join(judged.declared) or 'none was'} declared with the data"
    return f"Tolerances: {', '.join(texts)}; {own}, the others are the defaults of dvsim."


def _provenance(judged: Judged) -> Table:
    rows = [
        [Cell(key), Cell(value, status="info" if value == "not stated" else "")]
        for key, value in judged.about.items()
    ]
    rows += [[Cell("not compared"), Cell(f"{name}: {why}")] for name, why in judged.missing]
    return Table("lab-origin", "What is known of the measurement", ["what", "told"], rows)


def _case(case: Compared, index: int) -> list[Block]:
    factor, unit = UNITS[case.unit]
    count = "an unknown number of samples" if case.count is None else f"{case.count:,} samples"
    lines = [
        f"{case.split.capitalize()}. Measured: {count}, each: {case.sample}. Simulated: "
        f"{case.scenario}, {case.what}, replications: {case.replications}. In {unit}.",
        *(f"{note[0].upper()}{note[1:]}." for note in case.notes),
    ]
    ordered = [row for row in case.rows if row.statistic not in MOMENTS]
    moments = [row for row in case.rows if row.statistic in MOMENTS]
    name = f"lab-{index}"
    figures = (qq_drawing(case, f"{name}-qq"), cdf_drawing(case, f"{name}-cdf"))
    drawn = [figure for figure in figures if figure is not None and index < MOST_FIGURES]
    found = tables(
        _rows(f"{name}-quantiles", f"Quantiles, {unit}", ordered, factor),
        _moments(f"{name}-moments", moments, factor, unit),
        _distances(case, f"{name}-distances"),
    )
    title = f"Quantiles, moments and distances: {case.name}"
    return [
        Heading(case.name),
        *map(Text, lines),
        *pair(drawn),
        Fold(title, found, opened=index == 0),
    ]


def _rows(name: str, caption: str, rows: Sequence[Row], factor: float) -> Table:
    cells = []
    for row in rows:
        low, high = (None, None) if row.band is None else row.band
        verdict = "–" if row.outside is None else "outside" if row.outside else "inside"
        judged = None if row.verdict == "info" else row.verdict == "pass"
        cells.append(
            [
                Cell(row.statistic),
                *(number(x / factor) for x in (row.lab, row.simulated)),
                times(row.ratio),
                Cell("–" if row.log_error is None else f"{row.log_error:+.3f}", "number"),
                *(number(x / factor) for x in (row.low, row.high)),
                *(number(None if x is None else x / factor) for x in (low, high)),
                Cell(verdict),
                mark(judged),
            ]
        )
    head = ["", "laboratory", "simulated", "ratio", "log error", "low", "high", "low", "high"]
    spans = [("", 1)] * 5
    spans += [("interval over replications", 2), ("band if the model is true", 2)]
    spans += [("", 1)] * 2
    return Table(name, caption, [*head, "laboratory is", "verdict"], cells, spans)


def _moments(name: str, rows: Sequence[Row], factor: float, unit: str) -> Table:
    by_statistic = {row.statistic: row for row in rows}
    cells = [
        [
            Cell(row.statistic),
            *(number(x / factor) for x in (row.lab, row.simulated)),
            times(row.ratio),
        ]
        for row in rows
    ]
    mean, std = by_statistic.get("mean"), by_statistic.get("std")
    if mean is not None and std is not None and min(mean.lab, mean.simulated) > 0:
        lab, own = std.lab / mean.lab, std.simulated / mean.simulated
        ratio = own / lab if lab else None
        cells.append([Cell("std / mean"), number(lab), number(own), times(ratio)])
    caption = f"Moments, {unit}; the deviation hangs on the tail and is not judged"
    return Table(name, caption, ["", "laboratory", "simulated", "ratio"], cells)


def _distances(case: Compared, name: str) -> Table | None:
    distances = case.distances
    if distances is None:
        return None
    limit = None if distances.ks_limit is None else f"chance: up to {distances.ks_limit:.3f} (95 %)"
    rows = [[Cell("Kolmogorov-Smirnov, at least"), number(distances.ks), Cell(limit or "–")]]
    if distances.g is not None:
        text = f"{distances.g.freedom} degrees of freedom, chance {distances.g.p:.2g}"
        rows.append([Cell("G over the bins of the laboratory"), number(distances.g.g), Cell(text)])
    if distances.wasserstein is not None:
        rows.append(
            [
                Cell("Wasserstein, at least"),
                Cell(f"{distances.wasserstein:.1%}", "number", raw=distances.wasserstein),
                Cell("of the measured mean"),
            ]
        )
    if distances.mean_log_error is not None:
        factor = percent(math.expm1(distances.mean_log_error))
        rows.append([Cell("mean |log error|"), number(distances.mean_log_error), Cell(factor)])
    caption = "Distances that these statistics still allow; with thousands of samples any test "
    caption += "finds differences that nobody minds, so they inform and do not judge"
    return Table(name, caption, ["", "value", ""], rows)


def _ratios(judged: Judged) -> Table:
    rows = [
        {
            "": Cell(f"{ratio.above} over {ratio.below}"),
            "laboratory": times(ratio.lab),
            "simulated": times(ratio.simulated),
            "ratio": mark(ratio.ratio_ok),
            "order": Cell("–", status="info") if ratio.order_ok is None else mark(ratio.order_ok),
        }
        for ratio in judged.ratios
    ]
    caption = "Ratios between cases; where the measured one is near 1 no order is asked for"
    return table_of("lab-ratios", caption, rows)


def _crossovers(judged: Judged) -> list[str]:
    return [
        f"{cross.first} and {cross.second} cross {cross.places[0]} in the laboratory, "
        f"{cross.places[1]} in the simulation."
        for cross in judged.crossovers
    ]


def _runs(runs: Sequence[Run | PointsStudy]) -> Table:
    rows = [
        {
            "scenario": Cell(run.scenario.name),
            "seed": number(float(run.seed)),
            "replications": number(float(run.replications)),
            "folder": Cell(str(run.folder) if run.folder else "in memory", "code"),
        }
        for run in runs
    ]
    return table_of("lab-runs", "The runs; each folder has a manifest and its own report", rows)
