"""A whole validation: one line says one thing and repeats its key, so that grep works."""

from collections import Counter
from collections.abc import Iterable, Iterator

from dvsim.evidence.validation import tallies
from dvsim.evidence.verdicts import ClaimVerdict, ColumnVerdict, Row, Validation
from dvsim.study.number_text import log_text
from dvsim.study.table import Cell, Table, mark, number, ratio, times

_ROW_HEAD = (
    *("scenario", "column", "published as", "reading", "statistic"),
    *("published", "simulated", "low", "high", "log error", "verdict", "split"),
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
    yield columns_table(validation)
    yield ""


def columns_table(validation: Validation) -> Table:
    """Tabulate the verdict on every published column, fitted and held out told apart."""
    means = {
        (row.scenario, row.column): row
        for row in validation.rows
        if (row.statistic, row.reading) == ("mean", "as printed")
    }
    whole = {(item.scenario, item.column): item.passed for item in validation.columns_as_messages}
    rows = []
    for item in validation.columns:
        key = (item.scenario, item.column)
        mean = means.get(key)
        published, simulated = (mean.published, mean.simulated) if mean else (None, None)
        row = [*key, item.published_column, Cell(item.split, status=item.split.replace(" ", "-"))]
        row += [number(published), number(simulated), times(ratio(simulated, published))]
        row += [mark(item.mean_ok), _empty(item), mark(item.quantiles_ok), mark(item.passed)]
        rows.append([*row, mark(whole.get(key))] if whole else row)
    head = ["scenario", "column", "published as", "used for", "published mean", "simulated mean"]
    head += ["ratio", "mean", "empty share", "quantiles", "verdict", "counted as messages"]
    return Table(
        head if whole else head[:-1],
        rows,
        keys=4,
        name="columns",
        caption="Verdict on every published column, by tolerances declared before the comparison. "
        "A fitted column was used to choose parameters: that it passes is a fit, not a "
        "prediction. Only held-out columns test the model.",
    )


def _empty(column: ColumnVerdict) -> Cell:
    verdict = mark(column.empty_ok)
    if column.empty_share is None or column.empty_bounds is None:
        return verdict
    low, high = column.empty_bounds
    text = f"{verdict} ({column.empty_share:.3f} in {low:.2f}..{high:.2f})"
    return Cell(text, status=verdict.status)


def _row(row: Row, *, intervals: bool) -> tuple[str, ...]:
    names = (row.scenario, row.column, row.published_column, row.reading, row.statistic)
    means = (f"{row.published:.1f}", f"{row.simulated:.1f}")
    ends = (f"{end:.1f}" if intervals else "-" for end in (row.low, row.high))
    return (*names, *means, *ends, log_text(row.log_error), row.verdict, row.split)


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
