"""Runs beside their published columns, statistic by statistic, and the verdict on each column.

Tolerances are part of the scenario and were declared before the comparison.

A Data Vortex column is compared twice, since what the paper counted is in doubt: *as printed*
(the simulation counts pieces) and *as messages* (the same run counted in whole messages).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from dvsim.evidence.statistics import zero_share_bounds
from dvsim.evidence.verdicts import Validation
from dvsim.scenario.reference import published, published_column, published_workload
from dvsim.scenario.sampled import Sampled
from dvsim.table.compare import beside
from dvsim.table.result import Result

READINGS = ("as printed", "as messages")
JUDGED_QUANTILES = ("75%", "90%", "95%", "99%")
# With a fixed number of messages the number of samples is the inverse of the mean.
TOLERANCES = {"count": "mean", "mean": "mean", "std": "std", "min": "extreme", "max": "extreme"}
COLUMN = ["scenario", "column", "published_column", "transport", "message_bytes"]
PRINTED = [*COLUMN, "statistic", "reading", "metric", "measured", "tolerance", "split"]
ROW = [*COLUMN, "statistic", "reading", "published", "simulated", "low", "high", "log_error"]
ROW += ["tolerance", "split", "verdict"]
VERDICT = [*COLUMN, "reading", "split", "mean_ok", "empty_ok", "quantiles_ok", "passed"]
VERDICT += ["empty_share", "empty_low", "empty_high"]


def compare(runs: Iterable[Result]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return every published statistic of runs beside what was simulated, and the columns judged.

    Returns:
        tuple: A table with a row for each statistic of each column in each reading: `ROW`, see
        `dvsim.table.compare.beside`; info where the two are not answers to the same question, and
        there is no tolerance. A table with the verdict on each column: `VERDICT`; empty_ok is None,
        and shares are not numbers, where there are no poll intervals. Both are empty of scenarios
        without a reference, or whose reference has no such column.
    """
    by_name = {run.scenario.name: run for run in runs}
    printed = [row for run in by_name.values() for row in _printed(run.scenario)]
    numbers, verdicts = pd.DataFrame(printed, columns=PRINTED), []
    if numbers.empty:
        return pd.DataFrame(columns=ROW), pd.DataFrame(columns=VERDICT)
    estimates = pd.concat(run.estimates().assign(scenario=name) for name, run in by_name.items())
    estimates = estimates[estimates["instance"] == 0].rename(columns={"component": "column"})
    # without samples nothing was simulated
    table = beside(numbers, estimates, ["scenario", "column", "metric"], how="left")
    table = table.rename(columns={"measured": "published"})
    for (name, column, _), part in table.groupby(["scenario", "column", "reading"], sort=False):
        run, counted = by_name[str(name)], part["metric"].iloc[0].partition(".")[0]
        empty = run.by_metric.get((str(column), 0, f"{counted}.empty"))
        verdicts.append(judge_column(run.scenario, part, None if empty is None else empty.value))
    return table[ROW], pd.DataFrame(verdicts, columns=VERDICT).astype({"empty_ok": object})


def _printed(scenario: Sampled) -> Iterable[tuple[Any, ...]]:
    reference, workload = scenario.reference, published_workload(scenario)
    as_published = workload is None or workload[0] == scenario.workload.messages
    size = scenario.workload.message_bytes
    for column in scenario.probe.columns:
        path = "" if reference is None else reference.transport
        about = (scenario.name, column, published_column(scenario, column), path, size)
        split = "fitted" if reference is not None and column in reference.fitted else "held out"
        for reading, counted in zip(READINGS, scenario.readings, strict=False):
            for statistic, value in published(scenario, column).items():
                tolerance = getattr(scenario.tolerance, TOLERANCES.get(statistic, "quantile"))
                if statistic == "count" and (reading != READINGS[0] or not as_published):
                    # how many samples there are does not depend on what is counted in them, and a
                    # run with another number of messages has to have another number of samples
                    tolerance = None
                metric = f"{counted}.{statistic}"
                yield (*about, statistic, reading, metric, value, tolerance, split)


def judge_column(scenario: Sampled, rows: pd.DataFrame, empty: float | None) -> dict[str, Any]:
    """Return the verdict on one column in one reading, from its rows.

    Args:
        scenario: Its tolerances, and its probe.
        rows: Of this column in one reading.
        empty: Simulated share of empty samples, 0..1; None if there are no samples.
    """
    passed = rows["verdict"] == "pass"
    judged = rows["statistic"].isin(JUDGED_QUANTILES) & (rows["published"] != 0)
    verdict = {name: rows[name].iloc[0] for name in (*COLUMN, "reading", "split")}
    verdict |= {"mean_ok": bool((passed & (rows["statistic"] == "mean")).any()), "empty_ok": None}
    verdict["quantiles_ok"] = bool(passed[judged].all())
    if scenario.probe.interval_ps is not None:  # a batch is never empty
        values = dict(zip(rows["statistic"].map(str), rows["published"], strict=True))
        low, high = zero_share_bounds(values)
        slack = scenario.tolerance.empty_share
        verdict["empty_ok"] = empty is not None and low - slack <= empty <= high + slack
        verdict |= {"empty_share": empty, "empty_low": low, "empty_high": high}
    good = verdict["mean_ok"] and verdict["quantiles_ok"] and verdict["empty_ok"] is not False
    return verdict | {"passed": good}


def tallies(validation: Validation) -> pd.DataFrame:
    """Return how many statistics, and then columns, of a transport, reading and split pass.

    What is there for information only is not counted.
    """
    keys = ["transport", "reading", "split"]
    if not validation.judged:
        return pd.DataFrame(columns=["what", *keys, "passed", "total"])
    rows = validation.rows[validation.rows["verdict"] != "info"]
    counted = {"statistics": rows.assign(passed=rows["verdict"] == "pass")}
    counted["columns"] = validation.columns
    tables = [
        table.groupby(keys)["passed"]
        .agg(passed="sum", total="count")
        .reset_index()
        .assign(what=what)
        for what, table in counted.items()
    ]
    return pd.concat(tables, ignore_index=True)[["what", *keys, "passed", "total"]]


def columns_passed(validation: Validation, split: str | None = None) -> dict[str, tuple[int, int]]:
    """Return, by transport, how many columns pass as printed, and of how many; of one split."""
    columns = validation.printed()
    if not validation.judged:
        return {}
    chosen = columns if split is None else columns[columns["split"] == split]
    by = chosen.groupby("transport")["passed"]
    return {str(name): (int(part.sum()), len(part)) for name, part in by}
