"""The ledger as a page in Markdown, with nothing in it that differs from run to run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from dvsim.atomic import write_output
from dvsim.evidence.claims.source import sources
from dvsim.evidence.ledger.influence import LARGER, MOVED
from dvsim.evidence.ledger.types import ENOUGH, Ledger
from dvsim.evidence.verdicts import ClaimVerdict
from dvsim.study.number_text import joined

COMMAND = "dvsim validate --all --ledger docs/claims.md"

_HOW = f"""
This page has every sentence of the sources that a run can decide, with the value that the run
gives and the verdict. A command writes it:

<!-- session: tested by tests/model/test_claims_page.py -->
    $ {COMMAND}

Intervals are 95 % over replications, by the jackknife. For what is true or false, the interval
says in how many single replications it is true.

- **confirmed**: the value is in the claimed range, and the model reproduces at least one of the
  published columns that the sentence speaks of, if there are any.
- **refuted**: it is outside, the model reproduces all of those columns, and they leave no value
  possible that is inside.
- **not reproduced**: neither, so the model says nothing for or against the sentence.
- **not testable**: no run here can decide it.

The last column says whether the value is a prediction:

- **fitted**: a parameter, or a column that the sentence speaks of, was chosen to agree with the
  sentence. The value shows that model and source can agree, and is no prediction.
- **not fitted**: nothing was chosen in this way. The value may still rest on assumed numbers.
- **by definition**: it follows from the structure, the workload or a number that the source itself
  states, whatever the model does.
"""


def page(ledger: Ledger) -> str:
    """Return the page; its first line is the tally."""
    return "\n".join(_lines(ledger)) + "\n"


def write_page(ledger: Ledger, path: Path) -> None:
    """Write the page, see `dvsim.atomic.write_output`."""
    write_output(path, page(ledger).encode())


def _lines(ledger: Ledger) -> Iterator[str]:
    tally = ledger.tally
    yield from (f"# {tally.headline}", "", f"{tally}. {'. '.join(weighed(ledger))}.")
    if ledger.scale != 1:
        yield from ("", f"**Messages scaled by {ledger.scale:g}: not the published workload.**")
    yield from _open(ledger.claims)
    yield from _HOW.splitlines()
    titles = {source.name: source.title for source in sources()}
    for campaign, claims in groupby(ledger.claims, key=lambda claim: claim.campaign):
        yield from _source(titles[campaign], list(claims))
    yield from _fitted(ledger)
    yield from _goals(ledger)


def weighed(ledger: Ledger) -> Iterator[str]:
    """Yield what the confirmed claims are worth, in sentences."""
    tally = ledger.tally
    bases = ", ".join(f"{count} {basis}" for basis, count in sorted(tally.bases.items()))
    yield f"Of the confirmed claims, {bases}"
    if tally.own:
        have = "has a parameter" if len(tally.own) == 1 else "have a parameter each"
        yield f"{joined(tally.own)} {have} that serves no other claim; {tally.counted} are without"
    yield f"The goal was at least {ENOUGH} without such a parameter"
    if tally.edge:
        reach = "reaches" if len(tally.edge) == 1 else "reach"
        yield f"The interval of {joined(tally.edge)} {reach} over an edge of the claimed range"


def _open(claims: Iterable[ClaimVerdict]) -> Iterator[str]:
    results = [claim for claim in claims if claim.verdict != "confirmed"]
    yield from ("", "Not confirmed:", "") if results else ()
    for claim in results:
        link = f"[{claim.id}](#{claim.id.lower()})"
        yield f"- {link}, {claim.text}: {claim.verdict}; {claim.explanation}"


def _source(source: str, claims: Sequence[ClaimVerdict]) -> Iterator[str]:
    confirmed = sum(claim.verdict == "confirmed" for claim in claims)
    yield from ("", f"## {source}", "", f"{confirmed} of {len(claims)} confirmed.", "")
    head = ("", "what is claimed", "condition", "claimed", "simulated", "interval", "verdict", "")
    rows = (
        (f"[{claim.id}](#{claim.id.lower()})", claim.text, claim.condition, claim.expected,
         claim.simulated, claim.interval, f"**{claim.verdict}**",
         claim.basis if claim.value is not None else "")
        for claim in claims
    )  # fmt: skip
    yield from table(head, rows)
    for claim in claims:
        yield from _note(claim)


def _note(claim: ClaimVerdict) -> Iterator[str]:
    where = f"section {claim.section}" if claim.section[:1].isdigit() else claim.section
    said_by = ", ".join(part for part in (claim.source, where) if part)
    yield from ("", f"### {claim.id}", "", f"{claim.text}: **{claim.verdict}** ({said_by}).", "")
    if claim.explanation:
        yield f"- Why not confirmed: {claim.explanation}"
    if claim.note:
        yield f"- Rests on: {claim.note}."
    if claim.fitted_to:
        yield f"- Fitted: {', '.join(claim.fitted_to)}."
    yield f"- Run: `{claim.command}`"


def _fitted(ledger: Ledger) -> Iterator[str]:
    yield from ("", "## Parameters that were fitted to claims", "")
    yield (
        f"Each was made {LARGER - 1:.0%} larger, all else and all random numbers being equal; it "
        f"moves a claim whose value then differs by more than {MOVED:.0%}, or turns. One that "
        "serves a single claim exists for that claim alone, and the claim is not counted. The "
        "cards of the 2018 study are fitted to columns and to no claim."
    )
    yield ""
    rows = (
        (f"{' and '.join(item.names)} of {' and '.join(item.cards)}", item.value,
         ", ".join(item.claims), ", ".join(item.moves) or "none", item.only or "")
        for item in ledger.fitted
    )  # fmt: skip
    yield from table(
        ("parameter", "value", "fitted to", "moves", "exists for one claim only"), rows
    )


def _goals(ledger: Ledger) -> Iterator[str]:
    if not ledger.goals.table:
        return
    yield from ("", "## What the model of the 2018 study was to reach", "")
    yield (
        "Of the columns that no parameter was fitted to; the floor is how far the two runs of the "
        "paper lie apart. A line for each statistic is in `dvsim validate h3 --verbose`."
    )
    yield ""
    rows = (
        (item.what, item.wanted, item.got, item.floor, "met" if item.met else "**missed**")
        for item in ledger.goals.table
    )
    yield from table(("goal", "wanted", "got", "floor", ""), rows)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table of Markdown.

    >>> list(table(("a", "b"), [("1", "2")]))
    ['| a | b |', '|---|---|', '| 1 | 2 |']
    """
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
