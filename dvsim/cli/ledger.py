"""``dvsim validate --all``: the claims of all sources, as text, JSON or a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import RunOptions, run_telling
from dvsim.cli.terminal import say, say_json, tell
from dvsim.errors import CriterionFailed

if TYPE_CHECKING:
    from dvsim.evidence.ledger import Ledger
    from dvsim.study.table import Table
    from dvsim.table.reply import Reply


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
        verbose: Whether the claims are printed with what they rest on.
    """
    from dvsim.evidence.ledger import ENOUGH, gather, write_page
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
        say_json(_reply(ledger))
    else:
        tell(_lines(ledger, verbose=verbose), indent=0)
    if page is not None:
        say(f"ledger: {page}")
    if strict and ledger.words["confirmed"] < ENOUGH:
        raise CriterionFailed(f"{ledger.words['confirmed']} claims are confirmed, not {ENOUGH}")


def _lines(ledger: Ledger, *, verbose: bool) -> Iterator[str | Table]:
    from dvsim.evidence.overview import claim_table, goal_table
    from dvsim.evidence.text import claim_lines

    yield from (f"{sentence}." for sentence in (ledger, *ledger.weighed))
    if len(ledger.goals.table):
        yield ""
        yield goal_table(ledger.goals)
    yield ""
    yield from claim_lines(ledger.claims) if verbose else (claim_table(ledger.claims),)


def _reply(ledger: Ledger) -> Reply:
    from dvsim.table.reply import Reply, records

    return Reply.of(
        tally=str(ledger),
        words=ledger.words,
        bases=ledger.bases,
        edge=ledger.edge,
        claims=[asdict(claim) for claim in ledger.claims],
        goals=records(ledger.goals.table),
    )
