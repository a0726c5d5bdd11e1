"""`dvsim run`: run scenarios, print their columns or points, keep run folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from dvsim.cli.emulation import emulation_options
from dvsim.cli.names import complete_scenarios
from dvsim.cli.options import RunOptions, precision_option, run_options
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
@precision_option
def run(
    scenarios: tuple[str, ...],
    options: RunOptions,
    emulation: Callable[[], str | Emulation],
    trace: Trace | None,
    precision: float | None,
) -> None:
    """Run scenarios and print what comes out: columns of a system, points of a switch.

    SCENARIO is a name (h3/dv-8, switch/load-latency), a campaign (h3/published), a pattern
    ('h3/dv-*') or a TOML file.
    The same question again, with the same version and seed, is answered from its run folder.
    With --backend emu real programs send the messages across emulated cards, or over TCP, into a
    real RabbitMQ on this machine: a measurement, kept and reported as a simulated run is.
    """
    from dvsim.results.precision import reached

    loaded, how = options.load(scenarios), emulation()
    if trace is None:
        runs = options.run(loaded, how, precision)
    elif precision is not None:
        raise click.UsageError(
            "--precision is not of a run that is traced, which has one replication"
        )
    else:
        runs = [run_traced(options, loaded, how, trace)]
    written = []
    if options.report is not None:
        from dvsim.evidence.validation import validate

        judged = [one for one in runs if one.judged]
        compared = validate(judged) if judged else None
        written = options.write_report(runs, compared)
    if options.as_json:
        content = {"runs": [one.as_json() for one in runs]} | answers_json(runs)
        if precision is not None:
            content["precision"] = [one._asdict() for one in reached(runs)]
        click.echo(json.dumps(content, allow_nan=False))
        return
    for one in told(runs):
        _print(one)
    if precision is not None:
        for known in reached(runs):
            say(known.text(precision))
    for path in written:
        say(f"report: {path}")


def _print(one: Run | PointsStudy) -> None:
    from dvsim.kinds.base import kind_of

    lines = kind_of(one.scenario).lines(one)
    say(next(lines))
    tell(lines, indent=2)
    say("")
