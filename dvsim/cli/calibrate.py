"""``dvsim calibrate``: cards from emulated runs of this machine, or fitted to measurements."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.against import lab_options
from dvsim.cli.options import folder_option, json_option, quick_option, set_option
from dvsim.cli.terminal import complain, say, say_json, tell, typed_text
from dvsim.errors import ScenarioError

if TYPE_CHECKING:
    from dvsim.evidence.calibration.fit_text import Fitting

OF_DATA = ("meta", "taken", "scenarios", "overrides", "predict")
OF_FIT = ("fit", "hold_out", "parameters", "budget", "starts", "replications", "scale", "seed")
BOTH = ("card", "folders", "against", "name", "out", "as_json")  # the others are for --against


def shown_option(
    name: str, kind: click.ParamType[Any] | type, default: object, what: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return an option whose default its help shows."""
    return click.option(name, type=kind, default=default, show_default=True, help=what)


@click.command()
@click.argument("card", required=False)
@click.option(
    "--from",
    "folders",
    multiple=True,
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Folder of an emulated run. Repeatable: a cost per byte needs two sizes.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="FILE",
    help="Measurements to fit CARD to, in any format of `validate --against`. Repeatable: PerfTest "
    "writes a file for each size. With --from: folder of another emulated run of a cluster, to "
    "judge the cards by.",
)
@click.option(
    "--fit",
    metavar="LABEL:SIZES",
    help="What to fit to: '8,2048', 'r1:8,2048', 'all'.  [default: what [lab] calls fitted]",
)
@click.option(
    "--hold-out",
    default="rest",
    show_default=True,
    metavar="LABEL:SIZES",
    help="What to judge by; the search never sees it.",
)
@click.option(
    "--scenario",
    "scenarios",
    multiple=True,
    metavar="NAME",
    help="Scenario that was measured, such as h3/dv-2048; sizes may differ. Repeatable.  "
    "[default: the packaged ones that use CARD]",
)
@set_option
@lab_options
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME",
    help="What to fit: push, push.fixed. Repeatable.  [default: all that CARD calls calibrated]",
)
@click.option(
    "--predict",
    multiple=True,
    metavar="SIZE",
    help="Size that nobody has measured: predict it, with an interval that contains the "
    "uncertainty of the parameters. Repeatable.",
)
@shown_option("--budget", click.IntRange(1), 200, "Largest number of trials.")
@shown_option("--starts", click.IntRange(1), 3, "Starts of the local search.")
@shown_option("--replications", click.IntRange(1), 2, "Runs of each trial.")
@shown_option("--scale", float, 0.1, "Multiply the number of messages of each trial.")
@shown_option("--seed", int, 1, "Seed of all streams, the same in all trials.")
@shown_option("--workers", click.IntRange(1), 1, "Processes.")
@shown_option("--name", str, "mine", "What the names of the cards begin with.")
@folder_option(
    "--out", "out", "cards", "Where cards go; made if missing. A card of the same name is replaced."
)
@json_option
@quick_option
def calibrate(
    card: str | None,
    folders: tuple[Path, ...],
    against: tuple[str, ...],
    name: str,
    out: Path,
    as_json: bool,
    **search: Any,  # noqa: ANN401 - as in click
) -> None:
    """Make cards, the files with the numbers of a model, from emulated runs or measurements.

    With --from: from emulated runs on this machine. Runs over cards (h3/dv-…) give NAME-bridge and
    NAME-broker, runs over TCP (h3/fdr-…) NAME-publisher and NAME-broker, a quorum queue
    (rabbit/here) NAME-volume and NAME-rabbit, which --against RUN judges by another run. Each value
    names its runs; values that they cannot show keep the number and confidence of the run's cards.
    Prints the measurements, the fitted laws with their errors, and the simulated values of the
    same sizes with these cards.

    Example: dvsim run h3/dv-8 h3/dv-8192 --backend emu --at-least-once, then dvsim calibrate
    --from runs/h3/dv-8/emu-… --from runs/h3/dv-8192/emu-… --name here, then dvsim run h3/dv-256
    --set system.bridge=cards/here-bridge.toml --set system.broker=cards/here-broker.toml

    With CARD and --against: fit a card, packaged or your own file, to measurements of any sizes, by
    a local search from several starts. Prints how well each parameter is known, the predicted and
    measured values of the held-out sizes, and the errors beside those of a simple latency and rate.

    Example: dvsim calibrate h3-bridge --against lab.csv --fit 64,4096,65536 --parameter push
    --name mine, then dvsim run h3/dv-1024 --set system.bridge=cards/mine-bridge.toml
    """
    if bool(folders) == bool(card) or (card and not against):
        raise click.UsageError("give --from RUN, or CARD with --against FILE")
    context = click.get_current_context()
    for option in context.command.params if folders else ():
        typed = context.get_parameter_source(option.name or "")
        if option.name not in BOTH and typed is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} is for --against")
    if not re.fullmatch(r"[\w-][\w.-]*", name):
        message = "must consist of letters, digits, '.', '-' and '_'"
        raise ScenarioError.at("--name", f"'{name}' {message}")
    from dvsim.atomic import check_place
    from dvsim.evidence.calibration import Calibrated, write_cards
    from dvsim.evidence.calibration import calibrate as calibrated

    check_place(out / f"{name}.toml")
    made: Fitting | Calibrated
    if card:
        made = _fit(card, against, name, search)
    else:
        made = calibrated(folders, name, typed_text(), [Path(folder) for folder in against])
    paths = dict(zip(made.made, write_cards(list(made.made.values()), out), strict=True))
    if as_json:
        from dvsim.table.reply import Reply

        say_json(Reply.of(cards={role: str(p) for role, p in paths.items()}, **made.facts()))
        return
    tell(made.lines(), indent=2)
    say("")
    for path in paths.values():
        say(f"wrote {path}")
    words = [f"--set system.{role}={shlex.quote(str(path))}" for role, path in paths.items()]
    say(f"use: dvsim run SCENARIO {' '.join(words)}")


def _fit(card: str, against: tuple[str, ...], name: str, search: dict[str, Any]) -> Fitting:
    from dvsim.evidence.calibration.fit import Fit
    from dvsim.evidence.calibration.target import Data
    from dvsim.pool import lasting
    from dvsim.study.execute import Runs, check_asked, execute

    data = Data(against, **{key: search[key] for key in OF_DATA})
    how = {key: search[key] for key in OF_FIT}
    fit = Fit(card, data, **how, name=name, command=typed_text(), progress=complain)
    seed, workers = search["seed"], search["workers"]
    check_asked(seed=seed, replications=fit.replications, scale=fit.scale, workers=workers)
    with lasting():
        return execute(fit, Runs(seed, None, workers=workers))
