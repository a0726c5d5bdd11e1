"""The answer to measurements of a laboratory: verdict, provenance, each case, what is between.

The page and the terminal show the same sections.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dvsim.evidence.lab.data import shown
from dvsim.evidence.lab.judge import KINDS, MEANS, Compared, by_series
from dvsim.study.number_text import MISSING
from dvsim.study.table import Cell, Table, mark, number, table_of, times
from dvsim.view.basis import commands_of, origin_table
from dvsim.view.blocks import Block, Fold, Heading, Items, Page, Section, Text, tables
from dvsim.view.blocks import commands as repeated
from dvsim.view.figure import (
    BLUE,
    Axis,
    Figure,
    frame_of,
    lines,
    log_axis,
    reading,
)
from dvsim.view.run_figures import equality

if TYPE_CHECKING:
    from dvsim.evidence.lab.data import LabData
    from dvsim.evidence.lab.judge import Compared, Judged
    from dvsim.table.result import Result


def qq_figure(case: Compared, name: str) -> Figure | None:
    """Draw measured order statistics over simulated ones; None with fewer than two above zero."""
    factor, unit = shown(case.case.unit)
    rows = case.rows[~case.rows["statistic"].isin(["mean", "std"])]
    rows = rows[(rows["lab"] > 0) & (rows["simulated"] > 0)]
    if len(rows) < 2:
        return None
    names = {"simulated": "x", "lab": "y", "band_low": "low", "band_high": "high"}
    placed = (rows[[*names]] / factor).rename(columns=names)
    placed = placed.assign(line="order statistics", colour=BLUE, text=rows["statistic"])
    points: list[Any] = placed.to_dict(orient="records")
    frame = frame_of(points)
    ends = [*frame["x"], *frame["y"]]
    x, y = (log_axis(f"{who}, {unit}", ends) for who in ("simulated", "laboratory"))
    chart = lines(frame, x, y, joined=False, height=340, under=equality(x, y))
    heads = {"text": "statistic", "x": x.title, "y": y.title, "low": "low", "high": "high"}
    return Figure(name, "Q-Q", frame, chart, reading("lab_qq"), heads=heads)


def sizes_figures(cases: Sequence[Compared]) -> list[Figure]:
    """Draw means, or medians, over message sizes: one figure a metric, if there are two sizes."""
    figures = []
    for metric in dict.fromkeys(case.case.metric for case in cases):
        series = by_series([case for case in cases if case.case.metric == metric])
        found = [line for line in map(_line, series.values()) if len(line) > 1]
        if not found:
            continue
        factor, unit = shown(found[0][0][0].case.unit)
        frame = frame_of(
            {"line": ", ".join(filter(None, line[0][0].case.series[1:])) or metric}
            | {"part": part, "x": case.simulated.message_bytes, "y": value / factor, "open": hollow}
            for line in found
            for case, row in line
            for part, value, hollow in (
                ("simulated", row.simulated, 0),
                ("laboratory", row.lab, 1),
            )
        )
        ends = (min(frame["x"]) / 1.5, max(frame["x"]) * 1.5)
        x = Axis("message size", "log", "bytes", ends=ends)
        y = log_axis(f"{metric}, {unit}", frame["y"])
        name = f"lab-sizes-{metric.replace(' ', '-')}"
        title = f"{metric.capitalize()} over message size"
        heads = {"line": "series", "part": "part", "x": "message size (B)", "y": y.title}
        told = reading("lab_sizes")
        figures.append(Figure(name, title, frame, lines(frame, x, y), told, heads=heads))
    return figures


def _line(cases: Sequence[Compared]) -> list[tuple[Compared, Any]]:
    rows = [(case, case.row(*MEANS)) for case in cases]
    return [(case, row) for case, row in rows if row and min(row.lab, row.simulated) > 0]


SPLITS = {"fitted": "fitted", "held out": "held-out", "not stated": "info"}
MOMENTS = ("mean", "std")
MOST_FIGURES = 12  # cases that have figures of their own; tables have all


def lab_page(
    runs: Sequence[Result], judged: Judged, data: LabData, command: str | None = None
) -> Page:
    """Return the page about measurements beside what was simulated; `command` is what makes it."""
    table = origin_table(runs, [{"scenario": run.scenario.name} for run in runs])
    origin: list[Block] = [table, *repeated(commands_of(runs, command))]
    return Page(
        f"{Path(judged.file).name}, laboratory and simulation",
        [*lab_sections(judged, data), Section("origin", "Where it comes from", origin)],
        f"{judged.form}.",
    )


def lab_sections(judged: Judged, data: LabData) -> list[Section]:
    """Return what there is to say of measurements, the verdict first."""
    verdict = [Text(judged.headline, "verdict"), Text(_tolerances(judged))]
    verdict += map(Text, judged.questions)
    return [
        Section("answer", "The verdict", [*verdict, _verdict_table(judged)]),
        Section("measured", "The measurement", [*_provenance(judged, data)]),
        Section("cases", "Case by case", _cases(judged)),
        Section("between", "Between cases", [*sizes_figures(judged.cases), *_ratios(judged)]),
        Section("limits", "What these data cannot show", [Items(judged.limits)]),
    ]


def _cases(judged: Judged) -> list[Block]:
    some = f" The first {MOST_FIGURES} cases have figures, all have tables."
    text = (
        "The band says where a quantile of as many independent samples lies if the simulation is "
        "true (order statistics, 95 %). Neighbouring samples are rarely independent, so true bands "
        f"are wider.{some * (len(judged.cases) > MOST_FIGURES)}"
    )
    parts = [block for index, case in enumerate(judged.cases) for block in _case(case, index)]
    return [Text(text), *parts]


def _verdict_table(judged: Judged) -> Table:
    rows: list[list[str]] = []
    criteria: list[Any] = list(judged.criteria.itertuples())
    by_case = {(item.what, item.kind): item for item in criteria}
    for case in judged.cases:
        cells = [_criterion(by_case.get((case.name, kind))) for kind in KINDS]
        rows.append([case.name, Cell(case.split, status=SPLITS[case.split]), *cells])
    between = judged.criteria[~judged.criteria["kind"].isin(KINDS)].groupby("kind", sort=False)
    for kind, passed in between["passed"]:
        word = "pass" if passed.all() else "fail"
        told = Cell(f"{passed.sum()} of {len(passed)}", status=word)
        rows.append([f"{kind} between cases", "", told, *[""] * (len(KINDS) - 1)])
    return Table(
        ["case", "split", *KINDS.values()],
        rows,
        name="lab-verdict",
        caption="The criteria: the error furthest away, and whether all are within tolerance",
    )


def _criterion(criterion: Any) -> Cell:  # noqa: ANN401 - a row
    if criterion is None:
        return Cell(MISSING, status="info", raw="")
    word = "pass" if criterion.passed else "fail"
    known = not math.isnan(criterion.got)
    got = f"{_percent(criterion.got)} ({criterion.statistic}) " if known else ""
    if criterion.kind == "empty" and known:
        got = f"{100 * criterion.got:+.0f} points "
    raw = criterion.got if known else word
    return Cell(f"{got}{word}", "number", word, raw)


def _percent(error: float) -> str:
    """Return a relative error; a large one as a factor.

    >>> _percent(0.034), _percent(-0.5), _percent(11.0)
    ('+3.4 %', '-50.0 %', 'x 12')
    """
    return f"{error * 100:+.1f} %" if abs(error) < 5 else f"x {error + 1:.3g}"


def _tolerances(judged: Judged) -> str:
    texts = (f"{name} {value:.0%}" for name, value in asdict(judged.tolerances).items())
    own = f"{', '.join(judged.declared) or 'none'} declared in [lab]"
    return f"Tolerances: {', '.join(texts)}; {own}, the others are the defaults."


def _provenance(judged: Judged, data: LabData) -> Iterator[Block]:
    about = {"file": judged.file, "form": judged.form} | judged.about
    rows = [
        [key, Cell(value, status="info" if value == "not stated" else "")]
        for key, value in about.items()
    ]
    yield Table(
        ["what", "told"], rows, name="lab-origin", caption="What is known of the measurement"
    )
    reasons: dict[str, list[str]] = {}
    for name, reason in judged.missing:
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        text = names[0] if len(names) == 1 else f"{len(names)} cases, {names[0]} the first"
        yield Text(f"Not compared: {text}: {reason}.")
    if not any(case.values is not None for case in data.cases):
        yield Text(
            "The file has statistics and no samples: what lies between two quantiles is unknown, "
            "and distances are bounds."
        )


def _case(case: Compared, index: int) -> list[Block]:
    lab, own = case.case, case.simulated
    count = "an unknown number of samples" if lab.count is None else f"{lab.count:,} samples"
    lines = [
        f"{case.split.capitalize()}. Measured: {count}, each: {lab.sample}. Simulated: "
        f"{own.scenario}, {own.what}, replications: {own.replications}.",
        *(f"{note[0].upper()}{note[1:]}." for note in (*lab.notes, *own.notes)),
    ]
    if case.zeros is not None:
        simulated, low, high = (f"{share:.1%}" for share in case.zeros)
        measured = low if low == high else f"{low} to {high}"
        lines.append(f"Samples that are zero: {measured} measured, {simulated} simulated.")
    name = f"lab-{index}"
    drawn = qq_figure(case, f"{name}-qq") if index < MOST_FIGURES else None
    details: list[Block] = [_statistics(f"{name}-statistics", case)]
    if case.distances is not None:
        ks, limit, mean = case.distances.values()
        chance = "" if limit is None else f" (chance: up to {limit:.3f}, 95 %)"
        error = "" if mean is None else f"; mean absolute log error {mean:.3f}"
        text = f"Kolmogorov-Smirnov distance: at least {ks:.3f}{chance}{error}."
        details.append(Text(text))
    return [
        Heading(case.name),
        *map(Text, lines),
        *([drawn] if drawn else []),
        Fold(f"Statistics: {case.name}", details, opened=index == 0),
    ]


def _statistics(name: str, case: Compared) -> Table:
    factor, unit = shown(case.case.unit)
    rows: list[Any] = sorted(case.rows.itertuples(), key=lambda row: row.statistic in MOMENTS)
    head = ["", "laboratory", "simulated", "ratio", "log error", "low", "high", "low", "high"]
    spans = [("", 1)] * 5 + [("95 % interval", 2), ("band if true", 2)] + [("", 1)] * 2
    unit = "plain numbers" if unit == "1" else unit
    caption = f"In {unit}; intervals are over replications; extremes and deviation are not judged"
    head += ["laboratory is", "verdict"]
    cells = [_row(row, factor) for row in rows]
    return Table(head, cells, name=name, caption=caption, spans=spans)


def _row(row: Any, factor: float) -> list[str]:  # noqa: ANN401
    verdict = MISSING if row.outside is None else "outside" if row.outside else "inside"
    ends = (row.low, row.high, row.band_low, row.band_high)
    return [
        row.statistic,
        *(number(x / factor) for x in (row.lab, row.simulated)),
        times(row.ratio),
        MISSING if math.isnan(row.log_error) else f"{row.log_error:+.3f}",
        *(number(x / factor) for x in ends),
        verdict,
        mark(None if row.verdict == "info" else row.verdict == "pass"),
    ]


def _ratios(judged: Judged) -> list[Table]:
    items: list[Any] = list(judged.ratios.itertuples())
    rows = [
        {
            "": f"{ratio.above} over {ratio.below}",
            "laboratory": times(ratio.lab),
            "simulated": times(ratio.simulated),
            "ratio": mark(ratio.ratio_ok),
            "order": Cell("–", status="info") if ratio.order_ok is None else mark(ratio.order_ok),
        }
        for ratio in items
    ]
    caption = "Ratios between cases; where the measured one is near 1 no order is asked for"
    return tables(table_of("lab-ratios", caption, rows))
