"""A whole validation: one line says one thing and repeats its key, so that grep works."""

from collections import Counter
from collections.abc import Iterable, Iterator

from dvsim.evidence.validation import tallies
from dvsim.evidence.verdicts import ClaimVerdict, ColumnVerdict, Row, Validation
from dvsim.study.amounts import log_text
from dvsim.study.table import Table

_ROW_HEAD = (
    *("scenario", "column", "published as", "reading", "statistic"),
    *("published", "simulated", "low", "high", "log error", "verdict", "split"),
)
_COLUMN_HEAD = (
    *("scenario", "column", "published as", "reading"),
    *("mean", "empty share", "quantiles", "verdict", "split"),
)


def lines(validation: Validation, *, intervals: bool = True) -> Iterator[str | Table]:
    """Yield the whole validation: statistics and columns as tables, claims, tallies.

    Args:
        validation: What to say.
        intervals: False if there was one replication only: nothing is known about the spread
            between runs.
    """
    if validation.rows or not validation.claims:
        yield from _compared(validation, intervals=intervals)
    if validation.claims:
        yield "Claims"
        yield from claim_lines(validation.claims)
        yield ""
    yield "Tallies"
    yield from _tallies(validation)


def _compared(validation: Validation, *, intervals: bool) -> Iterator[str | Table]:
    yield "Statistics (rates in 1/s; low and high: 95 % interval over replications)"
    rows = [_row(row, intervals=intervals) for row in validation.rows]
    yield Table(_ROW_HEAD, rows, range(5, 10), keys=5)
    yield ""
    yield "Columns (mean, empty share and p75 to p99 within the declared tolerance)"
    columns = [
        *(_column(column, "as printed") for column in validation.columns),
        *(_column(column, "as messages") for column in validation.columns_as_messages),
    ]
    yield Table(_COLUMN_HEAD, columns, keys=4)
    yield ""


def _row(row: Row, *, intervals: bool) -> tuple[str, ...]:
    names = (row.scenario, row.column, row.published_column, row.reading, row.statistic)
    means = (f"{row.published:.1f}", f"{row.simulated:.1f}")
    ends = (f"{end:.1f}" if intervals else "-" for end in (row.low, row.high))
    return (*names, *means, *ends, log_text(row.log_error), row.verdict, row.split)


def _column(column: ColumnVerdict, reading: str) -> tuple[str, ...]:
    empty = "-"
    if column.empty_share is not None and column.empty_bounds is not None:
        low, high = column.empty_bounds
        empty = f"{_mark(column.empty_ok)} ({column.empty_share:.3f} in {low:.2f}..{high:.2f})"
    names = (column.scenario, column.column, column.published_column, reading)
    marks = (_mark(column.mean_ok), empty, _mark(column.quantiles_ok))
    return (*names, *marks, "pass" if column.passed else "fail", column.split)


def _mark(good: bool | None) -> str:
    return "ok" if good else "off"


def claim_lines(claims: Iterable[ClaimVerdict]) -> Iterator[str]:
    """Yield what the runs say to each claim: the verdict, what it rests on, the command."""
    for claim in claims:
        section = f" [section {claim.section}]" if claim.section else ""
        interval = "" if claim.interval in ("-", "exact") else f" ({claim.interval})"
        basis = "" if claim.basis == "not fitted" else f", {claim.basis}"
        yield (
            f"{claim.id}  {claim.verdict}{basis}: {claim.text}{section}; "
            f"claimed {claim.expected}, simulated {claim.simulated}{interval}"
        )
        if claim.explanation:
            yield f"{claim.id}    why not confirmed: {claim.explanation}"
        if claim.note:
            yield f"{claim.id}    {claim.note}"
        if claim.fitted_to:
            yield f"{claim.id}    fitted: {', '.join(claim.fitted_to)}"
        yield f"{claim.id}    $ {claim.command}"


def _tallies(validation: Validation) -> Iterator[str]:
    for tally in tallies(validation):
        yield (
            f"{tally.what}, {tally.transport}, {tally.reading}, {tally.split}: "
            f"{tally.passed} of {tally.total} pass"
        )
    words = Counter(claim.verdict for claim in validation.claims)
    for word, count in sorted(words.items()):
        bases = Counter(claim.basis for claim in validation.claims if claim.verdict == word)
        more = [f"{bases[basis]} {basis}" for basis in ("fitted", "by definition") if bases[basis]]
        text = f", of them {' and '.join(more)}" if more else ""
        yield f"claims {word}: {count} of {len(validation.claims)}{text}"
