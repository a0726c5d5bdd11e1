"""A whole validation: one line says one thing and repeats its key, so that grep works."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from dvsim.evidence.verdicts import ClaimVerdict, Validation
from dvsim.study.table import Cell, Table, frame_table, mark, number, ratio, times

KEYS = ["scenario", "column", "published_column", "reading", "statistic"]
SHOWN = [*KEYS, "published", "simulated", "low", "high", "log_error", "verdict", "split"]


def lines(validation: Validation, *, intervals: bool = True) -> Iterator[str | Table]:
    """Yield the whole validation: statistics and columns as tables, and claims.

    Args:
        validation: What to say.
        intervals: False if there was one replication only: nothing is known about the spread
            between runs.
    """
    if validation.judged or not validation.claims:
        yield "Statistics (rates in 1/s; low and high: 95 % interval over replications)"
        rows = validation.rows[SHOWN]
        yield frame_table(
            rows if intervals else rows.assign(low=math.nan, high=math.nan), len(KEYS)
        )
        yield ""
        yield "Columns (mean, empty share and p75 to p99 within the declared tolerance)"
        yield columns_table(validation)
        yield ""
    if validation.claims:
        yield "Claims"
        yield from claim_lines(validation.claims)


def columns_table(validation: Validation) -> Table:
    """Tabulate the verdict on every published column, fitted and held out told apart."""
    columns = validation.columns
    whole = columns[columns["reading"] == "as messages"].set_index(["scenario", "column"])["passed"]
    means = validation.rows[validation.rows["statistic"] == "mean"]
    keys = ["scenario", "column", "reading"]
    means = means[[*keys, "published", "simulated"]]
    rows = []
    items: list[Any] = list(validation.printed().merge(means, on=keys, how="left").itertuples())
    for item in items:
        key = (item.scenario, item.column)
        row = [*key, item.published_column, Cell(item.split, status=item.split.replace(" ", "-"))]
        row += [number(item.published), number(item.simulated)]
        row += [times(ratio(item.simulated, item.published)), mark(item.mean_ok), _empty(item)]
        row += [mark(item.quantiles_ok), mark(item.passed)]
        rows.append([*row, mark(whole.get(key))] if len(whole) else row)
    head = ["scenario", "column", "published as", "used for", "published mean", "simulated mean"]
    head += ["ratio", "mean", "empty share", "quantiles", "verdict", "counted as messages"]
    return Table(
        head if len(whole) else head[:-1],
        rows,
        keys=4,
        name="columns",
        caption="Verdict on every published column, by tolerances declared before the comparison. "
        "A fitted column was used to choose parameters: that it passes is a fit, not a "
        "prediction. Only held-out columns test the model.",
    )


def _empty(column: Any) -> Cell:  # noqa: ANN401 - a row
    verdict = mark(column.empty_ok)
    if not column.empty_share >= 0:
        return verdict
    text = f"{column.empty_share:.3f} in {column.empty_low:.2f}..{column.empty_high:.2f}"
    return Cell(f"{verdict} ({text})", status=verdict.status)


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
