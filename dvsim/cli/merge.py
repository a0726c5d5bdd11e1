"""``dvsim merge``: the shards of a sweep to one table."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dvsim.cli.options import json_option, page_option
from dvsim.cli.terminal import say, tell


def _there(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Refuse folders that are not there; that of a sweep which was cut is made by this command."""
    from dvsim.scenario.find import is_folder, nearest_beside, out_of_reach
    from dvsim.study.sweeps.run import parts_of

    for folder in folders:
        if not is_folder(folder) and not is_folder(parts_of(folder)):
            why = out_of_reach(folder) or "does not exist"
            near = nearest_beside(folder, is_folder)
            hint = f"; did you mean '{near}'?" if near else "."
            raise click.BadParameter(f"Directory '{folder}' {why}{hint}")
    return folders


@click.command("merge")
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="FOLDER...",
    type=click.Path(path_type=Path, file_okay=False),
    callback=lambda _context, _option, folders: _there(folders),
)
@click.option(
    "--result",
    "results",
    multiple=True,
    metavar="NAME",
    help="A result to print. Repeatable.  [default: the rates]",
)
@page_option("A page with curves and every point: FILE.html.")
@json_option
def merge(
    folders: tuple[Path, ...], results: tuple[str, ...], report: Path | None, as_json: bool
) -> None:
    """Merge the parts of a sweep (--shard): the table is the same as without parts.

    FOLDER is the folder of a sweep, whose parts are beside it in FOLDER.parts, or each part by
    itself. All parts must be there.

    Example: dvsim merge sweeps/h3/dv-2048-3f9c21ab04de
    """
    from dvsim.cli.sweep_text import check_failed, chosen, swept_json, swept_lines, write_page
    from dvsim.study.sweeps.merge import merge_folders

    swept = merge_folders(folders)
    shown = chosen(swept, results)
    write_page(swept, report)
    if as_json:
        click.echo(json.dumps(swept_json(swept), allow_nan=False))
    else:
        tell(swept_lines(swept, shown), indent=2)
        if report is not None:
            say(f"report: {report}")
    check_failed(swept)
