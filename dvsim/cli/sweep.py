"""``dvsim sweep``: one scenario at many points, each a kept run, and one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import (
    check_alone,
    folder_option,
    force_option,
    json_option,
    out_option,
    page_option,
    precision_option,
    quick_option,
    scale_option,
    seed_option,
    set_option,
    workers_option,
)
from dvsim.cli.terminal import complain, say, say_json, tell, typed, typed_text
from dvsim.errors import PointsFailed

if TYPE_CHECKING:
    from pathlib import Path

    from dvsim.study.sweep import Sweep


@click.command("sweep")
@click.argument("scenario", shell_complete=complete_scenarios)
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY=VALUES",
    help="Values of a key: a,b,c or lo..hi*factor, lo..hi+step, lo..hi/n. Repeatable.",
)
@click.option(
    "--zip",
    "together",
    multiple=True,
    metavar="KEY,KEY",
    help="Pair the values of varied keys, instead of all combinations.",
)
@click.option(
    "--where", metavar="CONDITION", help="Only these points: 'sram < 64 MiB and sockets > 1'."
)
@click.option("--sample", metavar="sobol:N", help="N points spread evenly over all ranges.")
@click.option(
    "--sensitivity",
    is_flag=True,
    help="How much each key explains of a result (Sobol); --vary KEY=lo..hi gives ranges.",
)
@click.option(
    "--result",
    "results",
    multiple=True,
    metavar="NAME",
    help="A result to print, or for --sensitivity to explain. Repeatable.  [default: the rates]",
)
@click.option(
    "--samples",
    type=int,
    default=64,
    show_default=True,
    help="With --sensitivity: a power of two; (keys + 2) times as many points are run.",
)
@click.option(
    "--spread",
    type=click.FloatRange(0.001, 0.9),
    default=0.2,
    show_default=True,
    help="With --sensitivity, no --vary: each assumed or unverified parameter, ± this share.",
)
@set_option
@click.option(
    "--replications",
    type=int,
    help="Independent runs of each point.  [default: by --precision; 1 with --sensitivity]",
)
@precision_option("the first result of each point")
@seed_option
@scale_option()
@click.option("--dry-run", is_flag=True, help="Run nothing; list the points, and which are kept.")
@click.option(
    "--scheduler",
    metavar="FILE|ADDRESS",
    help="Run on the workers of this dask scheduler (pip install 'vortexsim[cluster]').",
)
@workers_option
@out_option
@folder_option(
    "--sweeps", "sweeps", "sweeps", "Where the folder of the table goes; made if missing."
)
@force_option
@page_option("A page with curves and every point: FILE.html.")
@json_option
@quick_option
def sweep(scenario: str, as_json: bool, **given: Any) -> None:  # noqa: ANN401 - as in click
    """Run a scenario at many points and print one table.

    Runs all combinations of the values, unless --zip, --where or --sample choose others. Each
    combination (point) is a run like any other and is kept: after an interruption the same command
    continues. A point that fails stays in the table with its error, the others go on, and the exit
    code is 4.

    Example: dvsim sweep h3/dv-2048 --vary system.bridge.sockets=1..8*2
    --vary workload.message_bytes=8..131072*4 --scale 0.01
    """
    from dvsim.cli.sweep_text import check_results
    from dvsim.contract.load import template
    from dvsim.study.sweep import prepare
    from dvsim.study.sweeps.grid import plan

    base = template(scenario)
    if given["precision"] is not None:
        check_alone(given["precision"], given["replications"])
    asked = {
        name: given[name] for name in ("overrides", "seed", "replications", "precision", "scale")
    }
    if given["sensitivity"]:
        from dvsim.cli.sensitivity import sensitivity_of

        design = sensitivity_of(base, given)
        check_results(design, given["results"])
        if given["dry_run"]:
            for swept in design.ranges:
                say(f"  {swept.key}  {swept.text}")
            return
        _run(design, given, as_json=as_json)
        return
    points = plan(
        given["vary"],
        base,
        together=given["together"],
        where=given["where"],
        sample=given["sample"],
        seed=given["seed"],
    )
    ready = prepare(base, points, progress=True, **asked)
    check_results(ready, given["results"])
    if given["dry_run"]:
        _dry_run(ready, given["out"], as_json=as_json)
    else:
        _run(ready, given, as_json=as_json)


def _dry_run(ready: Sweep, out: Path, *, as_json: bool) -> None:
    from dvsim.cli.sweep_text import plan_lines
    from dvsim.study.sweeps.executors import Outcome, PointTrial, find

    asked = [trial for trial in ready.trials if isinstance(trial, PointTrial)]
    outcomes = {trial.number: find(out, trial, ready.how, ready.precision) for trial in asked}
    kept = {
        n for n, outcome in outcomes.items() if isinstance(outcome, Outcome) and not outcome.error
    }
    if as_json:
        from dvsim.table.reply import Reply

        found = Reply.of()
        for point, trial in zip(ready.points, ready.trials, strict=True):
            about: dict[str, Any] = {"scenario": ready.name, "kept": trial.number in kept}
            if isinstance(trial, PointTrial):
                about["run"] = trial.folder
            else:
                about["error"] = trial.error
            found.at("sim", dict(point.values), **about)
        say_json(found)
        return
    tell(plan_lines(ready, kept), indent=2)


def _run(ready: Sweep, given: dict[str, Any], *, as_json: bool) -> None:
    from dvsim.cli.sensitivity import index_lines
    from dvsim.cli.sweep_text import chosen, swept_lines
    from dvsim.study.sweep import run
    from dvsim.study.sweeps.sensitivity import Sensitivity
    from dvsim.table.reply import Reply

    how = {name: given[name] for name in ("out", "sweeps", "workers", "scheduler", "force")}
    try:
        swept = run(ready, progress=True, command=typed(), **how)
    except KeyboardInterrupt:
        complain("what is finished is kept; the same command goes on from there")
        raise
    indices = ready.indices if isinstance(ready, Sensitivity) else ()
    lines = index_lines(swept, indices) if indices else None
    lines = lines or swept_lines(swept, chosen(swept, given["results"]))
    if given["report"] is not None:
        from dvsim.view.html import write
        from dvsim.view.sweep_page import swept_page

        write(given["report"], swept_page(swept))
    if as_json:
        found = Reply.of(swept)
        found.say(sensitivity=[vars(index) for index in indices])
        say_json(found)
    else:
        tell(lines, indent=4 if indices else 2)
        say(f"  $ {typed_text()}")
        if given["report"] is not None:
            say(f"report: {given['report']}")
    if len(swept.failed):
        points = len(swept.sides["points"])
        raise PointsFailed(f"{len(swept.failed):,} of {points:,} points failed")
