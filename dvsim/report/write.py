"""The page about runs, put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dvsim.errors import DvsimError
from dvsim.report.compare import columns_table, published_values, rows_as_printed, statistics_table
from dvsim.report.drawing import Drawing
from dvsim.report.emulated import emulated_table
from dvsim.report.evidence import (
    cards_table,
    claims_table,
    claims_untold,
    commands_of,
    manifest_table,
)
from dvsim.report.figures import points_per_trace, rate_drawing
from dvsim.report.lanes import lanes_of
from dvsim.report.page import render
from dvsim.report.parameters import parameters_table
from dvsim.report.pipeline import pipeline_drawing
from dvsim.report.prepare import Group, prepare, size_text
from dvsim.report.qq import qq_drawings
from dvsim.report.quantiles import quantile_drawing
from dvsim.report.rates import rates_table
from dvsim.report.scaling import scaling_drawings
from dvsim.report.stages import fabric_lines, stages_table
from dvsim.report.verdict import MOST_SIZES, join, sentences
from dvsim.report.whatif import (
    all_answer,
    answer_assumptions,
    answer_drawings,
    answer_tables,
    answers_of,
)
from dvsim.study.changes import changes_of

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation
    from dvsim.study.run import Run


def render_report(
    runs: Sequence[Run],
    validation: Validation | None = None,
    command: str | None = None,
    more: Sequence[Drawing] = (),
) -> str:
    """Make the report of one run or many, as one HTML page that needs nothing else.

    Equal arguments give equal text.

    Parameters
    ----------
    runs : sequence of Run
        At least one; those with messages of one size share a figure.
    validation : Validation, optional
        The comparison of these runs with what was published.
    command : str, optional
        The command that makes the page; those that made the runs are known from their manifests.
    more : sequence of Drawing
        Further figures, about what the results depend on, see `dvsim.report.sensitivity`.

    Returns
    -------
    str
        HTML, with the figure library inside: about 5 MB, and 8 MB at most for ten runs.

    Raises
    ------
    DvsimError
        If there is no run.
    """
    if not runs:
        raise DvsimError("a report needs at least one run")
    return render("page.html.jinja", **run_parts(runs, validation, command), more=more)


def run_parts(
    runs: Sequence[Run], validation: Validation | None, command: str | None
) -> dict[str, Any]:
    """Make what a report of runs holds, in whatever form it is written."""
    parts = page_parts(prepare(runs), runs, validation)
    return parts | {"commands": commands_of(runs, command)}


def page_parts(
    groups: Sequence[Group], runs: Sequence[Run], validation: Validation | None
) -> dict[str, Any]:
    """Make what the template places: sentences, figures and tables, by name."""
    rows = rows_as_printed(validation)
    published = published_values(rows)
    limit = points_per_trace(groups)
    entries = [entry for group in groups for entry in group.entries]
    judged = validation is not None and bool(validation.columns)
    alike = len(runs) == 1 or all_answer(groups)
    questions = list(dict.fromkeys(run.scenario.question for run in runs)) if alike else []
    return {
        "title": title_of(groups),
        "intro": questions[0] if len(questions) == 1 else "",
        "sources": list(dict.fromkeys(run.scenario.source for run in runs if run.scenario.source)),
        "sentences": sentences(groups, validation),
        "loops": join(sorted({run.scenario.loop for run in runs})),
        "answers": answer_tables(groups),
        "assumed": answer_assumptions(groups),
        "answer_figures": answer_drawings(groups),
        "rates": rates_table(groups),
        "columns": columns_table(groups, validation, rows) if validation and judged else None,
        "statistics": [
            (size_text(group.message_bytes), statistics_table(group, validation, rows))
            for group in groups
        ],
        "scaling_figures": scaling_drawings(groups, published),
        "pipelines": pipeline_drawings(groups),
        "qq_figures": qq_drawings(groups, validation, rows),
        "rate_figures": [rate_drawing(group, limit) for group in groups],
        "quantile_figures": [
            quantile_drawing(entry, published, f"quantiles-{number}")
            for number, entry in enumerate(entries)
        ],
        "stages": stages_table(groups),
        "emulated": emulated_table(groups),
        "fabrics": fabric_lines(groups),
        "claims": claims_table(validation) if validation and validation.claims else None,
        "untold": claims_untold(validation),
        "parameters": parameters_table([run for run in runs if run.backend != "emu"]),
        "manifest": manifest_table(groups),
        "cards": cards_table(runs),
    }


def pipeline_drawings(groups: Sequence[Group]) -> list[Drawing]:
    """Draw the way of a message, a picture for each transport."""
    drawings = []
    for vortex, name in ((True, "Data Vortex"), (False, "TCP")):
        lanes = lanes_of(groups, vortex=vortex)
        if lanes:
            identifier = f"pipeline-{'dv' if vortex else 'tcp'}"
            drawings.append(
                pipeline_drawing(lanes, identifier, f"{name}: where time and bytes wait")
            )
    return drawings


def title_of(groups: Sequence[Group]) -> str:
    """Name the page: the title of the only run, or what the runs have in common."""
    entries = [entry for group in groups for entry in group.entries]
    if len(entries) == 1:
        scenario = entries[0].run.scenario
        changes = changes_of(scenario)
        title = f"{changes.name}: {scenario.title}" if changes.said else scenario.title
        return title + ", emulated" * (entries[0].made == "emulated")
    told = answers_of(groups)
    if len(told) == 1 and all_answer(groups):
        return told[0].whatif.title
    transports = ["Data Vortex"] * any(entry.is_vortex for entry in entries)
    transports += ["TCP"] * any(not entry.is_vortex for entry in entries)
    texts = [size_text(group.message_bytes) for group in groups]
    sizes = join(texts) if len(texts) <= MOST_SIZES else f"{texts[0]} to {texts[-1]}"
    made = " and ".join(dict.fromkeys(entry.made for entry in entries))
    runs = "runs" if made == "simulated" else f"{made} runs"
    return f"{len(entries)} {runs}: {join(transports)}, messages of {sizes}"
