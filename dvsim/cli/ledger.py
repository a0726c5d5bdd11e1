"""``dvsim validate --all``: the claims of all sources, as text, JSON or a page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import RunOptions, run_telling
from dvsim.cli.terminal import say, tell
from dvsim.errors import CriterionFailed

if TYPE_CHECKING:
    from dvsim.evidence.ledger import Ledger
    from dvsim.study.table import Table


def write_ledger(
    options: RunOptions,
    page: Path | None,
    others: Mapping[str, object],
    *,
    strict: bool,
    verbose: bool,
) -> None:
    """Run what all claims speak about, print them, and write the page if one was asked for.

    Args:
        options: How to run; two of them are about one source and are refused.
        page: Where the page goes, if anywhere; it is of all replications.
        others: What else was given and is about one source, by name.
        strict: Whether too few confirmed claims are an error.
        verbose: Whether the claims are printed with what they rest on, and what each parameter
            moves.

    Raises:
        UsageError: If something was given that is about one source.
        CriterionFailed: If it is strict and too few are confirmed.
    """
    from dvsim.evidence.ledger import ENOUGH, gather
    from dvsim.evidence.ledger.page import write_page
    from dvsim.evidence.undecided import STEPS
    from dvsim.session import run_scenarios

    given = {**others, "--set": options.overrides, "--report": options.report}
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--all is about all sources and takes no {name}")
    in_full = page is not None and options.replications is None
    ledger = gather(
        run_scenarios,
        enough=run_telling,
        replications=STEPS[-1] if in_full else options.replications,
        scale=options.scale,
        **options.asked(),
    )
    if page is not None:
        write_page(ledger, page)
    if options.as_json:
        click.echo(_json(ledger))
    else:
        tell(_lines(ledger, verbose=verbose), indent=0)
    if page is not None:
        say(f"ledger: {page}")
    if strict and ledger.tally.counted < ENOUGH:
        message = f"{ledger.tally.counted} claims are confirmed without a parameter of their own"
        raise CriterionFailed(f"{message}, and {ENOUGH} were to be")


def _lines(ledger: Ledger, *, verbose: bool) -> Iterator[str | Table]:
    from dvsim.evidence.ledger.page import weighed
    from dvsim.evidence.overview import claim_table, goal_table
    from dvsim.evidence.text import claim_lines

    yield f"{ledger.tally}."
    yield from (f"{sentence}." for sentence in weighed(ledger))
    if ledger.goals.table:
        yield ""
        yield goal_table(ledger.goals)
    yield ""
    if not verbose:
        yield claim_table(ledger.claims)
        return
    yield from claim_lines(ledger.claims)
    yield ""
    for fit in ledger.fitted:
        where = f"{', '.join(fit.names)} of {', '.join(fit.cards)}"
        moves = ", ".join(fit.moves) or "none"
        yield f"{where}: fitted to {', '.join(fit.claims)}, moves {moves}"


def _json(ledger: Ledger) -> str:
    content = {
        "tally": str(ledger.tally),
        **asdict(ledger.tally),
        "counted": ledger.tally.counted,
        "claims": [asdict(claim) for claim in ledger.claims],
        "fitted": [{**asdict(fit), "only": fit.only} for fit in ledger.fitted],
        "goals": [asdict(goal) for goal in ledger.goals.table],
    }
    return json.dumps(content, allow_nan=False)
