"""One run beside its published columns, statistic by statistic.

A number is compared by its logarithmic error ln(simulated / published), which is the same for
twice and for half; a tolerance of x allows ``abs(error) <= ln(1 + x)``. Where zero was published,
only zero will do. Tolerances are part of the scenario and were declared before the comparison.

A Data Vortex column is compared twice, since what the paper counted is in doubt: *as printed*
(the simulation counts pieces) and *as messages* (the same run counted in whole messages).
"""

from collections.abc import Iterable, Mapping

from dvsim.evidence.statistics import agrees, log_error, zero_share_bounds
from dvsim.evidence.verdicts import ColumnVerdict, Reading, Row, RowVerdict, Split, Validation
from dvsim.scenario.reference import published, published_column, published_workload
from dvsim.scenario.sampled import Sampled, Tolerance
from dvsim.study.run import Run
from dvsim.table.estimate import Estimate

JUDGED_QUANTILES = ("75%", "90%", "95%", "99%")

Estimates = Mapping[tuple[str, str, str], Estimate]


def compare(run: Run) -> Validation:
    """Return every published column of a run beside what was simulated, and no claims.

    It is empty where the scenario has no reference, or the reference no such column.

    Raises:
        ScenarioError: If the reference data cannot be read.
    """
    scenario = run.scenario
    simulated = run.by_statistic
    rows: list[Row] = []
    columns: dict[Reading, list[ColumnVerdict]] = {"as printed": [], "as messages": []}
    for column in scenario.probe.columns:
        if not published(scenario, column):
            continue
        for reading, counted in readings(scenario).items():
            result = list(_rows(scenario, column, reading, counted, simulated))
            rows += result
            empty = simulated.get((column, counted, "empty"))
            verdict = judge_column(scenario, column, result, None if empty is None else empty[0])
            columns[reading].append(verdict)
    return Validation(tuple(rows), (), tuple(columns["as printed"]), tuple(columns["as messages"]))


def readings(scenario: Sampled) -> dict[Reading, str]:
    """Return what the simulation counts in each reading of the published numbers."""
    names: tuple[Reading, ...] = ("as printed", "as messages")
    return dict(zip(names, scenario.readings, strict=False))


def judge_column(
    scenario: Sampled, column: str, rows: Iterable[Row], empty: float | None
) -> ColumnVerdict:
    """Return the verdict on one column in one reading, from its rows.

    Args:
        scenario: Its tolerances, and its reference.
        column: Label of the column.
        rows: The rows of this column in one reading.
        empty: Simulated share of empty samples, 0..1; None if there are no samples.
    """
    verdicts = {row.statistic: row for row in rows}
    mean = verdicts.get("mean")
    mean_ok = mean is not None and mean.verdict == "pass"
    quantiles_ok = all(
        verdicts[name].verdict == "pass"
        for name in JUDGED_QUANTILES
        if name in verdicts and verdicts[name].published != 0
    )
    empty_ok, bounds = None, None
    if scenario.probe.interval_ps is not None:  # a batch is never empty
        bounds = zero_share_bounds(published(scenario, column))
        slack = scenario.tolerance.empty_share
        empty_ok = empty is not None and bounds[0] - slack <= empty <= bounds[1] + slack
    return ColumnVerdict(
        scenario=scenario.name,
        column=column,
        published_column=published_column(scenario, column),
        split=_split(scenario, column),
        mean_ok=mean_ok,
        empty_ok=empty_ok,
        quantiles_ok=quantiles_ok,
        passed=mean_ok and quantiles_ok and empty_ok is not False,
        empty_share=empty if bounds else None,
        empty_bounds=bounds,
    )


def tolerance_of(statistic: str, tolerance: Tolerance) -> float:
    """Return the relative tolerance that was declared for a statistic.

    The number of samples has that of the mean: with a fixed number of messages one is the inverse
    of the other.
    """
    if statistic in {"count", "mean"}:
        return tolerance.mean
    if statistic == "std":
        return tolerance.std
    if statistic in {"min", "max"}:
        return tolerance.extreme
    return tolerance.quantile


def _rows(
    scenario: Sampled, column: str, reading: Reading, counted: str, simulated: Estimates
) -> Iterable[Row]:
    name, workload = published_column(scenario, column), published_workload(scenario)
    as_published = workload is None or workload[0] == scenario.workload.messages
    transport = scenario.reference.transport if scenario.reference else ""
    for statistic, value in published(scenario, column).items():
        result = simulated.get((column, counted, statistic))
        if result is None:  # the run has no samples for it: nothing was simulated
            result = Estimate(0.0, 0.0, 0.0)
        tolerance: float | None = tolerance_of(statistic, scenario.tolerance)
        if statistic == "count" and (reading == "as messages" or not as_published):
            # how many samples there are does not depend on what is counted in them, and a run
            # with another number of messages has to have another number of samples
            tolerance = None
        yield Row(
            scenario=scenario.name,
            column=column,
            published_column=name,
            transport=transport,
            message_bytes=scenario.workload.message_bytes,
            statistic=statistic,
            reading=reading,
            published=value,
            simulated=result[0],
            low=result[1],
            high=result[2],
            log_error=log_error(result[0], value),
            tolerance=tolerance,
            verdict=_word(result[0], value, tolerance),
            split=_split(scenario, column),
        )


def _word(simulated: float, value: float, tolerance: float | None) -> RowVerdict:
    if tolerance is None:
        return "info"
    return "pass" if agrees(simulated, value, tolerance) else "fail"


def _split(scenario: Sampled, column: str) -> Split:
    fitted = scenario.reference is not None and column in scenario.reference.fitted
    return "fitted" if fitted else "held out"
