"""`dvsim run`: simulate scenarios, print their columns as the paper does, keep run folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import run_options

if TYPE_CHECKING:
    from dvsim.results.run import Run


@click.command()
@click.argument("scenarios", nargs=-1, required=True, metavar="SCENARIO...")
@run_options
@click.option("--report", type=click.Path(path_type=Path), help="One report.html for all runs.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def run(
    scenarios: tuple[str, ...],
    overrides: tuple[str, ...],
    replications: int,
    seed: int,
    scale: float,
    out: Path,
    force: bool,
    workers: int | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Simulate scenarios and print their columns as the paper does.

    SCENARIO is a name (h3/dv-8), a campaign (h3/published), a pattern ('h3/dv-*') or a TOML file.
    The same question again, with the same version and seed, is answered from its run folder.
    """
    from dvsim.scenario.load import load_campaign
    from dvsim.session import run_scenarios

    asked = [one for name in scenarios for one in load_campaign(name, overrides)]
    runs = run_scenarios(
        asked,
        seed=seed,
        replications=replications,
        out=out,
        force=force,
        scale=scale,
        workers=workers,
        progress=True,
    )
    if report is not None:
        import sys

        from dvsim.report import write_report
        from dvsim.validation import validate

        compared = validate(runs) if any(one.scenario.reference for one in runs) else None
        command = " ".join(["dvsim", *sys.argv[1:]])
        write_report(report, runs, validation=compared, command=command)
    if as_json:
        import json

        click.echo(json.dumps([_as_json(one) for one in runs]))
        return
    for one in runs:
        _print(one)
    if report is not None:
        click.echo(f"report: {report}")


def _print(one: Run) -> None:
    """Print one run: what was asked, its columns, what limited it, and where it is kept."""
    from dvsim.cli.columns import busy_line, column_lines

    scenario, work = one.scenario, one.scenario.workload
    click.echo(f"{scenario.name}: {scenario.title}")
    click.echo(
        f"  {work.messages:,} messages of {work.message_bytes:,} B in each of "
        f"{work.iterations} iterations, seed {one.seed}, {one.replications} replications; "
        "± is the 95 % interval over replications"
    )
    pieces = scenario.system.transport == "data-vortex"
    if pieces:
        click.echo("  rates count pieces, as the paper printed them; 'in messages' counts messages")
    for line in column_lines(one):
        click.echo(line)
    click.echo(busy_line(one))
    if one.folder is not None:
        click.echo(f"  kept in {one.folder}")
    click.echo()


def _as_json(one: Run) -> dict[str, object]:
    """Return a run as JSON types: what was asked, its manifest and its estimates."""
    return {
        "scenario": one.scenario.name,
        "seed": one.seed,
        "replications": one.replications,
        "folder": None if one.folder is None else str(one.folder),
        "manifest": one.manifest,
        "estimates": one.estimates().to_dict(orient="records"),
    }
