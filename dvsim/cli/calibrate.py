"""``dvsim calibrate``: cards from emulated runs of this machine, or fitted to published columns."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.options import Output, json_option, quick_option
from dvsim.cli.terminal import complain, say

if TYPE_CHECKING:
    from dvsim.evidence.calibration import Calibration
    from dvsim.evidence.calibration.fit import Fitting

TRIALS = ("budget", "starts", "replications", "scale", "seed", "workers", "optuna")
SEARCH = ("fit", "hold_out", "parameters", *TRIALS, "quick")


@click.command()
@click.argument("card", required=False)
@click.option(
    "--from",
    "folders",
    multiple=True,
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Folder of an emulated run. Repeatable: two sizes at least for a law.",
)
@click.option("--against", metavar="DATA", help="Table of published columns to fit CARD to.")
@click.option("--fit", metavar="COLUMN:SIZES", help="Columns to fit to: 'r1:8,2048,131072'.")
@click.option(
    "--hold-out",
    default="rest",
    show_default=True,
    metavar="COLUMN:SIZES",
    help="Columns to judge by, which the search never sees.",
)
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME",
    help="What to fit: push, push.fixed. Repeatable.  [default: all that CARD calls calibrated]",
)
@click.option("--budget", type=click.IntRange(1), default=200, show_default=True, help="Trials.")
@click.option(
    "--starts", type=click.IntRange(1), default=3, show_default=True, help="Of the local search."
)
@click.option(
    "--replications", type=click.IntRange(1), default=2, show_default=True, help="Of each trial."
)
@click.option("--scale", type=float, default=0.1, show_default=True, help="Of each trial.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same for all trials.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option(
    "--optuna",
    is_flag=True,
    help="Search by Optuna's sampler, for many parameters. Needs vortexsim[optuna].",
)
@click.option(
    "--name", default="mine", show_default=True, help="What the names of the cards begin with."
)
@click.option(
    "--out",
    type=Output("folder", file_okay=False),
    default=Path("cards"),
    show_default=True,
    help="Where the cards go; one of the same name is replaced.",
)
@json_option
@quick_option
def calibrate(
    card: str | None,
    folders: tuple[Path, ...],
    against: str | None,
    name: str,
    out: Path,
    as_json: bool,
    **search: Any,  # noqa: ANN401 - as in click
) -> None:
    """Make cards of bridge, publishers and broker, measured or fitted.

    With --from: of emulated runs of this machine. Of runs over cards (h3/dv-…) come NAME-bridge and
    NAME-broker, of runs over TCP (h3/fdr-…) NAME-publisher and NAME-broker. Each value says which
    runs it comes from; what they cannot show is taken over from the cards of the run, with its own
    confidence. Prints what was measured, the laws with their residuals, and what the simulator
    makes of the same sizes with these cards.

    Example: dvsim run h3/dv-8 h3/dv-8192 --backend emu --at-least-once, then dvsim calibrate
    --from runs/h3/dv-8/emu-… --from runs/h3/dv-8192/emu-… --name here, then dvsim run h3/dv-256
    --set system.bridge=cards/here-bridge.toml --set system.broker=cards/here-broker.toml

    With CARD and --against: a packaged card fitted to published columns by a local search from
    several starts with common random numbers. Prints how well each parameter is known, and the
    errors of the fitted and of the held-out columns beside those of a latency and a rate.

    Example: dvsim calibrate h3-bridge --against h3_message_rates.csv --fit r1:8,2048,131072
    --hold-out rest --parameter push --parameter push_off_heap --name mine
    """
    from dvsim.errors import Fault, ScenarioError

    if bool(folders) == bool(card) or bool(card) != bool(against and search["fit"]):
        raise click.UsageError(
            "give --from RUN, or CARD with --against DATA and --fit COLUMN:SIZES"
        )
    given = click.get_current_context().get_parameter_source
    for option in SEARCH:
        if folders and given(option) is click.core.ParameterSource.COMMANDLINE:
            name_ = option.removesuffix("s") if option == "parameters" else option
            raise click.UsageError(f"--{name_.replace('_', '-')} is for --against")
    if not re.fullmatch(r"[\w-][\w.-]*", name):
        message = "must consist of letters, digits, '.', '-' and '_'"
        raise ScenarioError([Fault("--name", None, "", f"'{name}' {message}")])
    command = shlex.join(["dvsim", *sys.argv[1:]])
    if card and against:
        _fit(card, against, name, out, command, search, as_json=as_json)
    else:
        _measure(folders, name, out, command, as_json=as_json)


def _measure(
    folders: tuple[Path, ...], name: str, out: Path, command: str, *, as_json: bool
) -> None:
    from dvsim.evidence.calibration import calibrate as calibrated
    from dvsim.evidence.calibration.cards import write_cards
    from dvsim.session import run_scenarios

    found = calibrated(run_scenarios, folders, name, command)
    paths = write_cards([one.card for one in found.cards], out)
    if as_json:
        click.echo(_json(found, paths))
        return
    _say(found.lines(), {one.card.kind: at for one, at in zip(found.cards, paths, strict=True)})


def _fit(
    card: str,
    against: str,
    name: str,
    out: Path,
    command: str,
    search: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from dvsim.evidence.calibration.cards import write_cards
    from dvsim.evidence.calibration.fit import How, fit_card
    from dvsim.evidence.calibration.text import fit_lines
    from dvsim.session import run_scenarios

    fitting = fit_card(
        run_scenarios,
        card,
        against,
        search["fit"],
        search["hold_out"],
        search["parameters"],
        How(**{key: search[key] for key in TRIALS}),
        name,
        command,
        progress=complain,
    )
    (path,) = write_cards([fitting.card], out)
    if as_json:
        click.echo(_fitting_json(fitting, path))
        return
    _say(fit_lines(fitting), {fitting.target.role: path})


def _say(lines: Any, paths: dict[str, Path]) -> None:  # noqa: ANN401 - any lines
    """Print what was found, where it is, and how to simulate with it."""
    for line in lines:
        say(line.rstrip())
    say("")
    for path in paths.values():
        say(f"wrote {path}")
    words = [f"--set system.{role}={shlex.quote(str(path))}" for role, path in paths.items()]
    say(f"use: dvsim run SCENARIO {' '.join(words)}")


def _json(found: Calibration, paths: list[Path]) -> str:
    import json

    cards = {one.card.kind: str(path) for one, path in zip(found.cards, paths, strict=True)}
    return json.dumps({"cards": cards, "points": found.table()}, allow_nan=False)


def _fitting_json(fitting: Fitting, path: Path) -> str:
    import json
    from dataclasses import asdict

    content = {
        "cards": {fitting.card.kind: str(path)},
        "evaluations": fitting.outcome.evaluations,
        "losses": [end.loss for end in fitting.outcome.ends],
        "known": {
            knob.name: one._asdict() for knob, one in zip(fitting.knobs, fitting.known, strict=True)
        },
        "errors": {what: asdict(one) for what, one in fitting.errors.items()},
    }
    return json.dumps(content, allow_nan=False)
