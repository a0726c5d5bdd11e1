"""``dvsim validate --all``: the claims of all sources, as text, JSON or a page."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dvsim.cli.options import RunOptions
from dvsim.cli.terminal import plain, say

if TYPE_CHECKING:
    from dvsim.evidence.ledger import Ledger


def write_ledger(
    options: RunOptions, page: Path | None, others: Mapping[str, object], *, strict: bool
) -> None:
    """Run what all claims speak about, print them, and write the page if one was asked for.

    Parameters
    ----------
    options
        How to run; two of them are about one source and are refused.
    page
        Where the page goes, if anywhere.
    others
        What else was given and is about one source, by name.
    strict
        Whether too few confirmed claims are an error.

    Raises
    ------
    UsageError
        If something was given that is about one source.
    CriterionFailed
        If it is strict and too few are confirmed.
    """
    from dvsim.evidence.ledger import ENOUGH, gather
    from dvsim.evidence.ledger.page import write_page
    from dvsim.session import run_scenarios

    given = {**others, "--set": options.overrides, "--report": options.report}
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--all is about all sources and takes no {name}")
    ledger = gather(
        run_scenarios,
        seed=options.seed,
        replications=options.replications,
        out=options.out,
        force=options.force,
        scale=options.scale,
        workers=options.workers,
        progress=True,
        command=["dvsim", *sys.argv[1:]],
    )
    if page is not None:
        write_page(ledger, page)
    click.echo(_json(ledger) if options.as_json else "\n".join(_lines(ledger)))
    if page is not None:
        say(f"ledger: {page}")
    if strict and ledger.tally.counted < ENOUGH:
        from dvsim.errors import CriterionFailed

        message = f"{ledger.tally.counted} claims are confirmed without a parameter of their own"
        raise CriterionFailed(f"{message}, and {ENOUGH} were to be")


def _lines(ledger: Ledger) -> list[str]:
    from dvsim.cli.validate import coloured
    from dvsim.evidence.ledger.page import weighed
    from dvsim.evidence.published.goals import lines as goal_lines
    from dvsim.evidence.text import claim_lines

    found = [coloured(plain(line)) for line in claim_lines(ledger.claims)]
    found += ["", *(plain(line) for line in goal_lines(ledger.goals)), ""]
    for one in ledger.fitted:
        where = f"{', '.join(one.names)} of {', '.join(one.cards)}"
        moves = ", ".join(one.moves) or "none"
        found.append(f"{where}: fitted to {', '.join(one.claims)}, moves {moves}")
    return [*found, "", f"{ledger.tally}.", *(f"{one}." for one in weighed(ledger))]


def _json(ledger: Ledger) -> str:
    import json
    from dataclasses import asdict

    content = {
        "tally": str(ledger.tally),
        **asdict(ledger.tally),
        "counted": ledger.tally.counted,
        "claims": [asdict(claim) for claim in ledger.claims],
        "fitted": [{**asdict(one), "only": one.only} for one in ledger.fitted],
        "goals": [asdict(goal) for goal in ledger.goals.table],
    }
    return json.dumps(content, allow_nan=False)
