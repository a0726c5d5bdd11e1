"""A validation in short: what holds, the goals, each claim in a row. The rest is in `text`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dvsim.evidence.goals import NEAR, Goals
from dvsim.evidence.published import columns_passed
from dvsim.evidence.verdicts import ClaimVerdict, ClaimWord, Validation
from dvsim.scenario.reference import label_of
from dvsim.study.table import Table, frame_table

WORDS: tuple[ClaimWord, ...] = ("confirmed", "refuted", "not reproduced", "not testable")
MISSED = ["scenario", "column", "statistic", "published", "simulated", "log_error", "apart"]
CLAIM_HEAD = ("claim", "verdict", "claimed", "simulated", "")


def counts_text(verdicts: Iterable[str], what: str = "") -> str:
    """Return how many claims have which verdict.

    >>> counts_text(["refuted", "confirmed", "confirmed"])
    '2 of 3 confirmed, 1 refuted'
    """
    words = Counter(verdicts)
    first = f"{words['confirmed']} of {words.total()}{what} confirmed"
    return ", ".join([first, *(f"{words[word]} {word}" for word in WORDS[1:] if words[word])])


def overview(validation: Validation, reached: Goals) -> Iterator[str | Table]:
    """Yield the verdicts in a line each, then the goals and the claims as tables."""
    if validation.claims:
        yield f"claims:  {counts_text(claim.verdict for claim in validation.claims)}"
    columns = list(_columns(validation))
    if columns:
        yield f"columns: {'; '.join(columns)} within tolerance, as printed"
    elif not validation.claims:
        yield "no column was compared"
    if len(reached.table):
        yield f"goals:   {reached.table['met'].sum()} of {len(reached.table)} met"
        yield ""
        yield "Goals (of columns that were held out; floor: between the paper's two runs)"
        yield goal_table(reached)
    if validation.claims:
        yield ""
        yield claim_table(validation.claims)


def claim_table(claims: Iterable[ClaimVerdict]) -> Table:
    """Return a row for each claim: what is claimed, what was simulated, in one line of text."""
    rows = [
        (claim.id, claim.verdict, claim.expected, claim.simulated, claim.text) for claim in claims
    ]
    return Table(CLAIM_HEAD, rows, keys=len(CLAIM_HEAD))


def goal_table(reached: Goals) -> Table:
    """Return a row for each goal."""
    words = reached.table["met"].map({True: "met", False: "missed"})
    table = reached.table.assign(met=words).rename(columns={"what": "goal", "met": ""})
    return frame_table(table, len(table.columns))


def miss_table(reached: Goals) -> Iterator[str | Table]:
    """Yield the held-out statistics that are not near, with a heading; nothing if all are."""
    if reached.misses.empty:
        return
    yield ""
    yield f"Held-out statistics that are not within {NEAR:.0%} (apart: the other run of the paper)"
    yield frame_table(reached.misses[MISSED], 3)


def _columns(validation: Validation) -> Iterator[str]:
    held = columns_passed(validation, "held out")
    for transport, every in columns_passed(validation).items():
        text = f"{label_of(transport)} {' of '.join(map(str, every))}"
        own = held.get(transport, every)
        yield text if own == every else f"{text}, held out {' of '.join(map(str, own))}"
