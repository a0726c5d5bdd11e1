"""One report in several forms: a page, Markdown, a tidy table, figures for papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dvsim.atomic import write_output
from dvsim.study.folder import read_checked
from dvsim.table.compare import Comparison
from dvsim.table.result import Result
from dvsim.view.comparison import comparison_page
from dvsim.view.figure import Figure, pdf, png, svg
from dvsim.view.html import html, write
from dvsim.view.markdown import markdown
from dvsim.view.result_page import report_page
from dvsim.view.sweep_page import swept_page
from dvsim.view.tidy import tidy, to_csv, to_parquet

if TYPE_CHECKING:
    from dvsim.evidence.verdicts import Validation
    from dvsim.view.blocks import Page

FORMATS = ("html", "md", "csv", "parquet", "svg", "png", "pdf")
DRAWN: Mapping[str, Callable[[Figure], bytes]] = {"svg": svg, "png": png, "pdf": pdf}


def format_of(path: Path) -> str:
    """Tell the form of a report by the name of its file; any other name is that of a page.

    >>> [format_of(Path(name)) for name in ("a.md", "b.PARQUET", "report", "c.html")]
    ['md', 'parquet', 'html', 'html']
    """
    ending = path.suffix.removeprefix(".").lower()
    return ending if ending in FORMATS else "html"


def write_results(
    path: Path,
    results: Sequence[Result],
    validation: Validation | None = None,
    command: str | None = None,
    form: str | None = None,
    more: Sequence[Figure] = (),
) -> list[Path]:
    """Write the report of runs or of studies in one of `FORMATS`.

    Args:
        path: The file; figures (svg, png, pdf) become files beside it, each with the name of its
            figure added.
        results, validation, command, more: As for `dvsim.view.result_page.report_page`.
        form: One of `FORMATS`; otherwise the name of the file says it, see `format_of`.

    Returns:
        list of Path: The files, in the order of the page.

    Raises:
        OutputError: If a file cannot be written. What was there before is still there then.
        DvsimError: If there is no result.
    """
    form = form or format_of(path)
    if form in ("csv", "parquet"):
        table = tidy(results, validation)
        write_output(path, to_csv(table) if form == "csv" else to_parquet(table))
        return [path]
    return write_page(path, report_page(results, validation, command, more), form)


def write_page(path: Path, page: Page, form: str) -> list[Path]:
    """Write a page as html or md, or its figures, and return the files."""
    if form in DRAWN:
        return write_figures(path, page.figures, form)
    write(path, markdown(page) if form == "md" else page)
    return [path]


def write_sweep(path: Path, swept: Result, form: str | None = None) -> list[Path]:
    """Write a kept sweep in one of `FORMATS`, the table as it is kept, and return the files."""
    form = form or format_of(path)
    if swept.folder is None or form not in ("csv", "parquet"):
        return write_page(path, swept_page(swept), form)
    write_output(path, read_checked(swept.folder, f"points.{form}", swept.manifest))
    return [path]


def write_figures(path: Path, figures: Sequence[Figure], form: str) -> list[Path]:
    """Write each figure to a file of its own."""
    files = []
    for figure in figures:
        file = path.with_name(f"{path.stem}-{figure.name}.{form}")
        write_output(file, DRAWN[form](figure))
        files.append(file)
    return files


def render_report(
    results: Sequence[Result],
    validation: Validation | None = None,
    command: str | None = None,
    more: Sequence[Figure] = (),
) -> str:
    """Return the page of runs or of studies as HTML, see `dvsim.view.result_page.report_page`."""
    return html(report_page(results, validation, command, more))


def render_comparison(comparison: Comparison, command: str | None = None) -> str:
    """Return the page of results side by side as HTML; `command` is what makes it."""
    return html(comparison_page(comparison, command))


def write_comparison(path: Path, comparison: Comparison, command: str | None = None) -> None:
    """Write the page of results side by side to a file.

    Raises:
        OutputError: If the file cannot be written. What was there before is still there then.
    """
    write_page(path, comparison_page(comparison, command), format_of(path))
