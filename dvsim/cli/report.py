"""``dvsim report``: one page, text, table or set of figures from the folders of runs."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import FORMS, FormFile, check_free, report_option, write_page
from dvsim.cli.terminal import say
from dvsim.errors import Argument, ScenarioError

if TYPE_CHECKING:
    from dvsim.table.result import Result


@click.command("report")
@click.argument(
    "folders", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@report_option(
    "The file to write; its ending chooses the format.  [default: report.FORMAT]",
    FormFile(FORMS),
    "page",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="html: one offline page; md: text with tables; csv, parquet: one tidy table of all "
    "results; svg, png, pdf: the figures, each in a file.  "
    "[default: by the ending of FILE, or html]",
)
@click.option(
    "--sensitivity",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Also show the results of `dvsim sweep --sensitivity`, from this folder.",
)
def report(
    folders: tuple[Path, ...], page: Path | None, form: str | None, sensitivity: Path | None
) -> None:
    """Write one offline HTML page about one or several kept runs, or the same in another format.

    RUN is the folder of a run, or the name of a scenario: its newest run below runs. The folder of
    a sweep gives the page of that sweep.

    Runs with messages of the same size share a figure. Published data, where there are any, stand
    beside the runs. Studies of a switch or network have their own kind of page. The page needs no
    network and no other file. With --format svg, png or pdf the figures
    go into files beside FILE, with the name of each added.

    Example: dvsim report runs/h3/dv-8/* runs/h3/fdr-8/* --report both.html
    """
    from dvsim.evidence.validation import validate
    from dvsim.scenario.find import is_folder, out_of_reach
    from dvsim.study.changes import changes_of
    from dvsim.study.lookup import folders_of
    from dvsim.study.store import load_result

    named = [
        [path] if is_folder(path) or out_of_reach(path) else folders_of(str(path), Path("runs"))
        for path in folders
    ]
    results = [load_result(folder) for folders in named for folder in folders]
    command = ["dvsim", "report", *map(str, folders)]
    asked = {"--report": page, "--format": form, "--sensitivity": sensitivity}
    command += [str(part) for pair in asked.items() if pair[1] is not None for part in pair]
    page = page or Path(f"report.{form or 'html'}")
    check_free(page, form or page.suffix.removeprefix(".").lower())
    swept = [result for result in results if result.swept]
    if swept:
        from dvsim.view.file_formats import write_sweep

        _check_alone(results, sensitivity)
        for path in write_sweep(page, swept[0], form):
            say(path)
        return
    # what is measured on this machine, or of another system, is shown and not judged
    judged = [
        run
        for run in results
        if run.manifest.backend != "emu" and not changes_of(run.scenario).said
    ]
    compared = validate(judged) if judged else None
    for path in write_page(page, results, compared, shlex.join(command), form, sensitivity):
        say(path)


def _check_alone(results: Sequence[Result], sensitivity: Path | None) -> None:
    from dvsim.table.compare import sort_of

    if sensitivity is not None:
        raise ScenarioError.at(Argument("sensitivity"), "the page of a sweep has its own")
    if len(results) > 1:
        ordered = sorted(results, key=lambda result: sort_of(result) != "sweeps")
        other = {"runs": "a run", "studies": "a study", "sweeps": "another"}[sort_of(ordered[1])]
        folders = " ".join(str(result.folder) for result in results)
        message = (
            f"is a sweep, and {ordered[1].folder} {other}: a page is of runs and studies, or of "
            f"one sweep; 'dvsim compare {folders}' puts them side by side"
        )
        raise ScenarioError.at(str(ordered[0].folder), message)
