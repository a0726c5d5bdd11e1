"""One report in several forms: a page, Markdown, a tidy table, figures for papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dvsim.report.drawing import Drawing
from dvsim.report.markdown import Block, markdown
from dvsim.report.page import write, write_bytes
from dvsim.report.paper import can_be_printed, figure_svg
from dvsim.report.studies import render_study_report, study_parts
from dvsim.report.tidy import tidy, to_csv, to_parquet
from dvsim.report.write import render_report, run_parts
from dvsim.study.points import PointsStudy
from dvsim.study.run import Run, runs_of, studies_of

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation

FORMATS = ("html", "md", "csv", "parquet", "svg")
RUN_FIGURES = ("scaling_figures", "pipelines", "rate_figures", "qq_figures", "quantile_figures")


def format_of(path: Path) -> str:
    """Tell the form of a report by the name of its file; any other name is that of a page.

    Examples
    --------
    >>> [format_of(Path(name)) for name in ("a.md", "b.PARQUET", "report", "c.html")]
    ['md', 'parquet', 'html', 'html']
    """
    ending = path.suffix.removeprefix(".").lower()
    return ending if ending in FORMATS else "html"


def write_results(
    path: Path,
    results: Sequence[Run | PointsStudy],
    validation: Validation | None = None,
    command: str | None = None,
    form: str | None = None,
    more: Sequence[Drawing] = (),
) -> list[Path]:
    """Write the report of runs or of studies in one of `FORMATS`.

    Parameters
    ----------
    path : Path
        The file; figures (svg) become files beside it, each with the name of the figure added.
    results : sequence of Run or of PointsStudy
        At least one, all of one kind.
    validation, command
        As for `dvsim.report.render_report`.
    form : str, optional
        One of `FORMATS`; otherwise the name of the file says it, see `format_of`.
    more : sequence of Drawing
        Further figures, about what the results depend on, see `dvsim.report.sensitivity`.

    Returns
    -------
    list of Path
        The files, in the order of the page.

    Raises
    ------
    OutputError
        If a file cannot be written. What was there before is still there then.
    DvsimError
        If there is no result, or matplotlib is needed and not installed.
    """
    form = form or format_of(path)
    if form == "html":
        write(path, by_kind(results, render_report, render_study_report)(validation, command, more))
    elif form == "md":
        write(path, by_kind(results, runs_text, studies_text)(validation, command, more))
    elif form in ("csv", "parquet"):
        table = tidy(results, validation)
        write_bytes(path, to_csv(table) if form == "csv" else to_parquet(table))
    else:
        return write_figures(
            path, by_kind(results, run_figures, study_figures)(validation, command, more)
        )
    return [path]


def by_kind(
    results: Sequence[Run | PointsStudy],
    of_runs: Callable[..., Any],
    of_studies: Callable[..., Any],
) -> Callable[..., Any]:
    """Choose what makes a report by what it is about, and hand the results to it."""
    studies, runs = studies_of(results), runs_of(results)
    return lambda *rest: of_studies(studies, *rest) if studies else of_runs(runs, *rest)


def write_figures(path: Path, drawings: Sequence[Drawing]) -> list[Path]:
    """Write each flat figure to a file of its own."""
    files = []
    for drawing in filter(can_be_printed, drawings):
        file = path.with_name(f"{path.stem}-{drawing.name}.svg")
        write_bytes(file, figure_svg(drawing))
        files.append(file)
    return files


def run_figures(
    runs: Sequence[Run],
    validation: Validation | None,
    command: str | None,
    more: Sequence[Drawing] = (),
) -> list[Drawing]:
    """Return the figures of a report of runs."""
    parts = run_parts(runs, validation, command)
    return [*(drawing for name in RUN_FIGURES for drawing in parts[name]), *more]


def study_figures(
    studies: Sequence[PointsStudy],
    validation: Validation | None,
    command: str | None,
    more: Sequence[Drawing] = (),
) -> list[Drawing]:
    """Return the figures of a report of studies."""
    parts = study_parts(studies, validation, command)["parts"]
    drawn = (one for part in parts for one in (*part.curves, *part.pipelines, *part.spreads))
    return [*drawn, *more]


def runs_text(
    runs: Sequence[Run],
    validation: Validation | None,
    command: str | None,
    more: Sequence[Drawing] = (),
) -> str:
    """Write a report of runs as Markdown."""
    parts = run_parts(runs, validation, command)
    tables = [table for _, table in parts["statistics"]]
    return markdown(
        parts["title"],
        [
            (
                "The answer",
                [parts["intro"], *parts["sentences"], *parts["answers"], parts["rates"]],
            ),
            ("Assumed", parts["assumed"]),
            ("What limits it", [*parts["pipelines"], parts["stages"], parts["emulated"]]),
            ("Published and simulated", [*parts["qq_figures"], *optional(parts, "columns")]),
            ("Statistics", tables),
            ("What it depends on", more),
            *ending(parts, [parts["manifest"], parts["cards"]]),
        ],
    )


def studies_text(
    studies: Sequence[PointsStudy],
    validation: Validation | None,
    command: str | None,
    more: Sequence[Drawing] = (),
) -> str:
    """Write a report of studies as Markdown."""
    parts = study_parts(studies, validation, command)
    return markdown(
        parts["title"],
        [
            ("The answer", parts["verdicts"]),
            *(
                (part.title, [part.question, *part.sentences, *part.pipelines, part.points])
                for part in parts["parts"]
            ),
            ("What it depends on", more),
            ("What was asked", [parts["settings"]]),
            *ending(parts, [parts["origin"]]),
        ],
    )


def ending(parts: Mapping[str, Any], origin: Sequence[Block]) -> list[tuple[str, list[Block]]]:
    """Give the sections with which every report ends."""
    untold = parts["untold"]
    said = f"Not decided, because it was not run: {', '.join(untold)}." if untold else ""
    sources = "; ".join(parts["sources"])
    return [
        ("Claims", [*optional(parts, "claims"), said]),
        ("The numbers it rests on", [*optional(parts, "parameters")]),
        ("Where it comes from", [f"Source of the question: {sources}." * bool(sources), *origin]),
        ("To repeat it", [parts["commands"]]),
    ]


def optional(parts: Mapping[str, Any], name: str) -> list[Block]:
    """Give a part that a report may lack."""
    return [] if parts[name] is None else [parts[name]]
