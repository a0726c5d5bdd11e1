"""Writes docs/claims.md: runs in full what all claims speak about, ten replications of each.

python docs/claims.py [FILE]
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from dvsim.evidence.claims.source import sources
from dvsim.evidence.goals import Goals, goals
from dvsim.evidence.ledger import ENOUGH, gather
from dvsim.evidence.overview import counts_text
from dvsim.evidence.undecided import STEPS
from dvsim.evidence.verdicts import ClaimVerdict, Validation
from dvsim.session import run_scenarios
from dvsim.study.number_text import joined

COMMAND = "python docs/claims.py"
HEADLINE = {
    "not fitted": "predictions confirmed",
    "fitted": "fitted claims agree",
    "by definition": "hold by definition",
}  # those first that the model could fail

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


def page(validation: Validation, reached: Goals) -> str:
    """Return the page in Markdown; its first line is the tally."""
    return "\n".join(_lines(validation.claims, reached)) + "\n"


def _lines(claims: Sequence[ClaimVerdict], reached: Goals) -> Iterator[str]:
    asked = Counter(claim.basis for claim in claims)
    bases = Counter(claim.basis for claim in claims if claim.verdict == "confirmed")
    edge = [one.id for one in claims if one.verdict == "confirmed" and one.edge]
    headline = "; ".join(
        f"{bases[basis]} of {asked[basis]} {called}"
        for basis, called in HEADLINE.items()
        if basis in asked
    )
    yield from (f"# {headline}", "")
    text = [counts_text((claim.verdict for claim in claims), " claims")]
    counts = ", ".join(f"{count} {basis}" for basis, count in sorted(bases.items()))
    text += [f"Of the confirmed claims, {counts}", f"The goal was at least {ENOUGH} confirmed"]
    if edge:
        reach = "reaches" if len(edge) == 1 else "reach"
        text += [f"The interval of {joined(edge)} {reach} over an edge of the claimed range"]
    yield ". ".join(text) + "."
    yield from _open(claims)
    yield from _HOW.splitlines()
    titles = {source.name: source.title for source in sources()}
    for campaign, own in groupby(claims, key=lambda claim: claim.campaign):
        yield from _source(titles[campaign], list(own))
    yield from _goals(reached)


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


def _goals(reached: Goals) -> Iterator[str]:
    if reached.table.empty:
        return
    yield from ("", "## What the model of the 2018 study was to reach", "")
    yield (
        "Of the columns that no parameter was fitted to; the floor is how far the two runs of the "
        "paper lie apart. A line for each statistic is in `dvsim validate h3 --verbose`."
    )
    yield ""
    rows = (
        (*texts, "met" if met else "**missed**")
        for *texts, met in reached.table.to_numpy().tolist()
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


def main() -> None:
    """Run all in full, and write the page."""
    to = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/claims.md")
    how = {"out": Path("runs"), "progress": True, "command": COMMAND}
    runs, validation = gather(run_scenarios, replications=STEPS[-1], **how)
    reached = goals(validation, [run.scenario for run in runs])
    to.write_text(page(validation, reached), encoding="utf-8")


if __name__ == "__main__":
    main()
