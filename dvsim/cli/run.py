"""`dvsim run`: simulate scenarios, print their columns as the paper does, keep run folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import run_options

if TYPE_CHECKING:
    import pandas as pd

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

        write_report(report, runs, command=" ".join(["dvsim", *sys.argv[1:]]))
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
    click.echo(_table(one.estimates(), "pieces" if pieces else "messages"))
    for line in _limits(one.counters):
        click.echo(f"  {line}")
    if one.folder is not None:
        click.echo(f"  kept in {one.folder}")
    click.echo()


def _table(estimates: pd.DataFrame, reading: str) -> str:
    """Return the statistics as rows and the columns r1, r2, … side by side."""
    from dvsim.results.summary import STATISTICS

    cells = {
        (row.column, row.reading, row.statistic): (row.value, row.high)
        for row in estimates.itertuples()
    }
    labels = list(dict.fromkeys(key[0] for key in cells if key[1] == reading))
    lines = ["  " + " " * 22 + "".join(f"{label:>26}" for label in labels)]
    rows = [(statistic, reading, statistic) for statistic in STATISTICS]
    if reading == "pieces":
        rows.append(("mean, in messages", "messages", "mean"))
    for name, counted, statistic in rows:
        values = [cells[label, counted, statistic] for label in labels]
        places = 4 if statistic == "empty" else 1
        text = "".join(
            f"{value:>14,.{places}f} ± {high - value:<9,.{places}f}" for value, high in values
        )
        lines.append(f"  {name:<22}{text}".rstrip())
    return "\n".join(lines)


def _limits(counters: pd.DataFrame) -> Sequence[str]:
    """Return what kept the stages busy, the busiest first."""
    busy = counters[counters["metric"] == "utilisation"]
    stage = busy["component"].str.split(".").str[0]
    mean = busy.groupby(stage)["value"].mean().sort_values(ascending=False)
    text = ", ".join(f"{name} {value:.1%}" for name, value in mean.items())
    return [f"busy: {text}; the bottleneck is the {mean.index[0]}"]


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
