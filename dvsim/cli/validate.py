"""`dvsim validate`: run what was published, print model and paper side by side, decide claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dvsim.cli.against import against_options, validate_against
from dvsim.cli.names import complete_campaigns
from dvsim.cli.options import RunOptions, run_options, run_telling
from dvsim.cli.terminal import say, say_json, tell
from dvsim.errors import CriterionFailed, ScenarioError, nearest

if TYPE_CHECKING:
    from dvsim.evidence.claims import Source
    from dvsim.evidence.verdicts import Validation
    from dvsim.scenario.spec import Spec
    from dvsim.table.reply import Reply
    from dvsim.table.result import Result

CAMPAIGN = "/validation"
"""How the name of the campaign of a source ends, such as ``h3/validation``."""


@click.command()
@click.argument("campaign", required=False, shell_complete=complete_campaigns)
@run_options
@against_options
@click.option(
    "--claims",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Your own claims: runs FOLDER/claims.py, which reads claims.csv beside it.",
)
@click.option("--all", "everything", is_flag=True, help="Check every claim of every source.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 3 if fewer than half of the columns of a transport pass, or it has none; for a "
    "switch, which has no columns, if a claim is not confirmed; with --all, if fewer than 55 "
    "claims are confirmed without a parameter that serves only one claim; with --against, if a "
    "criterion does not hold.",
)
@click.option(
    "--verbose",
    is_flag=True,
    help="Also print each statistic and column, and the evidence for each claim.",
)
def validate(
    campaign: str | None,
    options: RunOptions,
    against: str | None,
    meta: Path | None,
    taken: str | None,
    folder: Path | None,
    everything: bool,
    strict: bool,
    verbose: bool,
) -> None:
    """Compare the model with what was published, statistic by statistic and claim by claim.

    CAMPAIGN is a source (h3, switch, zeromq, amps, osu-qpid; the default is h3), or anything that
    `dvsim run` takes. First come the verdicts, then the goals of the model, then each claim of the
    source. --verbose adds each published statistic beside the simulated one, with its verdict and
    whether its column was fitted or held out. All sources but h3 have only claims. A difference
    is a finding, not an error: the exit code is 0.

    Without --replications there are 3 to 10, as many as the verdicts need. --replications 10 runs
    everything in full.

    With --all: all claims of all sources, one of them by emulated runs with a real RabbitMQ;
    --scale then applies only to the h3 messages.

    With --against: compare the runs with your own measurements.
    """
    if everything:
        others: dict[str, object] = {"CAMPAIGN": campaign, "--against": against, "--claims": folder}
        others |= {"--set": options.overrides, "--report": options.report}
        for name, value in others.items():
            if value:
                raise click.UsageError(f"--all is about all sources and takes no {name}")
        _validate(None, options, None, strict=strict, verbose=verbose)
    elif against is not None and folder is not None:
        raise click.UsageError("--claims are decided by runs alone, without --against")
    elif against is not None:
        validate_against(campaign or "h3", options, against, meta, taken, strict=strict)
    elif meta is not None or taken is not None:
        raise click.UsageError(f"{'--as' if meta is None else '--lab'} is for --against")
    else:
        _validate(campaign or "h3", options, folder, strict=strict, verbose=verbose)


def _validate(
    campaign: str | None, options: RunOptions, folder: Path | None, *, strict: bool, verbose: bool
) -> None:
    from dvsim.evidence.claims import load_source
    from dvsim.evidence.ledger import ENOUGH, gather
    from dvsim.evidence.validation import validate as validate_runs
    from dvsim.session import run_scenarios

    if campaign is None:
        how = {**options.asked(), "replications": options.replications, "scale": options.scale}
        runs, validation = gather(run_scenarios, run_telling, **how)
    else:
        more = [load_source(folder)] if folder is not None else []
        runs = _run(_load(campaign, options, more), options, more)
        validation = validate_runs(runs, more=more)
    written = options.write_report(runs, validation)
    if options.as_json:
        say_json(_reply(validation, runs))
    else:
        if options.scale not in (None, 1):
            slots = any(run.scenario.LENGTH == "slots" for run in runs)
            unit = "slots" if slots and not validation.judged else "messages"
            say(f"{unit} scaled by {options.scale:g}: not the published workload\n")
        _print(validation, runs, options, verbose=verbose)
        for path in written:
            say(f"report: {path}")
    confirmed = sum(claim.verdict == "confirmed" for claim in validation.claims)
    if strict and campaign is None and confirmed < ENOUGH:
        raise CriterionFailed(f"{confirmed} claims are confirmed, not {ENOUGH}")
    if strict and campaign is not None:
        _require_half(validation)


def _run(scenarios: Sequence[Spec], options: RunOptions, more: Sequence[Source]) -> list[Result]:
    from dvsim.evidence.undecided import STEPS, open_verdicts

    if options.replications is not None:
        return options.run(scenarios)
    verdicts = partial(open_verdicts, more=more)
    alone = list({scenario.name: scenario for scenario in scenarios}.values())
    return run_telling(alone, verdicts, steps=STEPS, **options.asked(), scale=options.scale)


def _load(campaign: str, options: RunOptions, more: Sequence[Source]) -> list[Spec]:
    from dvsim.contract.find import kind_of
    from dvsim.evidence.validation import claimed
    from dvsim.scenario.find import is_file, scenario_root

    name = campaign
    if is_file(scenario_root() / f"{campaign.rstrip('/')}{CAMPAIGN}.toml"):
        name = f"{campaign.rstrip('/')}{CAMPAIGN}"
    try:
        scenarios = options.load([name])
    except ScenarioError as error:
        known = [path.parent.name for path in scenario_root().glob(f"*{CAMPAIGN}.toml")]
        is_word = name == campaign and "/" not in name and not name.endswith(".toml")
        near = nearest(campaign, known) if is_word else None
        raise (ScenarioError.at(name, "no such source", hint=near) if near else error) from None
    spoken_of = claimed(more)
    own = {name for source in more for entry in source.values() for name in entry.scenarios}
    if not any(
        scenario.reference or scenario.name in own
        if kind_of(scenario).sampled
        else scenario.name in spoken_of
        for scenario in scenarios
    ):
        message = "none of its scenarios names published figures to compare with"
        raise ScenarioError.at(name, message, "reference")
    return scenarios


def _print(
    validation: Validation, runs: Sequence[Result], options: RunOptions, *, verbose: bool
) -> None:
    from dvsim.evidence.goals import goals
    from dvsim.evidence.overview import miss_table, overview
    from dvsim.evidence.text import lines

    reached = goals(validation, [run.scenario for run in runs])
    tell(overview(validation, reached), indent=0)
    if verbose:
        say("")
        tell(lines(validation, intervals=options.replications != 1), indent=0)
        tell(miss_table(reached), indent=0)
    say("")
    tell([replications_text(runs, options.replications)], indent=0)
    if verbose:
        for run in runs:
            if run.folder is not None:
                say(f"kept {run.scenario.name}: {run.folder}")
    else:
        say(f"kept in {options.out}; --verbose prints each statistic, column and claim")


def replications_text(runs: Sequence[Result], asked: int | None) -> str:
    """Say how many replications the verdicts rest on."""
    from dvsim.study.number_text import counted

    times = sorted({run.replications for run in runs})
    text = counted(times[0], times[-1])
    more = ", as many as the verdicts need; --replications 10 runs all in full"
    return text if asked is not None else text + more


def _reply(validation: Validation, runs: Sequence[Result]) -> Reply:
    from dvsim.evidence.goals import goals
    from dvsim.evidence.overview import WORDS, counts_text
    from dvsim.evidence.published import tallies
    from dvsim.table.reply import Reply, against, finite, records

    made, places = Reply.of(), dict[str, tuple[int, int]]()
    for run in runs:
        made.result(run, numbers=False)
    row: Any  # a named tuple
    for row in validation.rows.itertuples(index=False):
        if row.scenario not in places:
            named = {"scenario": row.scenario}
            published = made.at("published", named, source=row.transport)
            places[row.scenario] = made.at("sim", named), published
        where = {"component": row.column, "unit": "1" if row.statistic == "count" else "1/s"}
        metric, (point, base) = f"{row.reading}.{row.statistic}", places[row.scenario]
        there = made.add(base, metric, row.published, n=1, **where)
        own = made.add(point, metric, row.simulated, low=row.low, high=row.high, n=1, **where)
        ratios = [one / row.published if row.published else None for one in (row.low, row.high)]
        zero = not row.published
        change = "" if zero else "ratio", math.nan if zero else row.simulated / row.published
        against(own, there, *change, *ratios, None, row.verdict)
        own.verdict, own.tolerance = row.verdict, finite(row.tolerance)
    verdicts = [claim.verdict for claim in validation.claims]
    made.say(
        tally=counts_text(verdicts, " claims"),
        words={word: verdicts.count(word) for word in WORDS},
        columns=records(validation.columns),
        claims=[dict(vars(claim)) for claim in validation.claims],
        tallies=records(tallies(validation)),
        goals=records(goals(validation, [run.scenario for run in runs]).table),
    )
    return made


def _require_half(validation: Validation) -> None:
    from dvsim.evidence.published import columns_passed

    columns = columns_passed(validation)
    if not columns and validation.claims:
        open_ = [f"{claim.id} {claim.verdict}" for claim in validation.claims]
        open_ = [text for text in open_ if not text.endswith(" confirmed")]
        if open_:
            raise CriterionFailed(f"not every claim is confirmed: {', '.join(open_)}")
        return
    if not columns:
        raise CriterionFailed("no column passes: none was compared")
    short = [
        f"{transport} {passed} of {total}"
        for transport, (passed, total) in columns.items()
        if 2 * passed < total
    ]
    if short:
        raise CriterionFailed(f"fewer than half of the columns pass: {', '.join(short)}")
