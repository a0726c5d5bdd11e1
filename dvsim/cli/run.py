"""`dvsim run`: run scenarios, print their columns or points, keep run folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from dvsim.cli.emulation import emulation_options
from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import RunOptions, run_options
from dvsim.cli.terminal import say, tell
from dvsim.cli.tracing import Trace, run_traced, trace_options
from dvsim.cli.whatif import answers_json, told

if TYPE_CHECKING:
    from dvsim.emu.asked import Emulation
    from dvsim.results.points import PointsStudy
    from dvsim.results.run import Run


@click.command()
@click.argument(
    "scenarios",
    nargs=-1,
    required=True,
    metavar="SCENARIO...",
    shell_complete=complete_scenarios,
)
@run_options
@emulation_options
@trace_options
def run(
    scenarios: tuple[str, ...],
    options: RunOptions,
    emulation: Callable[[], str | Emulation],
    trace: Trace | None,
) -> None:
    """Run scenarios and print what comes out: columns of a system, points of a switch.

    SCENARIO is a name (h3/dv-8, switch/load-latency), a campaign (h3/published), a pattern
    ('h3/dv-*') or a TOML file.
    The same question again, with the same version and seed, is answered from its run folder.
    With --backend emu real programs send the messages across emulated cards, or over TCP, into a
    real RabbitMQ on this machine: a measurement, kept and reported as a simulated run is.
    """
    loaded, how = options.load(scenarios), emulation()
    runs = options.run(loaded, how) if trace is None else [run_traced(options, loaded, how, trace)]
    written = []
    if options.report is not None:
        from dvsim.validation import validate

        judged = [one for one in runs if _has_reference(one)]
        compared = validate(judged) if judged else None
        written = options.write_report(runs, compared)
    if options.as_json:
        content = {"runs": [_as_json(one) for one in runs]} | answers_json(runs)
        click.echo(json.dumps(content, allow_nan=False))
        return
    for one in told(runs):
        _print(one)
    for path in written:
        say(f"report: {path}")


def _has_reference(one: Run | PointsStudy) -> bool:
    """Whether a run is judged: what is measured on this machine is not."""
    from dvsim.results.run import Run

    return isinstance(one, Run) and one.scenario.reference is not None and one.backend != "emu"


def _print(one: Run | PointsStudy) -> None:
    """Print one run: what was asked, its columns, what limited it, and where it is kept."""
    from dvsim.cli.columns import column_table, emulated_text, stage_lines
    from dvsim.cli.messaging import messaging_lines
    from dvsim.cli.points import study_lines
    from dvsim.results.points import PointsStudy
    from dvsim.results.study import Study

    if isinstance(one, PointsStudy):
        tell(study_lines(one) if isinstance(one, Study) else messaging_lines(one), indent=2)
        say("")
        return
    scenario, work = one.scenario, one.scenario.workload
    say(f"{scenario.name}: {scenario.title}")
    about = [f"  {emulated_text(one)}"] if one.backend == "emu" else []
    if one.replications > 1:
        meaning = f"{one.replications} replications; ± is the 95 % interval over replications"
    else:
        meaning = "1 replication, which says nothing about the spread between runs"
    about.append(
        f"  {work.messages:,} messages of {work.message_bytes:,} B in each of "
        f"{work.iterations} iterations, seed {one.seed}, {meaning}"
    )
    pieces = scenario.system.transport == "data-vortex"
    if pieces:
        about.append(
            "  rates count pieces, as the paper printed them; 'in messages' counts messages"
        )
    tell([*about, column_table(one), *stage_lines(one)], indent=2)
    if one.folder is not None:
        say(f"  kept in {one.folder}")
    say("")


def _as_json(one: Run | PointsStudy) -> dict[str, object]:
    """Return a run as JSON types: what was asked, its manifest and its estimates."""
    from dvsim.cli.points import study_json
    from dvsim.results.points import PointsStudy

    if isinstance(one, PointsStudy):
        return study_json(one)
    return {
        "scenario": one.scenario.name,
        "seed": one.seed,
        "replications": one.replications,
        "folder": None if one.folder is None else str(one.folder),
        "manifest": one.manifest,
        "estimates": one.estimates().to_dict(orient="records"),
    }
