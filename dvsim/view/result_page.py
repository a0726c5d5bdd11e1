"""The page of runs and studies: its sections, from the answer to where it comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dvsim.errors import DvsimError
from dvsim.evidence.text import columns_table
from dvsim.study.changes import changes_of, titled
from dvsim.study.changes import title_of as title_of_scenario
from dvsim.study.emulated_text import made_text
from dvsim.study.number_text import joined
from dvsim.study.table import Table, number
from dvsim.study.transports import contest_text, contests
from dvsim.study.whatif import answers
from dvsim.table.result import Result, flow_text
from dvsim.table.stages import busiest
from dvsim.view.axes import Sweep
from dvsim.view.basis import (
    cards_table,
    claims_table,
    claims_untold,
    commands_of,
    origin_table,
    parameters_table,
    used_cards,
)
from dvsim.view.blocks import (
    Block,
    Fold,
    Page,
    Section,
    Text,
    answer,
    commands,
    pair,
    tables,
    under,
)
from dvsim.view.curves import bottlenecks_text, curve_figures, stage_figures
from dvsim.view.figure import Figure
from dvsim.view.groups import Group, grouped, paths_of, size_text
from dvsim.view.metrics import metric_text, name_of
from dvsim.view.pipeline import lanes_of, lanes_of_study, pipeline_figure
from dvsim.view.published import rows_as_printed, statistics_table
from dvsim.view.recorded import Shape, recording
from dvsim.view.run_figures import (
    points_per_line,
    qq_figures,
    quantile_figure,
    rate_figure,
    scaling_figures,
)
from dvsim.view.run_tables import emulated_table, fabric_lines, named, rates_table, stages_table
from dvsim.view.saturation import saturation_sentence
from dvsim.view.spread import spread_figures
from dvsim.view.study_tables import points_table, settings_table
from dvsim.view.sweep_page import largest, settled_sentence
from dvsim.view.whatif import all_answer, answer_blocks, answers_of

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation

MOST_SIZES = 6  # that the title names
SHORT = 0.5  # share of the published samples below which that is said
MOST_OPEN = 12  # rows of a table of rates that is not folded
MOST_POINTS = 24  # rows of a table of points that is not folded
LOOPS = {
    "closed": "a closed loop: the next message waits until the system is ready",
    "open": "an open loop: a message comes at its due time, whether the system is ready or not",
}


@dataclass(frozen=True)
class Part:
    """What a page has about runs, or about studies; `basis` is what they rest on."""

    title: str
    answer: Sequence[Block]
    sections: Sequence[Section]
    basis: Section
    origin: Sequence[Table]
    intro: str = ""


def report_page(
    results: Sequence[Result],
    validation: Validation | None = None,
    command: str | None = None,
    more: Sequence[Figure] = (),
) -> Page:
    """Return the page of runs and of studies, one or many.

    Args:
        results: At least one; runs with messages of one size share a figure.
        validation: The comparison of the runs with what was published.
        command: The command that makes the page; those that made the runs are known from their
            manifests.
        more: Further figures, about what the results depend on, see `dvsim.view.sensitivity`.

    Raises:
        DvsimError: If there is no result.
    """
    if not results:
        raise DvsimError("a report needs at least one run or study")
    runs = [result for result in results if result.sampled]
    studies = [result for result in results if not result.sampled]
    parts = [_about_runs(runs, validation)] if runs else []
    if studies:
        rest = None if runs else validation  # claims are told once
        parts.append(_about_studies(studies, rest, alone=len(results) == 1))
    only = parts[0] if len(parts) == 1 else None
    origin = [table for part in parts for table in part.origin]
    return Page(
        only.title if only else f"{len(results)} results",
        [
            Section("answer", "The answer", [block for part in parts for block in part.answer]),
            *(section for part in parts for section in part.sections),
            *_judged(validation, more),
            *(part.basis for part in parts),
            _ending(results, origin, command),
        ],
        only.intro if only else "",
    )


def _about_runs(runs: Sequence[Result], validation: Validation | None) -> Part:
    groups = grouped(runs)
    rows = rows_as_printed(validation)
    entries = [entry for group in groups for entry in group.entries]
    limit = points_per_line(groups)
    quantiles = [
        quantile_figure(entry, rows, f"quantiles-{index}") for index, entry in enumerate(entries)
    ]
    names = [
        dict(zip(("message", "scenario"), named(group, entry), strict=True))
        | {"scenario": entry.run.scenario.name, "backend": entry.run.backend}
        for group in groups
        for entry in group.entries
    ]
    made = origin_table([entry.run for entry in entries], names)
    return Part(
        title_of(groups),
        _run_answer(groups, validation),
        [
            Section(
                "scaling",
                "From small messages to large ones",
                pair(scaling_figures(groups, rows)),
            ),
            Section("limits", "What limits it", _limits(groups, runs)),
            Section("rates", "Rates over time", [rate_figure(group, limit) for group in groups]),
            Section(
                "quantiles", "Quantiles", pair([*qq_figures(groups, validation, rows), *quantiles])
            ),
            _compared(groups, validation),
        ],
        Section("basis", "The numbers it rests on", _basis(groups, runs)),
        [made, *tables(cards_table(runs))],
        runs[0].scenario.question if len(runs) == 1 else "",
    )


def _run_answer(groups: Sequence[Group], validation: Validation | None) -> list[Block]:
    answered = answers_of(groups)
    rest = [] if all_answer(groups) else sentences(groups, validation)
    rates = rates_table(groups)
    folded = Fold("Mean rates of every run", [rates])
    return [
        *(block for each in answered for block in answer_blocks(each)),
        *answer(rest),
        folded if len(rates.rows) > MOST_OPEN or answered else rates,
    ]


def _limits(groups: Sequence[Group], runs: Sequence[Result]) -> list[Block]:
    loops = joined([LOOPS[loop] for loop in sorted({run.scenario.loop for run in runs})], "or")
    stages = tables(stages_table(groups))
    return [
        Text(
            "In a chain of stages the one that is always busy sets the pace, and work on any other "
            f"changes little. The load is {loops}."
        ),
        *pipeline_figures(groups),
        *([Fold("Every stage as a table", stages)] if stages else []),
        *tables(emulated_table(groups)),
        *(Text(f"Fabric of {line}") for line in fabric_lines(groups)),
    ]


def _compared(groups: Sequence[Group], validation: Validation | None) -> Section:
    rows = rows_as_printed(validation)
    statistics = [
        Fold(
            size_text(group.message_bytes), [statistics_table(group, validation, rows)], opened=True
        )
        for group in groups
    ]
    if validation is None or not validation.judged:
        text = "Without published data beside them there is no verdict on these numbers."
        return Section("comparison", "Statistics", [Text(text), *statistics])
    text = (
        "The statistics behind these verdicts follow, size by size; ✓ and ✗ mark those that a "
        "declared tolerance judges. The published range of the empty share is what the published "
        "quantiles leave possible."
    )
    columns = columns_table(validation)
    return Section("comparison", "Published and simulated", [columns, Text(text), *statistics])


def _basis(groups: Sequence[Group], runs: Sequence[Result]) -> list[Block]:
    emulated = any(run.backend == "emu" for run in runs)
    weak: Sequence[Block] = tables(parameters_table([run for run in runs if run.backend != "emu"]))
    if not weak and not emulated:
        weak = [Text("Every parameter of these runs was published or measured.")]
    note = (
        "An emulated run takes no time or rate from a card, only the words of a piece, the "
        "interval or batch of the probe, and how many sockets or publishers there are."
    )
    return [
        Text(
            "Calibrated parameters were fitted to published columns, so agreement with those "
            "columns is a fit, not a prediction. Unverified ones rest on recollection or on a "
            "source that could not be read. Assumed ones are a choice of ours or of whoever asked "
            "for the run."
        ),
        *weak,
        *([Text(note)] if emulated else []),
    ]


def _judged(validation: Validation | None, more: Sequence[Figure]) -> list[Section]:
    blocks: list[Block] = []
    if validation is not None and validation.claims:
        untold = ", ".join(claims_untold(validation))
        blocks = [
            Text(
                "Confirmed: the simulation gives what is claimed, and reproduces published columns "
                "that the claim speaks about, if it speaks about any. Refuted: it gives something "
                "else, although it reproduces those columns. Not reproduced: it does not reproduce "
                "them, so that neither can be said, or there is no run that could tell."
            ),
            *tables(claims_table(validation)),
        ]
        if untold:
            text = f"Not decided here, because what they speak about was not run: {untold}."
            blocks.append(Text(text))
    return [
        Section("claims-judged", "Claims", blocks),
        Section("sensitivity", "What it depends on", pair(more)),
    ]


def _ending(results: Sequence[Result], origin: Sequence[Table], command: str | None) -> Section:
    sources = list(dict.fromkeys(filter(None, (result.scenario.source for result in results))))
    asked = [Text(f"Source of the question: {'; '.join(sources)}.")] if sources else []
    lines = commands(commands_of(results, command))
    return Section("origin", "Where it comes from", [*asked, *origin, *lines])


def pipeline_figures(groups: Sequence[Group]) -> list[Figure]:
    """Draw the way of a message, a picture for each transport."""
    return [
        pipeline_figure(lanes, f"pipeline-{path.short}", f"{path.label}: where time and bytes wait")
        for path in paths_of(groups)
        if (lanes := [lane for lane in lanes_of(groups, path) if lane.stations])
    ]


def title_of(groups: Sequence[Group]) -> str:
    """Name the page: the title of the only run, or what the runs have in common."""
    entries = [entry for group in groups for entry in group.entries]
    if len(entries) == 1:
        scenario = entries[0].run.scenario
        changes = changes_of(scenario)
        title = titled(scenario) if changes.said else scenario.title
        return title + ", emulated" * (entries[0].made == "emulated")
    answers = answers_of(groups)
    if len(answers) == 1 and all_answer(groups):
        return answers[0].whatif.title
    transports = [path.label for path in paths_of(groups)]
    texts = [size_text(group.message_bytes) for group in groups]
    sizes = joined(texts) if len(texts) <= MOST_SIZES else f"{texts[0]} to {texts[-1]}"
    made = " and ".join(dict.fromkeys(entry.made for entry in entries))
    runs = "runs" if made == "simulated" else f"{made} runs"
    return f"{len(entries)} {runs}: {joined(transports)}, messages of {sizes}"


def _about_studies(
    studies: Sequence[Result], validation: Validation | None, *, alone: bool
) -> Part:
    answered = answers(studies)
    title = answered[0].whatif.title if len(answered) == 1 else f"{len(studies)} studies"
    verdicts = [block for each in answered for block in answer_blocks(each)]
    verdicts += [Text(sentence, "verdict") for sentence in claims_sentences(validation)]
    used = any(map(used_cards, studies))
    weak = tables(parameters_table(studies, "parameters-of-studies")) if used else []
    note = (
        "A key that stands here is a choice of whoever asked; what is not settled by any "
        "publication is said in the notes of the claims and in the documentation."
    )
    names = [
        {"scenario": study.scenario.name, "points": number(len(study.scenario.points))}
        for study in studies
    ]
    asked = [Text(note), settings_table(studies), *under("What it rests on", weak)]
    return Part(
        _title(studies[0]) if alone else title,
        verdicts,
        [
            study_section(study, f"study-{index}", headed=not alone)
            for index, study in enumerate(studies)
        ],
        Section("asked", "What was asked", asked),
        [origin_table(studies, names, "manifest-of-studies")],
    )


def study_section(study: Result, name: str, *, headed: bool = True) -> Section:
    """Return what a page shows of one study: answer, recorded run, curves, points."""
    sweep = Sweep(study)
    scenario = study.scenario
    blocks: list[Block] = [Text(scenario.question, "question")] if scenario.question else []
    blocks += map(Text, study_answer(sweep))
    behind = [*stage_figures(sweep, name), *spread_figures(sweep, name)]
    figures = []
    if "stages" in sweep.tables and not sweep.tables["stages"].empty:
        text = "What limits it, at the end of each line"
        figures = [pipeline_figure(lanes_of_study(sweep), f"{name}-pipeline", text)]
    blocks += _recorded(study, f"{name}-recorded")
    points = points_table(study, sweep, f"{name}-points")
    blocks += [
        *pair(curve_figures(sweep, name)),
        *figures,
        *under("Behind the means", pair(behind)),
        Fold("Every point as a table", [points], opened=len(points.rows) <= MOST_POINTS),
    ]
    return Section(name, _title(study), blocks, headed)


def study_answer(sweep: Sweep) -> list[str]:
    """Say what a study found, the answer first; every number is in its tables too."""
    study = sweep.study
    single = "; ".join(
        f"{name_of(study, metric)} {metric_text(study, metric, mark.value, mark.half)}"
        for metric in study.drawn[:3]
        for mark in (sweep.marks(sweep.groups[0], metric) if sweep.count == 1 else [])
    )
    found = saturation_sentence(sweep) or largest(study, settled=True)
    said = [found or f"{single[:1].upper()}{single[1:]}." * bool(single)]
    said.append(bottlenecks_text(sweep) if "stages" in sweep.tables else settled_sentence(sweep))
    if "stages" not in sweep.tables and (errors := study.flow_errors()):
        text = flow_text(errors, sweep.count)
        said.append(
            f"{text[0].upper()}{text[1:]}. Replications are equal there and give no interval."
        )
    return [text for text in said if text]


def _title(study: Result) -> str:
    return title_of_scenario(study.scenario) or titled(study.scenario)


def _recorded(study: Result, name: str) -> list[Block]:
    tables = study.tables
    if "events" not in tables or tables["events"].empty:
        return []
    shape = Shape(*(study.scenario.at(0).get(key) for key in ("height", "angles")))
    made = recording(name, "The recorded run", shape, tables["events"], tables["queues"])
    if made is None:
        return []
    return [made, Text(made.label), Fold("Deflections", [made.deflections])]


def sentences(groups: Sequence[Group], validation: Validation | None) -> list[str]:
    """Say what the page shows of runs; the first one is the answer."""
    runs = [entry.run for group in groups for entry in group.entries]
    rivals = contests(runs)
    stages = Counter(stage.text for run in runs if (stage := busiest(run.values)) is not None)
    limits = ", ".join(f"{stage} at {times}" for stage, times in stages.most_common())
    made = {made_text(run.manifest.emulated): None for run in runs if run.manifest.emulated}
    compared = validation is not None and validation.judged
    return [
        *([contest_text(rivals)] if rivals else []),
        *([f"{runs[0].answer}."] if len(runs) == 1 else []),
        *([f"Busiest stage, by runs: {limits}."] if len(runs) > 1 and limits else []),
        *verdict_sentences(validation),
        *claims_sentences(validation),
        *(f"{text[0].upper()}{text[1:]}; rates are those of that machine." for text in made),
        *([] if compared else ["Nothing was compared with published data."]),
    ]


def verdict_sentences(validation: Validation | None) -> list[str]:
    """Count the columns that pass, fitted and held out apart."""
    if validation is None or not validation.judged:
        return []
    columns = validation.printed()
    passed = columns["passed"].sum()
    parts = []
    for split, text in (("fitted", "fitted to"), ("held out", "held out")):
        chosen = columns["passed"][columns["split"] == split]
        if len(chosen):
            parts.append(f"{chosen.sum()} of the {len(chosen)} {text}")
    rows = validation.rows
    counted = (rows["statistic"] == "count") & (rows["reading"] == "as printed")
    counts = rows[counted & (rows["published"] > 0)]
    share = (counts["simulated"] / counts["published"]).max() if len(counts) else 1.0
    fit = " Where a fitted column passes, that is a fit, not a prediction."
    return [
        f"{passed} of {len(columns)} published columns are reproduced within the tolerances "
        f"declared beforehand: {' and '.join(parts)}."
        + fit
        * bool((columns["split"] == "fitted").any()),
        *(
            [f"These runs are short: {share:.0%} of the published samples."]
            if share < SHORT
            else []
        ),
    ]


def claims_sentences(validation: Validation | None) -> list[str]:
    """Count the claims by verdict."""
    if validation is None or not validation.claims:
        return []
    untold = set(claims_untold(validation))
    verdicts = [claim.verdict for claim in validation.claims if claim.id not in untold]
    rest = f" {len(untold)} more speak about what was not run here." if untold else ""
    if not verdicts:
        return [f"None of the {len(untold)} claims of the source speaks about these runs."]
    tally = {word: verdicts.count(word) for word in ("confirmed", "refuted", "not reproduced")}
    if "not testable" in verdicts:
        tally["not testable"] = verdicts.count("not testable")
    listed = joined([f"{count} {word}" for word, count in tally.items()])
    defined = sum(
        claim.basis == "by definition" and claim.verdict == "confirmed"
        for claim in validation.claims
    )
    more = f" {defined} of those confirmed {'is' if defined == 1 else 'are'} so by definition."
    return [f"Of {len(verdicts)} claims of the source, {listed}.{more if defined else ''}{rest}"]
