"""``dvsim report``: one HTML page from the folders of one run or many."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from dvsim.cli.options import Page, write_page
from dvsim.cli.terminal import say


@click.command("report")
@click.argument(
    "folders",
    metavar="RUN_FOLDER...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option(
    "-o",
    "--output",
    type=Page(),
    default=Path("report.html"),
    show_default=True,
    help="The page to write.",
)
def report(folders: tuple[Path, ...], output: Path) -> None:
    """Write one offline HTML page about one run or several.

    Runs with messages of the same size share a figure. Runs that have published data are compared
    with them. Studies of a switch or network have a page of their own kind. The page needs no
    network and no other file.

    Example: dvsim report runs/h3/dv-8/* runs/h3/fdr-8/* -o report.html
    """
    from dvsim.results.load import load_result
    from dvsim.validation import validate

    runs = [load_result(folder) for folder in folders]
    command = shlex.join(["dvsim", "report", *map(str, folders), "-o", str(output)])
    # what is measured on this machine is shown, and not judged
    judged = [run for run in runs if run.manifest.get("backend") != "emu"]
    write_page(output, runs, validate(judged) if judged else None, command)
    say(output)
