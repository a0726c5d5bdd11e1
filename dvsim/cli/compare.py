"""`dvsim compare`: kept results side by side, whatever made them and of whatever kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import FormFile, folder_option, json_option, report_option
from dvsim.cli.plain_text import WIDTH
from dvsim.cli.terminal import say, say_json, tell, typed_text
from dvsim.errors import ScenarioError

if TYPE_CHECKING:
    from dvsim.table.compare import Comparison
    from dvsim.table.result import Result


@click.command()
@click.argument(
    "names", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_scenarios
)
@folder_option("--runs", "root", "runs", "Where kept runs are looked for by name.")
@click.option(
    "--last",
    type=click.IntRange(min=1),
    help="Take the last so many runs of each name: the unchanged one, then the rest, oldest first.",
)
@report_option(
    "A page with ratios, distributions and curves: FILE.html, or FILE.md without figures.",
    FormFile(("html", "md")),
)
@json_option
def compare(
    names: tuple[str, ...], root: Path, last: int | None, report: Path | None, as_json: bool
) -> None:
    """Put kept runs side by side: each statistic, its ratio to the first run, and what differs.

    RUN is the folder of a run or of a sweep, or the name of a scenario: its newest kept run,
    simulated and emulated, or with --last the last few, whatever was set in them. Rates are
    compared if they count the same thing, studies and sweeps point by point, results of several
    kinds by the metrics that all have. Ratios have a 95 % interval. If two simulated
    runs have the same seed, it is taken over pairs of replications, so that the effect of their
    common random numbers cancels.

    Example: dvsim run h3/dv-256, then with --set system.bridge.sockets=2, then
    dvsim compare h3/dv-256 --last 2
    """
    from dvsim.view.comparison import comparison_sections
    from dvsim.view.terminal import lines

    comparison = _compared(names, root, last)
    if report is not None:
        from dvsim.view import write_comparison

        write_comparison(report, comparison, typed_text())
    if as_json:
        from dvsim.table.reply import Reply

        rows = [{"what": what, "values": list(v)} for what, v in comparison.differences]
        made = Reply.of(differences=rows)
        made.hold(comparison, [made.result(result) for result in comparison.results])
        say_json(made)
        return
    tell(lines(comparison_sections(comparison)), indent=2, width=WIDTH)
    if report is not None:
        say(f"report: {report}")


def _changed(result: Result) -> bool:
    from dvsim.study.changes import changes_of

    return result.manifest.swept is not None or bool(changes_of(result.scenario).said)


def _compared(names: Sequence[str], root: Path, last: int | None) -> Comparison:
    from dvsim.study.lookup import folders_of, too_few
    from dvsim.study.store import load_result
    from dvsim.table.compare import side_by_side

    folders = dict.fromkeys(folder for name in names for folder in folders_of(name, root, last))
    results = [load_result(folder) for folder in folders]
    unchanged = next((own for own in results if not _changed(own)), None)
    if last is not None and unchanged is not None:  # which the others are held against
        results.sort(key=lambda own: own is not unchanged)
    if len(results) < 2:
        raise too_few(names, root, next(iter(folders)))
    try:
        return side_by_side(results)
    except ValueError as error:
        raise ScenarioError.at(" ".join(names), str(error)) from error
